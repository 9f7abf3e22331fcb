package load

import (
	"sync"

	"cpulab/internal/hist"
	"cpulab/internal/ndjson"
)

// kind tells the two kinds of requests apart.
type kind int

const (
	work kind = iota
	ping
	kinds = 2
)

// tally is the account of the requests that were scheduled in one round.
type tally struct {
	mu       sync.Mutex
	latency  [kinds]*hist.Hist // of those that were answered
	errors   [kinds]map[string]int64
	lag      *hist.Hist // how late the requests were handed over
	servers  map[string]*served
	ended    int64
	closed   bool // all of them were sent
	sent     int64
	workSent int64
	peak     int64 // most requests in flight

	counts  bool            // false for the warm-up
	changed chan<- struct{} // told when it is complete
}

// served is what one server answered.
type served struct{ responses, connections int64 }

func newTally(counts bool, changed chan<- struct{}) *tally {
	t := &tally{lag: hist.New(), servers: map[string]*served{}, counts: counts, changed: changed}
	for k := range t.latency {
		t.latency[k] = hist.New()
		t.errors[k] = map[string]int64{}
	}
	return t
}

func (t *tally) reset() {
	t.lag.Reset()
	for k := range t.latency {
		t.latency[k].Reset()
		clear(t.errors[k])
	}
	clear(t.servers)
	t.ended, t.sent, t.workSent, t.peak, t.closed = 0, 0, 0, 0, false
}

// outcome is how a request ended.
type outcome struct {
	kind      kind
	latencyUS int64
	lagUS     int64
	failure   string // "" for an answer
	server    string // empty when the answer does not say
	fresh     bool   // the connection's first counted answer
}

func (t *tally) end(o outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended++
	t.lag.Record(o.lagUS)
	if o.failure != "" {
		t.errors[o.kind][o.failure]++
	} else {
		t.latency[o.kind].Record(o.latencyUS)
		t.answeredBy(o)
	}
	t.tell()
}

func (t *tally) answeredBy(o outcome) {
	if o.server == "" {
		return
	}
	s := t.servers[o.server]
	if s == nil {
		s = &served{}
		t.servers[o.server] = s
	}
	s.responses++
	if o.fresh {
		s.connections++
	}
}

// close says that no more requests will be sent in this round.
func (t *tally) close(sent, workSent, peak int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed, t.sent, t.workSent, t.peak = true, sent, workSent, peak
	t.tell()
}

func (t *tally) tell() {
	if t.closed && t.ended == t.sent {
		select {
		case t.changed <- struct{}{}:
		default: // it will look anyway
		}
	}
}

// complete reports whether every request has ended.
func (t *tally) complete() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed && t.ended == t.sent
}

// merge adds a complete tally.
func (t *tally) merge(from *tally) {
	t.lag.Merge(from.lag)
	for k := range t.latency {
		t.latency[k].Merge(from.latency[k])
		for failure, n := range from.errors[k] {
			t.errors[k][failure] += n
		}
	}
	t.sent += from.sent
	t.workSent += from.workSent
}

// writeMeasures adds the latencies; no pings were asked for when withPing is
// false, and then they are not there instead of empty.
func (t *tally) writeMeasures(w *ndjson.Writer, withPing bool) {
	w.Object("measures")
	t.latency[work].WriteTo(w, "work_us", t.errors[work])
	if withPing {
		t.latency[ping].WriteTo(w, "ping_us", t.errors[ping])
	}
	t.lag.WriteTo(w, "lag_us", nil)
	w.EndObject()
}
