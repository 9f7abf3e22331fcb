package rounds

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"cpulab/internal/cgroup"
	"cpulab/internal/facts"
	"cpulab/internal/ndjson"
	"cpulab/internal/opt"
)

func TestSettleTime(t *testing.T) {
	for _, c := range []struct {
		facts facts.Facts
		want  time.Duration
	}{
		{facts.Facts{Limit: cgroup.Limit{Quota: opt.Of(50000), Period: opt.Of(100000)}}, 210 * time.Millisecond},
		{facts.Facts{Limit: cgroup.Limit{Quota: opt.Of(5000), Period: opt.Of(10000)}}, 30 * time.Millisecond},
		{facts.Facts{Limit: cgroup.Limit{Period: opt.Of(100000)}}, 10 * time.Millisecond},
		{facts.Facts{OwnErr: errors.New("none")}, 10 * time.Millisecond},
	} {
		r := &Recorder{facts: c.facts}
		if got := r.SettleTime(); got != c.want {
			t.Errorf("%+v: %v, want %v", c.facts.Limit, got, c.want)
		}
	}
}

// TestProbeWithoutCgroup: the wall times are worth having without counters.
func TestProbeWithoutCgroup(t *testing.T) {
	p, err := newProbe(facts.Facts{OwnErr: errors.New("not mounted")})
	if err == nil {
		t.Error("want the reason")
	}
	before := p.read()
	d := p.read().sub(before)
	if d.counters != (cgroup.Counters{}) || d.windowUS < 0 {
		t.Errorf("delta %+v", d)
	}
}

// TestLines: the windows touch, whichever way a round is settled, and work of
// no round is in the total.
func TestLines(t *testing.T) {
	var out, warn bytes.Buffer
	r := Open(ndjson.NewWriter(&out), &warn, "kind", facts.Facts{OwnErr: errors.New("not mounted")})
	if text := warn.String(); !strings.HasPrefix(text, "cpulab kind: ") || !strings.Contains(text, "not mounted") {
		t.Errorf("warning %q", text)
	}
	r.Begin()
	first := r.before.atUS
	more := func(w *ndjson.Writer) { w.Int("cpu_us", 7) }
	for _, err := range []error{
		r.Round(Step{StartUS: 10, WallUS: 5, LateUS: opt.Of(0), More: more}),
		r.Settle(),
		r.RoundSettled(Step{StartUS: 20, WallUS: 6}),
		r.Settle(), // of no round
		r.End("done", func(w *ndjson.Writer) { w.Int("extra", 1) }),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	type line struct {
		Type   string
		Round  int64
		Start  int64  `json:"start_us"`
		Wall   int64  `json:"wall_us"`
		Late   *int64 `json:"late_us"`
		CPU    int64  `json:"cpu_us"`
		Usage  *int64 `json:"usage_us"`
		Window int64  `json:"window_us"`
		Rounds int64
		Extra  int64
		Total  struct {
			Window int64 `json:"window_us"`
		}
		Settled int64 `json:"settle_us"`
	}
	var lines []line
	dec := json.NewDecoder(&out)
	for {
		var l line
		if err := dec.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	if len(lines) != 5 {
		t.Fatalf("%d lines: %+v", len(lines), lines)
	}
	if l := lines[0]; l.Type != "round" || l.Round != 1 || l.Start != 10 || l.Wall != 5 || l.Late == nil || l.CPU != 7 || l.Usage != nil {
		t.Errorf("round %+v", l)
	}
	if l := lines[2]; l.Type != "round" || l.Round != 2 || l.Late != nil || l.Window != lines[3].Window {
		t.Errorf("round %+v, settled %+v", l, lines[3])
	}
	if l := lines[3]; l.Type != "settled" || l.Round != 2 || first+lines[1].Window+l.Window != 26+l.Settled {
		t.Errorf("the settled windows do not touch: %+v", l)
	}
	if l := lines[4]; l.Rounds != 2 || l.Extra != 1 || l.Total.Window != r.before.atUS-first {
		t.Errorf("end %+v, want %d us", l, r.before.atUS-first)
	}
}

// TestReadBeforeTheEnd: no time has passed since an end that is still to come.
func TestReadBeforeTheEnd(t *testing.T) {
	var out bytes.Buffer
	r := Open(ndjson.NewWriter(&out), io.Discard, "kind", facts.Facts{OwnErr: errors.New("not mounted")})
	r.Begin()
	if err := r.RoundSettled(Step{StartUS: r.before.atUS, WallUS: time.Hour.Microseconds()}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, `"type":"settled"`) || !strings.Contains(text, `"settle_us":null`) {
		t.Error(text)
	}
}

// TestEndWithoutBegin: nothing was measured, so the total is null, not zero.
func TestEndWithoutBegin(t *testing.T) {
	var out bytes.Buffer
	r := Open(ndjson.NewWriter(&out), io.Discard, "kind", facts.Collect())
	if err := errors.Join(r.Settle(), r.End("eof", nil)); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.HasSuffix(text, `"reason":"eof","rounds":0,"total":null}`+"\n") || strings.Count(text, "\n") != 1 {
		t.Error(text)
	}
}

func BenchmarkProbe(b *testing.B) {
	p, err := newProbe(facts.Collect())
	if err != nil {
		b.Skip(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		p.read()
	}
}
