package build

import (
	"runtime/debug"
	"testing"
)

func TestLine(t *testing.T) {
	for _, c := range []struct{ toolchain, godebug, want string }{
		{"go1.26.8", "containermaxprocs=0,cryptocustomrand=1,updatemaxprocs=0", "go1.24"},
		{"go1.26.8", "cryptocustomrand=1", "go1.25"},
		{"go1.25.0", "", "go1.25"},
		{"go1.24.9", "", "go1.24"},
	} {
		info := &debug.BuildInfo{GoVersion: c.toolchain}
		if c.godebug != "" {
			info.Settings = []debug.BuildSetting{{Key: "DefaultGODEBUG", Value: c.godebug}}
		}
		if got := line(info); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}
