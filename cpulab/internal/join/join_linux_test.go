package join

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cpulab/internal/cgroup"
)

func TestExplain(t *testing.T) {
	if explain(nil) != nil {
		t.Error("no error needs no words")
	}
	for errno, says := range map[syscall.Errno]string{
		syscall.ENOENT: "create it first",
		syscall.EACCES: "run as root",
		syscall.ENOSPC: "cpuset.cpus",
		syscall.EBUSY:  "leaf",
		syscall.EROFS:  "read-only",
	} {
		err := explain(&fs.PathError{Op: "write", Path: "/x", Err: errno})
		if !strings.Contains(err.Error(), says) || !errors.Is(err, errno) {
			t.Errorf("%v: %v", errno, err)
		}
	}
	other := errors.New("other")
	if explain(other) != other {
		t.Error("an unknown error must stay as it is")
	}
}

func TestExecFailures(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	procs := filepath.Join(dir, "cgroup.procs")
	for _, c := range []struct {
		name   string
		params Params
		code   int
		says   string
	}{
		{"no command", Params{Files: []string{procs}, Command: []string{"no-such-command"}}, ExitNotFound, "no-such-command"},
		{"no permission", Params{Files: []string{procs}, Command: []string{script}}, ExitCannotRun, "chmod"},
		{"no cgroup", Params{Files: []string{procs}, Command: []string{"true"}}, ExitCannotRun, procs},
	} {
		err := Exec(c.params)
		var failed *Error
		if !errors.As(err, &failed) || failed.ExitCode() != c.code || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if _, err := os.Stat(procs); err == nil {
		t.Error("a wrong path became a file")
	}
}

func TestCheckerFindsAnotherCgroup(t *testing.T) {
	memberships, mounts, err := cgroup.ReadSelf()
	if err != nil {
		t.Skip(err)
	}
	for _, mount := range mounts {
		for _, m := range memberships {
			here, shown := mount.Dir(m.Path)
			if !mount.Carries(m) || !shown {
				continue
			}
			if err := (checker{[]wanted{{here, mount}}}).joined(); err != nil {
				t.Errorf("really in %s: %v", here, err)
			}
			if err := (checker{[]wanted{{here + "/other", mount}}}).joined(); err == nil {
				t.Errorf("not in %s/other, but no error", here)
			}
			return
		}
	}
	t.Skip("no cgroup mount shows this process")
}
