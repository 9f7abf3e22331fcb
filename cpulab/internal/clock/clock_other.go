//go:build !linux

package clock

import "time"

var origin = time.Now()

// MonoNS counts from the start of the program: outside Linux only info and
// version run, and nothing is compared across processes.
func MonoNS() int64 { return int64(time.Since(origin)) }
