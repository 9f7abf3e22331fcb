// Cpulab is the workload and the measuring program of Throttle Lab: one static
// binary that runs inside containers and cgroups and beside them.
//
// # Protocol
//
// Every command writes NDJSON to standard output: one object a line, each with
//
//	n        line number, 1, 2, 3 ...: a reader resumes by it and notices a gap
//	type     hello, round, settled, end, ready, measuring, warning, samples,
//	         gone, info or version
//	mono_us  CLOCK_MONOTONIC when the line was made
//
// What works in rounds writes hello with its parameters, round and settled in
// turn, and end. A round has start_us, wall_us, late_us (null where there is no
// schedule), the counters of the own cgroup over its window, and where its kind
// has them
//
//	measures  by name: n, max, errors by kind, and hdr, which holds all values
//	          in microseconds as an HDR histogram (V2, compressed, base64)
//	facts     cpu_us, requests_count and the like; of names that end in _max
//	          the largest counts for the whole, all others add up
//	servers   by name: responses and connections
//
// The settled counters of a round are read again when the next one begins, so
// they add up to the total of end. ready tells where a service listens,
// measuring when a load begins to count, warning what a reader of the result
// must know.
//
// Units are in the names: _us is microseconds. All numbers are integers; what
// could not be read is null, never 0. A counter that went down belongs to a new
// generation of the cgroup, so its delta is null. hello gives unix_us, the wall
// clock of the same instant as its mono_us. The last line of a run that did not
// fail is end, with the reason: done, signal, eof or gone. --human prints the
// same lines as text.
//
// Diagnostics go to standard error. Exit codes: 0 done (also when stopped by a
// signal), 1 failed, 2 usage; exec has 126 for a cgroup it cannot join and 127
// for a command that is not there.
package main

import (
	"os"

	"cpulab/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
