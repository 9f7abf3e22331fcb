// Package rounds writes the lines of a run that works in rounds: hello, then
// round and settled in turn, then end. Each round carries the counters of the
// own cgroup over a window.
//
// Windows follow each other without a gap: the reading that settles one round
// begins the window of the next. So the settled rounds add up to the total.
package rounds

import (
	"fmt"
	"io"
	"time"

	"cpulab/internal/clock"
	"cpulab/internal/facts"
	"cpulab/internal/ndjson"
	"cpulab/internal/opt"
)

// Tick is one tick of the slowest kernel (HZ=100): enforcement and accounting
// are by tick.
const Tick = 10 * time.Millisecond

// Recorder numbers rounds, reads the own counters around them and writes the
// lines. It is not safe for concurrent use, and neither is its Writer: one
// goroutine does all the writing.
type Recorder struct {
	out   *ndjson.Writer
	facts facts.Facts
	probe *probe

	before  reading // at the last window's end, which is the next one's start
	total   delta   // of all closed windows
	begun   bool    // whether before holds a reading
	done    int     // rounds written
	pending bool    // whether the last round is not settled yet
	endUS   int64   // when that round ended
}

// Step is one round as the one who ran it knows it.
type Step struct {
	StartUS int64                // CLOCK_MONOTONIC
	WallUS  int64                // from StartUS to the end of the work
	LateUS  opt.Int              // how far behind its schedule it began; nothing without one
	More    func(*ndjson.Writer) // adds what only this kind has; may be nil
}

// Open opens the counters of the own cgroup. When that fails it warns, in the
// name of a command, and the counters of all lines are null.
func Open(out *ndjson.Writer, warn io.Writer, name string, f facts.Facts) *Recorder {
	p, err := newProbe(f)
	if err != nil {
		fmt.Fprintf(warn, "cpulab %s: no counters will be reported: %v\n", name, err)
	}
	if f.Own.Apart {
		fmt.Fprintf(warn, "cpulab %s: usage_us counts another cgroup than the other counters: join the cgroups of cpu and cpuacct both\n", name)
	}
	return &Recorder{out: out, facts: f, probe: p}
}

// Hello writes the first line: the facts of the process, then what more adds,
// which is the parameters of the command.
func (r *Recorder) Hello(more func(*ndjson.Writer)) error {
	monoUS, unixUS := clock.Pair()
	r.out.BeginAt("hello", monoUS)
	r.out.Int("unix_us", unixUS)
	r.facts.AddTo(r.out)
	more(r.out)
	return r.out.End()
}

// Begin takes the first reading, where the first window opens.
func (r *Recorder) Begin() {
	r.before, r.begun = r.probe.read(), true
	r.total = r.before.sub(r.before)
}

// Rounds is how many rounds were written.
func (r *Recorder) Rounds() int { return r.done }

// Round reads the counters and writes a round with what they grew by since its
// window began. The window stays open until Settle.
func (r *Recorder) Round(s Step) error {
	return r.writeRound(s, r.probe.read())
}

// Settle reads the counters once more, which closes the window and opens the
// next, and writes them as settled for the round before. Work that belongs to
// no round, because it was abandoned, goes into the total only. Before Begin
// there is nothing to settle.
func (r *Recorder) Settle() error {
	if !r.begun {
		return nil
	}
	return r.closeWindow(r.probe.read())
}

// RoundSettled is Round and Settle with a single reading, for rounds that
// follow each other without a pause.
func (r *Recorder) RoundSettled(s Step) error {
	now := r.probe.read()
	if err := r.writeRound(s, now); err != nil {
		return err
	}
	return r.closeWindow(now)
}

// End reports the whole, from the first reading to the last one; total is null
// when there was none. more may be nil.
func (r *Recorder) End(reason string, more func(*ndjson.Writer)) error {
	r.out.Begin("end")
	r.out.Str("reason", reason)
	r.out.Int("rounds", int64(r.done))
	if r.begun {
		r.out.Object("total")
		r.total.addTo(r.out)
		r.out.EndObject()
	} else {
		r.out.Null("total")
	}
	if more != nil {
		more(r.out)
	}
	return r.out.End()
}

// SettleTime is how long after the last work the counters are settled. The
// period timer books one more, idle period before it stops: two full periods
// after the last work everything is in the counters. Without a quota there are
// no periods to wait for.
func (r *Recorder) SettleTime() time.Duration {
	if l := r.facts.Limit; l.Quota.OK && l.Period.OK {
		return 2*time.Duration(l.Period.N)*time.Microsecond + Tick
	}
	return Tick
}

func (r *Recorder) writeRound(s Step, now reading) error {
	r.done++
	r.pending, r.endUS = true, s.StartUS+s.WallUS
	r.out.Begin("round")
	r.out.Int("round", int64(r.done))
	r.out.Int("start_us", s.StartUS)
	r.out.Int("wall_us", s.WallUS)
	r.out.Opt("late_us", s.LateUS)
	if s.More != nil {
		s.More(r.out)
	}
	now.sub(r.before).addTo(r.out)
	return r.out.End()
}

func (r *Recorder) closeWindow(now reading) error {
	d := now.sub(r.before)
	r.before = now
	r.total = r.total.add(d)
	if !r.pending {
		return nil
	}
	r.pending = false
	r.out.Begin("settled")
	r.out.Int("round", int64(r.done))
	// A load's round may be over in all its requests before its second is.
	settle := now.atUS - r.endUS
	r.out.Opt("settle_us", opt.Int{N: settle, OK: settle >= 0})
	d.addTo(r.out)
	return r.out.End()
}
