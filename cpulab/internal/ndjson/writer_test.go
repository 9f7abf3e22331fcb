package ndjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"cpulab/internal/opt"
)

// writes records each write, because a line must leave in one.
type writes []string

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, string(p))
	return len(p), nil
}

func TestLines(t *testing.T) {
	var out writes
	w := NewWriter(&out)
	w.BeginAt("hello", 5)
	w.Opt("absent_us", opt.Int{})
	w.Opt("present_us", opt.Of(-7))
	w.StrOrNull("kernel", "")
	w.Object("env")
	w.Null("GODEBUG")
	w.EndObject()
	w.Array("groups")
	for _, g := range []string{"a", "b"} {
		w.Object("")
		w.Str("g", g)
		w.EndObject()
	}
	w.EndArray()
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	w.BeginAt("end", 6)
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	want := writes{
		`{"n":1,"type":"hello","mono_us":5,"absent_us":null,"present_us":-7,"kernel":null,"env":{"GODEBUG":null},"groups":[{"g":"a"},{"g":"b"}]}` + "\n",
		`{"n":2,"type":"end","mono_us":6}` + "\n",
	}
	if strings.Join(out, "|") != strings.Join(want, "|") {
		t.Errorf("got  %q\nwant %q", out, want)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestEndReportsABrokenPipe(t *testing.T) {
	w := NewWriter(broken{})
	w.Begin("end")
	if err := w.End(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

func TestLineAllocatesNothing(t *testing.T) {
	w := NewWriter(io.Discard)
	if n := testing.AllocsPerRun(100, func() {
		w.Begin("samples")
		w.Str("g", "name")
		w.Int("usage_us", 1<<40)
		_ = w.End()
	}); n != 0 {
		t.Errorf("a line allocates %v times", n)
	}
}

func TestHuman(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(Human(&out))
	w.BeginAt("hello", 5)
	w.Object("cgroup")
	w.Null("quota_us")
	w.EndObject()
	_ = w.End()
	for _, wall := range []int64{7, 80123} {
		w.BeginAt("round", 6)
		w.Int("wall_us", wall)
		w.Int("late_us", 1)
		_ = w.End()
	}
	want := "hello\n" +
		"  cgroup.quota_us        -\n" +
		"round    wall_us=7        late_us=1\n" +
		"round    wall_us=80123    late_us=1\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// FuzzString checks that any name makes valid JSON of the same meaning.
func FuzzString(f *testing.F) {
	f.Add("plain")
	f.Add("quote\" back\\ \n\t\x00 \u2028 \xff")
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(appendString(nil, s), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if utf8.ValidString(s) && got != s {
			t.Errorf("%q came back as %q", s, got)
		}
	})
}
