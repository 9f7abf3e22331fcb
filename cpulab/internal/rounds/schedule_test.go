package rounds

import (
	"testing"
	"time"
)

func TestSchedule(t *testing.T) {
	const ms = int64(time.Millisecond)
	type step struct {
		endedMS, nextMS int64 // nextMS 0: it was the last one
	}
	for name, c := range map[string]struct {
		every, span time.Duration
		steps       []step
	}{
		"on time":              {100 * time.Millisecond, 0, []step{{0, 100}, {100, 200}, {200, 300}}},
		"late does not add up": {100 * time.Millisecond, 0, []step{{0, 100}, {130, 200}, {201, 300}}},
		"passed are left out":  {100 * time.Millisecond, 0, []step{{0, 100}, {350, 400}, {400, 500}}},
		"the last is shorter":  {100 * time.Millisecond, 250 * time.Millisecond, []step{{0, 100}, {101, 200}, {202, 250}, {250, 0}}},
		"the end passed":       {100 * time.Millisecond, 250 * time.Millisecond, []step{{0, 100}, {300, 0}}},
		"one short round":      {time.Second, 250 * time.Millisecond, []step{{0, 250}, {251, 0}}},
		"an exact end":         {100 * time.Millisecond, 200 * time.Millisecond, []step{{0, 100}, {100, 200}, {200, 0}}},
	} {
		const start = 7 * ms
		s := NewSchedule(start, c.every, c.span)
		for i, step := range c.steps {
			more := i == 0 || s.Advance(start+step.endedMS*ms)
			if more != (step.nextMS > 0) || more && s.NextNS() != start+step.nextMS*ms {
				t.Errorf("%s: after %d ms: %v, next %d ns", name, step.endedMS, more, s.NextNS()-start)
			}
		}
		if s.StartNS() != start {
			t.Errorf("%s: start %d", name, s.StartNS())
		}
	}
}
