// Package spin keeps threads busy and reports at fixed instants how much CPU
// they got: what a weight or a limit lets through.
package spin

import (
	"context"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"cpulab/internal/clock"
	"cpulab/internal/facts"
	"cpulab/internal/ndjson"
	"cpulab/internal/opt"
	"cpulab/internal/rounds"
	"cpulab/internal/work"
)

// Params say what to run.
type Params struct {
	Threads int
	For     time.Duration // 0: until stopped; else at least Report
	Report  time.Duration // from one report to the next
}

// slice is how often a worker publishes what it burned and looks whether a
// report is due: what a report can miss of each thread.
const slice = 50 * time.Microsecond

// crew are the threads that spin.
type crew struct {
	workers []worker
	control work.Control
	dueNS   atomic.Int64 // instant of the next report
}

// worker is one thread. Each has cache lines of its own: they all write.
type worker struct {
	usedNS atomic.Int64 // CPU time since the thread began to spin
	_      [120]byte
}

// run is one run in progress.
type run struct {
	params  Params
	rec     *rounds.Recorder
	crew    *crew
	startNS int64 // of the present round
	usedNS  int64 // by the crew at that instant
}

// Run spins and writes a round for each report. It ends when the time is over
// or when ctx ends; reason names the cause for the end line. Rounds are whole
// reports, so that any of them compare: what was burned after the last one is
// in the total only.
func Run(ctx context.Context, p Params, out *ndjson.Writer, warn io.Writer, reason func() string) error {
	sleeper, err := clock.NewSleeper(ctx)
	if err != nil {
		return err
	}
	r := &run{params: p, rec: rounds.Open(out, warn, "spin", facts.Collect())}
	if err := r.rec.Hello(p.addTo); err != nil {
		return err
	}
	plan := rounds.NewSchedule(clock.MonoNS(), p.Report, p.For-p.For%p.Report)
	r.crew = newCrew(p.Threads, plan.NextNS())
	err = r.crew.control.While(ctx, p.Threads, func() error {
		r.rec.Begin()
		r.startNS = plan.StartNS()
		return r.reports(sleeper, plan)
	})
	if err != nil {
		return err
	}
	if err := r.rec.Settle(); err != nil {
		return err
	}
	return r.rec.End(reason(), nil)
}

// reports writes the rounds until the schedule ends, and waits until the time
// is over; the sleeper's context ends both.
func (r *run) reports(sleeper *clock.Sleeper, plan *rounds.Schedule) error {
	endNS := plan.StartNS() + int64(r.params.For)
	for {
		target := plan.NextNS()
		if !sleeper.Until(target) {
			return nil
		}
		now, used := clock.MonoNS(), r.crew.usedNS()
		more := plan.Advance(now)
		if more {
			r.crew.dueNS.Store(plan.NextNS())
		} else {
			r.crew.dueNS.Store(endNS)
		}
		if err := r.report(target, now, used); err != nil {
			return err
		}
		if !more {
			sleeper.Until(endNS)
			return nil
		}
	}
}

func (r *run) report(targetNS, nowNS, usedNS int64) error {
	burned := usedNS - r.usedNS
	step := rounds.Step{
		StartUS: r.startNS / 1000,
		WallUS:  nowNS/1000 - r.startNS/1000,
		LateUS:  opt.Of((nowNS - targetNS) / 1000),
		More: func(w *ndjson.Writer) {
			w.Object("facts")
			w.Int("cpu_us", burned/1000)
			w.EndObject()
		},
	}
	r.startNS, r.usedNS = nowNS, usedNS
	return r.rec.RoundSettled(step)
}

// newCrew starts the threads.
func newCrew(threads int, dueNS int64) *crew {
	c := &crew{workers: make([]worker, threads)}
	c.dueNS.Store(dueNS)
	for i := range c.workers {
		go c.spin(&c.workers[i])
	}
	return c
}

// spin burns until the work is abandoned. From the instant of a report on it
// yields between slices until the report was made: where every P of the Go
// scheduler has a worker, the reporter would wait up to 10 ms for its turn.
func (c *crew) spin(w *worker) {
	runtime.LockOSThread()
	meter := work.NewMeter()
	start := clock.ThreadCPUNS()
	for !c.control.Abandoned() {
		meter.Burn(int64(slice), &c.control)
		w.usedNS.Store(clock.ThreadCPUNS() - start)
		if clock.MonoNS() >= c.dueNS.Load() {
			runtime.Gosched()
		}
	}
}

func (c *crew) usedNS() (sum int64) {
	for i := range c.workers {
		sum += c.workers[i].usedNS.Load()
	}
	return sum
}

func (p Params) addTo(w *ndjson.Writer) {
	w.Int("threads", int64(p.Threads))
	w.Opt("for_us", opt.Int{N: p.For.Microseconds(), OK: p.For > 0})
	w.Int("report_us", p.Report.Microseconds())
}
