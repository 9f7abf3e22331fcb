package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tightUS is a quota of a tenth of a CPU: a group gets more than that on the
// busiest test machine, so that it is paused there too.
const tightUS = 10_000

// checkTotals wants round and settled in turn, numbered, whose settled counters
// add up to the total, and returns the rounds and the end.
func checkTotals(t *testing.T, lines []line) (rounds []line, end line) {
	t.Helper()
	if len(lines) < 2 || lines[0]["type"] != "hello" || lines[len(lines)-1]["type"] != "end" {
		t.Fatalf("no hello or no end: %v", lines)
	}
	end = lines[len(lines)-1]
	sum := map[string]int64{}
	for i, l := range lines[1 : len(lines)-1] {
		want := []string{"round", "settled"}[i%2]
		if l["type"] != want || l.int("round") != int64(i/2+1) {
			t.Fatalf("want %s %d: %v", want, i/2+1, l)
		}
		if want == "round" {
			rounds = append(rounds, l)
			continue
		}
		for _, key := range counters {
			sum[key] += l.int(key)
			if l.int(key) < rounds[len(rounds)-1].int(key) {
				t.Errorf("round %d: %s fell: %v", i/2+1, key, l)
			}
		}
	}
	if end.int("rounds") != int64(len(rounds)) {
		t.Errorf("%d rounds: %v", len(rounds), end)
	}
	total := end.object("total")
	for _, key := range counters {
		// Work that a stop cut off is in the total only.
		if n := total.int(key); n < sum[key] || end["reason"] == "done" && n-sum[key] > stopCosts(key) {
			t.Errorf("%s: the settled rounds add up to %d, the total is %v", key, sum[key], total[key])
		}
	}
	return rounds, end
}

// stopCosts is what the end of the threads of a kind whose rounds tile time may
// add after its last round: a slice of quota, a pause and its period.
func stopCosts(key string) int64 {
	return map[string]int64{
		"usage_us": 50_000, "window_us": 5_000_000, "run_delay_us": 5_000_000,
		"nr_periods": 50, "nr_throttled": 50, "throttled_us": 5_000_000,
	}[key]
}

func sumFact(rounds []line, key string) (sum int64) {
	for _, l := range rounds {
		sum += l.object("facts").int(key)
	}
	return sum
}

// TestTasksStayOnOneCPU: a pause that a helper thread had on another CPU would
// count twice.
func TestTasksStayOnOneCPU(t *testing.T) {
	g := newGroup(t, 0)
	p := start(t, g.join(build(t, "go.mod"), "tasks", "--work", "5ms", "--count", "10000", "--until-eof")...)
	hello := p.next()
	p.next() // the first round: every thread is there
	want := strconv.FormatInt(hello.int("on_cpu"), 10)
	tasks, err := filepath.Glob("/proc/" + strconv.FormatInt(hello.int("pid"), 10) + "/task/*/status")
	if err != nil || len(tasks) < 2 {
		t.Fatalf("threads %v, %v", tasks, err)
	}
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "Cpus_allowed_list:")
		if got := strings.Fields(rest)[0]; got != want {
			t.Errorf("%s may run on %s, want %s", path, got, want)
		}
	}
}

func TestTasksBackToBack(t *testing.T) {
	g := newGroup(t, tightUS)
	const count, workUS = 40, 5_000
	lines := start(t, g.join(build(t, "go.mod"), "tasks", "--work", "5ms", "--count", "40")...).rest(0)
	if hello := lines[0]; hello.int("work_us") != workUS || hello.int("count") != count || hello.int("gap_us") != 0 {
		t.Errorf("hello %v", hello)
	}
	rounds, end := checkTotals(t, lines)
	if len(rounds) != count || end["reason"] != "done" {
		t.Fatalf("%d rounds, end %v", len(rounds), end)
	}
	var over []int64
	for i, l := range rounds {
		cpu := l.object("facts").int("cpu_us")
		over = append(over, cpu-workUS)
		if late, there := l["late_us"]; late != nil || !there {
			t.Errorf("back-to-back tasks have no schedule: %v", l)
		}
		if cpu < workUS || l.int("wall_us") < cpu-1 {
			t.Errorf("%d us of CPU: %v", cpu, l)
		}
		if i > 0 && l.int("start_us") < rounds[i-1].int("start_us")+rounds[i-1].int("wall_us") {
			t.Errorf("task %d began before the one before had ended", i+1)
		}
	}
	slices.Sort(over)
	if median := over[count/2]; median > workUS/100 {
		t.Errorf("the tasks burned %d us too much in the median: %v", median, over)
	}
	total := end.object("total")
	burned := sumFact(rounds, "cpu_us")
	if usage := total.int("usage_us"); usage < burned || usage > burned*12/10 {
		t.Errorf("the tasks burned %d us, the group used %d us", burned, usage)
	}
	// 200 ms at 10 ms a period: 20 periods, the last of them not paused. A tick
	// of 4 ms may run past the quota and is paid back.
	if n := total.int("nr_throttled"); n < 8 || n > 25 || total.int("nr_periods") < 18 || total.int("throttled_us") <= 0 {
		t.Errorf("throttled wrongly: %v", total)
	}
}

func TestTasksWithAGap(t *testing.T) {
	lines := start(t, "tasks", "--work", "1ms", "--count", "5", "--gap", "30ms").rest(0)
	rounds, _ := checkTotals(t, lines)
	for i := 1; i < len(rounds); i++ {
		before := rounds[i-1].int("start_us") + rounds[i-1].int("wall_us")
		if gap := rounds[i].int("start_us") - before; gap < 30_000 {
			t.Errorf("a gap of %d us", gap)
		}
	}
	if settle := lines[2].int("settle_us"); len(rounds) != 5 || settle < 30_000 {
		t.Errorf("%d rounds; settled after %d us, before the gap was over", len(rounds), settle)
	}
}

func TestParallel(t *testing.T) {
	g := newGroup(t, tightUS)
	const rounds, processes, workUS, startUS = 3, 3, 10_000, 20_000
	lines := start(t, g.join(build(t, "go.mod"), "parallel", "--processes", "3", "--work", "10ms", "--rounds", "3")...).rest(0)
	if hello := lines[0]; hello.int("processes") != processes || hello.int("work_us") != workUS || hello.int("rounds") != rounds {
		t.Errorf("hello %v", hello)
	}
	all, end := checkTotals(t, lines)
	if len(all) != rounds || end["reason"] != "done" {
		t.Fatalf("%d rounds, end %v", len(all), end)
	}
	for _, l := range all {
		cpu, usage := l.object("facts").int("cpu_us"), l.int("usage_us")
		if cpu < processes*workUS || cpu > processes*(workUS+startUS) {
			t.Errorf("the processes burned %d us: %v", cpu, l)
		}
		if usage < cpu*99/100 || l.int("wall_us") < workUS {
			t.Errorf("%d us of CPU by rusage: %v", cpu, l)
		}
	}
	if total := end.object("total"); total.int("nr_throttled") < rounds || total.int("throttled_us") <= 0 {
		t.Errorf("not throttled: %v", total)
	}
}

// procs returns the processes in the group.
func (g group) procs(t *testing.T) (pids []int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(g.dirs.CPU, "cgroup.procs"))
	if err != nil {
		t.Fatal(err)
	}
	for word := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// await waits until the group has so many processes.
func (g group) await(t *testing.T, count int) []int {
	t.Helper()
	deadline := time.Now().Add(4 * prompt)
	for {
		pids := g.procs(t)
		if len(pids) == count {
			return pids
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d processes, want %d", len(pids), count)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestParallelLeavesNothing(t *testing.T) {
	const processes = 4
	run := func(t *testing.T) (*program, group) {
		g := newGroup(t, 0)
		p := start(t, g.join(build(t, "go.mod"), "parallel", "--processes", "4", "--work", "1h", "--until-eof")...)
		p.next() // hello
		return p, g
	}
	t.Run("when killed", func(t *testing.T) {
		p, g := run(t)
		g.await(t, processes+1)
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		g.await(t, 0)
	})
	t.Run("when stopped", func(t *testing.T) {
		p, g := run(t)
		g.await(t, processes+1)
		_ = p.stdin.Close()
		if lines := p.rest(0); len(lines) != 1 || lines[0]["reason"] != "eof" || lines[0].int("rounds") != 0 {
			t.Errorf("lines %v", lines)
		}
		g.await(t, 0)
	})
	t.Run("when stopped while it starts", func(t *testing.T) {
		p, g := run(t)
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		if lines := p.rest(0); len(lines) != 1 || lines[0]["reason"] != "signal" {
			t.Errorf("lines %v", lines)
		}
		g.await(t, 0)
	})
	t.Run("when a process fails", func(t *testing.T) {
		p, g := run(t)
		for _, pid := range g.await(t, processes+1) {
			if pid != p.cmd.Process.Pid && childName(pid) == "one" {
				_ = syscall.Kill(pid, syscall.SIGKILL)
				break
			}
		}
		if lines := p.rest(1); len(lines) != 0 {
			t.Errorf("lines %v", lines)
		}
		if text := p.errs.String(); !strings.Contains(text, " failed: signal: killed") {
			t.Errorf("stderr: %s", text)
		}
		g.await(t, 0)
	})
}

// childName is the subcommand of a cpulab.
func childName(pid int) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	words := bytes.Split(text, []byte{0})
	if len(words) < 2 {
		return ""
	}
	return string(words[1])
}
