package main

import (
	"go/version"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// prompt is far above what a stop takes, and far below what would be left.
const prompt = 5 * time.Second

func TestSignalStopsABurst(t *testing.T) {
	for name, args := range map[string][]string{
		"while working":          {"--work", "1h"},
		"while working, crowded": {"--work", "1h", "--threads", "64"},
		"while waiting":          {"--work", "1ms", "--interval", "1h"},
		"while the last settles": {"--work", "1ms", "--rounds", "1", "--settle", "1h"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, append([]string{"burst"}, args...)...)
			p.next() // hello
			time.Sleep(100 * time.Millisecond)
			sent := time.Now()
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
			lines := p.rest(0)
			if took := time.Since(sent); took > prompt {
				t.Errorf("took %v", took)
			}
			if end := lines[len(lines)-1]; end["type"] != "end" || end["reason"] != "signal" || end.int("rounds") > 0 && end["total"] == nil {
				t.Errorf("end %v", end)
			}
		})
	}
}

func TestEOFStopsABurst(t *testing.T) {
	p := start(t, "burst", "--work", "1h", "--until-eof")
	p.next()
	_ = p.stdin.Close()
	if lines := p.rest(0); lines[len(lines)-1]["reason"] != "eof" {
		t.Errorf("lines %v", lines)
	}
}

func TestBrokenPipeEndsTheProgram(t *testing.T) {
	p := start(t, "burst", "--work", "1ms", "--interval", "10ms", "--rounds", "1000000")
	p.next()
	_ = p.stdout.Close()
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("exit 0 with a broken pipe")
		}
	case <-time.After(prompt):
		t.Error("runs on")
	}
}

func TestInfoHoldsUntilSignal(t *testing.T) {
	p := start(t, "info", "--hold")
	if l := p.next(); l["type"] != "info" || l.int("pid") != int64(p.cmd.Process.Pid) {
		t.Errorf("info %v", l)
	}
	_ = p.cmd.Process.Signal(os.Interrupt)
	if lines := p.rest(0); len(lines) != 1 || lines[0]["reason"] != "signal" {
		t.Errorf("lines %v", lines)
	}
}

func TestSampleOfARemovedCgroup(t *testing.T) {
	g := newGroup(t, 0)
	p := start(t, "sample", "--hz", "200", "--cgroup", g.flag())
	p.next() // hello
	if l := p.next(); l["type"] != "samples" {
		t.Fatalf("got %v", l)
	}
	for _, dir := range g.all() {
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
	}
	lines := p.rest(0)
	gone, end := lines[len(lines)-2], lines[len(lines)-1]
	if gone["type"] != "gone" || gone["g"] != "g" || gone["reason"] == "" || end["reason"] != "gone" {
		t.Errorf("%v %v", gone, end)
	}
}

func TestExecBindsToCPUs(t *testing.T) {
	g := newGroup(t, 0)
	args := g.join(build(t, "go.mod"), "info")
	all := start(t, args...).rest(0)[0]
	first, _, _ := strings.Cut(strings.ReplaceAll(all["affinity"].(string), "-", ","), ",")
	bound := start(t, append([]string{"exec", "--cpus", first}, args[1:]...)...).rest(0)[0]
	if bound["affinity"] != first || bound.int("num_cpu") != 1 || bound.object("cgroup")["path_cpu"] != g.dirs.CPU {
		t.Errorf("asked for CPU %s: %v", first, bound)
	}
	start(t, append([]string{"exec", "--cpus", "8191"}, args[1:]...)...).rest(126)
}

func TestExecFailures(t *testing.T) {
	p := start(t, "exec", "--join", "/sys/fs/cgroup/no/such/cgroup.procs", "--", "true")
	p.rest(126)
	if text := p.errs.String(); !strings.Contains(text, "/no/such/cgroup.procs") || !strings.Contains(text, "create it first") {
		t.Errorf("stderr: %s", text)
	}
	g := newGroup(t, 0)
	start(t, g.join("no-such-command")...).rest(127)
}

// TestTwoBuilds: the go line of the mod file is the only difference, and it
// must reach the runtime's defaults.
func TestTwoBuilds(t *testing.T) {
	if version.Compare(runtime.Version(), "go1.25") < 0 {
		cannot(t, "the second build needs Go 1.25, this is %s", runtime.Version())
	}
	for modfile, want := range map[string]string{"go.mod": "go1.24", "go125.mod": "go1.25"} {
		if l := startFile(t, build(t, modfile), "version").rest(0)[0]; l["build"] != want || l["go"] != runtime.Version() {
			t.Errorf("%s: %v", modfile, l)
		}
	}
}
