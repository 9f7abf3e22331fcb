// Package arrive makes the schedules of an open loop: the instants at which
// requests are sent, whatever became of the ones before.
package arrive

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// Process is how the gaps between two arrivals come about.
type Process string

const (
	Poisson  Process = "poisson"  // independent users: gaps are exponential
	Constant Process = "constant" // one user with a clock: all gaps are equal
)

// Params say how requests arrive.
type Params struct {
	Process Process
	Rate    int // requests a second; 0: none
	Clump   int // requests that arrive in the same instant
	Seed    uint64
	Stream  uint64 // tells the schedules of one seed apart
	For     time.Duration
}

// String makes Process a flag.Value.
func (p *Process) String() string { return string(*p) }

// Set accepts the name of a process.
func (p *Process) Set(text string) error {
	switch Process(text) {
	case Poisson, Constant:
		*p = Process(text)
		return nil
	}
	return errors.New("allowed is poisson or constant")
}

// Schedule hands out the arrivals in their order. It depends on nothing but its
// parameters: the same seed gives the same instants.
type Schedule struct {
	params Params
	random *rand.Rand

	n       int64 // arrivals handed out
	instant float64
	next    int64 // ns
}

// New returns the schedule. The first arrival is at 0.
func New(p Params) *Schedule {
	if p.Clump < 1 {
		panic(fmt.Sprintf("a clump of %d requests", p.Clump))
	}
	return &Schedule{params: p, random: rand.New(rand.NewPCG(p.Seed, p.Stream))}
}

// Next returns the next arrival in nanoseconds from the start; ok is false when
// there is none before the end.
func (s *Schedule) Next() (ns int64, ok bool) {
	if s.params.Rate == 0 || s.next >= int64(s.params.For) {
		return 0, false
	}
	ns = s.next
	s.n++
	if s.n%int64(s.params.Clump) == 0 {
		s.next = s.after()
	}
	return ns, true
}

// after is the next instant. Clumps of k requests are k times rarer, so that
// the rate stays what it is.
func (s *Schedule) after() int64 {
	rate := int64(s.params.Rate)
	if s.params.Process == Constant {
		// From the count, so that no rounding adds up.
		return s.n/rate*int64(time.Second) + s.n%rate*int64(time.Second)/rate
	}
	// The exponential gap of a Poisson process, by inversion: -ln(u)/lambda. 1-u
	// is in (0, 1], where the logarithm is finite.
	gap := -math.Log(1-s.random.Float64()) * float64(s.params.Clump) / float64(rate)
	s.instant += gap * float64(time.Second)
	return int64(s.instant)
}
