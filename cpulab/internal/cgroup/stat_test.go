package cgroup

import (
	"strings"
	"testing"

	"cpulab/internal/opt"
)

const (
	statV1 = "nr_periods 12\nnr_throttled 6\nthrottled_time 639657605\nnr_bursts 1\nburst_time 1999\n"
	statV2 = "usage_usec 330622\nuser_usec 300000\nsystem_usec 30622\nnice_usec 0\n" +
		"core_sched.force_idle_usec 0\nnr_periods 12\nnr_throttled 6\nthrottled_usec 639657\nnr_bursts 1\nburst_usec 1\n"
)

func TestParseStat(t *testing.T) {
	none := opt.Int{}
	throttling := Counters{
		NrPeriods: opt.Of(12), NrThrottled: opt.Of(6), Throttled: opt.Of(639657),
		NrBursts: opt.Of(1), Burst: opt.Of(1),
	}
	with := func(change func(*Counters)) Counters {
		c := throttling
		change(&c)
		return c
	}
	for _, c := range []struct {
		name string
		text string
		want Counters
		bad  int
	}{
		{"v1 in nanoseconds", statV1, throttling, 0},
		{"v2 with unknown keys", statV2, with(func(c *Counters) { c.Usage = opt.Of(330622) }), 0},
		{"v2 without the cpu controller", "usage_usec 5\nuser_usec 3\nsystem_usec 2\n", Counters{Usage: opt.Of(5)}, 0},
		{"empty", "", Counters{}, 0},
		{"before 5.16, no bursts", "nr_periods 1\nnr_throttled 0\nthrottled_time 0\n",
			Counters{NrPeriods: opt.Of(1), NrThrottled: opt.Of(0), Throttled: opt.Of(0)}, 0},
		{"a key twice", statV1 + "nr_periods 12\n", with(func(c *Counters) { c.NrPeriods = none }), 1},
		{"a key three times", statV1 + "nr_periods 12\nnr_periods 13\n", with(func(c *Counters) { c.NrPeriods = none }), 2},
		{"both names of one counter", statV1 + "throttled_usec 5\n", with(func(c *Counters) { c.Throttled = none }), 1},
		{"cut off in the key", strings.TrimSuffix(statV1, "_time 1999\n"), with(func(c *Counters) { c.Burst = none }), 0},
		{"cut off before the number", strings.TrimSuffix(statV1, "1999\n"), with(func(c *Counters) { c.Burst = none }), 1},
		{"no newline at the end", strings.TrimSuffix(statV1, "\n"), throttling, 0},
		{"overflow", "nr_periods 99999999999999999999\n", Counters{}, 1},
		{"negative", "nr_periods -1\n", Counters{}, 1},
		{"not a number", "nr_periods twelve\n", Counters{}, 1},
		{"two numbers", "nr_periods 1 2\n", Counters{}, 1},
		{"blank lines and no value", "\n\nnr_periods\n\n", Counters{}, 1},
		{"carriage return", "nr_periods 5\r\n", Counters{}, 1},
		{"binary", "\x00\xff\n\x00 \x00", Counters{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got Counters
			bad := parseStat([]byte(c.text), &got)
			if got != c.want || bad != c.bad {
				t.Errorf("got %+v, %d bad\nwant %+v, %d bad", got, bad, c.want, c.bad)
			}
		})
	}
}

func TestParseUsage(t *testing.T) {
	for text, want := range map[string]opt.Int{
		"330622560\n": opt.Of(330622),
		"0\n":         opt.Of(0),
		"":            {},
		"12 34\n":     {},
	} {
		got, bad := parseUsage([]byte(text))
		if got != want || (bad == 0) != want.OK {
			t.Errorf("parseUsage(%q) = %v, %d bad", text, got, bad)
		}
	}
}

func TestCountersAddAndSub(t *testing.T) {
	a := Counters{Usage: opt.Of(1), NrPeriods: opt.Of(10)}
	b := Counters{Usage: opt.Of(3), NrPeriods: opt.Of(4)} // periods were reset
	d := b.Sub(a)
	if d.Usage != opt.Of(2) || d.NrPeriods.OK || d.Throttled.OK {
		t.Errorf("delta %+v", d)
	}
	if sum := d.Add(Counters{Usage: opt.Of(1), NrPeriods: opt.Of(1)}); sum.Usage != opt.Of(3) || sum.NrPeriods.OK {
		t.Errorf("sum %+v", sum)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add(statV1)
	f.Add(statV2)
	f.Add("nr_periods 1\nnr_periods 2")
	f.Fuzz(func(t *testing.T, text string) {
		var c, again Counters
		bad := parseStat([]byte(text), &c)
		lines := strings.Count(text, "\n") + 1
		if bad < 0 || bad > lines {
			t.Errorf("%d bad of %d lines", bad, lines)
		}
		for _, v := range []opt.Int{c.Usage, c.NrPeriods, c.NrThrottled, c.Throttled, c.NrBursts, c.Burst} {
			if v.N < 0 || !v.OK && v.N != 0 {
				t.Errorf("impossible value %+v", v)
			}
		}
		// Unknown lines change nothing.
		if text == "" || strings.HasSuffix(text, "\n") {
			if more := parseStat([]byte("some_new_key 5\n"+text+"another 6\n"), &again); more != bad || again != c {
				t.Errorf("unknown keys changed %+v to %+v", c, again)
			}
		}
	})
}
