// Package sample reads the counters of cgroups at a fixed rate, from outside
// them: a process inside a throttled cgroup is frozen together with it.
package sample

import (
	"context"
	"errors"
	"fmt"
	"time"

	"cpulab/internal/cgroup"
	"cpulab/internal/clock"
	"cpulab/internal/facts"
	"cpulab/internal/ndjson"
	"cpulab/internal/opt"
)

// Params say what to sample.
type Params struct {
	Hz     int
	Groups []Group
	For    time.Duration // 0: until stopped
}

// Group is a cgroup under the name that the lines use for it.
type Group struct {
	Name string
	Dirs cgroup.Dirs
}

// target is a group while it is being sampled.
type target struct {
	Group
	reader *cgroup.Reader // nil once the cgroup is gone
	gone   string         // why, until it is reported

	counters cgroup.Counters
	bad      int // counters of the last reading that made no sense
}

type run struct {
	params  Params
	out     *ndjson.Writer
	sleeper *clock.Sleeper
	targets []*target
	alive   int

	startUS, endUS int64 // of the last reading
	samples        int64
	bad            int64
}

// Run samples until ctx ends, the time is over or all cgroups are gone. reason
// names the cause when ctx ended.
func Run(ctx context.Context, p Params, out *ndjson.Writer, reason func() string) error {
	sleeper, err := clock.NewSleeper(ctx)
	if err != nil {
		return err
	}
	r := &run{params: p, out: out, sleeper: sleeper}
	if err := r.open(); err != nil {
		return err
	}
	defer r.close()
	if err := r.hello(); err != nil {
		return err
	}
	over, err := r.loop()
	if err != nil {
		return err
	}
	if over == "" {
		over = reason()
	}
	r.out.Begin("end")
	r.out.Str("reason", over)
	r.out.Int("samples", r.samples)
	r.out.Int("bad", r.bad)
	return r.out.End()
}

// open opens every group. One that is not there any more is reported as gone,
// because containers end while a list of them is being made; when none is
// there, the list was wrong.
func (r *run) open() error {
	var missing error
	for _, g := range r.params.Groups {
		t := &target{Group: g}
		r.targets = append(r.targets, t)
		reader, err := cgroup.Open(g.Dirs)
		switch {
		case errors.Is(err, cgroup.ErrMissing):
			missing = fmt.Errorf("group %s: %w", g.Name, err)
			t.gone = err.Error()
		case err != nil:
			r.close()
			return fmt.Errorf("group %s: %w", g.Name, err)
		default:
			t.reader = reader
			r.alive++
		}
	}
	if r.alive == 0 {
		return missing
	}
	return nil
}

func (r *run) close() {
	for _, t := range r.targets {
		if t.reader != nil {
			t.reader.Close()
		}
	}
}

// loop takes one sample a tick and returns why it ended, "" for the context.
// The ticks are absolute: a late sample does not move the ones after it. Ticks
// that passed meanwhile are counted, not made up.
func (r *run) loop() (over string, err error) {
	interval := int64(time.Second) / int64(r.params.Hz)
	start := clock.MonoNS()
	var tick, missed int64
	for {
		r.read()
		if err := r.lines(missed); err != nil {
			return "", err
		}
		if r.alive == 0 {
			return "gone", nil
		}
		next := max(tick+1, (clock.MonoNS()-start)/interval)
		missed = next - tick - 1
		tick = next
		at := start + tick*interval
		if r.params.For > 0 && at > start+int64(r.params.For) {
			return "done", nil
		}
		if !r.sleeper.Until(at) {
			return "", nil
		}
	}
}

func (r *run) hello() error {
	monoUS, unixUS := clock.Pair()
	r.out.BeginAt("hello", monoUS)
	r.out.Int("unix_us", unixUS)
	facts.WriteBuild(r.out)
	r.out.Int("hz", int64(r.params.Hz))
	r.out.Opt("for_us", opt.Int{N: r.params.For.Microseconds(), OK: r.params.For > 0})
	r.out.Array("groups")
	for _, t := range r.targets {
		r.out.Object("")
		r.out.Str("name", t.Name)
		var limit cgroup.Limit
		if t.reader != nil {
			r.out.Int("cgroup_version", int64(t.Dirs.Version()))
			limit = cgroup.ReadLimit(t.Dirs)
		} else {
			r.out.Null("cgroup_version")
		}
		facts.WriteLimit(r.out, limit)
		r.out.EndObject()
	}
	r.out.EndArray()
	return r.out.End()
}
