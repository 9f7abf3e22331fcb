package burst

import (
	"context"
	"fmt"
	"io"
	"time"

	"cpulab/internal/clock"
	"cpulab/internal/facts"
	"cpulab/internal/ndjson"
	"cpulab/internal/opt"
	"cpulab/internal/work"
)

const (
	// The settled counters of a round are read this long before the next
	// release: late enough to see every period, early enough that writing the
	// line does not make the release late.
	lead = 300 * time.Microsecond

	// One tick of the slowest kernel (HZ=100): enforcement and accounting are
	// by tick.
	tick = 10 * time.Millisecond
)

// run is one run in progress.
type run struct {
	params  Params
	out     *ndjson.Writer
	sleeper *clock.Sleeper
	crew    *work.Crew
	probe   *probe

	before reading  // at the last window's end, which is the next one's start
	total  delta    // of all closed windows
	opened bool     // whether before holds a reading
	done   int      // rounds completed
	last   burstEnd // of the round that is not settled yet
}

type burstEnd struct {
	pending bool
	endNS   int64
}

// Run runs the rounds and writes their lines. It ends early, and says why, when
// ctx ends; reason names that cause for the end line.
func Run(ctx context.Context, p Params, out *ndjson.Writer, warn io.Writer, reason func() string) error {
	sleeper, err := clock.NewSleeper(ctx)
	if err != nil {
		return err
	}
	f := facts.Collect()
	probe, err := newProbe(f)
	if err != nil {
		fmt.Fprintf(warn, "cpulab burst: no counters will be reported: %v\n", err)
	}
	if f.Own.Apart {
		fmt.Fprintln(warn, "cpulab burst: usage_us counts another cgroup than the other counters: join the cgroups of cpu and cpuacct both")
	}
	r := &run{
		params: p, out: out, sleeper: sleeper, probe: probe,
		crew: work.NewCrew(p.Threads, int64(p.Work)),
	}
	defer r.crew.Close()
	if err := r.hello(f); err != nil {
		return err
	}
	if err := r.rounds(ctx); err != nil {
		return err
	}
	if err := r.settle(r.settleTime(f)); err != nil {
		return err
	}
	return r.end(reason())
}

// rounds runs until all rounds are done or ctx ends.
func (r *run) rounds(ctx context.Context) error {
	plan := newSchedule(r.params, clock.MonoNS()+int64(lead))
	for round := range r.params.Rounds {
		target := plan.next(round)
		if !r.sleeper.Until(target - int64(lead)) {
			return nil
		}
		if err := r.closeWindow(); err != nil {
			return err
		}
		if !r.sleeper.Until(target) {
			return nil
		}
		burst := r.crew.Run(ctx)
		after := r.probe.read()
		if !burst.Complete {
			return nil
		}
		r.done++
		r.last = burstEnd{pending: true, endNS: burst.EndNS}
		if err := r.round(burst, target, after); err != nil {
			return err
		}
	}
	return nil
}

// settle waits for the kernel to book the last round's periods, and closes the
// last window. A run that was stopped does not wait; settle_us tells.
func (r *run) settle(wait time.Duration) error {
	if r.last.pending {
		r.sleeper.Until(r.last.endNS + int64(wait))
	}
	if r.opened {
		return r.closeWindow()
	}
	return nil
}

// settleTime is the wait after the last work. The period timer books one more,
// idle period before it stops: two full periods after the last work everything
// is in the counters. Without a quota there are no periods to wait for.
func (r *run) settleTime(f facts.Facts) time.Duration {
	switch {
	case !r.params.Settle.Auto:
		return r.params.Settle.For
	case f.Limit.Quota.OK && f.Limit.Period.OK:
		return 2*time.Duration(f.Limit.Period.N)*time.Microsecond + tick
	default:
		return tick
	}
}

// closeWindow takes the reading that ends one window and starts the next, so
// that the settled deltas add up to the total.
func (r *run) closeWindow() error {
	now := r.probe.read()
	d := now.sub(r.before)
	first := !r.opened
	r.before, r.opened = now, true
	if first {
		r.total = now.sub(now)
		return nil
	}
	r.total = r.total.add(d)
	if !r.last.pending {
		return nil // the work of an abandoned round: in the total only
	}
	r.last.pending = false
	r.out.Begin("settled")
	r.out.Int("round", int64(r.done))
	r.out.Int("settle_us", now.atUS-r.last.endNS/1000)
	d.addTo(r.out)
	return r.out.End()
}

func (r *run) round(b work.Burst, targetNS int64, after reading) error {
	r.out.Begin("round")
	r.out.Int("round", int64(r.done))
	r.out.Int("start_us", b.StartNS/1000)
	r.out.Int("wall_us", (b.EndNS-b.StartNS)/1000)
	r.out.Int("late_us", max(0, b.StartNS-targetNS)/1000)
	r.out.Int("cpu_us", b.CPUNS/1000)
	after.sub(r.before).addTo(r.out)
	return r.out.End()
}

func (r *run) hello(f facts.Facts) error {
	monoUS, unixUS := clock.Pair()
	r.out.BeginAt("hello", monoUS)
	r.out.Int("unix_us", unixUS)
	f.AddTo(r.out)
	p := r.params
	r.out.Int("threads", int64(p.Threads))
	r.out.Int("work_us", p.Work.Microseconds())
	r.out.Int("interval_us", p.Interval.Microseconds())
	r.out.Int("rounds", int64(p.Rounds))
	r.out.Int("jitter_us", p.Jitter.Microseconds())
	r.out.Int("seed", int64(p.Seed))
	r.out.Opt("settle_us", opt.Int{N: p.Settle.For.Microseconds(), OK: !p.Settle.Auto})
	return r.out.End()
}

// end reports the whole: from the first reading to the last, null when there
// was none.
func (r *run) end(reason string) error {
	r.out.Begin("end")
	r.out.Str("reason", reason)
	r.out.Int("rounds", int64(r.done))
	if r.opened {
		r.out.Object("total")
		r.total.addTo(r.out)
		r.out.EndObject()
	} else {
		r.out.Null("total")
	}
	return r.out.End()
}
