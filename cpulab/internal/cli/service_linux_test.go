package cli

import (
	"net"
	"strings"
	"testing"
)

// TestServiceUsageErrors: a wrong value is named with its flag and with what is
// allowed.
func TestServiceUsageErrors(t *testing.T) {
	const to = "load --to http://127.0.0.1:1 "
	for _, c := range []struct {
		args string
		says []string
	}{
		{"serve --listen 127.0.0.1", []string{`"127.0.0.1"`, "-listen", "HOST:PORT"}},
		{"serve --listen :70000", []string{`":70000"`, "-listen"}},
		{"serve --name a/b", []string{`"a/b"`, "-name", "letters"}},
		{"serve --work 2m", []string{`"2m"`, "-work", "1m"}},
		{"serve --alloc 1MiB", []string{`"1MiB"`, "-alloc", "bytes"}},
		{"serve --live -1", []string{`"-1"`, "-live"}},
		{"load", []string{"--to is missing"}},
		{"load --to 127.0.0.1:80", []string{`"127.0.0.1:80"`, "-to", "http://"}},
		{to + "--rate 0", []string{`"0"`, "-rate", "1 to 100000"}},
		{to + "--ping-rate -1", []string{`"-1"`, "-ping-rate", "0 to"}},
		{to + "--arrivals uniform", []string{`"uniform"`, "-arrivals", "poisson or constant"}},
		{to + "--clump 0", []string{`"0"`, "-clump"}},
		{to + "--timeout 0s", []string{`"0s"`, "-timeout", "1ms"}},
		{to + "--connections close", []string{`"close"`, "-connections", "keep-alive or new"}},
		{to + "--idle 0", []string{`"0"`, "-idle"}},
		{to + "--seed x", []string{`"x"`, "-seed"}},
		{to + "more", []string{`"more"`}},
	} {
		code, out, errOut := call(strings.Fields(c.args)...)
		if code != exitUsage || out != "" {
			t.Errorf("%q: exit %d, stdout %q", c.args, code, out)
		}
		for _, want := range c.says {
			if !strings.Contains(errOut, want) {
				t.Errorf("%q does not say %q:\n%s", c.args, want, errOut)
			}
		}
	}
}

// TestServeCannotListen: an address of somebody else is a failure, not a usage
// error, and says what to do.
func TestServeCannotListen(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	code, out, errOut := call("serve", "--live", "0", "--listen", taken.Addr().String())
	if code != exitFailed || out != "" || !strings.Contains(errOut, taken.Addr().String()) || !strings.Contains(errOut, "free port") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errOut)
	}
}

// FuzzCheckListen: what is taken can be resolved as an address.
func FuzzCheckListen(f *testing.F) {
	for _, text := range []string{"127.0.0.1:0", ":80", "[::1]:8080", "x", "a:b", "1.2.3.4:65536"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if checkListen(text) != nil {
			return
		}
		if _, port, err := net.SplitHostPort(text); err != nil || port == "" {
			t.Errorf("%q is taken: %v", text, err)
		}
	})
}
