package arrive

import (
	"math"
	"slices"
	"testing"
	"time"
)

func all(p Params) (instants []int64) {
	s := New(p)
	for ns, ok := s.Next(); ok; ns, ok = s.Next() {
		instants = append(instants, ns)
	}
	return instants
}

func TestConstantIsExact(t *testing.T) {
	got := all(Params{Process: Constant, Rate: 3, Clump: 1, For: 2 * time.Second})
	want := []int64{0, 333_333_333, 666_666_666, 1_000_000_000, 1_333_333_333, 1_666_666_666}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// An hour: nothing adds up.
	s, last := New(Params{Process: Constant, Rate: 7, Clump: 1, For: time.Hour}), int64(0)
	n := 0
	for ns, ok := s.Next(); ok; ns, ok = s.Next() {
		last = ns
		n++
	}
	if n != 7*3600 || last != int64(time.Hour)-int64(time.Second)/7-1 {
		t.Errorf("%d arrivals, the last at %d", n, last)
	}
}

func TestClumpsAreRarer(t *testing.T) {
	for _, process := range []Process{Constant, Poisson} {
		const rate, clump, seconds = 100, 50, 2000
		instants := map[int64]int{}
		for _, ns := range all(Params{Process: process, Rate: rate, Clump: clump, Seed: 7, For: seconds * time.Second}) {
			instants[ns]++
		}
		for ns, count := range instants {
			if count != clump {
				t.Fatalf("%s: %d arrivals at %d", process, count, ns)
			}
		}
		// 4000 instants; of a Poisson process five sigma are 316.
		if n := len(instants); math.Abs(float64(n-rate/clump*seconds)) > 316 {
			t.Errorf("%s: %d instants in %d s", process, n, seconds)
		}
		if instants[0] != clump {
			t.Errorf("%s: %d arrivals at 0", process, instants[0])
		}
	}
}

// TestPoissonGaps: the mean and the variation of exponential gaps are both
// 1/lambda, and a share of 1-1/e is below it.
func TestPoissonGaps(t *testing.T) {
	const rate = 1000
	instants := all(Params{Process: Poisson, Rate: rate, Clump: 1, Seed: 1, For: 200 * time.Second})
	if !slices.IsSorted(instants) || instants[0] != 0 {
		t.Fatal("not in order, or not from 0")
	}
	var sum, squares, below float64
	n := float64(len(instants) - 1)
	for i := range len(instants) - 1 {
		gap := float64(instants[i+1]-instants[i]) * rate / 1e9
		sum += gap
		squares += gap * gap
		if gap < 1 {
			below++
		}
	}
	mean := sum / n
	deviation := math.Sqrt(squares/n - mean*mean)
	if math.Abs(mean-1) > 0.015 || math.Abs(deviation-1) > 0.03 || math.Abs(below/n-(1-1/math.E)) > 0.01 {
		t.Errorf("mean %f, deviation %f, below the mean %f", mean, deviation, below/n)
	}
}

func TestSeedsAndStreams(t *testing.T) {
	p := Params{Process: Poisson, Rate: 50, Clump: 1, Seed: 3, For: time.Second}
	one := all(p)
	if !slices.Equal(one, all(p)) {
		t.Error("the same seed gave other instants")
	}
	p.Stream = 1
	if slices.Equal(one, all(p)) {
		t.Error("another stream gave the same instants")
	}
	p.Rate = 0
	if got := all(p); got != nil {
		t.Errorf("a rate of 0: %v", got)
	}
}

func FuzzProcess(f *testing.F) {
	f.Add("poisson")
	f.Add("constant")
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		var p Process
		known := text == "poisson" || text == "constant"
		if err := p.Set(text); (err == nil) != known {
			t.Errorf("%q: %v", text, err)
		} else if known && p.String() != text {
			t.Errorf("%q became %q", text, p.String())
		}
	})
}

// FuzzSchedule: whatever the parameters, the instants are in order, inside the
// time and in whole clumps.
func FuzzSchedule(f *testing.F) {
	f.Add(uint16(100), uint8(1), uint64(1), true)
	f.Add(uint16(3), uint8(50), uint64(2), false)
	f.Fuzz(func(t *testing.T, rate uint16, clump uint8, seed uint64, constant bool) {
		p := Params{Process: Poisson, Rate: int(rate), Clump: int(clump) + 1, Seed: seed, For: time.Second}
		if constant {
			p.Process = Constant
		}
		got := all(p)
		if !slices.IsSorted(got) || len(got)%p.Clump != 0 {
			t.Fatalf("%d instants of %+v", len(got), p)
		}
		if len(got) > 0 && (got[0] != 0 || got[len(got)-1] >= int64(time.Second)) {
			t.Fatalf("from %d to %d", got[0], got[len(got)-1])
		}
	})
}
