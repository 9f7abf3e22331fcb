// Package cgroup finds cgroups and reads their CPU counters and limits, v1 and
// v2. Nothing in it writes, except that join (another package) uses its paths.
package cgroup

import (
	"bytes"

	"cpulab/internal/opt"
)

// Counters are the CPU counters of one cgroup at one instant, or their growth
// over a window. Times are in microseconds. A counter that is absent, was not
// readable or made no sense is nothing, never zero.
type Counters struct {
	Usage          opt.Int
	NrPeriods      opt.Int
	NrThrottled    opt.Int
	Throttled      opt.Int
	NrBursts       opt.Int
	Burst          opt.Int
	LocalThrottled opt.Int // cpu.stat.local, from Linux 6.6
}

// Sub returns the growth since an earlier reading.
func (c Counters) Sub(before Counters) Counters {
	return Counters{
		Usage:          c.Usage.Sub(before.Usage),
		NrPeriods:      c.NrPeriods.Sub(before.NrPeriods),
		NrThrottled:    c.NrThrottled.Sub(before.NrThrottled),
		Throttled:      c.Throttled.Sub(before.Throttled),
		NrBursts:       c.NrBursts.Sub(before.NrBursts),
		Burst:          c.Burst.Sub(before.Burst),
		LocalThrottled: c.LocalThrottled.Sub(before.LocalThrottled),
	}
}

// Add joins the growth of two windows that touch. What one of them does not
// know, the whole does not know.
func (c Counters) Add(next Counters) Counters {
	return Counters{
		Usage:          c.Usage.Add(next.Usage),
		NrPeriods:      c.NrPeriods.Add(next.NrPeriods),
		NrThrottled:    c.NrThrottled.Add(next.NrThrottled),
		Throttled:      c.Throttled.Add(next.Throttled),
		NrBursts:       c.NrBursts.Add(next.NrBursts),
		Burst:          c.Burst.Add(next.Burst),
		LocalThrottled: c.LocalThrottled.Add(next.LocalThrottled),
	}
}

const nsPerUS = 1000

// statParser collects cpu.stat lines and what was wrong with them.
type statParser struct {
	into *Counters
	seen [6]bool
	bad  int
}

// parseStat fills c from a cpu.stat of v1 or v2 and returns how many counters
// had to be dropped. Unknown keys are no fault: kernels add them.
func parseStat(text []byte, c *Counters) (bad int) {
	p := statParser{into: c}
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, newline)
		text = rest
		key, value, _ := bytes.Cut(line, space)
		p.line(key, value)
	}
	return p.bad
}

var (
	newline = []byte{'\n'}
	space   = []byte{' '}
)

// line takes one counter. The v1 and the v2 name of a counter are the same
// counter: a file with both has it twice.
func (p *statParser) line(key, value []byte) {
	switch string(key) { // does not allocate
	case "usage_usec":
		p.set(0, &p.into.Usage, value, 1)
	case "nr_periods":
		p.set(1, &p.into.NrPeriods, value, 1)
	case "nr_throttled":
		p.set(2, &p.into.NrThrottled, value, 1)
	case "throttled_usec":
		p.set(3, &p.into.Throttled, value, 1)
	case "throttled_time":
		p.set(3, &p.into.Throttled, value, nsPerUS)
	case "nr_bursts":
		p.set(4, &p.into.NrBursts, value, 1)
	case "burst_usec":
		p.set(5, &p.into.Burst, value, 1)
	case "burst_time":
		p.set(5, &p.into.Burst, value, nsPerUS)
	}
}

// set stores a counter. One that comes twice is dropped: nothing tells which of
// the two is right.
func (p *statParser) set(slot int, field *opt.Int, value []byte, unit int64) {
	n := opt.Parse(value)
	if p.seen[slot] || !n.OK {
		p.bad++
		n = opt.Int{}
	}
	p.seen[slot] = true
	*field = n.Div(unit)
}

// parseLocal reads the stall of cpu.stat.local, which a parent's limit causes
// too.
func parseLocal(text []byte) (throttled opt.Int, bad int) {
	var c Counters
	bad = parseStat(text, &c)
	return c.Throttled, bad
}

// parseUsage reads a cpuacct.usage: nanoseconds, on a line of their own.
func parseUsage(text []byte) (usage opt.Int, bad int) {
	usage = opt.Parse(bytes.TrimSuffix(text, newline)).Div(nsPerUS)
	if !usage.OK {
		bad = 1
	}
	return usage, bad
}
