package main

import (
	"encoding/json"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// checkTiles wants rounds that follow each other without a gap.
func checkTiles(t *testing.T, rounds []line) {
	t.Helper()
	for i := 1; i < len(rounds); i++ {
		if end := rounds[i-1].int("start_us") + rounds[i-1].int("wall_us"); rounds[i].int("start_us") != end {
			t.Errorf("round %d begins at %v, the one before ended at %d", i+1, rounds[i]["start_us"], end)
		}
	}
}

func TestSpin(t *testing.T) {
	const spanUS, reportUS = 2_200_000, 500_000
	g := newGroup(t, tightUS)
	lines := start(t, g.join(build(t, "go.mod"), "spin", "--threads", "2", "--for", "2200ms", "--report", "500ms")...).rest(0)
	if hello := lines[0]; hello.int("threads") != 2 || hello.int("for_us") != spanUS || hello.int("report_us") != reportUS {
		t.Errorf("hello %v", hello)
	}
	rounds, end := checkTotals(t, lines)
	checkTiles(t, rounds)
	if len(rounds) < 2 || len(rounds) > 4 || end["reason"] != "done" {
		t.Fatalf("%d rounds, end %v", len(rounds), end)
	}
	first := rounds[0].int("start_us")
	for _, l := range rounds {
		planned := l.int("start_us") + l.int("wall_us") - l.int("late_us") - first
		if off := planned % reportUS; l.int("late_us") < 0 || off > 2 && off < reportUS-2 {
			t.Errorf("not on the schedule: %v", l)
		}
		// A tenth of a CPU, which a tick on each CPU may pass in every period.
		if cpu, wall := l.object("facts").int("cpu_us"), l.int("wall_us"); cpu <= 0 || cpu > (wall/100_000+2)*2*tightUS {
			t.Errorf("%d us of CPU in %d us", cpu, wall)
		}
	}
	total := end.object("total")
	if span := end.int("mono_us") - first; span < spanUS {
		t.Errorf("it ended after %d us", span)
	}
	burned := sumFact(rounds, "cpu_us")
	if usage := total.int("usage_us"); burned > usage || burned < usage/2 {
		t.Errorf("the threads burned %d us, the group used %d us", burned, usage)
	}
	last := rounds[len(rounds)-1]
	if share := float64(burned) / float64(last.int("start_us")+last.int("wall_us")-first); share < 0.02 || share > 0.15 {
		t.Errorf("%.3f CPUs at a limit of 0.1", share)
	}
	if total.int("nr_throttled") <= 0 || total.int("throttled_us") <= 0 {
		t.Errorf("not throttled: %v", total)
	}
}

// TestSpinWritesWholeReports: the fifth of a second after the fourth report is
// in the total only.
func TestSpinWritesWholeReports(t *testing.T) {
	lines := start(t, "spin", "--for", "2200ms", "--report", "500ms").rest(0)
	if len(lines) != 2+2*4 {
		t.Fatalf("%d lines: %v", len(lines), lines)
	}
	rounds, end := []line{lines[1], lines[3], lines[5], lines[7]}, lines[9]
	checkTiles(t, rounds)
	rest := end.object("total").int("window_us")
	for _, i := range []int{2, 4, 6, 8} {
		rest -= lines[i].int("window_us")
	}
	// From the reading for the last report to the end of the time.
	read := rounds[3].int("start_us") + rounds[3].int("wall_us") + lines[8].int("settle_us")
	if left := rounds[0].int("start_us") + 2_200_000 - read; end.int("rounds") != 4 || rest < left-2 {
		t.Errorf("%d us after the last report, at least %d us in the total: %v", rest, left, end)
	}
}

func TestRequests(t *testing.T) {
	g := newGroup(t, tightUS)
	const threads, steps = 3, 100_000
	lines := start(t, g.join(build(t, "go.mod"), "requests", "--threads", "3", "--steps", "100000", "--for", "2500ms")...).rest(0)
	if hello := lines[0]; hello.int("threads") != threads || hello.int("steps") != steps || hello.int("for_us") != 2_500_000 {
		t.Errorf("hello %v", hello)
	}
	rounds, end := checkTotals(t, lines)
	checkTiles(t, rounds)
	if len(rounds) < 1 || len(rounds) > 3 || end["reason"] != "done" {
		t.Fatalf("%d rounds, end %v", len(rounds), end)
	}
	whole := decode(t, end)
	sum := hdr.New(1, 3_600_000_000, 3)
	for _, l := range rounds {
		counts := decode(t, l)
		if n := l.object("facts").int("requests_count"); n <= 0 || counts.TotalCount() != n {
			t.Errorf("%d in the histogram: %v", counts.TotalCount(), l["facts"])
		}
		sum.Merge(counts)
	}
	if !sum.Equals(whole) {
		t.Errorf("the rounds add up to %v, the end has %v", sum.Distribution(), whole.Distribution())
	}
	burned := sumFact(rounds, "cpu_us")
	if usage := end.object("total").int("usage_us"); burned > usage || burned < usage/2 {
		t.Errorf("the threads burned %d us, the group used %d us", burned, usage)
	}
	// The fastest request had the CPU for itself: about the mean CPU of one. If
	// the steps were not made, it would be a fraction of it.
	if fastest, mean := whole.Min(), burned/whole.TotalCount(); fastest < mean/4 || fastest > 2*mean {
		t.Errorf("%d us of CPU a request, the fastest took %d us", mean, fastest)
	}
	if total := end.object("total"); total.int("nr_throttled") <= 0 || total.int("throttled_us") <= 0 {
		t.Errorf("not throttled: %v", total)
	}
}

// decode returns the histogram of a line, checked against what stands beside it.
func decode(t *testing.T, l line) *hdr.Histogram {
	t.Helper()
	m := l.object("measures").object("request_us")
	text, _ := m["hdr"].(string)
	counts, err := hdr.Decode([]byte(text))
	if err != nil {
		t.Fatalf("%v: %v", err, l)
	}
	if n := m.int("n"); counts.TotalCount() != n || len(m.object("errors")) != 0 {
		t.Errorf("%d values: %v", counts.TotalCount(), m)
	}
	if most, ok := m["max"].(json.Number); !ok || counts.Max() < m.int("max") || !counts.ValuesAreEquivalent(counts.Max(), m.int("max")) {
		t.Errorf("max %d: %v", counts.Max(), most)
	}
	return counts
}
