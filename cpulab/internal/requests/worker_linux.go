package requests

import (
	"context"
	"runtime"
	"sync/atomic"

	"cpulab/internal/clock"
	"cpulab/internal/hist"
	"cpulab/internal/work"
)

// piece is how many steps a worker makes before it looks whether it shall stop:
// some 30 us.
const piece = 1 << 14

// crew are the threads that do requests.
type crew struct {
	steps   int
	workers []worker
	control work.Control
	epoch   atomic.Int64 // counts the rounds: a worker that sees a new one hands over
	dueNS   atomic.Int64 // instant at which the round is to end
	handed  chan handover
}

// worker is one thread. Between two epochs it shares nothing: its histogram is
// its own, so that counting a request takes no lock.
type worker struct {
	spare *hist.Hist // empty, for the next round; set before the epoch moves
	_     [120]byte
}

// handover is what one worker did in a round.
type handover struct {
	worker *worker
	counts *hist.Hist // latencies in microseconds
	cpuNS  int64      // thread CPU time since its last handover
}

func newCrew(threads, steps int, dueNS int64) *crew {
	c := &crew{steps: steps, workers: make([]worker, threads), handed: make(chan handover, threads)}
	c.dueNS.Store(dueNS)
	for i := range c.workers {
		c.workers[i].spare = hist.New()
		go c.serve(&c.workers[i])
	}
	return c
}

// serve does one request after another until the work is abandoned. The one
// that is abandoned is not counted.
func (c *crew) serve(w *worker) {
	runtime.LockOSThread()
	counts, epoch, cpu := hist.New(), int64(0), clock.ThreadCPUNS()
	state, breath := uint64(work.Seed), uint32(0)
	for {
		if now := c.epoch.Load(); now != epoch {
			used := clock.ThreadCPUNS()
			// The spare one first: what is handed over comes back as the next.
			next := w.spare
			c.handed <- handover{w, counts, used - cpu} // has room for all
			counts, epoch, cpu = next, now, used
		}
		start := clock.MonoNS()
		for left := c.steps; left > 0; left -= piece {
			state = work.Spin(state, min(left, piece))
			if c.control.Abandoned() {
				return
			}
			breath = c.control.Breathed(breath)
		}
		end := clock.MonoNS()
		counts.Record((end - start) / 1000)
		if end >= c.dueNS.Load() {
			// Where every P of the Go scheduler has a worker, the reporter would
			// wait up to 10 ms for its turn.
			runtime.Gosched()
		}
	}
}

// collect ends the round: it asks every worker for what it did, each at the end
// of its present request, and adds it up in sum. It reports false when ctx
// ended first.
func (c *crew) collect(ctx context.Context, sum *hist.Hist) (cpuNS int64, ok bool) {
	c.epoch.Add(1)
	sum.Reset()
	for range c.workers {
		select {
		case h := <-c.handed:
			sum.Merge(h.counts)
			cpuNS += h.cpuNS
			h.counts.Reset()
			h.worker.spare = h.counts
		case <-ctx.Done():
			return 0, false
		}
	}
	return cpuNS, true
}
