//go:build !linux

package cli

import "runtime"

// native are the commands that need Linux: here they only say so.
var native = []command{
	{"burst", "run rounds of threads that burn CPU together (Linux only)", needsLinux},
	{"sample", "read the counters of other cgroups at a fixed rate (Linux only)", needsLinux},
	{"exec", "join cgroups, then become another program (Linux only)", needsLinux},
}

// otherSystem is the error of a command that cannot run here.
type otherSystem struct{}

func (otherSystem) Error() string {
	return "this command needs the cgroups of Linux, and this is " + runtime.GOOS +
		": run it in a container or on a Linux machine"
}

func (otherSystem) ExitCode() int { return exitUsage }

func needsLinux(streams, []string) error { return otherSystem{} }
