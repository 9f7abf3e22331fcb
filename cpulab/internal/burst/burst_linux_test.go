package burst

import (
	"testing"
	"time"
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
