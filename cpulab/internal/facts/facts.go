// Package facts describes the process that measures: the first line of every
// run, so that a result says by itself where it comes from.
package facts

import (
	"os"
	"runtime"

	"cpulab/internal/build"
	"cpulab/internal/cgroup"
	"cpulab/internal/host"
	"cpulab/internal/ndjson"
	"cpulab/internal/opt"
)

// Facts are what the process knows about itself.
type Facts struct {
	Own      cgroup.Own // Version 0: not found, and OwnErr says why
	OwnErr   error
	Limit    cgroup.Limit
	affinity string
	kernel   string
}

// Collect reads the facts.
func Collect() Facts {
	f := Facts{affinity: host.Affinity(), kernel: host.Kernel()}
	if f.Own, f.OwnErr = cgroup.FindOwn(); f.OwnErr == nil {
		f.Limit = cgroup.ReadLimit(f.Own.Dirs)
	}
	return f
}

// AddTo adds the facts to the line that is being built.
func (f Facts) AddTo(w *ndjson.Writer) {
	w.Int("pid", int64(os.Getpid()))
	WriteBuild(w)
	w.Int("num_cpu", int64(runtime.NumCPU()))
	w.Int("gomaxprocs", int64(runtime.GOMAXPROCS(0)))
	w.Object("env")
	for _, name := range []string{"GOMAXPROCS", "GODEBUG"} {
		if value, set := os.LookupEnv(name); set {
			w.Str(name, value)
		} else {
			w.Null(name)
		}
	}
	w.EndObject()
	w.StrOrNull("affinity", f.affinity)
	w.StrOrNull("kernel", f.kernel)

	w.Object("cgroup")
	w.Opt("version", opt.Int{N: int64(f.Own.Version), OK: f.Own.Version != 0})
	w.StrOrNull("path_cpu", f.Own.CPU)
	w.StrOrNull("path_cpuacct", f.Own.CPUAcct)
	WriteLimit(w, f.Limit)
	w.Opt("shares", f.Limit.Shares)
	w.Opt("weight", f.Limit.Weight)
	w.EndObject()
}

// WriteBuild adds what this binary is.
func WriteBuild(w *ndjson.Writer) {
	w.Str("version", build.Version)
	w.Str("build", build.Line())
	w.Str("go", build.Toolchain())
	w.Str("os", runtime.GOOS)
	w.Str("arch", runtime.GOARCH)
}

// WriteLimit adds the limit of a cgroup.
func WriteLimit(w *ndjson.Writer, l cgroup.Limit) {
	w.Opt("quota_us", l.Quota)
	w.Opt("period_us", l.Period)
	w.Opt("burst_us", l.Burst)
}
