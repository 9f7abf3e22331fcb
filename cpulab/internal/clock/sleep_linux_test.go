package clock

import (
	"context"
	"testing"
	"time"
)

func TestSleeperDoesNotWakeEarly(t *testing.T) {
	s, err := NewSleeper(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []time.Duration{0, time.Microsecond, 300 * time.Microsecond, 3 * time.Millisecond} {
		target := MonoNS() + int64(d)
		if !s.Until(target) {
			t.Fatalf("%v: woken without an end", d)
		}
		if early := target - MonoNS(); early > 0 {
			t.Errorf("%v: woken %d ns early", d, early)
		}
	}
}

func TestSleeperWakesWhenTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s, err := NewSleeper(ctx)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(10*time.Millisecond, cancel)
	start := time.Now()
	if s.Until(MonoNS() + int64(time.Minute)) {
		t.Error("reported the whole wait")
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if s.Until(0) {
		t.Error("an ended context must win over an instant that has passed")
	}
}

func TestPairIsOneInstant(t *testing.T) {
	mono1, unix1 := Pair()
	time.Sleep(5 * time.Millisecond)
	mono2, unix2 := Pair()
	if apart := (mono2 - mono1) - (unix2 - unix1); apart < -2000 || apart > 2000 {
		t.Errorf("the clocks drifted %d us apart in 5 ms", apart)
	}
}

func BenchmarkMonoNS(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		MonoNS()
	}
}
