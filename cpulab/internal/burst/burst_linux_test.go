package burst

import (
	"errors"
	"testing"
	"time"

	"cpulab/internal/cgroup"
	"cpulab/internal/facts"
	"cpulab/internal/opt"
)

func TestScheduleIsAbsolute(t *testing.T) {
	s := newSchedule(Params{Interval: time.Second}, 500)
	for round := range 3 {
		if got, want := s.next(round), 500+int64(round)*1e9; got != want {
			t.Errorf("round %d at %d, want %d", round, got, want)
		}
	}
}

func TestScheduleJitter(t *testing.T) {
	p := Params{Interval: time.Second, Jitter: 100 * time.Millisecond, Seed: 7}
	a, b := newSchedule(p, 0), newSchedule(p, 0)
	p.Seed = 8
	other := newSchedule(p, 0)
	differs := false
	for round := range 100 {
		at := a.next(round)
		if again := b.next(round); again != at {
			t.Errorf("round %d: one seed gave %d and %d", round, at, again)
		}
		differs = differs || other.next(round) != at
		if offset := at - int64(round)*1e9; offset < 0 || offset >= 1e8 {
			t.Errorf("round %d: jitter %d ns", round, offset)
		}
	}
	if !differs {
		t.Error("another seed gave the same jitter")
	}
}

func TestSettleTime(t *testing.T) {
	limited := facts.Facts{Limit: cgroup.Limit{Quota: opt.Of(50000), Period: opt.Of(100000)}}
	unlimited := facts.Facts{Limit: cgroup.Limit{Period: opt.Of(100000)}}
	auto := Settle{Auto: true}
	for _, c := range []struct {
		settle Settle
		facts  facts.Facts
		want   time.Duration
	}{
		{auto, limited, 210 * time.Millisecond},
		{auto, unlimited, 10 * time.Millisecond},
		{auto, facts.Facts{OwnErr: errors.New("none")}, 10 * time.Millisecond},
		{Settle{For: time.Second}, limited, time.Second},
		{Settle{}, limited, 0},
	} {
		r := &run{params: Params{Settle: c.settle}}
		if got := r.settleTime(c.facts); got != c.want {
			t.Errorf("%+v with %+v: %v, want %v", c.settle, c.facts.Limit, got, c.want)
		}
	}
}

// TestProbeWithoutCgroup: the wall times are worth having without counters.
func TestProbeWithoutCgroup(t *testing.T) {
	p, err := newProbe(facts.Facts{OwnErr: errors.New("not mounted")})
	if err == nil {
		t.Error("want the reason")
	}
	before := p.read()
	d := p.read().sub(before)
	if d.counters != (cgroup.Counters{}) || d.windowUS < 0 {
		t.Errorf("delta %+v", d)
	}
}

func BenchmarkProbe(b *testing.B) {
	p, err := newProbe(facts.Collect())
	if err != nil {
		b.Skip(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		p.read()
	}
}
