package load

import (
	"sync"

	"cpulab/internal/hist"
	"cpulab/internal/ndjson"
	"cpulab/internal/opt"
)

// kind tells the two kinds of requests apart.
type kind int

const (
	work kind = iota
	ping
	kinds = 2
)

// paths are what the kinds of requests ask for.
var paths = [kinds]string{work: "/work", ping: "/ping"}

// tally is the account of the requests that were scheduled in one round.
type tally struct {
	mu      sync.Mutex
	latency [kinds]*hist.Hist // of those that were answered
	errors  [kinds]map[string]int64
	lag     [kinds]*hist.Hist // how late the requests were handed over
	servers map[string]*served
	ended   int64
	closed  bool // all of them were sent
	sending sending

	counts  bool            // false for the warm-up
	changed chan<- struct{} // told when it is complete
}

// sending is what the sender did in a round.
type sending struct {
	sent      int64
	work      int64   // of them /work requests
	peak      int64   // most requests in flight
	overrunUS opt.Int // how long it went on after the end of the schedule; of the last round only
}

// served is what one server answered.
type served struct{ responses, connections int64 }

func newTally(counts bool, changed chan<- struct{}) *tally {
	t := &tally{servers: map[string]*served{}, counts: counts, changed: changed}
	for k := range t.latency {
		t.latency[k], t.lag[k] = hist.New(), hist.New()
		t.errors[k] = map[string]int64{}
	}
	return t
}

func (t *tally) reset() {
	for k := range t.latency {
		t.latency[k].Reset()
		t.lag[k].Reset()
		clear(t.errors[k])
	}
	clear(t.servers)
	t.ended, t.closed, t.sending = 0, false, sending{}
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
	t.lag[o.kind].Record(o.lagUS)
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
func (t *tally) close(s sending) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed, t.sending = true, s
	t.tell()
}

func (t *tally) tell() {
	if t.closed && t.ended == t.sending.sent {
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
	return t.closed && t.ended == t.sending.sent
}

// merge adds a complete tally.
func (t *tally) merge(from *tally) {
	for k := range t.latency {
		t.latency[k].Merge(from.latency[k])
		t.lag[k].Merge(from.lag[k])
		for failure, n := range from.errors[k] {
			t.errors[k][failure] += n
		}
	}
	t.sending.sent += from.sending.sent
	t.sending.work += from.sending.work
	if from.sending.overrunUS.OK { // of the last one
		t.sending.overrunUS = from.sending.overrunUS
	}
}

// writeMeasures adds the latencies; no pings were asked for when withPing is
// false, and then they are not there instead of empty.
func (t *tally) writeMeasures(w *ndjson.Writer, withPing bool) {
	w.Object("measures")
	t.latency[work].WriteTo(w, "work_us", t.errors[work])
	if withPing {
		t.latency[ping].WriteTo(w, "ping_us", t.errors[ping])
	}
	lag := hist.New()
	for _, of := range t.lag {
		lag.Merge(of)
	}
	lag.WriteTo(w, "lag_us", nil)
	w.EndObject()
}
