// Package serve is a service to be put under load: an HTTP server whose every
// request burns CPU and allocates, while the garbage collector has a heap to
// walk.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"cpulab/internal/clock"
	"cpulab/internal/facts"
	"cpulab/internal/ndjson"
	"cpulab/internal/rounds"
)

// Params say what the service is like.
type Params struct {
	Listen string        // host:port; port 0: any free one
	Name   string        // in the header of every answer
	Work   time.Duration // CPU time of one request
	Alloc  int64         // bytes that one request allocates
	Live   int64         // bytes that stay in use
}

// roundNS is how long a round lasts.
const roundNS = int64(time.Second)

type run struct {
	*service
	rounds *rounds.Recorder
	memory *memory
	last   counts
}

// counts are the totals at the end of a round.
type counts struct {
	atNS                               int64
	answered, abandoned, pings         int64
	cycles, allocated, heapLive, peakN int64
}

// Run serves until ctx ends and writes a round a second; reason names the cause
// for the end line.
func Run(ctx context.Context, p Params, out *ndjson.Writer, warn io.Writer, reason func() string) error {
	sleeper, err := clock.NewSleeper(ctx)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", p.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w (give an address of this machine and a free port, or port 0)", p.Listen, err)
	}
	defer listener.Close()
	r := &run{service: newService(p), memory: newMemory()}
	r.rounds = rounds.Open(out, warn, "serve", facts.Collect())
	if err := r.rounds.Hello(func(w *ndjson.Writer) { p.addTo(w) }); err != nil {
		return err
	}
	server := &http.Server{
		Handler:           r.handler(),
		ReadHeaderTimeout: 10 * time.Second,
		MaxHeaderBytes:    maxHeader,
		// Requests end with the program.
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(warn, "cpulab serve: ", 0),
	}
	defer server.Close()
	// Before the first request can come: it belongs to the first round.
	r.rounds.Begin()
	r.last = r.count()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	go r.breathe(ctx)

	out.Begin("ready")
	out.Str("address", listener.Addr().String())
	out.Str("name", p.Name)
	if err := out.End(); err != nil {
		return err
	}
	if err := r.loop(sleeper, failed); err != nil {
		return err
	}
	return r.rounds.End(reason(), nil)
}

func (p Params) addTo(w *ndjson.Writer) {
	w.Str("listen", p.Listen)
	w.Str("name", p.Name)
	w.Int("work_us", p.Work.Microseconds())
	w.Int("request_alloc_bytes", p.Alloc)
	w.Int("live_bytes", p.Live)
}

// loop writes a round a second, at absolute instants, until the sleeper's
// context ends; the last round is the rest.
func (r *run) loop(sleeper *clock.Sleeper, failed <-chan error) error {
	start := r.last.atNS
	for second := int64(1); ; {
		goOn := sleeper.Until(start + second*roundNS)
		if err := r.round(); err != nil {
			return err
		}
		if !goOn {
			return nil
		}
		select {
		case err := <-failed:
			if !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("the server cannot take connections any more: %w (start it again)", err)
			}
		default:
		}
		// Seconds that passed while the process stood still are not made up.
		second = max(second+1, (r.last.atNS-start)/roundNS+1)
	}
}

func (r *run) count() counts {
	r.memory.read()
	return counts{
		atNS:     clock.MonoNS(),
		answered: r.answered.Load(), abandoned: r.abandoned.Load(), pings: r.pings.Load(),
		cycles: r.memory.cycles(), allocated: r.memory.allocated(), heapLive: r.memory.live(),
		// Those under way now are the first of the next round's peak.
		peakN: r.peak.Swap(r.inFlight.Load()),
	}
}

// round writes what happened since the last one.
func (r *run) round() error {
	before, now := r.last, r.count()
	r.last = now
	return r.rounds.RoundSettled(rounds.Step{
		StartUS: before.atNS / 1000,
		WallUS:  (now.atNS - before.atNS) / 1000,
		More: func(w *ndjson.Writer) {
			w.Object("facts")
			w.Int("requests_count", now.answered-before.answered)
			w.Int("abandoned_count", now.abandoned-before.abandoned)
			w.Int("ping_count", now.pings-before.pings)
			w.Int("in_flight_max", now.peakN)
			w.Int("gc_count", now.cycles-before.cycles)
			w.Int("heap_bytes_max", now.heapLive)
			w.Int("alloc_bytes", now.allocated-before.allocated)
			w.EndObject()
		},
	})
}
