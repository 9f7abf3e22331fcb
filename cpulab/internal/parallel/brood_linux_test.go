package parallel

import (
	"context"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// shell returns a brood of shells that run a script.
func shell(t *testing.T, script string) *brood {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	b := &brood{program: "/bin/sh", args: []string{"sh", "-c", script}, null: null}
	t.Cleanup(b.close)
	return b
}

func runRound(ctx context.Context, b *brood, count int) (batch, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return b.run(ctx, count)
}

func TestProcessesThatEnd(t *testing.T) {
	b := shell(t, "exit 0")
	for range 2 { // a brood is used again
		done, err := runRound(context.Background(), b, 3)
		if err != nil || done.endNS <= done.startNS || done.cpuNS <= 0 {
			t.Errorf("%+v, %v", done, err)
		}
	}
}

func TestAProcessThatFailsSaysWhy(t *testing.T) {
	done, err := runRound(context.Background(), shell(t, "echo no memory >&2; exit 3"), 1)
	if err == nil || done != (batch{}) {
		t.Fatalf("%+v, %v", done, err)
	}
	for _, want := range []string{"process 1 failed", "exit status 3", "no memory"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestAProgramThatIsNotThere(t *testing.T) {
	b := shell(t, "")
	b.program = "/no/such/program"
	if _, err := runRound(context.Background(), b, 2); err == nil || !strings.Contains(err.Error(), "cannot start process 1 of 2") {
		t.Errorf("%v", err)
	}
}

func TestTheEndOfTheContextEndsTheProcesses(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	start := time.Now()
	if _, err := runRound(ctx, shell(t, "exec sleep 600"), 8); err == nil {
		t.Error("a round that was given up is no round")
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("took %v", took)
	}
}
