package cgroup

import (
	"bytes"
	"os"
	"path/filepath"

	"cpulab/internal/opt"
)

// Limit is what the kernel enforces on one cgroup. Its ancestors may be
// tighter.
type Limit struct {
	Quota  opt.Int // us of CPU per period; nothing: no limit, or not readable
	Period opt.Int // us
	Burst  opt.Int // us, from Linux 5.14
	Shares opt.Int // v1
	Weight opt.Int // v2
}

// ReadLimit reads the limit of a cgroup. What cannot be read is nothing.
func ReadLimit(d Dirs) Limit {
	if d.Version() == 2 {
		quota, period := parseMax(readFile(d.CPU, "cpu.max"))
		return Limit{
			Quota:  quota,
			Period: period,
			Burst:  readCount(d.CPU, "cpu.max.burst"),
			Weight: readCount(d.CPU, "cpu.weight"),
		}
	}
	return Limit{
		Quota:  readCount(d.CPU, "cpu.cfs_quota_us"), // -1, no limit, is no count
		Period: readCount(d.CPU, "cpu.cfs_period_us"),
		Burst:  readCount(d.CPU, "cpu.cfs_burst_us"),
		Shares: readCount(d.CPU, "cpu.shares"),
	}
}

// parseMax reads a cpu.max: "max 100000" or "50000 100000".
func parseMax(text []byte) (quota, period opt.Int) {
	fields := bytes.Fields(text)
	if len(fields) != 2 {
		return opt.Int{}, opt.Int{}
	}
	return opt.Parse(fields[0]), opt.Parse(fields[1])
}

func readCount(dir, name string) opt.Int {
	return opt.Parse(bytes.TrimSuffix(readFile(dir, name), newline))
}

// readFile returns nothing for a file that cannot be read: for a limit the
// difference between absent and refused leads to the same null.
func readFile(dir, name string) []byte {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil
	}
	return text
}
