package clock

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// Sleeper waits for absolute instants and wakes early when its context ends.
//
// A Go timer may fire a millisecond late, because the runtime sleeps in
// epoll_wait, which counts in milliseconds; that is the size of what is
// measured here. ppoll has the precision of the kernel's timers and, with a
// pipe to wake it, needs no polling for the end of the context.
type Sleeper struct {
	ctx  context.Context
	wake int
}

// NewSleeper returns a Sleeper for the life of ctx. Its pipe stays open until
// the process ends: a program needs one.
func NewSleeper(ctx context.Context) (*Sleeper, error) {
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		return nil, fmt.Errorf("cannot make a pipe to wake the sleeper: %w (raise ulimit -n)", err)
	}
	context.AfterFunc(ctx, func() { syscall.Write(pipe[1], []byte{0}) })
	return &Sleeper{ctx: ctx, wake: pipe[0]}, nil
}

type pollFD struct {
	fd      int32
	events  int16
	revents int16
}

const pollIn = 1

// stage is how long to ask the kernel to sleep when rest is left. It lets a
// ppoll be late by a thousandth of its time-out (select(2) calls it timer
// slack), 10 ms for 10 s: so a long wait aims two thousandths short, and the
// rest of it is a short wait.
func stage(rest int64) int64 {
	if rest < 1_000_000 {
		return rest
	}
	return rest - rest/500
}

// Until sleeps to the instant monoNS of CLOCK_MONOTONIC. It reports false when
// the context ended first, also when the instant had already passed.
func (s *Sleeper) Until(monoNS int64) bool {
	for s.ctx.Err() == nil {
		rest := monoNS - MonoNS()
		if rest <= 0 {
			return true
		}
		fds := pollFD{fd: int32(s.wake), events: pollIn}
		timeout := syscall.NsecToTimespec(stage(rest))
		_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL,
			uintptr(unsafe.Pointer(&fds)), 1, uintptr(unsafe.Pointer(&timeout)), 0, 0, 0)
		if errno != 0 && !errors.Is(errno, syscall.EINTR) {
			// Nothing in the arguments can be wrong; only kernel memory is left.
			panic(fmt.Sprintf("ppoll failed: %v", errno))
		}
	}
	return false
}
