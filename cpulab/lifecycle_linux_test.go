package main

import (
	"bytes"
	"fmt"
	"go/version"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// prompt is far above what a stop takes, and far below what would be left.
const prompt = 9 * time.Second

// TestStops: every kind ends at once when it is asked to, whatever it does, by
// a signal and by the end of its input, and says why.
func TestStops(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		lines int // to wait for after hello; 0: until it has used CPU
	}{
		"burst while working":          {[]string{"burst", "--work", "1h"}, 0},
		"burst while working, crowded": {[]string{"burst", "--work", "1h", "--threads", "64"}, 0},
		"burst while waiting":          {[]string{"burst", "--work", "1ms", "--interval", "1h"}, 1},
		"burst while the last settles": {[]string{"burst", "--work", "1ms", "--rounds", "1", "--settle", "1h"}, 1},
		"tasks while working":          {[]string{"tasks", "--work", "1h"}, 0},
		"tasks while waiting":          {[]string{"tasks", "--work", "1ms", "--gap", "1h"}, 1},
		"parallel while waiting":       {[]string{"parallel", "--work", "1ms", "--gap", "1h"}, 1},
		"spin":                         {[]string{"spin", "--for", "1h", "--report", "10ms"}, 10},
		"spin, crowded":                {[]string{"spin", "--threads", "64"}, 0},
		"requests":                     {[]string{"requests", "--for", "1h"}, 2},
		"requests, long":               {[]string{"requests", "--steps", "5000000000"}, 0},
		"requests, crowded":            {[]string{"requests", "--threads", "64", "--steps", "5000000000"}, 0},
	} {
		for _, reason := range []string{"signal", "eof"} {
			t.Run(name+" by "+reason, func(t *testing.T) {
				p := start(t, append(c.args, "--until-eof")...)
				p.next() // hello
				for range c.lines {
					p.next()
				}
				if c.lines == 0 {
					awaitCPU(t, p)
				}
				asked := time.Now()
				if reason == "eof" {
					_ = p.stdin.Close()
				} else {
					_ = p.cmd.Process.Signal(syscall.SIGTERM)
				}
				lines := p.rest(0)
				if took := time.Since(asked); took > prompt {
					t.Errorf("took %v", took)
				}
				end := lines[len(lines)-1]
				if end["type"] != "end" || end["reason"] != reason || end.int("rounds") > 0 && end["total"] == nil {
					t.Errorf("end %v", end)
				}
			})
		}
	}
}

// awaitCPU waits until a program has used some CPU time.
func awaitCPU(t *testing.T, p *program) {
	t.Helper()
	deadline := time.Now().Add(4 * prompt)
	for {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		// The fields after the name in brackets: utime is the 14th of all, in
		// ticks of 10 ms.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if ticks, err := strconv.Atoi(fields[11]); err != nil || ticks >= 5 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not work")
		}
		time.Sleep(time.Millisecond)
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
