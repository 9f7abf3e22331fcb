package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

var (
	errSignal = errors.New("signal")
	errEOF    = errors.New("eof")
)

// stalled bounds how long a stop may take when the reader of standard output
// has stopped reading and a write blocks. A crowd of threads on a busy machine
// has taken 4 s.
const stalled = 10 * time.Second

// untilStopped returns a context that ends with SIGTERM, SIGINT or, if asked,
// the end of standard input. A second signal kills at once. The command calls
// finish when it has nothing left to write.
func untilStopped(s streams, untilEOF bool) (ctx context.Context, finish func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	finished := make(chan struct{})
	go func() {
		select {
		case <-signals:
			// First, because Reset yields to every busy goroutine.
			cancel(errSignal)
			signal.Reset(syscall.SIGTERM, syscall.SIGINT)
		case <-finished:
		}
	}()
	if untilEOF {
		go func() {
			// Input that cannot be read has ended as well.
			_, _ = io.Copy(io.Discard, s.in)
			cancel(errEOF)
		}()
	}
	context.AfterFunc(ctx, func() {
		select {
		case <-time.After(stalled):
			os.Exit(exitFailed)
		case <-finished:
		}
	})
	return ctx, func() {
		signal.Stop(signals)
		close(finished)
	}
}

// reason names why a run ended, for its last line.
func reason(ctx context.Context) string {
	if ctx.Err() == nil {
		return "done"
	}
	return context.Cause(ctx).Error()
}
