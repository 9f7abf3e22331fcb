package rounds

import (
	"cpulab/internal/cgroup"
	"cpulab/internal/clock"
	"cpulab/internal/facts"
	"cpulab/internal/host"
	"cpulab/internal/ndjson"
	"cpulab/internal/opt"
)

// probe reads the own cgroup and the own threads. It runs in the cgroup that it
// measures, so it keeps its files open and allocates nothing.
type probe struct {
	reader *cgroup.Reader // nil when the own cgroup cannot be read
	delay  *host.RunDelay
}

// reading is the counters at one instant.
type reading struct {
	atUS     int64
	counters cgroup.Counters
	runDelay opt.Int
}

// delta is what happened between two readings.
type delta struct {
	windowUS int64
	counters cgroup.Counters
	runDelay opt.Int
}

// newProbe opens the counters. A cgroup that cannot be read is reported and
// leaves nulls: the wall times of the rounds are worth having without it.
func newProbe(f facts.Facts) (*probe, error) {
	p := &probe{delay: host.NewRunDelay()}
	if f.OwnErr != nil {
		return p, f.OwnErr
	}
	reader, err := cgroup.Open(f.Own.Dirs)
	if err != nil {
		return p, err
	}
	p.reader = reader
	return p, nil
}

func (p *probe) read() reading {
	r := reading{atUS: clock.MonoUS()}
	if p.reader != nil {
		if _, err := p.reader.Read(&r.counters); err != nil {
			r.counters = cgroup.Counters{}
		}
	}
	r.runDelay = p.delay.ReadUS()
	return r
}

func (r reading) sub(before reading) delta {
	return delta{
		windowUS: r.atUS - before.atUS,
		counters: r.counters.Sub(before.counters),
		runDelay: r.runDelay.Sub(before.runDelay),
	}
}

func (d delta) add(next delta) delta {
	return delta{
		windowUS: d.windowUS + next.windowUS,
		counters: d.counters.Add(next.counters),
		runDelay: d.runDelay.Add(next.runDelay),
	}
}

func (d delta) addTo(w *ndjson.Writer) {
	w.Opt("usage_us", d.counters.Usage)
	w.Opt("nr_periods", d.counters.NrPeriods)
	w.Opt("nr_throttled", d.counters.NrThrottled)
	w.Opt("throttled_us", d.counters.Throttled)
	w.Opt("nr_bursts", d.counters.NrBursts)
	w.Opt("burst_us", d.counters.Burst)
	w.Opt("run_delay_us", d.runDelay)
	w.Int("window_us", d.windowUS)
}
