package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// service is a running cpulab serve.
type service struct {
	*program
	url string
}

// serve starts a server, in a group unless that is empty, and waits until it
// listens.
func serve(t *testing.T, g group, args ...string) service {
	t.Helper()
	args = append([]string{"serve", "--until-eof"}, args...)
	if g.dirs.CPU != "" {
		args = g.join(append([]string{build(t, "go.mod")}, args...)...)
	}
	p := start(t, args...)
	hello, ready := p.next(), p.next()
	if hello["type"] != "hello" || ready["type"] != "ready" {
		t.Fatalf("%v %v\n%s", hello, ready, p.errs.String())
	}
	return service{p, "http://" + ready["address"].(string)}
}

// stop ends the server by its standard input; its rounds' facts, added up.
func (s service) stop() (lines []line, sum map[string]int64) {
	s.t.Helper()
	_ = s.stdin.Close()
	lines = s.rest(0)
	sum = map[string]int64{}
	for _, l := range lines {
		for name := range l.object("facts") {
			sum[name] += l.object("facts").int(name)
		}
	}
	return lines, sum
}

func (s service) get(ctx context.Context, path string) (*http.Response, string, error) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, string(body), err
}

// load runs a load to its end and returns its lines.
func load(t *testing.T, s service, args ...string) []line {
	t.Helper()
	args = append([]string{"load", "--to", s.url, "--warmup", "0s", "--arrivals", "constant"}, args...)
	return start(t, args...).rest(0)
}

// TestServiceUsesWhatItShould compares what the load counted with what the
// server and the kernel did.
func TestServiceUsesWhatItShould(t *testing.T) {
	const requests, workUS, alloc, live = 60, 4000, 1 << 20, 32 << 20
	s := serve(t, newGroup(t, 0), "--name", "server.1", "--work", "4ms", "--alloc", "1048576", "--live", "33554432")
	lines := load(t, s, "--rate", "30", "--ping-rate", "10", "--for", "2s")
	end := lines[len(lines)-1]
	measures := end.object("measures")
	work, ping := line(measures).object("work_us"), line(measures).object("ping_us")
	if work.int("n") != requests || ping.int("n") != 20 || work.int("max") < workUS {
		t.Errorf("end %v", end)
	}
	responses := int64(0)
	for _, l := range lines {
		responses += max(0, l.object("servers").object("server.1").int("responses"))
	}
	if responses != requests+20 {
		t.Errorf("%d responses by server.1", responses)
	}

	served, sum := s.stop()
	if sum["requests_count"] != requests || sum["ping_count"] != 20 || sum["abandoned_count"] != 0 {
		t.Errorf("the server counted %v", sum)
	}
	if sum["alloc_bytes"] < requests*alloc || sum["alloc_bytes"] > requests*alloc*5/4 {
		t.Errorf("allocated %d bytes", sum["alloc_bytes"])
	}
	// 60 MiB of garbage on 32 MiB: at least one collection.
	if sum["gc_count"] < 1 {
		t.Errorf("%d garbage collections", sum["gc_count"])
	}
	last := served[len(served)-1]
	// Work, and allocating, serving and collecting beside it.
	if usage := last.object("total").int("usage_us"); usage < requests*workUS || usage > requests*workUS*3 {
		t.Errorf("usage %d us for %d us of work", usage, requests*workUS)
	}
	for _, l := range served {
		if l["type"] != "round" {
			continue
		}
		if heap := l.object("facts").int("heap_bytes_max"); heap < live || heap > live*2 {
			t.Errorf("%d bytes in use", heap)
		}
	}
}

// TestClumpOnAThrottledServer: five requests of 10 ms in one instant at 5 ms a
// period need ten periods' quota, less what the kernel lets through until a
// tick has seen it.
func TestClumpOnAThrottledServer(t *testing.T) {
	s := serve(t, newGroup(t, 5_000), "--work", "10ms", "--alloc", "0", "--live", "0")
	lines := load(t, s, "--rate", "5", "--clump", "5", "--ping-rate", "0", "--for", "1s")
	work := line(lines[len(lines)-1].object("measures")).object("work_us")
	if work.int("n") != 5 || work.int("max") < 500_000 {
		t.Errorf("%v", work)
	}
	served, _ := s.stop()
	total := served[len(served)-1].object("total")
	if total.int("nr_throttled") < 3 || total.int("throttled_us") <= 0 {
		t.Errorf("throttled %v", total)
	}
}

func TestServerAnswers(t *testing.T) {
	s := serve(t, group{}, "--name", "server.2", "--work", "1ms", "--alloc", "0", "--live", "0")
	ctx := context.Background()
	for _, path := range []string{"/work", "/ping", "/stats"} {
		response, body, err := s.get(ctx, path)
		if err != nil || response.StatusCode != http.StatusOK || response.Header.Get("X-Throttle-Lab-Server") != "server.2" {
			t.Fatalf("%s: %v %v", path, response, err)
		}
		if path != "/stats" {
			continue
		}
		var stats map[string]any
		if err := json.Unmarshal([]byte(body), &stats); err != nil {
			t.Fatal(err)
		}
		if stats["requests_count"] != 1.0 || stats["ping_count"] != 1.0 || stats["in_flight"] != 0.0 || stats["gomaxprocs"].(float64) < 1 {
			t.Errorf("%v", stats)
		}
	}
	if response, _, err := s.get(ctx, "/nothing"); err != nil || response.StatusCode != http.StatusNotFound {
		t.Errorf("%v %v", response, err)
	}
	long := strings.Repeat("x", 1<<20)
	if response, err := http.Post(s.url+"/work", "text/plain", strings.NewReader(long)); err == nil {
		response.Body.Close()
		if response.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("a post: %v", response)
		}
	}
	if _, sum := s.stop(); sum["requests_count"] != 1 {
		t.Errorf("%v", sum)
	}
}

// TestWorkEndsWithItsClient: nobody waits for it any more.
func TestWorkEndsWithItsClient(t *testing.T) {
	s := serve(t, group{}, "--work", "1m", "--alloc", "0", "--live", "0")
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := s.get(ctx, "/work"); err == nil {
		t.Fatal("a minute of work was done in 100 ms")
	}
	// It says so in the round in which it noticed.
	for l := s.next(); l != nil; l = s.next() {
		if l.object("facts").int("abandoned_count") == 1 {
			s.stop()
			return
		}
	}
	t.Error("the work was not abandoned")
}

// TestServerStopsAtOnce: with a hundred requests under way that would each
// burn for a minute.
func TestServerStopsAtOnce(t *testing.T) {
	for _, bySignal := range []bool{false, true} {
		s := serve(t, group{}, "--work", "1m", "--alloc", "0", "--live", "0")
		p := start(t, "load", "--to", s.url, "--warmup", "0s", "--for", "1m", "--rate", "100", "--clump", "100", "--timeout", "1m", "--ping-rate", "0")
		for crowded := false; !crowded; {
			l := s.next()
			if l == nil {
				t.Fatal("the server ended early")
			}
			crowded = l.object("facts").int("in_flight_max") >= 100
		}
		began := time.Now()
		if bySignal {
			_ = s.cmd.Process.Signal(syscall.SIGTERM)
		} else {
			_ = s.stdin.Close()
		}
		lines := s.rest(0)
		want := map[bool]string{true: "signal", false: "eof"}[bySignal]
		if end := lines[len(lines)-1]; end["type"] != "end" || end["reason"] != want {
			t.Errorf("end %v", end)
		}
		// By itself it takes 0.1 s here. What is told is that no request was
		// finished first: each would take a minute at the least.
		if took := time.Since(began); took > 40*time.Second {
			t.Errorf("took %v", took)
		}
		_ = p.stdin.Close()
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		p.rest(0)
	}
}

// TestLoadStopsAtEOF: the rounds that were over count.
func TestLoadStopsAtEOF(t *testing.T) {
	s := serve(t, group{}, "--work", "0s", "--alloc", "0", "--live", "0")
	p := start(t, "load", "--to", s.url, "--warmup", "0s", "--for", "1h", "--rate", "20", "--arrivals", "constant", "--until-eof")
	rounds := 0
	for rounds < 2 {
		l := p.next()
		if l == nil {
			t.Fatalf("ended early\n%s", p.errs.String())
		}
		if l["type"] == "round" {
			rounds++
		}
	}
	_ = p.stdin.Close()
	lines := p.rest(0)
	for _, l := range lines {
		if l["type"] == "round" {
			rounds++
		}
	}
	end := lines[len(lines)-1]
	if n := line(end.object("measures")).object("work_us").int("n"); end["reason"] != "eof" || n != int64(rounds)*20 {
		t.Errorf("%d rounds, end %v", rounds, end)
	}
	s.stop()
}
