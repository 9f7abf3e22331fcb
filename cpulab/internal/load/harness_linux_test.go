package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"cpulab/internal/arrive"
	"cpulab/internal/ndjson"
)

type measure struct {
	N      int64
	Max    *int64
	Errors map[string]int64
	HDR    string
}

// at returns a percentile of a measure.
func (m measure) at(t *testing.T, percent float64) int64 {
	t.Helper()
	h, err := hdr.Decode([]byte(m.HDR))
	if err != nil {
		t.Fatal(err)
	}
	return h.ValueAtPercentile(percent)
}

type line struct {
	Type     string
	Round    int64
	StartUS  int64 `json:"start_us"`
	WallUS   int64 `json:"wall_us"`
	MonoUS   int64 `json:"mono_us"`
	AtUS     int64 `json:"at_us"`
	Text     string
	Reason   string
	Rounds   int64
	Seed     uint64
	Measures map[string]measure
	Facts    map[string]int64
	Servers  map[string]struct{ Responses, Connections int64 }
}

// result is what a run wrote.
type result struct {
	hello, measuring, end line
	rounds                []line
	warnings              []string
}

func (r result) servers() map[string][2]int64 {
	sum := map[string][2]int64{}
	for _, round := range r.rounds {
		for name, s := range round.Servers {
			sum[name] = [2]int64{sum[name][0] + s.Responses, sum[name][1] + s.Connections}
		}
	}
	return sum
}

// usual is a short load; tests change what they are about.
func usual(servers ...string) Params {
	p := Params{
		Rate: 50, Arrivals: arrive.Constant, Clump: 1, Seed: 1,
		For: time.Second, Timeout: 10 * time.Second, KeepAlive: true, Idle: 1000,
	}
	for _, text := range servers {
		targets, err := ParseTargets(text)
		if err != nil {
			panic(err)
		}
		p.To = append(p.To, targets...)
	}
	return p
}

func drive(t *testing.T, p Params) result {
	t.Helper()
	return driveUntil(t, context.Background(), p)
}

func driveUntil(t *testing.T, ctx context.Context, p Params) (r result) {
	t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var out bytes.Buffer
	why := func() string {
		if ctx.Err() != nil {
			return "eof"
		}
		return "done"
	}
	if err := Run(ctx, p, ndjson.NewWriter(&out), io.Discard, why); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		switch l.Type {
		case "hello":
			r.hello = l
		case "measuring":
			r.measuring = l
		case "round":
			r.rounds = append(r.rounds, l)
		case "warning":
			r.warnings = append(r.warnings, l.Text)
		case "end":
			r.end = l
		case "settled":
		default:
			t.Fatalf("a line of type %q", l.Type)
		}
	}
	return r
}

// server answers every request with handle and under a name.
func server(t *testing.T, name string, handle http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Throttle-Lab-Server", name)
		handle(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func ok(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok\n") }
