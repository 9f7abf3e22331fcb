// Package burst runs rounds of a burst: threads that wake together, burn the
// same CPU time each, and sleep until the next round.
package burst

import (
	"math/rand/v2"
	"time"
)

// Params say what to run.
type Params struct {
	Threads  int
	Work     time.Duration // CPU time of each thread in each round
	Interval time.Duration // from one round's planned start to the next
	Rounds   int
	Jitter   time.Duration // added to each planned start, uniform in [0, Jitter)
	Seed     uint64        // of the jitter
	Settle   Settle
}

// Settle is how long to wait after the last round's work before the counters
// count as settled.
type Settle struct {
	Auto bool // choose by the cgroup's period
	For  time.Duration
}

// schedule gives the planned starts. They are absolute, so that a late round
// does not move the ones after it.
type schedule struct {
	startNS    int64
	intervalNS int64
	jitterNS   int64
	random     *rand.Rand
}

func newSchedule(p Params, startNS int64) *schedule {
	return &schedule{
		startNS:    startNS,
		intervalNS: int64(p.Interval),
		jitterNS:   int64(p.Jitter),
		random:     rand.New(rand.NewPCG(p.Seed, 0)),
	}
}

// next returns the planned start of a round, counted from 0. It must be called
// once a round and in order: the jitter of a seed is a sequence.
func (s *schedule) next(round int) int64 {
	at := s.startNS + int64(round)*s.intervalNS
	if s.jitterNS > 0 {
		at += s.random.Int64N(s.jitterNS)
	}
	return at
}
