package cli

import (
	"time"

	"cpulab/internal/parallel"
)

func runParallel(s streams, args []string) error {
	f := newFlags("parallel", "--processes N --work 30ms --rounds R [FLAGS]").withHuman()
	var p parallel.Params
	f.integer(&p.Processes, "processes", 4, 1, maxThreads, "processes that start at once, `N`")
	f.duration(&p.Work, "work", 30*time.Millisecond, time.Microsecond, maxTime, "CPU `time` that each process burns")
	f.integer(&p.Rounds, "rounds", 10, 1, maxRounds, "how many rounds, `R`")
	f.duration(&p.Gap, "gap", 0, 0, maxTime, "`time` off the CPU between two rounds (0: back to back)")
	untilEOF := f.Bool("until-eof", false, "stop when standard input ends")
	if err := f.parse(s, args, false); err != nil {
		return err
	}
	ctx, finish := untilStopped(s, *untilEOF)
	defer finish()
	return parallel.Run(ctx, p, s.writer(f.human), s.err, func() string { return reason(ctx) })
}

// runOne is a process of parallel. It writes nothing and any signal ends it.
func runOne(s streams, args []string) error {
	f := newFlags("one", "--work 30ms")
	var burn time.Duration
	f.duration(&burn, "work", 30*time.Millisecond, time.Microsecond, maxTime, "CPU `time` to burn")
	if err := f.parse(s, args, false); err != nil {
		return err
	}
	parallel.One(burn)
	return nil
}
