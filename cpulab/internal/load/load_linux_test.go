package load

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// TestLatencyCountsFromTheSchedule: a server that does one request at a time
// and takes 300 ms makes later ones wait; a loop that waited for answers would
// see 300 ms for each.
func TestLatencyCountsFromTheSchedule(t *testing.T) {
	var turn sync.Mutex
	s := server(t, "slow", func(w http.ResponseWriter, r *http.Request) {
		turn.Lock()
		defer turn.Unlock()
		<-time.After(300 * time.Millisecond)
		ok(w, r)
	})
	p := usual(s.URL)
	p.Rate = 10
	r := drive(t, p)
	got := r.end.Measures["work_us"]
	// Ten requests in a second, three seconds of work: the last one, due at
	// 0.9 s, is answered at 3 s or later.
	if got.N != 10 || *got.Max < 2_100_000 || got.at(t, 50) < 1_000_000 {
		t.Errorf("%d answers, p50 %d us, max %d us", got.N, got.at(t, 50), *got.Max)
	}
	if lag := r.end.Measures["lag_us"]; lag.N != 10 {
		t.Errorf("lag of %d requests", lag.N)
	}
	if len(r.rounds) != 1 || r.rounds[0].Facts["in_flight_max"] < 7 {
		t.Errorf("rounds %+v", r.rounds)
	}
}

func TestTimeoutsAreNoLatencies(t *testing.T) {
	hang := make(chan struct{})
	s := server(t, "hung", func(http.ResponseWriter, *http.Request) { <-hang })
	t.Cleanup(func() { close(hang) })
	for _, keepAlive := range []bool{true, false} {
		p := usual(s.URL)
		p.Timeout, p.KeepAlive = 200*time.Millisecond, keepAlive
		r := drive(t, p)
		work := r.end.Measures["work_us"]
		if work.N != 0 || work.Max != nil || work.Errors["timeout"] != 50 || len(work.Errors) != 1 {
			t.Errorf("keep-alive %v: %+v", keepAlive, work)
		}
		if len(r.servers()) != 0 || r.rounds[0].Facts["work_sent_count"] != 50 {
			t.Errorf("servers %v, round %+v", r.servers(), r.rounds[0])
		}
	}
}

func TestFailuresByKind(t *testing.T) {
	closed := server(t, "x", ok)
	closed.Close()
	status := server(t, "x", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	chunked := server(t, "x", func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() })
	for _, c := range []struct{ url, failure string }{
		{closed.URL, "refused"},
		{status.URL, "status_5xx"},
		{raw(t, func(c *net.TCPConn) { c.Close() }), "closed"},
		{raw(t, func(c *net.TCPConn) { _ = c.SetLinger(0); c.Close() }), "reset"},
		{chunked.URL, "other"},
	} {
		r := drive(t, usual(c.url))
		work := r.end.Measures["work_us"]
		if work.N != 0 || work.Errors[c.failure] != 50 {
			t.Errorf("want %s: %+v", c.failure, work)
		}
		named := !strings.Contains(strings.Join(r.warnings, " "), "chunked")
		if named == (c.failure == "other") {
			t.Errorf("%s: warnings %q", c.failure, r.warnings)
		}
	}
}

// raw serves connections without HTTP: it reads a request, then end it is.
func raw(t *testing.T, end func(*net.TCPConn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = c.Read(make([]byte, 4096))
				end(c.(*net.TCPConn))
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// TestClump: fifty requests that are due in one instant are sent together. The
// server answers none of them before it has all fifty.
func TestClump(t *testing.T) {
	var mu sync.Mutex
	arrivals, crowd, together := 0, 0, make(chan struct{})
	s := server(t, "x", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		arrivals++
		mu.Unlock()
		if r.URL.Path != "/work" {
			ok(w, r)
			return
		}
		mu.Lock()
		crowd++
		mine := together
		if crowd == 50 {
			crowd, together = 0, make(chan struct{})
			close(mine)
		}
		mu.Unlock()
		<-mine
		ok(w, r)
	})
	p := usual(s.URL)
	p.Rate, p.Clump, p.PingRate = 50, 50, 5
	p.Warmup = time.Second // so that fifty connections are there
	r := drive(t, p)
	work, ping := r.end.Measures["work_us"], r.end.Measures["ping_us"]
	if work.N != 50 || ping.N != 5 {
		t.Fatalf("%d requests, %d pings", work.N, ping.N)
	}
	if r.rounds[0].Facts["in_flight_max"] < 50 {
		t.Errorf("facts %v", r.rounds[0].Facts)
	}
	if arrivals != 110 {
		t.Errorf("%d arrivals", arrivals)
	}
}

// connections counts those that a server accepted.
func connections(t *testing.T, name string) (s *httptest.Server, count *atomic.Int64) {
	t.Helper()
	count = new(atomic.Int64)
	s = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Throttle-Lab-Server", name)
		ok(w, r)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			count.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s, count
}

func TestConnections(t *testing.T) {
	s, count := connections(t, "one")
	r := drive(t, usual(s.URL))
	kept := count.Load()
	if got := r.servers()["one"]; got != [2]int64{50, kept} || kept > 25 {
		t.Errorf("keep-alive: %v, the server counted %d connections", got, kept)
	}
	p := usual(s.URL)
	p.KeepAlive = false
	r = drive(t, p)
	if got := r.servers()["one"]; got != [2]int64{50, 50} || count.Load()-kept != 50 {
		t.Errorf("new: %v, the server counted %d", got, count.Load()-kept)
	}
}

func TestTwoServersShareNewConnections(t *testing.T) {
	one, _ := connections(t, "one")
	two, _ := connections(t, "two")
	p := usual(one.URL, two.URL)
	p.KeepAlive = false
	if got := drive(t, p).servers(); got["one"] != [2]int64{25, 25} || got["two"] != [2]int64{25, 25} {
		t.Errorf("%v", got)
	}
}

// TestWarmupIsNotCounted: the server sees more than the result, and a
// connection from the warm-up counts with its first counted answer.
func TestWarmupIsNotCounted(t *testing.T) {
	var seen atomic.Int64
	s := server(t, "x", func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		ok(w, r)
	})
	p := usual(s.URL)
	p.Warmup = 500 * time.Millisecond
	p.PingRate = 10
	r := drive(t, p)
	if n := seen.Load(); n != 25+5+50+10 {
		t.Errorf("the server saw %d", n)
	}
	if work, ping := r.end.Measures["work_us"], r.end.Measures["ping_us"]; work.N != 50 || ping.N != 10 {
		t.Errorf("counted %d and %d", work.N, ping.N)
	}
	if got := r.servers()["x"]; got[0] != 60 || got[1] < 1 {
		t.Errorf("servers %v", got)
	}
	if r.measuring.AtUS < r.hello.MonoUS+500_000 || r.rounds[0].StartUS != r.measuring.AtUS {
		t.Errorf("measuring at %d, hello at %d, first round from %d", r.measuring.AtUS, r.hello.MonoUS, r.rounds[0].StartUS)
	}
}

// TestRoundsAddUp: every request is in the round of the second it was due in,
// and the end has them all.
func TestRoundsAddUp(t *testing.T) {
	var n atomic.Int64
	s := server(t, "x", func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%10 == 0 {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		ok(w, r)
	})
	p := usual(s.URL)
	p.Rate, p.PingRate, p.For = 200, 40, 2500*time.Millisecond
	r := drive(t, p)
	if len(r.rounds) != 3 || r.end.Rounds != 3 || r.end.Reason != "done" {
		t.Fatalf("%d rounds, end %+v", len(r.rounds), r.end)
	}
	sums := map[string]*hdr.Histogram{}
	failed, sent := int64(0), int64(0)
	for i, round := range r.rounds {
		if want := []int64{200, 200, 100}[i] * 6 / 5; round.Facts["sent_count"] != want {
			t.Errorf("round %d: sent %d, want %d", i+1, round.Facts["sent_count"], want)
		}
		if want := []int64{1_000_000, 1_000_000, 500_000}[i]; round.WallUS != want {
			t.Errorf("round %d: wall %d us", i+1, round.WallUS)
		}
		if want := []int64{200, 200, 100}[i]; round.Facts["work_sent_count"] != want {
			t.Errorf("round %d: sent %d /work requests, want %d", i+1, round.Facts["work_sent_count"], want)
		}
		if _, has := round.Facts["overrun_us"]; has != (i == 2) {
			t.Errorf("round %d: %v", i+1, round.Facts)
		}
		sent += round.Facts["sent_count"]
		for name, m := range round.Measures {
			h, err := hdr.Decode([]byte(m.HDR))
			if err != nil || h.TotalCount() != m.N {
				t.Fatalf("%s of round %d: %v", name, i+1, err)
			}
			if sums[name] == nil {
				sums[name] = h
			} else if dropped := sums[name].Merge(h); dropped != 0 {
				t.Fatalf("%d dropped", dropped)
			}
			failed += m.Errors["status_4xx"]
		}
	}
	for name, whole := range r.end.Measures {
		h, err := hdr.Decode([]byte(whole.HDR))
		if err != nil || !h.Equals(sums[name]) {
			t.Errorf("%s: the rounds do not add up to the end: %v", name, err)
		}
	}
	if sent != 600 || failed != 60 || r.end.Measures["lag_us"].N != 600 {
		t.Errorf("sent %d, failed %d, lag of %d", sent, failed, r.end.Measures["lag_us"].N)
	}
}

// TestStops: an end from outside does not wait for what hangs.
func TestStops(t *testing.T) {
	hang := make(chan struct{})
	arrived := make(chan struct{}, 1000)
	s := server(t, "hung", func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-hang
	})
	t.Cleanup(func() { close(hang) })
	for _, warmup := range []time.Duration{0, time.Minute} {
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			<-arrived
			cancel()
		}()
		p := usual(s.URL)
		p.For, p.Timeout, p.Warmup = time.Minute, time.Minute, warmup
		before := time.Now()
		r := driveUntil(t, ctx, p)
		if took := time.Since(before); took > 20*time.Second || r.end.Reason != "eof" || len(r.rounds) != 0 {
			t.Errorf("warm-up %v: took %v, end %+v", warmup, took, r.end)
		}
	}
}
