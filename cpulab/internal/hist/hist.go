// Package hist counts latencies in HDR histograms: any number of values in a
// fixed memory, three significant digits, and histograms that add up.
package hist

import (
	"fmt"
	"maps"
	"slices"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"cpulab/internal/ndjson"
	"cpulab/internal/opt"
)

const (
	lowestUS  = 1
	highestUS = 3_600_000_000
	digits    = 3
)

// Hist counts values in microseconds. It is not safe for concurrent use: give
// every thread one and merge them.
type Hist struct {
	counts *hdr.Histogram
	max    int64 // exact, where the buckets are not
}

// New returns an empty Hist.
func New() *Hist { return &Hist{counts: hdr.New(lowestUS, highestUS, digits)} }

// Record counts a value in microseconds. Below one it counts as one, which is
// the finest that the histogram tells apart; above an hour as an hour.
func (h *Hist) Record(us int64) {
	us = min(max(us, lowestUS), highestUS)
	if err := h.counts.RecordValue(us); err != nil {
		panic(err) // the value is in the range
	}
	h.max = max(h.max, us)
}

// Merge adds all that from counted.
func (h *Hist) Merge(from *Hist) {
	if dropped := h.counts.Merge(from.counts); dropped > 0 {
		panic(fmt.Sprintf("%d values did not fit into a histogram of the same shape", dropped))
	}
	h.max = max(h.max, from.max)
}

// Reset empties the histogram and keeps its memory.
func (h *Hist) Reset() {
	h.counts.Reset()
	h.max = 0
}

// N returns how many values were counted.
func (h *Hist) N() int64 { return h.counts.TotalCount() }

// MaxUS returns the largest value, exactly; nothing when there is none.
func (h *Hist) MaxUS() opt.Int { return opt.Int{N: h.max, OK: h.N() > 0} }

// Percentile returns the value at a share of perMille thousandths, in
// microseconds, by nearest rank: the smallest counted value that at least this
// share does not exceed. It is never less than that value and at most the
// width of its bucket, 0.1 %, more. Nothing when nothing was counted.
func (h *Hist) Percentile(perMille int64) opt.Int {
	n := h.N()
	if n == 0 {
		return opt.Int{}
	}
	rank := max((perMille*n+999)/1000, 1)
	// The library rounds p/100*n to the nearest rank; this p meets it exactly.
	us := h.counts.ValueAtPercentile(100 * float64(rank) / float64(n))
	return opt.Of(min(us, h.max))
}

// Encode returns the histogram in the V2 form that HDR libraries of all
// languages read, compressed, as base64.
func (h *Hist) Encode() string {
	text, err := h.counts.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		panic(err) // it writes to memory only
	}
	return string(text)
}

// WriteTo adds the histogram to the object that is open in w, with the failures
// by kind, which are in no latency.
func (h *Hist) WriteTo(w *ndjson.Writer, name string, errors map[string]int64) {
	w.Object(name)
	w.Int("n", h.N())
	w.Opt("max", h.MaxUS())
	w.Object("errors")
	for _, kind := range slices.Sorted(maps.Keys(errors)) {
		w.Int(kind, errors[kind])
	}
	w.EndObject()
	w.Str("hdr", h.Encode())
	w.EndObject()
}
