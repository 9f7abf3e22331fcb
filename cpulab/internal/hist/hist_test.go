package hist

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"cpulab/internal/ndjson"
	"cpulab/internal/opt"
)

// nearestRank is the definition, on the values themselves.
func nearestRank(ordered []int64, perMille int64) int64 {
	rank := max((perMille*int64(len(ordered))+999)/1000, 1)
	return ordered[rank-1]
}

// check compares a histogram with the values that it counted.
func check(t *testing.T, h *Hist, values []int64) {
	t.Helper()
	ordered := slices.Sorted(slices.Values(values))
	if h.N() != int64(len(values)) {
		t.Fatalf("counted %d of %d values", h.N(), len(values))
	}
	if len(values) == 0 {
		if h.MaxUS() != (opt.Int{}) || h.Percentile(500) != (opt.Int{}) {
			t.Error("an empty histogram has a maximum or a median")
		}
		return
	}
	if got := h.MaxUS(); got != opt.Of(ordered[len(ordered)-1]) {
		t.Errorf("maximum %v, want %d", got, ordered[len(ordered)-1])
	}
	for _, perMille := range []int64{0, 1, 333, 500, 900, 990, 999, 1000} {
		want, got := nearestRank(ordered, perMille), h.Percentile(perMille)
		if !got.OK || got.N < want || got.N > want+want/1000+1 {
			t.Errorf("%d thousandths of %d values: %v, want %d", perMille, len(values), got, want)
		}
	}
}

func TestPercentilesAreNearestRank(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 3, 10, 99, 100, 101, 1000, 12345} {
		h := New()
		values := make([]int64, n)
		for i := range values {
			// All orders of magnitude alike.
			values[i] = 1 + random.Int64N(1<<(1+random.IntN(30)))
			h.Record(values[i])
		}
		check(t, h, values)
	}
}

func FuzzRecordAndMerge(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 0, 0xff, 0xff}, uint8(1))
	f.Add([]byte("some latencies, any at all"), uint8(3))
	f.Fuzz(func(t *testing.T, raw []byte, cut uint8) {
		var values []int64
		for ; len(raw) >= 4; raw = raw[4:] {
			values = append(values, 1+int64(binary.BigEndian.Uint32(raw))%highestUS)
		}
		one, other := New(), New()
		for i, us := range values {
			if i < int(cut) {
				one.Record(us)
			} else {
				other.Record(us)
			}
		}
		one.Merge(other)
		check(t, one, values)

		back, err := hdr.Decode([]byte(one.Encode()))
		if err != nil || !back.Equals(one.counts) {
			t.Errorf("read back: %v", err)
		}
		one.Reset()
		check(t, one, nil)
	})
}

func TestBounds(t *testing.T) {
	h := New()
	h.Record(-5)
	h.Record(0)
	if got := h.Percentile(1000); got != opt.Of(1) {
		t.Errorf("below a microsecond: %v", got)
	}
	h.Record(2 * highestUS)
	if got := h.MaxUS(); got != opt.Of(highestUS) {
		t.Errorf("above an hour: %v", got)
	}
}

func TestWriteTo(t *testing.T) {
	var out bytes.Buffer
	w := ndjson.NewWriter(&out)
	h := New()
	h.Record(1234)
	w.Begin("round")
	h.WriteTo(w, "work_us", map[string]int64{"timeout": 2, "refused": 1})
	New().WriteTo(w, "ping_us", nil)
	if err := w.End(); err != nil {
		t.Fatal(err)
	}
	type measure struct {
		N      int64            `json:"n"`
		Max    *int64           `json:"max"`
		Errors map[string]int64 `json:"errors"`
		HDR    string           `json:"hdr"`
	}
	var line struct {
		Work measure `json:"work_us"`
		Ping measure `json:"ping_us"`
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line.Work.N != 1 || *line.Work.Max != 1234 || line.Work.Errors["timeout"] != 2 || line.Work.Errors["refused"] != 1 {
		t.Errorf("%+v", line.Work)
	}
	if line.Ping.N != 0 || line.Ping.Max != nil || len(line.Ping.Errors) != 0 {
		t.Errorf("%+v", line.Ping)
	}
	if back, err := hdr.Decode([]byte(line.Work.HDR)); err != nil || back.ValueAtPercentile(50) != 1234 {
		t.Errorf("%v", err)
	}
}

func BenchmarkRecord(b *testing.B) {
	h := New()
	b.ReportAllocs()
	for b.Loop() {
		h.Record(12_345)
	}
}

func BenchmarkEncode(b *testing.B) {
	h := New()
	for us := range int64(1000) {
		h.Record(us * us)
	}
	b.ReportAllocs()
	for b.Loop() {
		h.Encode()
	}
}
