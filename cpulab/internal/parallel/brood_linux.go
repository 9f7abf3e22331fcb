package parallel

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"cpulab/internal/clock"
	"cpulab/internal/work"
)

// brood starts this program again as the processes of a round.
type brood struct {
	program string
	args    []string
	null    *os.File // their input and output

	mu   sync.Mutex
	live []*os.Process // of the present round, in the order of their starts
	dead bool          // no more starts: the round was given up
}

// batch is one complete round.
type batch struct {
	startNS int64 // CLOCK_MONOTONIC before the first start
	endNS   int64 // when the last exit was noticed
	cpuNS   int64 // of all processes, their starts included
}

func newBrood(burn time.Duration) (*brood, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot tell where this program is, to start it again: %w (mount /proc)", err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("the processes need an input and an output: %w (make %s there and writable, and raise ulimit -n if too many files are open)", err, os.DevNull)
	}
	return &brood{
		program: program,
		args:    []string{program, "one", "--work", burn.String()},
		null:    null,
	}, nil
}

func (b *brood) close() { b.null.Close() }

// run starts count processes one after another and waits for all of them. When
// ctx ends or one of them fails it kills the others; it returns when none is
// left. The caller must hold its thread: the processes die with it.
func (b *brood) run(ctx context.Context, count int) (batch, error) {
	said, err := newSaid()
	if err != nil {
		return batch{}, err
	}
	defer said.close()
	b.mu.Lock()
	b.live, b.dead = make([]*os.Process, 0, count), false
	b.mu.Unlock()
	keep := context.AfterFunc(ctx, b.kill)
	defer keep()

	done := batch{startNS: clock.MonoNS()}
	err = b.start(count, said)
	if err != nil {
		b.kill()
	}
	for number, process := range b.live {
		state, waitErr := process.Wait()
		if waitErr == nil {
			done.cpuNS += int64(state.UserTime() + state.SystemTime())
		}
		if err == nil {
			if err = failure(number+1, state, waitErr); err != nil {
				b.kill()
			}
		}
	}
	done.endNS = clock.MonoNS()
	if err != nil {
		return batch{}, said.explain(err)
	}
	return done, nil
}

// start starts the processes. It stops starting when the round is given up.
func (b *brood) start(count int, said *said) error {
	attr := &os.ProcAttr{
		Files: []*os.File{b.null, b.null, said.writer},
		Sys:   &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	}
	for i := range count {
		process, err := os.StartProcess(b.program, b.args, attr)
		if err != nil {
			return fmt.Errorf("cannot start process %d of %d: %w (raise the limits of processes and open files, or run fewer)", i+1, count, err)
		}
		b.mu.Lock()
		b.live = append(b.live, process)
		dead := b.dead
		b.mu.Unlock()
		if dead {
			return errors.New("given up")
		}
	}
	return nil
}

// kill ends the processes that run. Those that have ended already are no error.
func (b *brood) kill() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dead = true
	for _, process := range b.live {
		_ = process.Kill()
	}
}

// failure says how a process failed; nil when it did its work.
func failure(number int, state *os.ProcessState, waitErr error) error {
	switch {
	case waitErr != nil:
		return fmt.Errorf("cannot wait for process %d: %w (something else waited for it: start cpulab with SIGCHLD not ignored)", number, waitErr)
	case !state.Success():
		return fmt.Errorf("process %d failed: %v (if it was killed, give its cgroup more memory or run fewer)", number, state)
	}
	return nil
}

// said collects what the processes write to their standard error.
type said struct{ reader, writer *os.File }

// saidMax bounds what is kept of it.
const saidMax = 2000

func newSaid() (*said, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("the processes need a standard error: %w (raise ulimit -n)", err)
	}
	return &said{reader, writer}, nil
}

func (s *said) close() {
	s.reader.Close()
	s.writer.Close()
}

// explain adds to an error what the processes said. All of them must have
// ended: their end is the end of the text.
func (s *said) explain(err error) error {
	s.writer.Close()
	text, readErr := io.ReadAll(io.LimitReader(s.reader, saidMax))
	if text = bytes.TrimSpace(text); readErr != nil || len(text) == 0 {
		return err
	}
	return fmt.Errorf("%w; it said: %s", err, text)
}

// One is what one process does: it burns CPU time and ends.
func One(burn time.Duration) {
	runtime.LockOSThread()
	work.NewMeter().Burn(int64(burn), new(work.Control))
}
