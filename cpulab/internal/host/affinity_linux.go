package host

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
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
	set := mask.bind(0)
	now, err := affinity(0)
	if set != nil || err != nil || now != mask {
		return fmt.Errorf("cannot run on CPUs %v: this process may use CPUs %v (choose among them, or change its cpuset)", mask, allowed)
	}
	return nil
}

// StayOnThisCPU binds every thread of the process, and so those that they will
// start, to the CPU on which the calling thread runs, and returns its number.
//
// Paused time is summed over CPUs. A runtime's helper threads that wake on
// another CPU during a pause are paused there as well, and what is one pause to
// the work counts twice.
func StayOnThisCPU() (int, error) {
	cpu, err := presentCPU()
	if err != nil {
		return 0, err
	}
	var mask cpuMask
	mask[cpu/64] = 1 << (cpu % 64)
	// Again until no thread is left that another one has started meanwhile.
	for bound := map[string]bool{}; ; {
		tasks, err := os.ReadDir(taskDir)
		if err != nil {
			return 0, fmt.Errorf("cannot list the own threads: %w", err)
		}
		before := len(bound)
		for _, task := range tasks {
			tid, err := strconv.Atoi(task.Name())
			if err != nil || bound[task.Name()] {
				continue
			}
			if err := mask.bind(tid); err != nil && !errors.Is(err, syscall.ESRCH) {
				return 0, fmt.Errorf("cannot stay on CPU %d: %w", cpu, err)
			}
			bound[task.Name()] = true
		}
		if len(bound) == before {
			return cpu, nil
		}
	}
}

// presentCPU is the CPU that the calling thread was last on. The syscall package
// has no getcpu on every architecture.
func presentCPU() (int, error) {
	const processor = 36 // counted from the field after the name: proc(5) has it as the 39th
	text, err := os.ReadFile("/proc/thread-self/stat")
	if err != nil {
		return 0, fmt.Errorf("cannot tell the present CPU: %w", err)
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) <= processor {
		return 0, fmt.Errorf("cannot tell the present CPU: /proc/thread-self/stat has %d fields", len(fields))
	}
	cpu, err := strconv.Atoi(fields[processor])
	if err != nil || cpu < 0 || cpu >= MaxCPUs {
		return 0, fmt.Errorf("cannot tell the present CPU: %q is none", fields[processor])
	}
	return cpu, nil
}

// bind sets the CPUs of a thread, 0 for the calling one.
func (m *cpuMask) bind(tid int) error {
	_, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY,
		uintptr(tid), unsafe.Sizeof(*m), uintptr(unsafe.Pointer(m)))
	if errno != 0 {
		return errno
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
