package host

import (
	"runtime"
	"sync"
	"testing"
)

// TestRunDelaySurvivesThreads ends and starts threads between readings: the sum
// must not fall, or a delta would be lost.
func TestRunDelaySurvivesThreads(t *testing.T) {
	r := NewRunDelay()
	before := r.ReadUS()
	if !before.OK {
		t.Skip("this kernel has no schedstat")
	}
	for range 20 {
		var ended sync.WaitGroup
		for range 4 {
			ended.Add(1)
			go func() {
				runtime.LockOSThread() // not unlocked: the thread ends too
				ended.Done()
			}()
		}
		ended.Wait()
		now := r.ReadUS()
		if !now.OK || now.N < before.N {
			t.Fatalf("the sum went from %v to %v", before, now)
		}
		before = now
	}
}

func BenchmarkRunDelay(b *testing.B) {
	r := NewRunDelay()
	b.ReportAllocs()
	for b.Loop() {
		r.ReadUS()
	}
}
