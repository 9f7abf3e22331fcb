// Package clock reads the clocks that the lab compares across processes.
//
// Every time in the output is CLOCK_MONOTONIC in microseconds: it is one clock
// for all processes and containers of a machine, and nobody steps it. Go's own
// monotonic reading has an origin of its own, so the kernel is asked directly.
package clock

import "time"

// MonoUS returns CLOCK_MONOTONIC in microseconds.
func MonoUS() int64 { return MonoNS() / 1000 }

// Pair returns the monotonic and the wall clock of one instant, in
// microseconds, so that a reader can match clocks of two machines. The wall
// clock is read between two monotonic readings; their middle is returned.
func Pair() (monoUS, unixUS int64) {
	before := MonoNS()
	unixUS = time.Now().UnixMicro()
	return (before + MonoNS()) / 2 / 1000, unixUS
}
