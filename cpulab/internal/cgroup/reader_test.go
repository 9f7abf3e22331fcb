package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cpulab/internal/opt"
)

// fake makes a directory that looks like a cgroup.
func fake(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, d Dirs) (Counters, int) {
	t.Helper()
	r, err := Open(d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var c Counters
	bad, err := r.Read(&c)
	if err != nil {
		t.Fatal(err)
	}
	return c, bad
}

func TestReadV1JoinsBothHierarchies(t *testing.T) {
	cpu := fake(t, map[string]string{"cpu.stat": statV1, "cpu.stat.local": "throttled_time 5000\n"})
	acct := fake(t, map[string]string{"cpuacct.usage": "7000\n"})
	c, bad := read(t, Dirs{cpu, acct})
	if bad != 0 || c.Usage != opt.Of(7) || c.NrPeriods != opt.Of(12) || c.LocalThrottled != opt.Of(5) {
		t.Errorf("got %+v, %d bad", c, bad)
	}
	if c, _ := read(t, Dirs{CPU: cpu}); c.Usage.OK {
		t.Errorf("usage without cpuacct: %+v", c)
	}
}

func TestReadV1MountedTogether(t *testing.T) {
	dir := fake(t, map[string]string{"cpu.stat": statV1, "cpuacct.usage": "7000\n"})
	if c, bad := read(t, Dirs{CPU: dir}); bad != 0 || c.Usage != opt.Of(7) || c.LocalThrottled.OK {
		t.Errorf("got %+v, %d bad", c, bad)
	}
}

func TestReadGarbled(t *testing.T) {
	dir := fake(t, map[string]string{
		"cpu.stat": "nr_periods x\n", "cpuacct.usage": "", "cpu.stat.local": "throttled_time\n",
	})
	if c, bad := read(t, Dirs{CPU: dir}); bad != 3 || c != (Counters{}) {
		t.Errorf("got %+v, %d bad", c, bad)
	}
	endless := fake(t, map[string]string{"cpu.stat": statV2 + strings.Repeat("x", readSize)})
	if c, bad := read(t, Dirs{CPU: endless}); bad != 1 || c != (Counters{}) {
		t.Errorf("a cut-off file: got %+v, %d bad", c, bad)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := fake(t, map[string]string{"file": ""})
	for _, c := range []struct {
		dirs    Dirs
		missing bool
		says    string
	}{
		{Dirs{CPU: dir + "/none"}, true, "/none"},
		{Dirs{dir, dir + "/none"}, true, "/none"},
		{Dirs{CPU: dir + "/file"}, false, "not a directory"},
		{Dirs{CPU: dir}, false, "no cpu.stat"},
	} {
		_, err := Open(c.dirs)
		if err == nil || errors.Is(err, ErrMissing) != c.missing || !strings.Contains(err.Error(), c.says) {
			t.Errorf("Open(%+v): %v", c.dirs, err)
		}
	}
}

func TestReadLimit(t *testing.T) {
	v1 := fake(t, map[string]string{
		"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n", "cpu.cfs_burst_us": "0\n", "cpu.shares": "1024\n",
	})
	if got, want := ReadLimit(Dirs{CPU: v1}), (Limit{Period: opt.Of(100000), Burst: opt.Of(0), Shares: opt.Of(1024)}); got != want {
		t.Errorf("v1 without a limit: got %+v", got)
	}
	v2 := fake(t, map[string]string{
		"cgroup.controllers": "cpu\n", "cpu.max": "50000 100000\n", "cpu.weight": "39\n",
	})
	if got, want := ReadLimit(Dirs{CPU: v2}), (Limit{Quota: opt.Of(50000), Period: opt.Of(100000), Weight: opt.Of(39)}); got != want {
		t.Errorf("v2: got %+v", got)
	}
	for text, want := range map[string][2]opt.Int{
		"max 100000\n": {{}, opt.Of(100000)}, "": {}, "5\n": {}, "a b\n": {},
	} {
		if quota, period := parseMax([]byte(text)); quota != want[0] || period != want[1] {
			t.Errorf("parseMax(%q) = %v, %v", text, quota, period)
		}
	}
}

func TestReadAllocatesNothing(t *testing.T) {
	dir := fake(t, map[string]string{"cpu.stat": statV1, "cpuacct.usage": "7000\n", "cpu.stat.local": "throttled_time 0\n"})
	r, err := Open(Dirs{CPU: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var c Counters
	if n := testing.AllocsPerRun(100, func() { _, _ = r.Read(&c) }); n != 0 {
		t.Errorf("a reading allocates %v times", n)
	}
}
