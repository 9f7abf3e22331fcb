package load

import (
	"context"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"cpulab/internal/hist"
	"cpulab/internal/opt"
)

// values counts the same value often, then others once each.
func values(often int, us int64, once ...int64) *hist.Hist {
	h := hist.New()
	for range often {
		h.Record(us)
	}
	for _, us := range once {
		h.Record(us)
	}
	return h
}

func TestLateWords(t *testing.T) {
	for name, c := range map[string]struct {
		lag, latency *hist.Hist
		says         []string // none: no warning
	}{
		"on time":              {values(1000, 100), values(1000, 9_000, 50_000), nil},
		"too short to matter":  {values(1000, 900), values(1000, 950), nil},
		"a small part":         {values(1000, 2_000), values(1000, 20_000), nil},
		"99 in 100 are less":   {values(999, 50, 4_000), values(1000, 100, 9_000), nil},
		"every request":        {values(1000, 2_000), values(1000, 19_000), []string{"1 % of the /ping requests", "2.0 ms", "19.0 ms", "lower the rate"}},
		"the slowest answer":   {values(999, 50, 4_600), values(1000, 100, 9_000), []string{"/ping", "4.6 ms", "9.0 ms", "at most 0.1 ms", "lower the rate"}},
		"nothing was sent":     {hist.New(), hist.New(), nil},
		"nothing was answered": {values(10, 5_000), hist.New(), nil},
	} {
		text := lateWords("/ping", c.lag, c.latency)
		if (text == "") != (c.says == nil) {
			t.Errorf("%s: %q", name, text)
		}
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q does not say %q", name, text, want)
			}
		}
	}
}

// TestLateWarningsAreByKind: pings that were sent in time say nothing of the
// requests that were not.
func TestLateWarningsAreByKind(t *testing.T) {
	tally := newTally(true, make(chan struct{}, 1))
	for range 100 {
		tally.end(outcome{kind: work, lagUS: 10_000, latencyUS: 15_000})
		tally.end(outcome{kind: ping, lagUS: 10, latencyUS: 500})
	}
	if text := lateWords(paths[work], tally.lag[work], tally.latency[work]); !strings.Contains(text, "/work") {
		t.Errorf("work: %q", text)
	}
	if text := lateWords(paths[ping], tally.lag[ping], tally.latency[ping]); text != "" {
		t.Errorf("ping: %q", text)
	}
}

func TestRateWords(t *testing.T) {
	for _, c := range []struct {
		overrun opt.Int
		says    []string
	}{
		{opt.Int{}, nil}, // stopped
		{opt.Of(0), nil},
		{opt.Of(100_000), nil},
		{opt.Of(2_500_000), []string{"50 /work", "2500.0 ms", "10.0 s", "so it sent 40.0 a second", "lower the rate"}},
	} {
		r := &run{params: Params{Rate: 50, For: 10 * time.Second}, total: newTally(true, nil)}
		r.total.sending = sending{sent: 700, work: 500, overrunUS: c.overrun}
		text := r.rateWords()
		if (text == "") != (c.says == nil) {
			t.Errorf("%+v: %q", c.overrun, text)
		}
		for _, want := range c.says {
			if !strings.Contains(text, want) {
				t.Errorf("%q does not say %q", text, want)
			}
		}
	}
}

// TestStopDuringADial: what a stop cuts off is no failure of the server.
func TestStopDuringADial(t *testing.T) {
	address := deaf(t)
	ctx, cancel := context.WithCancel(context.Background())
	p := usual("http://" + address)
	p.Timeout = time.Minute
	go func() {
		defer cancel()
		for dials(t, address) < p.Rate { // all of the only round
			<-time.After(10 * time.Millisecond)
		}
	}()
	r := driveUntil(t, ctx, p)
	if len(r.warnings) != 0 || len(r.rounds) != 0 || r.end.Reason != "eof" {
		t.Errorf("warnings %q, rounds %+v, end %+v", r.warnings, r.rounds, r.end)
	}
	if work := r.end.Measures["work_us"]; work.N != 0 || len(work.Errors) != 0 {
		t.Errorf("%+v", work)
	}
}

// deaf returns the address of a server whose queue of connections is full:
// dialling it hangs.
func deaf(t *testing.T) (address string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	address = fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for { // until one is not taken any more
		c, err := net.DialTimeout("tcp", address, 200*time.Millisecond)
		if err != nil {
			return address
		}
		t.Cleanup(func() { c.Close() })
	}
}

// dials counts the connections to an address that wait for an answer to their
// first packet, by the kernel's table.
func dials(t *testing.T, address string) (n int) {
	t.Helper()
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Error(err)
		return math.MaxInt
	}
	_, port, _ := strings.Cut(address, ":")
	number, _ := strconv.Atoi(port)
	to := fmt.Sprintf("0100007F:%04X 02 ", number) // 02: SYN_SENT
	return strings.Count(string(table), to)
}
