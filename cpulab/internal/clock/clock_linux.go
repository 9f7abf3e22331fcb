package clock

import (
	"syscall"
	"unsafe"
)

const (
	clockMonotonic       = 1
	clockThreadCPUTimeID = 3
)

// MonoNS returns CLOCK_MONOTONIC in nanoseconds.
func MonoNS() int64 { return read(clockMonotonic) }

// ThreadCPUNS returns the CPU time of the calling OS thread in nanoseconds. It
// is exact at any instant; getrusage moves only at scheduler ticks. The caller
// must hold its thread with runtime.LockOSThread.
func ThreadCPUNS() int64 { return read(clockThreadCPUTimeID) }

// read cannot fail: both clocks exist on every Linux that Go supports.
func read(id uintptr) int64 {
	var ts syscall.Timespec
	syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano()
}
