package sample

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cpulab/internal/cgroup"
	"cpulab/internal/ndjson"
)

const stat = "usage_usec 330622\nuser_usec 300000\nsystem_usec 30622\nnr_periods 12\nnr_throttled 6\nthrottled_usec 639657\nnr_bursts 0\nburst_usec 0\n"

func fake(t testing.TB, text string) cgroup.Dirs {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cpu.stat": text, "cgroup.controllers": "cpu\n", "cpu.max": "50000 100000\n", "cpu.stat.local": "throttled_usec 7\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cgroup.Dirs{CPU: dir}
}

// line is what a reader of the output has.
type line struct {
	N      int
	Type   string
	G      string
	Reason string
	Bad    *int
	Missed int
	TUS    int64 `json:"t_us"`
	Groups []map[string]any
}

func sampleLines(t *testing.T, p Params) ([]line, error) {
	t.Helper()
	var out bytes.Buffer
	err := Run(context.Background(), p, ndjson.NewWriter(&out), func() string { return "" })
	var lines []line
	for text := range strings.Lines(out.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		lines = append(lines, l)
	}
	return lines, err
}

func TestSamples(t *testing.T) {
	groups := []Group{
		{"good", fake(t, stat)},
		{"garbled", fake(t, "nr_periods x\nnr_throttled 1\nnr_throttled 1\n")},
		{"vanished", cgroup.Dirs{CPU: "/no/such/cgroup"}},
	}
	lines, err := sampleLines(t, Params{Hz: 200, Groups: groups, For: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	last := int64(0)
	for i, l := range lines {
		if l.N != i+1 {
			t.Errorf("line %d has n %d", i+1, l.N)
		}
		if l.Type == "samples" {
			if l.TUS <= last {
				t.Errorf("t_us %d after %d", l.TUS, last)
			}
			last = l.TUS
			checkGroups(t, l.Groups)
		}
		if len(kinds) == 0 || kinds[len(kinds)-1] != l.Type {
			kinds = append(kinds, l.Type)
		}
	}
	if got := strings.Join(kinds, " "); got != "hello gone samples end" {
		t.Errorf("order of types: %s", got)
	}
	if end := lines[len(lines)-1]; end.Reason != "done" || end.Bad == nil || *end.Bad == 0 {
		t.Errorf("end %+v", end)
	}
}

func checkGroups(t *testing.T, groups []map[string]any) {
	t.Helper()
	if len(groups) != 2 {
		t.Fatalf("groups %v", groups)
	}
	if g := groups[0]; g["g"] != "good" || g["usage_us"] != 330622.0 || g["local_throttled_us"] != 7.0 || g["bad"] != nil {
		t.Errorf("good: %v", g)
	}
	if g := groups[1]; g["bad"] != 2.0 || g["nr_periods"] != nil || g["nr_throttled"] != nil {
		t.Errorf("garbled: %v", g)
	}
}

func TestNoGroupIsThere(t *testing.T) {
	p := Params{Hz: 50, Groups: []Group{{"a", cgroup.Dirs{CPU: "/no/such/cgroup"}}}}
	if lines, err := sampleLines(t, p); err == nil || len(lines) > 0 {
		t.Errorf("lines %+v, error %v", lines, err)
	}
}

// slow is a reader of the output that does not keep up.
type slow struct{ bytes.Buffer }

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(25 * time.Millisecond)
	return s.Buffer.Write(p)
}

func TestMissedTicksAreCounted(t *testing.T) {
	var out slow
	p := Params{Hz: 100, Groups: []Group{{"a", fake(t, stat)}}, For: 150 * time.Millisecond}
	if err := Run(context.Background(), p, ndjson.NewWriter(&out), func() string { return "" }); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"missed":`) {
		t.Errorf("no missed ticks in\n%s", out.String())
	}
}

// BenchmarkSample is one tick: all readings and the line.
func BenchmarkSample(b *testing.B) {
	for _, count := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("cgroups=%d", count), func(b *testing.B) {
			r := &run{out: ndjson.NewWriter(io.Discard)}
			for i := range count {
				r.params.Groups = append(r.params.Groups, Group{fmt.Sprint("g", i), benchDirs(b, i)})
			}
			if err := r.open(); err != nil {
				b.Fatal(err)
			}
			defer r.close()
			b.ReportAllocs()
			for b.Loop() {
				r.read()
				if err := r.lines(0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchDirs makes a real cgroup, because the kernel's formatting is most of the
// cost, and a fake one where that is not possible.
func benchDirs(b *testing.B, i int) cgroup.Dirs {
	own, err := cgroup.FindOwn()
	if err != nil {
		return fake(b, stat)
	}
	create := func(parent string) string {
		if parent == "" {
			return ""
		}
		dir := filepath.Join(parent, fmt.Sprintf("cpulab-bench-%d-%d", os.Getpid(), i))
		if err = os.Mkdir(dir, 0o755); err == nil {
			b.Cleanup(func() { _ = os.Remove(dir) })
		}
		return dir
	}
	dirs := cgroup.Dirs{CPU: create(own.CPU)}
	if err == nil && own.CPUAcct != own.CPU {
		dirs.CPUAcct = create(own.CPUAcct)
	}
	if err != nil {
		return fake(b, stat)
	}
	return dirs
}
