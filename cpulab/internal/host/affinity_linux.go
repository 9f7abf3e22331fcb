package host

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"unsafe"
)

type cpuMask [MaxCPUs / 64]uint64

// Affinity returns the CPUs that the main thread may run on, "" if unknown.
func Affinity() string {
	mask, err := affinity(os.Getpid())
	if err != nil {
		return ""
	}
	return mask.String()
}

// SetThreadAffinity binds the calling thread, which the caller must hold. An
// exec from this thread keeps it. The kernel drops CPUs that the thread may not
// use and reports nothing, so the result is read back.
func SetThreadAffinity(cpus []int) error {
	var mask cpuMask
	for _, cpu := range cpus {
		mask[cpu/64] |= 1 << (cpu % 64)
	}
	allowed, err := affinity(0)
	if err != nil {
		return err
	}
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY,
		0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	now, err := affinity(0)
	if errno != 0 || err != nil || now != mask {
		return fmt.Errorf("cannot run on CPUs %v: this process may use CPUs %v (choose among them, or change its cpuset)", mask, allowed)
	}
	return nil
}

// affinity asks for a thread, 0 for the calling one.
func affinity(tid int) (mask cpuMask, err error) {
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY,
		uintptr(tid), unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask)))
	if errno != 0 {
		return mask, fmt.Errorf("cannot read the CPU affinity: %w", errno)
	}
	return mask, nil
}

func (m cpuMask) String() string {
	var cpus []int
	for cpu := range MaxCPUs {
		if m[cpu/64]&(1<<(cpu%64)) != 0 {
			cpus = append(cpus, cpu)
		}
	}
	return FormatCPUList(cpus)
}

// Kernel returns what uname -r prints, "" if unknown.
func Kernel() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
