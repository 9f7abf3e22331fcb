package join

import (
	"errors"
	"fmt"
	"syscall"
)

// remedies say what the kernel's answers to a write into cgroup.procs mean.
var remedies = []struct {
	errno syscall.Errno
	text  string
}{
	{syscall.ENOENT, "there is no such cgroup: create it first"},
	{syscall.ENOTDIR, "a part of the path is not a directory"},
	{syscall.EISDIR, "this is a directory: give its cgroup.procs"},
	{syscall.EACCES, "permission denied: run as root, or as the owner of this cgroup.procs and of that of the common ancestor"},
	{syscall.EPERM, "not permitted: run as root in the cgroup namespace that owns this cgroup"},
	{syscall.EROFS, "the cgroup file system is mounted read-only here: mount it writable"},
	{syscall.ENOSPC, "the cpuset of this cgroup has no CPUs or no memory nodes: write its cpuset.cpus and cpuset.mems first"},
	{syscall.EBUSY, "a cgroup v2 that hands controllers to its children (cgroup.subtree_control) takes no processes: join a leaf below it"},
	{syscall.EOPNOTSUPP, "this cgroup v2 is threaded or an invalid domain (see its cgroup.type): join a domain cgroup"},
	{syscall.ENODEV, "the cgroup was removed meanwhile: create it again"},
	{syscall.EINVAL, "the kernel takes no such process there: a process with real-time threads needs a cgroup with cpu.rt_runtime_us"},
}

// explain adds the meaning and the remedy to an error of the kernel.
func explain(err error) error {
	for _, r := range remedies {
		if errors.Is(err, r.errno) {
			return fmt.Errorf("%s (%w)", r.text, r.errno)
		}
	}
	return err
}
