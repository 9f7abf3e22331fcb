package work

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// Control reaches into work in progress. The zero value lets it run.
type Control struct {
	abandon atomic.Bool
	breath  atomic.Uint32
}

// Abandon ends all work under this control.
func (c *Control) Abandon() { c.abandon.Store(true) }

// Abandoned tells whether work under this control shall end.
func (c *Control) Abandoned() bool { return c.abandon.Load() }

// Breathe makes every worker yield once to the goroutines that wait.
func (c *Control) Breathe() { c.breath.Add(1) }

// Breathed yields if there was a breath since the one that the worker saw last,
// and returns the present one, for its next call. The first is 0.
func (c *Control) Breathed(last uint32) uint32 {
	now := c.breath.Load()
	if now != last {
		runtime.Gosched()
	}
	return now
}

// While watches workers that burn under this control until watch returns or ctx
// ends, and then abandons their work. It does not wait for them: a crowd takes
// its time to notice.
func (c *Control) While(ctx context.Context, workers int, watch func() error) error {
	defer c.LetBreathe(workers)()
	// Whoever ends ctx abandons the work: watch may first wait for its turn
	// among the workers.
	defer context.AfterFunc(ctx, c.Abandon)()
	defer c.Abandon()
	return watch()
}

// breathEvery bounds how long crowded workers delay the end of the program.
const breathEvery = 50 * time.Millisecond

// LetBreathe makes workers yield now and then, until stop, where there are more
// of them than GOMAXPROCS. The Go scheduler gives each a turn of 10 ms, and the
// goroutine that receives a signal queues behind all of them: a second with 64
// workers on 2 CPUs. What a timer wakes does not queue. Workers that are not
// crowded run undisturbed.
func (c *Control) LetBreathe(workers int) (stop func()) {
	if workers <= runtime.GOMAXPROCS(0) {
		return func() {}
	}
	ticker := time.NewTicker(breathEvery)
	over := make(chan struct{})
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				c.Breathe()
			case <-over:
				return
			}
		}
	}()
	return func() { close(over) }
}
