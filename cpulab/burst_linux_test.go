package main

import "testing"

const (
	threads = 8
	workUS  = 20_000
)

var counters = []string{
	"usage_us", "nr_periods", "nr_throttled", "throttled_us", "nr_bursts", "burst_us", "run_delay_us", "window_us",
}

// TestThrottledBurst runs the published shape at a quarter of a CPU, which it
// gets on the busiest test machine too, and compares three views of it: each
// round's, the total, and a sample from outside.
func TestThrottledBurst(t *testing.T) {
	const quotaUS = 25_000
	g := newGroup(t, quotaUS)
	outside := start(t, "sample", "--cgroup", g.flag(), "--until-eof")
	outside.next() // hello
	first := outside.next()["groups"].([]any)[0]

	const rounds = 3
	// 160 ms at a quarter of a CPU take about 620 ms; two periods more settle.
	p := start(t, g.join(build(t, "go.mod"), "burst", "--rounds", "3", "--interval", "900ms")...)
	lines := p.rest(0)
	if len(lines) != 2*rounds+2 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	hello, end := lines[0], lines[len(lines)-1]
	if own := hello.object("cgroup"); own["path_cpu"] != g.dirs.CPU || own.int("quota_us") != quotaUS {
		t.Errorf("own cgroup %v", own)
	}
	checkRounds(t, lines[1:len(lines)-1])

	total := end.object("total")
	if end["reason"] != "done" || end.int("rounds") != rounds {
		t.Errorf("end %v", end)
	}
	if total.int("nr_throttled") <= 0 || total.int("throttled_us") <= 0 || total.int("nr_periods") < 3*rounds {
		t.Errorf("not throttled: %v", total)
	}

	_ = outside.stdin.Close()
	samples := outside.rest(0)
	if last := samples[len(samples)-1]; last["reason"] != "eof" || len(samples) < 10 {
		t.Fatalf("%d samples, end %v", len(samples), last)
	}
	last := samples[len(samples)-2]["groups"].([]any)[0]
	compare(t, first.(map[string]any), last.(map[string]any), total)
}

// checkRounds wants pairs of round and settled whose counters add up.
func checkRounds(t *testing.T, lines []line) {
	t.Helper()
	for i := 0; i < len(lines); i += 2 {
		round, settled := lines[i], lines[i+1]
		want := int64(i/2 + 1)
		if round["type"] != "round" || settled["type"] != "settled" || round.int("round") != want || settled.int("round") != want {
			t.Fatalf("round %d: %v %v", want, round, settled)
		}
		const work = threads * workUS
		if cpu := round.int("cpu_us"); cpu < work || cpu > work*11/10 {
			t.Errorf("round %d: the workers burned %d us", want, cpu)
		}
		if usage := settled.int("usage_us"); usage < work*9/10 || usage > work*11/10 {
			t.Errorf("round %d: usage %d us, want %d within 10%%", want, usage, work)
		}
		for _, key := range counters {
			if settled.int(key) < round.int(key) {
				t.Errorf("round %d: %s fell from %v to %v", want, key, round[key], settled[key])
			}
		}
	}
}

func TestSettledAddsUp(t *testing.T) {
	g := newGroup(t, 50_000)
	// The interval is too short, so that rounds are late and windows touch.
	p := start(t, g.join(build(t, "go.mod"), "burst", "--threads", "4", "--work", "10ms", "--rounds", "5", "--interval", "40ms", "--jitter", "20ms", "--seed", "1")...)
	lines := p.rest(0)
	sum := map[string]int64{}
	late := false
	for _, l := range lines {
		late = late || l.int("late_us") > 1000
		if l["type"] == "settled" {
			for _, key := range counters {
				sum[key] += l.int(key)
			}
		}
	}
	total := lines[len(lines)-1].object("total")
	for _, key := range counters {
		if total.int(key) != sum[key] && total[key] != nil {
			t.Errorf("%s: the settled rounds add up to %d, the total is %v", key, sum[key], total[key])
		}
	}
	if !late {
		t.Error("no round was late")
	}
}

// compare sets the outside view over the whole against the inside total.
func compare(t *testing.T, first, last, total line) {
	t.Helper()
	if first.int("usage_us") != 0 {
		t.Errorf("the group was used before: %v", first)
	}
	start := last.int("usage_us") - total.int("usage_us")
	if start <= 0 || start > 80_000 {
		t.Errorf("start and end of the program used %d us: not counted, or too much", start)
	}
	for key, more := range map[string]int64{"nr_periods": 6, "nr_throttled": 3, "throttled_us": 200_000} {
		if d := last.int(key) - total.int(key); d < 0 || d > more {
			t.Errorf("%s: outside %v, inside %v", key, last[key], total[key])
		}
	}
}

func TestUnlimitedBurst(t *testing.T) {
	g := newGroup(t, 0)
	p := start(t, g.join(build(t, "go.mod"), "burst", "--rounds", "4", "--interval", "150ms")...)
	lines := p.rest(0)
	total := lines[len(lines)-1].object("total")
	if total.int("nr_throttled") > 0 || total.int("throttled_us") > 0 {
		t.Errorf("throttled without a limit: %v", total)
	}
	cpus := min(lines[0].int("num_cpu"), lines[0].int("gomaxprocs"), threads)
	ideal := threads * workUS / cpus
	for _, l := range lines {
		if l["type"] != "round" {
			continue
		}
		// Others run on this machine too: what they took is in the run delay.
		if wall := l.int("wall_us"); wall < ideal || wall > 2*ideal+l.int("run_delay_us") {
			t.Errorf("wall %d us, ideal %d us: %v", wall, ideal, l)
		}
	}
	if settle := lines[len(lines)-2].int("settle_us"); settle > 100_000 {
		t.Errorf("waited %d us for periods that are not there", settle)
	}
}
