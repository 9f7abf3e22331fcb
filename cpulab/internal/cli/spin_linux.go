package cli

import (
	"time"

	"cpulab/internal/spin"
)

// maxSpan bounds what runs for a given time.
const maxSpan = 365 * 24 * time.Hour

func runSpin(s streams, args []string) error {
	f := newFlags("spin", "--threads N [--for 45s] [--report 10s] [FLAGS]").withHuman()
	var p spin.Params
	f.integer(&p.Threads, "threads", 1, 1, maxThreads, "OS threads that are busy all the time, `N`")
	f.duration(&p.For, "for", 0, 0, maxSpan, "stop after this `time` (0: run until stopped)")
	f.duration(&p.Report, "report", 10*time.Second, time.Millisecond, maxTime, "`time` from one report to the next")
	untilEOF := f.Bool("until-eof", false, "stop when standard input ends")
	if err := f.parse(s, args, false); err != nil {
		return err
	}
	if p.For > 0 && p.For < p.Report {
		return usagef("--for %v ends before the first report at --report %v: give a longer --for or a shorter --report", p.For, p.Report)
	}
	ctx, finish := untilStopped(s, *untilEOF)
	defer finish()
	return spin.Run(ctx, p, s.writer(f.human), s.err, func() string { return reason(ctx) })
}
