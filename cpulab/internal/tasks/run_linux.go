// Package tasks runs tasks one after another on one thread: each burns the same
// CPU time. Tasks without a gap meet a quota wherever their CPU time adds up to
// it, which is what a queue of work does.
package tasks

import (
	"context"
	"io"
	"runtime"
	"time"

	"cpulab/internal/clock"
	"cpulab/internal/facts"
	"cpulab/internal/host"
	"cpulab/internal/ndjson"
	"cpulab/internal/rounds"
	"cpulab/internal/work"
)

// Params say what to run.
type Params struct {
	Work  time.Duration // CPU time of each task
	Count int
	Gap   time.Duration // off the CPU between two tasks, 0 for back to back
}

// run is one run in progress.
type run struct {
	params  Params
	sleeper *clock.Sleeper
	rec     *rounds.Recorder
	meter   *work.Meter
	control work.Control
	endNS   int64 // when the last complete task ended
}

// Run does the tasks and writes a round for each. It ends early when ctx ends;
// reason names that cause for the end line.
//
// One thread does it all: what a round costs to read and to write is paid
// between two tasks, and not by a second thread from the same quota. The
// runtime's own threads stay on that thread's CPU, as in a program of one thread:
// see host.StayOnThisCPU.
func Run(ctx context.Context, p Params, out *ndjson.Writer, warn io.Writer, reason func() string) error {
	sleeper, err := clock.NewSleeper(ctx)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := &run{
		params: p, sleeper: sleeper, meter: work.NewMeter(),
		rec: rounds.Open(out, warn, "tasks", facts.Collect()),
	}
	defer context.AfterFunc(ctx, r.control.Abandon)()
	cpu, err := host.StayOnThisCPU()
	if err != nil {
		return err
	}
	err = r.rec.Hello(func(w *ndjson.Writer) {
		p.addTo(w)
		w.Int("on_cpu", int64(cpu))
	})
	if err != nil {
		return err
	}
	r.rec.Begin()
	if err := r.tasks(); err != nil {
		return err
	}
	if r.rec.Rounds() > 0 {
		r.sleeper.Until(r.endNS + int64(r.rec.SettleTime()))
	}
	if err := r.rec.Settle(); err != nil {
		return err
	}
	return r.rec.End(reason(), nil)
}

// tasks runs until all are done or the work is abandoned. Each task but the
// last is settled before the next begins.
func (r *run) tasks() error {
	for left := r.params.Count; left > 0; left-- {
		start := clock.MonoNS()
		used := r.meter.Burn(int64(r.params.Work), &r.control)
		r.endNS = clock.MonoNS()
		if used < int64(r.params.Work) {
			return nil
		}
		step := rounds.Step{
			StartUS: start / 1000,
			WallUS:  (r.endNS - start) / 1000,
			More: func(w *ndjson.Writer) {
				w.Object("facts")
				w.Int("cpu_us", used/1000)
				w.EndObject()
			},
		}
		more, err := r.record(step, left == 1)
		if !more || err != nil {
			return err
		}
	}
	return nil
}

// record writes a task and waits for the next one's time; more tells whether
// there is a next one.
func (r *run) record(step rounds.Step, last bool) (more bool, err error) {
	switch {
	case last:
		return false, r.rec.Round(step)
	case r.params.Gap == 0:
		return true, r.rec.RoundSettled(step)
	}
	if err := r.rec.Round(step); err != nil {
		return false, err
	}
	if !r.sleeper.Until(clock.MonoNS() + int64(r.params.Gap)) {
		return false, nil
	}
	return true, r.rec.Settle()
}

func (p Params) addTo(w *ndjson.Writer) {
	w.Int("work_us", p.Work.Microseconds())
	w.Int("count", int64(p.Count))
	w.Int("gap_us", p.Gap.Microseconds())
}
