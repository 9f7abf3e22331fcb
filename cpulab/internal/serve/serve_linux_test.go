package serve

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"
)

// size counts the bytes of a tree.
func (n *node) size() int64 {
	if n == nil {
		return 0
	}
	total := int64(nodeBytes)
	for _, child := range n.children {
		total += child.size()
	}
	return total
}

// TestHeapIsWhatItSays: the garbage collector finds it in use, object by
// object.
func TestHeapIsWhatItSays(t *testing.T) {
	for _, bytes := range []int64{0, 127, 128, 1000 * 128, 8 << 20} {
		if got, want := newHeap(bytes).size(), bytes/nodeBytes*nodeBytes; got != want {
			t.Errorf("%d bytes: a heap of %d", bytes, got)
		}
	}
	const bytes = 8 << 20
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	heap := newHeap(bytes)
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc - before.HeapAlloc); grown < bytes*95/100 || grown > bytes*105/100 {
		t.Errorf("in use: %d bytes more", grown)
	}
	if objects := after.HeapObjects - before.HeapObjects; objects < bytes/nodeBytes*95/100 {
		t.Errorf("%d objects", objects)
	}
	runtime.KeepAlive(heap)
}

func TestAllocate(t *testing.T) {
	for _, bytes := range []int64{0, 1, pieceBytes, pieceBytes + 1, 1 << 20} {
		total := int64(0)
		for _, piece := range allocate(bytes) {
			total += int64(len(piece))
			if piece[0] != 1 {
				t.Errorf("%d bytes: a piece was not touched", bytes)
			}
		}
		if total != bytes {
			t.Errorf("allocated %d bytes, want %d", total, bytes)
		}
	}
}

func TestBurnEnds(t *testing.T) {
	s := newService(Params{Work: 2 * time.Millisecond})
	if !s.burn(context.Background()) {
		t.Error("work without an end of its client was given up")
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.params.Work = time.Hour
	time.AfterFunc(10*time.Millisecond, cancel)
	if s.burn(ctx) {
		t.Error("an hour of work was done")
	}
}

func TestPeakIsTheMostAtOnce(t *testing.T) {
	s := newService(Params{})
	var group sync.WaitGroup
	for range 50 {
		group.Add(1)
		go func() {
			defer group.Done()
			s.enter()
		}()
	}
	group.Wait()
	s.inFlight.Add(-20)
	s.enter()
	if peak := s.peak.Load(); peak != 50 {
		t.Errorf("%d", peak)
	}
}
