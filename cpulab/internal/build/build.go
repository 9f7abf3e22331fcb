// Package build tells how this binary was made.
package build

import (
	"go/version"
	"runtime"
	"runtime/debug"
	"strings"
)

// Version is the program's version; releases may set it with -ldflags -X.
var Version = "0.1.0"

// Line returns which of the two builds this is: "go1.25" when the runtime sets
// GOMAXPROCS from the CPU quota by default, else "go1.24". It is derived from
// the settings that the linker recorded, so a binary cannot be mislabelled: a
// go line below 1.25 makes a newer toolchain record containermaxprocs=0, and an
// older toolchain does not know the setting.
func Line() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return line(info)
}

func line(info *debug.BuildInfo) string {
	if version.Compare(info.GoVersion, "go1.25") < 0 {
		return "go1.24"
	}
	for _, s := range info.Settings {
		if s.Key != "DefaultGODEBUG" {
			continue
		}
		for setting := range strings.SplitSeq(s.Value, ",") {
			if setting == "containermaxprocs=0" {
				return "go1.24"
			}
		}
	}
	return "go1.25"
}

// Toolchain returns the Go version that compiled the binary.
func Toolchain() string { return runtime.Version() }
