package load

import (
	"context"
	"time"

	"cpulab/internal/arrive"
	"cpulab/internal/opt"
)

// sender sends requests by a schedule, whatever becomes of them. It writes to
// idle connections itself: that does not block, and handing over to another
// goroutine would take longer.
type sender struct {
	client *client
	waiter *waiter
	spanNS int64 // of the schedule

	schedule [kinds]*arrive.Schedule
	next     [kinds]int64 // ns from the start; of those that have one
	more     [kinds]bool
}

// roundNS is the length of a round.
const roundNS = int64(time.Second)

// stream tells the schedules of one seed apart.
const (
	streamWork = iota
	streamPing
	streamWarmWork
	streamWarmPing
)

func newSender(c *client, w *waiter, p Params, warmup bool) *sender {
	params := arrive.Params{Process: p.Arrivals, Rate: p.Rate, Clump: p.Clump, Seed: p.Seed, Stream: streamWork, For: p.For}
	if warmup {
		params.Stream, params.For = streamWarmWork, p.Warmup
	}
	s := &sender{client: c, waiter: w, spanNS: int64(params.For)}
	s.schedule[work] = arrive.New(params)
	// What a ping waits for, not what a clump of pings makes.
	params.Rate, params.Clump = p.PingRate, 1
	params.Stream++
	s.schedule[ping] = arrive.New(params)
	for k := range s.schedule {
		s.advance(kind(k))
	}
	return s
}

func (s *sender) advance(k kind) { s.next[k], s.more[k] = s.schedule[k].Next() }

// due returns the kind that is due next and when; false when all were sent.
func (s *sender) due() (k kind, ns int64, ok bool) {
	switch {
	case s.more[work] && (!s.more[ping] || s.next[work] <= s.next[ping]):
		return work, s.next[work], true
	case s.more[ping]:
		return ping, s.next[ping], true
	}
	return 0, 0, false
}

// run sends everything and returns when the last request was handed over, or
// earlier with the waiter's context. open gives the account of the next round;
// rounds without requests have one too.
func (s *sender) run(startNS int64, rounds int64, open func() *tally) {
	lastNS := int64(0)
	for round := range rounds {
		t := open()
		did := sending{peak: s.client.inFlight.Load()}
		for {
			k, ns, ok := s.due()
			if !ok || ns >= (round+1)*roundNS && round+1 < rounds {
				break
			}
			if !s.waiter.until(startNS + ns) {
				return
			}
			did.peak = max(did.peak, s.client.send(request{kind: k, dueNS: startNS + ns, tally: t}))
			did.sent++
			if k == work {
				did.work++
			}
			lastNS = s.client.watch.now() - startNS
			s.advance(k)
		}
		if round+1 == rounds {
			did.overrunUS = opt.Of(max(0, lastNS-s.spanNS) / 1000)
		}
		t.close(did)
	}
}

// wait returns when a tally is complete or ctx ends.
func wait(ctx context.Context, t *tally, changed <-chan struct{}) bool {
	for !t.complete() {
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
	return true
}
