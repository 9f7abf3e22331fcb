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
//	servers   by name: responses, and connections that it answered on. A
//	          connection counts once, in the round of its first answer that
//	          counts, also when it was opened in the warm-up
//
// The settled counters of a round are read again when the next one begins, so
// they add up to the total of end. settle_us is from the end of the round to
// that reading. ready tells where a service listens, measuring when a load
// begins to count, warning what a reader of the result must know.
//
// A round of spin is a whole report: what came after the last one is in the
// total only. A round of load is a second of its schedule, and has the requests
// that were due in it; it is written when all of them have ended, before its
// second is over or after. Its counters are the load's own, from the reading
// for the round before to the one for this, so window_us is how long that was
// and not the second; settle_us is null where the second was not over. The
// last round of the schedule has overrun_us: how much later than the end of the
// schedule the last request was handed over. So the rate that was reached is
// the sum of work_sent_count over for_us and overrun_us together.
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
