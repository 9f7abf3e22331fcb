package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestALoadThatCannotKeepUpSaysSo: 6000 requests in a second take more CPU than
// the tenth of one that the load has, so it is late for both kinds and
// sends on after the second is over.
func TestALoadThatCannotKeepUpSaysSo(t *testing.T) {
	const rate, forUS = 6000, 1_000_000
	s := serve(t, group{}, "--work", "0s", "--alloc", "0", "--live", "0")
	g := newGroup(t, tightUS)
	lines := start(t, g.join(build(t, "go.mod"), "load", "--to", s.url, "--warmup", "0s", "--arrivals", "constant",
		"--rate", "6000", "--ping-rate", "50", "--for", "1s", "--timeout", "5m")...).rest(0)
	s.stop()
	var facts line
	text := ""
	for _, l := range lines {
		switch l["type"] {
		case "round":
			facts = l.object("facts")
		case "warning":
			text += l["text"].(string) + "\n"
		case "settled":
			if l["settle_us"] != nil && l.int("settle_us") < 0 {
				t.Errorf("settled before its end: %v", l)
			}
		}
	}
	overrun := facts.int("overrun_us")
	if overrun <= forUS/10 || facts.int("work_sent_count") != rate || facts.int("sent_count") != rate+50 {
		t.Errorf("facts %v", facts)
	}
	if total := lines[len(lines)-1].object("total"); total.int("nr_throttled") <= 0 {
		t.Errorf("the load was not throttled: %v", total)
	}
	for _, want := range []string{
		"late: 1 % of the /work requests",
		"late: 1 % of the /ping requests",
		"could not hold its rate of 6000 /work requests a second",
		fmt.Sprintf("%.1f ms after the end of the 1.0 s", float64(overrun)/1000),
		fmt.Sprintf("so it sent %.1f a second", rate*1e6/float64(forUS+overrun)),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no warning says %q:\n%s", want, text)
		}
	}
}

// TestSettledBeforeItsSecondIsOver: the only request of a second is answered in
// its beginning, and no time was left for the counters to settle.
func TestSettledBeforeItsSecondIsOver(t *testing.T) {
	s := serve(t, group{}, "--work", "0s", "--alloc", "0", "--live", "0")
	lines := load(t, s, "--rate", "1", "--ping-rate", "0", "--for", "3s")
	s.stop()
	early := 0
	for i, l := range lines {
		if l["type"] != "settled" {
			continue
		}
		value, has := l["settle_us"]
		end := lines[i-1].int("start_us") + lines[i-1].int("wall_us")
		if l.int("mono_us") < end {
			early++
			if !has || value != nil {
				t.Errorf("settled %d us before its end: %v", end-l.int("mono_us"), l)
			}
		} else if value != nil && l.int("settle_us") < 0 {
			t.Errorf("%v", l)
		}
	}
	if early == 0 { // a second for one answer, three times
		t.Errorf("no second was settled early: %v", lines)
	}
}
