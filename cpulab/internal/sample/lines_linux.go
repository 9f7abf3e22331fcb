package sample

import (
	"cpulab/internal/clock"
)

// read reads every group that is still there. It only reads: building lines
// between two groups would stretch the instant that they share.
func (r *run) read() {
	r.startUS = clock.MonoUS()
	for _, t := range r.targets {
		if t.reader == nil {
			continue
		}
		var err error
		if t.bad, err = t.reader.Read(&t.counters); err != nil {
			t.reader.Close()
			t.reader = nil
			t.gone = err.Error()
			r.alive--
		}
		r.bad += int64(t.bad)
	}
	r.endUS = clock.MonoUS()
}

// lines writes one line for each group that went and one for the sample.
func (r *run) lines(missed int64) error {
	for _, t := range r.targets {
		if t.gone == "" {
			continue
		}
		r.out.Begin("gone")
		r.out.Str("g", t.Name)
		r.out.Str("reason", t.gone)
		if err := r.out.End(); err != nil {
			return err
		}
		t.gone = ""
	}
	if r.alive == 0 {
		return nil
	}
	r.samples++
	r.out.Begin("samples")
	r.out.Int("t_us", (r.startUS+r.endUS)/2)
	r.out.Int("read_us", r.endUS-r.startUS)
	if missed > 0 {
		r.out.Int("missed", missed)
	}
	r.out.Array("groups")
	for _, t := range r.targets {
		if t.reader != nil {
			r.group(t)
		}
	}
	r.out.EndArray()
	return r.out.End()
}

func (r *run) group(t *target) {
	c := &t.counters
	r.out.Object("")
	r.out.Str("g", t.Name)
	r.out.Opt("usage_us", c.Usage)
	r.out.Opt("nr_periods", c.NrPeriods)
	r.out.Opt("nr_throttled", c.NrThrottled)
	r.out.Opt("throttled_us", c.Throttled)
	r.out.Opt("nr_bursts", c.NrBursts)
	r.out.Opt("burst_us", c.Burst)
	r.out.Opt("local_throttled_us", c.LocalThrottled)
	if t.bad > 0 {
		r.out.Int("bad", int64(t.bad))
	}
	r.out.EndObject()
}
