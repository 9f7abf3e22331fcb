package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"cpulab/internal/work"
)

// NameHeader says in every answer which server gave it.
const NameHeader = "X-Throttle-Lab-Server"

const (
	// A request carries nothing; these bound what a mistaken client can send.
	maxBody   = 64 << 10
	maxHeader = 16 << 10

	// Work is burned in slices. Between two of them a request looks whether it
	// should let others run; after so many it does so anyway, a little before
	// the scheduler would make it. In a slice the goroutine holds its thread,
	// and to switch between two that do takes two threads of the kernel.
	slice      = 250 * time.Microsecond
	turnSlices = 32

	// breathEvery bounds how long a crowd of requests delays the end of the
	// program: the goroutine that notices it queues behind all of them, 10 ms
	// each.
	breathEvery = 50 * time.Millisecond
)

// service is the state that the handlers share.
type service struct {
	params Params
	heap   *node // kept alive: the collector walks it in every cycle
	meters sync.Pool

	inFlight  atomic.Int64
	peak      atomic.Int64 // of inFlight since the last round
	answered  atomic.Int64
	abandoned atomic.Int64
	pings     atomic.Int64
	breath    atomic.Uint32
}

func newService(p Params) *service {
	s := &service{
		params: p,
		heap:   newHeap(p.Live),
		meters: sync.Pool{New: func() any { return work.NewMeter() }},
	}
	runtime.GC() // before the first one nobody knows how much is in use
	return s
}

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /work", s.work)
	mux.HandleFunc("GET /ping", s.ping)
	mux.HandleFunc("GET /stats", s.stats)
	named := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(NameHeader, s.params.Name)
		mux.ServeHTTP(w, r)
	})
	return http.MaxBytesHandler(named, maxBody)
}

var (
	answer    = []byte("ok\n")
	plainText = []string{"text/plain; charset=utf-8"}
)

func (s *service) ping(w http.ResponseWriter, _ *http.Request) {
	s.pings.Add(1)
	w.Header()["Content-Type"] = plainText
	_, _ = w.Write(answer) // a client that left is no fault of the server
}

func (s *service) work(w http.ResponseWriter, r *http.Request) {
	s.enter()
	defer s.inFlight.Add(-1)
	memory := allocate(s.params.Alloc)
	done := s.burn(r.Context())
	runtime.KeepAlive(memory) // in use for as long as the request is
	if !done {
		s.abandoned.Add(1)
		return
	}
	s.answered.Add(1)
	w.Header()["Content-Type"] = plainText
	_, _ = w.Write(answer)
}

// enter counts a request in and keeps the peak.
func (s *service) enter() {
	now := s.inFlight.Add(1)
	for peak := s.peak.Load(); now > peak; peak = s.peak.Load() {
		if s.peak.CompareAndSwap(peak, now) {
			return
		}
	}
}

// burn uses the CPU time of one request. It reports false when the client went
// away or the program ends: nobody waits for the answer any more.
func (s *service) burn(ctx context.Context) bool {
	meter := s.meters.Get().(*work.Meter)
	defer s.meters.Put(meter)
	var control work.Control
	defer context.AfterFunc(ctx, control.Abandon)()

	breath, slices := s.breath.Load(), 0
	for left := int64(s.params.Work); left > 0; {
		if ctx.Err() != nil {
			return false
		}
		// The thread's clock counts what runs on the thread: nothing else may.
		runtime.LockOSThread()
		left -= meter.Burn(min(left, int64(slice)), &control)
		runtime.UnlockOSThread()
		slices++
		if b := s.breath.Load(); b != breath || slices == turnSlices {
			breath, slices = b, 0
			runtime.Gosched()
		}
	}
	return true
}

// breathe makes the requests yield now and then while there are more of them
// than processors to run them, until ctx ends.
func (s *service) breathe(ctx context.Context) {
	ticker := time.NewTicker(breathEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if s.inFlight.Load() > int64(runtime.GOMAXPROCS(0)) {
				s.breath.Add(1)
			}
		case <-ctx.Done():
			return
		}
	}
}

// stats answers with the state of the server, for people.
func (s *service) stats(w http.ResponseWriter, _ *http.Request) {
	m := newMemory()
	m.read()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"name":            s.params.Name,
		"requests_count":  s.answered.Load(),
		"abandoned_count": s.abandoned.Load(),
		"ping_count":      s.pings.Load(),
		"in_flight":       s.inFlight.Load(),
		"heap_bytes":      m.live(),
		"gc_count":        m.cycles(),
		"gc_cpu_us":       m.gcCPUUS(),
		"alloc_bytes":     m.allocated(),
		"goroutines":      runtime.NumGoroutine(),
		"gomaxprocs":      runtime.GOMAXPROCS(0),
	})
}
