package cli

import "cpulab/internal/requests"

// maxSteps is about ten seconds of work in one request.
const maxSteps = 5_000_000_000

func runRequests(s streams, args []string) error {
	f := newFlags("requests", "--threads N --steps 200000 [--for 10s] [FLAGS]").withHuman()
	var p requests.Params
	f.integer(&p.Threads, "threads", 2, 1, maxThreads, "OS threads that do requests all the time, `N`")
	f.integer(&p.Steps, "steps", 200_000, 1, maxSteps, "work of one request: steps of a xorshift generator, `N`")
	f.duration(&p.For, "for", 0, 0, maxSpan, "stop after this `time` (0: run until stopped)")
	untilEOF := f.Bool("until-eof", false, "stop when standard input ends")
	if err := f.parse(s, args, false); err != nil {
		return err
	}
	ctx, finish := untilStopped(s, *untilEOF)
	defer finish()
	return requests.Run(ctx, p, s.writer(f.human), s.err, func() string { return reason(ctx) })
}
