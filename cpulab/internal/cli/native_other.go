//go:build !linux

package cli

import "runtime"

// native are the commands that need Linux: here they only say so.
var native = []command{
	{"burst", "run rounds of threads that burn CPU together (Linux only)", needsLinux},
	{"tasks", "burn the same CPU time again and again on one thread (Linux only)", needsLinux},
	{"parallel", "start processes together that burn the same CPU time (Linux only)", needsLinux},
	{"spin", "keep threads busy and report how much CPU they got (Linux only)", needsLinux},
	{"requests", "do small requests back to back and time them (Linux only)", needsLinux},
	{"serve", "answer HTTP requests, each of which burns CPU (Linux only)", needsLinux},
	{"load", "call a service at a rate and time its answers (Linux only)", needsLinux},
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
