package work

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"cpulab/internal/clock"
)

// Crew is a fixed set of OS threads that burn CPU together, once per round.
// They are started once and wait parked, so a round's wall time has no thread
// starts in it, only the wake-up that any service pays for a request.
type Crew struct {
	workers []worker
	workNS  int64
	control Control
	busy    atomic.Int64
	done    chan struct{}
}

type worker struct {
	release chan struct{}
	// Written by the worker before it counts itself out, read after done.
	usedNS int64
	endNS  int64
}

// Burst is one round of a Crew.
type Burst struct {
	StartNS  int64 // CLOCK_MONOTONIC at release
	EndNS    int64 // CLOCK_MONOTONIC at the last finish
	CPUNS    int64 // thread CPU time, summed over the crew
	Complete bool  // false when it was abandoned
}

// NewCrew starts threads goroutines, each locked to an OS thread of its own,
// and returns when all of them wait for the first round.
func NewCrew(threads int, workNS int64) *Crew {
	c := &Crew{workers: make([]worker, threads), workNS: workNS, done: make(chan struct{}, 1)}
	var ready sync.WaitGroup
	ready.Add(threads)
	for i := range c.workers {
		w := &c.workers[i]
		w.release = make(chan struct{}, 1)
		go c.serve(w, &ready)
	}
	ready.Wait()
	return c
}

func (c *Crew) serve(w *worker, ready *sync.WaitGroup) {
	runtime.LockOSThread()
	meter := NewMeter()
	ready.Done()
	for range w.release {
		w.usedNS = meter.Burn(c.workNS, &c.control)
		w.endNS = clock.MonoNS()
		if c.busy.Add(-1) == 0 {
			c.done <- struct{}{}
		}
	}
}

// Run releases the crew and waits for its last worker. When ctx ends first the
// work is abandoned; Run still waits until every worker has noticed, which
// takes them one lap of CPU time.
func (c *Crew) Run(ctx context.Context) Burst {
	// Whoever ends ctx calls Abandon: this goroutine would first wait for its
	// turn among the workers.
	keep := context.AfterFunc(ctx, c.control.Abandon)
	rest := c.control.LetBreathe(len(c.workers))
	c.busy.Store(int64(len(c.workers)))
	b := Burst{StartNS: clock.MonoNS(), Complete: true}
	for i := range c.workers {
		c.workers[i].release <- struct{}{}
	}
	<-c.done
	rest()
	keep()
	for i := range c.workers {
		w := &c.workers[i]
		b.CPUNS += w.usedNS
		b.EndNS = max(b.EndNS, w.endNS)
		b.Complete = b.Complete && w.usedNS >= c.workNS
	}
	return b
}

// Close ends the crew's threads. It must not be called during Run.
func (c *Crew) Close() {
	for i := range c.workers {
		close(c.workers[i].release)
	}
}
