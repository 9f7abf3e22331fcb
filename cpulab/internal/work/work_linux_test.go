package work

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"
)

func TestBurnIsExact(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const want = int64(5 * time.Millisecond)
	meter := NewMeter()
	over := make([]int64, 21)
	for i := range over {
		used := meter.Burn(want, new(Control))
		if over[i] = used - want; over[i] < 0 {
			t.Fatalf("burned %d ns too little", -over[i])
		}
	}
	slices.Sort(over)
	// The median: interrupts of a busy machine are charged to the thread.
	if median := over[len(over)/2]; median > 50_000 {
		t.Errorf("median overshoot %d ns, all %v", median, over)
	}
}

func TestBurnNothing(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if used := NewMeter().Burn(0, new(Control)); used != 0 {
		t.Errorf("burned %d ns", used)
	}
}

func TestCrewRuns(t *testing.T) {
	const threads, each = 4, int64(2 * time.Millisecond)
	crew := NewCrew(threads, each)
	defer crew.Close()
	for range 3 {
		b := crew.Run(context.Background())
		if !b.Complete || b.CPUNS < threads*each || b.CPUNS > 2*threads*each {
			t.Errorf("burst %+v, want %d ns of CPU", b, threads*each)
		}
		if wall := b.EndNS - b.StartNS; wall < each {
			t.Errorf("wall %d ns is shorter than the work", wall)
		}
	}
}

func TestCrewIsAbandoned(t *testing.T) {
	// More workers than GOMAXPROCS: the hard case, where they must yield.
	crew := NewCrew(4*runtime.GOMAXPROCS(0), int64(time.Hour))
	defer crew.Close()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	start := time.Now()
	if b := crew.Run(ctx); b.Complete {
		t.Errorf("complete after %v", time.Since(start))
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func BenchmarkBurn(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	meter := NewMeter()
	control := new(Control)
	var over int64
	b.ReportAllocs()
	for b.Loop() {
		over += meter.Burn(1_000_000, control) - 1_000_000
	}
	b.ReportMetric(float64(over)/float64(b.N), "ns-over/op")
}

// TestSpinMakesItsSteps: the generator of Marsaglia's paper (2003), 13, 7, 17.
func TestSpinMakesItsSteps(t *testing.T) {
	want := uint64(Seed)
	for steps := range 100 {
		if got := Spin(Seed, steps); got != want {
			t.Fatalf("%d steps gave %d, want %d", steps, got, want)
		}
		want ^= want << 13
		want ^= want >> 7
		want ^= want << 17
	}
	if one := Spin(Seed, 1); one != 8748534153485358512 {
		t.Errorf("the paper's first number is not %d", one)
	}
}
