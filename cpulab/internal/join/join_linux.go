// Package join moves the process into cgroups and becomes another program
// there, so that the program's very start is counted in them.
package join

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"cpulab/internal/host"
)

// Exit codes of shells for "found, cannot be used" and "not found".
const (
	ExitCannotRun = 126
	ExitNotFound  = 127
)

// Error carries the exit code of a failure.
type Error struct {
	Code int
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// ExitCode is the code that the program should end with.
func (e *Error) ExitCode() int { return e.Code }

// Params say where to go and what to become.
type Params struct {
	Files   []string // cgroup.procs files
	CPUs    []int    // nil: keep the affinity
	Command []string
}

// Exec joins and executes. It returns only on failure.
func Exec(p Params) error {
	// The affinity belongs to a thread, and exec keeps that of its caller.
	runtime.LockOSThread()

	// Everything that takes time comes before the first join: from then on
	// the CPU time is charged to the cgroup.
	path, err := find(p.Command[0])
	if err != nil {
		return err
	}
	check := newChecker(p.Files)
	env := os.Environ()
	pid := []byte(strconv.Itoa(os.Getpid()))

	for _, file := range p.Files {
		if err := write(file, pid); err != nil {
			return &Error{ExitCannotRun, fmt.Errorf("cannot join %s: %w", file, err)}
		}
	}
	if err := check.joined(); err != nil {
		return &Error{ExitCannotRun, err}
	}
	if p.CPUs != nil {
		if err := host.SetThreadAffinity(p.CPUs); err != nil {
			return &Error{ExitCannotRun, err}
		}
	}
	err = syscall.Exec(path, p.Command, env)
	return &Error{ExitCannotRun, fmt.Errorf("cannot execute %s: %w (is it an executable for this machine?)", path, err)}
}

// find returns the absolute path of a command.
func find(command string) (string, error) {
	path, err := exec.LookPath(command)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	switch {
	case errors.Is(err, os.ErrPermission):
		return "", &Error{ExitCannotRun, fmt.Errorf("cannot execute %s: permission denied (chmod +x it)", command)}
	case err != nil:
		return "", &Error{ExitNotFound, fmt.Errorf("cannot find the command: %w (give an absolute path or one in PATH)", err)}
	}
	return path, nil
}

// write writes without the O_CREATE and O_TRUNC that os.WriteFile adds: a wrong
// path must not become a file.
func write(file string, pid []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.Write(pid)
		f.Close()
	}
	return explain(err)
}
