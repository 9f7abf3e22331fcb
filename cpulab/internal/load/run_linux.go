// Package load calls a service in an open loop: requests are sent by a
// schedule, as users would, whether the ones before were answered or not. So a
// server that stands still makes them wait, and their latency, which counts
// from the scheduled instant, says so.
package load

import (
	"context"
	"io"
	"maps"
	"runtime"
	"slices"
	"time"

	"cpulab/internal/arrive"
	"cpulab/internal/clock"
	"cpulab/internal/facts"
	"cpulab/internal/ndjson"
	"cpulab/internal/rounds"
)

// Params say what to send.
type Params struct {
	To        []Target
	Rate      int // /work requests a second
	PingRate  int // /ping requests a second; 0: none
	Arrivals  arrive.Process
	Clump     int
	Seed      uint64
	Warmup    time.Duration // sent, but not counted
	For       time.Duration
	Timeout   time.Duration // from the scheduled instant
	KeepAlive bool
	Idle      int // connections kept open without a request
}

// lead is between the first reading and the first request, so that the line
// that is written between them makes no request late.
const lead = 3 * time.Millisecond

type run struct {
	params Params
	out    *ndjson.Writer
	rounds *rounds.Recorder
	client *client
	waiter *waiter

	changed chan struct{}
	opened  chan *tally // by the sender, in their order
	spare   chan *tally
	total   *tally
}

// Run sends until everything is sent and answered, or ctx ends; reason names
// the cause for the end line.
func Run(ctx context.Context, p Params, out *ndjson.Writer, warn io.Writer, reason func() string) error {
	// With a single processor for its goroutines the load would be late
	// whenever it writes a round; the kernel shares a CPU better than that.
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	client := newClient(ctx, p)
	waiter, err := newWaiter(ctx, client.watch)
	if err != nil {
		return err
	}
	// A tally can be opened for each second until the oldest times out.
	seconds := int64(p.Timeout/time.Second) + 4
	r := &run{
		params: p, out: out, client: client, waiter: waiter,
		rounds:  rounds.Open(out, warn, "load", facts.Collect()),
		changed: make(chan struct{}, 1),
		opened:  make(chan *tally, p.roundCount()),
		spare:   make(chan *tally, seconds),
	}
	r.total = newTally(true, r.changed)
	r.spare <- newTally(true, r.changed)
	r.spare <- newTally(true, r.changed)
	if err := r.rounds.Hello(p.addTo); err != nil {
		return err
	}
	if err := r.send(ctx); err != nil {
		return err
	}
	if err := r.warnings(); err != nil {
		return err
	}
	return r.rounds.End(reason(), func(w *ndjson.Writer) {
		r.total.writeMeasures(w, p.PingRate > 0)
	})
}

// roundCount is how many rounds there are; the last may be shorter.
func (p Params) roundCount() int64 { return (int64(p.For) + roundNS - 1) / roundNS }

func (p Params) addTo(w *ndjson.Writer) {
	w.Array("to")
	for _, t := range p.To {
		w.Str("", t.Text)
	}
	w.EndArray()
	w.Int("rate", int64(p.Rate))
	w.Int("ping_rate", int64(p.PingRate))
	w.Str("arrivals", string(p.Arrivals))
	w.Int("clump", int64(p.Clump))
	w.Int("seed", int64(p.Seed))
	w.Int("warmup_us", p.Warmup.Microseconds())
	w.Int("for_us", p.For.Microseconds())
	w.Int("timeout_us", p.Timeout.Microseconds())
	connections := "new"
	if p.KeepAlive {
		connections = "keep-alive"
	}
	w.Str("connections", connections)
	w.Int("idle", int64(p.Idle))
	w.Str("round_by", "scheduled") // a request belongs to the second it was due in
}

// send warms up, then sends what counts and writes its rounds.
func (r *run) send(ctx context.Context) error {
	if r.params.Warmup > 0 {
		warm := newTally(false, r.changed)
		s := newSender(r.client, r.waiter, r.params, true)
		from := clock.MonoNS()
		go s.run(from, 1, func() *tally { return warm })
		if !wait(ctx, warm, r.changed) || !r.waiter.until(from+int64(r.params.Warmup)) {
			return nil
		}
	}
	s := newSender(r.client, r.waiter, r.params, false)
	start := clock.MonoNS() + int64(lead)
	r.rounds.Begin()
	r.out.Begin("measuring")
	r.out.Int("at_us", start/1000)
	if err := r.out.End(); err != nil {
		return err
	}
	go s.run(start, r.params.roundCount(), r.open)
	for n := range r.params.roundCount() {
		if goOn, err := r.round(ctx, start, n); err != nil {
			return err
		} else if !goOn {
			// What was sent since then is in no round, only in the total.
			return r.rounds.Settle()
		}
	}
	return nil
}

// open hands the sender an account for the next round.
func (r *run) open() *tally {
	var t *tally
	select {
	case t = <-r.spare:
	default:
		t = newTally(true, r.changed)
	}
	r.opened <- t
	return t
}

// round writes one round when all of its requests have ended: that may be
// before its second is over, and a late answer makes it wait for at most the
// time-out. The counters are read then. It reports false when ctx ended first.
func (r *run) round(ctx context.Context, startNS, n int64) (bool, error) {
	var t *tally
	select {
	case t = <-r.opened:
	case <-ctx.Done():
		return false, nil
	}
	if !wait(ctx, t, r.changed) {
		return false, nil
	}
	err := r.rounds.RoundSettled(rounds.Step{
		StartUS: (startNS + n*roundNS) / 1000,
		WallUS:  min(roundNS, int64(r.params.For)-n*roundNS) / 1000,
		More:    func(w *ndjson.Writer) { t.addTo(w, r.params.PingRate > 0) },
	})
	r.total.merge(t)
	t.reset()
	select {
	case r.spare <- t:
	default: // there are enough
	}
	return true, err
}

// addTo adds what a round has of its own.
func (t *tally) addTo(w *ndjson.Writer, withPing bool) {
	t.writeMeasures(w, withPing)
	w.Object("facts")
	w.Int("sent_count", t.sending.sent)
	w.Int("work_sent_count", t.sending.work)
	w.Int("in_flight_max", t.sending.peak)
	if overrun := t.sending.overrunUS; overrun.OK {
		w.Int("overrun_us", overrun.N)
	}
	w.EndObject()
	w.Object("servers")
	for _, name := range slices.Sorted(maps.Keys(t.servers)) {
		w.Object(name)
		w.Int("responses", t.servers[name].responses)
		w.Int("connections", t.servers[name].connections)
		w.EndObject()
	}
	w.EndObject()
}
