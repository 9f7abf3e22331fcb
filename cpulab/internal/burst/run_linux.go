package burst

import (
	"context"
	"io"
	"time"

	"cpulab/internal/clock"
	"cpulab/internal/facts"
	"cpulab/internal/ndjson"
	"cpulab/internal/opt"
	"cpulab/internal/rounds"
	"cpulab/internal/work"
)

// The settled counters of a round are read this long before the next release:
// late enough to see every period, early enough that writing the line does not
// make the release late.
const lead = 300 * time.Microsecond

// run is one run in progress.
type run struct {
	params  Params
	sleeper *clock.Sleeper
	crew    *work.Crew
	rec     *rounds.Recorder
	endNS   int64 // when the last complete round ended, 0 before
}

// Run runs the rounds and writes their lines. It ends early, and says why, when
// ctx ends; reason names that cause for the end line.
func Run(ctx context.Context, p Params, out *ndjson.Writer, warn io.Writer, reason func() string) error {
	sleeper, err := clock.NewSleeper(ctx)
	if err != nil {
		return err
	}
	r := &run{
		params: p, sleeper: sleeper,
		rec:  rounds.Open(out, warn, "burst", facts.Collect()),
		crew: work.NewCrew(p.Threads, int64(p.Work)),
	}
	defer r.crew.Close()
	if err := r.rec.Hello(p.addTo); err != nil {
		return err
	}
	if err := r.rounds(ctx); err != nil {
		return err
	}
	if err := r.settle(); err != nil {
		return err
	}
	return r.rec.End(reason(), nil)
}

// rounds runs until all rounds are done or ctx ends.
func (r *run) rounds(ctx context.Context) error {
	plan := newSchedule(r.params, clock.MonoNS()+int64(lead))
	for round := range r.params.Rounds {
		target := plan.next(round)
		if !r.sleeper.Until(target - int64(lead)) {
			return nil
		}
		if err := r.nextWindow(); err != nil {
			return err
		}
		if !r.sleeper.Until(target) {
			return nil
		}
		burst := r.crew.Run(ctx)
		if !burst.Complete {
			return nil
		}
		r.endNS = burst.EndNS
		if err := r.rec.Round(step(burst, target)); err != nil {
			return err
		}
	}
	return nil
}

// nextWindow opens the window of the next round and settles the one before.
func (r *run) nextWindow() error {
	if r.endNS == 0 {
		r.rec.Begin()
		return nil
	}
	return r.rec.Settle()
}

// settle waits for the kernel to book the last round's periods, and closes the
// last window. A run that was stopped does not wait; settle_us tells.
func (r *run) settle() error {
	if r.endNS != 0 {
		wait := r.params.Settle.For
		if r.params.Settle.Auto {
			wait = r.rec.SettleTime()
		}
		r.sleeper.Until(r.endNS + int64(wait))
	}
	return r.rec.Settle()
}

func step(b work.Burst, targetNS int64) rounds.Step {
	return rounds.Step{
		StartUS: b.StartNS / 1000,
		WallUS:  (b.EndNS - b.StartNS) / 1000,
		LateUS:  opt.Of(max(0, b.StartNS-targetNS) / 1000),
		More:    func(w *ndjson.Writer) { w.Int("cpu_us", b.CPUNS/1000) },
	}
}

func (p Params) addTo(w *ndjson.Writer) {
	w.Int("threads", int64(p.Threads))
	w.Int("work_us", p.Work.Microseconds())
	w.Int("interval_us", p.Interval.Microseconds())
	w.Int("rounds", int64(p.Rounds))
	w.Int("jitter_us", p.Jitter.Microseconds())
	w.Int("seed", int64(p.Seed))
	w.Opt("settle_us", opt.Int{N: p.Settle.For.Microseconds(), OK: !p.Settle.Auto})
}
