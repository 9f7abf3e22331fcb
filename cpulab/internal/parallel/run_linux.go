// Package parallel runs rounds of processes that start together and burn the
// same CPU time each, the way a build or a test runner does.
package parallel

import (
	"context"
	"io"
	"runtime"
	"time"

	"cpulab/internal/clock"
	"cpulab/internal/facts"
	"cpulab/internal/ndjson"
	"cpulab/internal/rounds"
)

// Params say what to run.
type Params struct {
	Processes int
	Work      time.Duration // CPU time that each process burns, beside its start
	Rounds    int
	Gap       time.Duration // off the CPU between two rounds, 0 for back to back
}

// run is one run in progress.
type run struct {
	params  Params
	sleeper *clock.Sleeper
	rec     *rounds.Recorder
	brood   *brood
	endNS   int64 // when the last complete round ended
}

// Run runs the rounds and writes their lines. It ends early when ctx ends;
// reason names that cause for the end line.
func Run(ctx context.Context, p Params, out *ndjson.Writer, warn io.Writer, reason func() string) error {
	sleeper, err := clock.NewSleeper(ctx)
	if err != nil {
		return err
	}
	brood, err := newBrood(p.Work)
	if err != nil {
		return err
	}
	defer brood.close()
	// The children are told to die with the thread that started them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := &run{
		params: p, sleeper: sleeper, brood: brood,
		rec: rounds.Open(out, warn, "parallel", facts.Collect()),
	}
	if err := r.rec.Hello(p.addTo); err != nil {
		return err
	}
	r.rec.Begin()
	if err := r.rounds(ctx); err != nil {
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

// rounds runs until all rounds are done or ctx ends. A round is settled before
// the next begins.
func (r *run) rounds(ctx context.Context) error {
	for left := r.params.Rounds; left > 0; left-- {
		b, err := r.brood.run(ctx, r.params.Processes)
		if ctx.Err() != nil {
			return nil // also when that is why a process failed
		}
		if err != nil {
			return err
		}
		r.endNS = b.endNS
		if err := r.rec.Round(b.step()); err != nil || left == 1 {
			return err
		}
		if !r.sleeper.Until(clock.MonoNS() + int64(r.params.Gap)) {
			return nil
		}
		if err := r.rec.Settle(); err != nil {
			return err
		}
	}
	return nil
}

func (b batch) step() rounds.Step {
	return rounds.Step{
		StartUS: b.startNS / 1000,
		WallUS:  (b.endNS - b.startNS) / 1000,
		More: func(w *ndjson.Writer) {
			w.Object("facts")
			w.Int("cpu_us", b.cpuNS/1000)
			w.EndObject()
		},
	}
}

func (p Params) addTo(w *ndjson.Writer) {
	w.Int("processes", int64(p.Processes))
	w.Int("work_us", p.Work.Microseconds())
	w.Int("rounds", int64(p.Rounds))
	w.Int("gap_us", p.Gap.Microseconds())
}
