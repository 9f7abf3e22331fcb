// Package requests does small requests back to back on some threads and counts
// how long each took: what a pause does to the latency of a busy service.
package requests

import (
	"context"
	"io"
	"time"

	"cpulab/internal/clock"
	"cpulab/internal/facts"
	"cpulab/internal/hist"
	"cpulab/internal/ndjson"
	"cpulab/internal/opt"
	"cpulab/internal/rounds"
)

// Params say what to run.
type Params struct {
	Threads int
	Steps   int           // of a xorshift generator: the work of one request
	For     time.Duration // 0: until stopped
}

// report is how long a round is. It ends when every thread has ended the
// request that it was at, so it is a little longer. Where the time is over, the
// last one is shorter.
const report = time.Second

// run is one run in progress.
type run struct {
	params  Params
	rec     *rounds.Recorder
	crew    *crew
	startNS int64      // of the present round
	round   *hist.Hist // of the last round
	all     *hist.Hist // of all rounds
}

// Run does requests and writes a round for each second. It ends when the time
// is over or when ctx ends; reason names the cause for the end line. Requests
// after the last round of a run that was stopped are in no round and not in the
// measures of the end line.
func Run(ctx context.Context, p Params, out *ndjson.Writer, warn io.Writer, reason func() string) error {
	sleeper, err := clock.NewSleeper(ctx)
	if err != nil {
		return err
	}
	r := &run{
		params: p, round: hist.New(), all: hist.New(),
		rec: rounds.Open(out, warn, "requests", facts.Collect()),
	}
	if err := r.rec.Hello(p.addTo); err != nil {
		return err
	}
	plan := rounds.NewSchedule(clock.MonoNS(), report, p.For)
	r.crew = newCrew(p.Threads, p.Steps, plan.NextNS())
	err = r.crew.control.While(ctx, p.Threads, func() error {
		r.rec.Begin()
		r.startNS = plan.StartNS()
		return r.reports(ctx, sleeper, plan)
	})
	if err != nil {
		return err
	}
	if err := r.rec.Settle(); err != nil {
		return err
	}
	return r.rec.End(reason(), func(w *ndjson.Writer) { measures(w, r.all) })
}

// reports writes the rounds until the schedule or ctx ends.
func (r *run) reports(ctx context.Context, sleeper *clock.Sleeper, plan *rounds.Schedule) error {
	for sleeper.Until(plan.NextNS()) {
		cpuNS, ok := r.crew.collect(ctx, r.round)
		if !ok {
			return nil
		}
		now := clock.MonoNS()
		more := plan.Advance(now)
		r.crew.dueNS.Store(plan.NextNS())
		r.all.Merge(r.round)
		if err := r.report(now, cpuNS); err != nil || !more {
			return err
		}
	}
	return nil
}

func (r *run) report(nowNS, cpuNS int64) error {
	step := rounds.Step{
		StartUS: r.startNS / 1000,
		WallUS:  nowNS/1000 - r.startNS/1000,
		More: func(w *ndjson.Writer) {
			measures(w, r.round)
			w.Object("facts")
			w.Int("requests_count", r.round.N())
			w.Int("cpu_us", cpuNS/1000)
			w.EndObject()
		},
	}
	r.startNS = nowNS
	return r.rec.RoundSettled(step)
}

func measures(w *ndjson.Writer, h *hist.Hist) {
	w.Object("measures")
	h.WriteTo(w, "request_us", nil)
	w.EndObject()
}

func (p Params) addTo(w *ndjson.Writer) {
	w.Int("threads", int64(p.Threads))
	w.Int("steps", int64(p.Steps))
	w.Opt("for_us", opt.Int{N: p.For.Microseconds(), OK: p.For > 0})
	w.Int("report_us", report.Microseconds())
}
