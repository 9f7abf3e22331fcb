package load

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"
)

// waiter waits for instants of CLOCK_MONOTONIC with a timer of the kernel that
// the runtime's poller watches, like a connection.
//
// It is as exact as a thread that sleeps by itself, and costs less: a thread
// that is in the kernel for milliseconds keeps the runtime's supervisor awake,
// which looks after it every 20 us. A timer of Go's own is up to a millisecond
// late, because the poller waits in whole ones.
type waiter struct {
	ctx   context.Context
	watch stopwatch
	file  *os.File
	conn  syscall.RawConn
}

const clockMonotonic = 1

// newWaiter returns a waiter that wakes early when ctx ends.
func newWaiter(ctx context.Context, watch stopwatch) (*waiter, error) {
	const flags = syscall.O_CLOEXEC | syscall.O_NONBLOCK
	fd, _, errno := syscall.Syscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, flags, 0)
	if errno != 0 {
		return nil, fmt.Errorf("cannot make a timer: %w (raise ulimit -n)", errno)
	}
	w := &waiter{ctx: ctx, watch: watch, file: os.NewFile(fd, "timerfd")}
	var err error
	if w.conn, err = w.file.SyscallConn(); err != nil {
		return nil, fmt.Errorf("cannot wait for the kernel's timer: %w (it needs timerfd and epoll: run outside a sandbox that lacks them)", err)
	}
	context.AfterFunc(ctx, func() { _ = w.file.SetReadDeadline(time.Unix(1, 0)) })
	return w, nil
}

// itimerspec is the kernel's struct of this name.
type itimerspec struct{ interval, value syscall.Timespec }

// until waits for an instant. It reports false when ctx ended first, also when
// the instant had already passed.
func (w *waiter) until(monoNS int64) bool {
	for w.ctx.Err() == nil {
		if w.watch.now() >= monoNS {
			return true
		}
		spec := itimerspec{value: syscall.NsecToTimespec(monoNS)}
		armed := false
		err := w.conn.Read(func(fd uintptr) (done bool) {
			// First it is armed, then awaited: what happens in between is kept.
			// That it fired is all there is to know, so it is never read.
			if !armed {
				spec.arm(fd)
				armed = true
				return false
			}
			return true
		})
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			panic(fmt.Sprintf("cannot wait for a timer: %v", err))
		}
	}
	return false
}

// arm sets a timer to an absolute instant.
func (s *itimerspec) arm(fd uintptr) {
	const absolute = 1
	_, _, errno := syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, fd, absolute, uintptr(unsafe.Pointer(s)), 0, 0, 0)
	if errno != 0 {
		panic(fmt.Sprintf("cannot set a timer: %v", errno)) // nothing in the arguments can be wrong
	}
}
