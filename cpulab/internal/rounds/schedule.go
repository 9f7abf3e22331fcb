package rounds

import (
	"math"
	"time"
)

// Schedule gives the instants at which rounds that follow each other end. They
// are absolute: a round that ended late does not move the ones after it. Those
// that passed meanwhile are left out, so that no round is empty.
type Schedule struct {
	startNS int64
	everyNS int64
	endNS   int64 // math.MaxInt64 without an end
	nextNS  int64
}

// NewSchedule returns a schedule from the instant startNS of CLOCK_MONOTONIC on,
// with a round each every. It ends after span, with a shorter round if need be;
// a span of 0 has no end.
func NewSchedule(startNS int64, every, span time.Duration) *Schedule {
	s := &Schedule{startNS: startNS, everyNS: int64(every), endNS: math.MaxInt64}
	if span > 0 {
		s.endNS = startNS + int64(span)
	}
	s.nextNS = min(startNS+s.everyNS, s.endNS)
	return s
}

// StartNS is when the first round begins.
func (s *Schedule) StartNS() int64 { return s.startNS }

// NextNS is when the present round is to end.
func (s *Schedule) NextNS() int64 { return s.nextNS }

// Advance goes on to the first instant after nowNS, at which a round ended. It
// reports false when that was the last one.
func (s *Schedule) Advance(nowNS int64) bool {
	if nowNS >= s.endNS {
		return false
	}
	passed := (nowNS - s.startNS) / s.everyNS
	s.nextNS = min(s.startNS+(passed+1)*s.everyNS, s.endNS)
	return true
}
