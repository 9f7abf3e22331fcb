package cli

import (
	"time"

	"cpulab/internal/tasks"
)

func runTasks(s streams, args []string) error {
	f := newFlags("tasks", "--work 30ms --count N [FLAGS]").withHuman()
	var p tasks.Params
	f.duration(&p.Work, "work", 30*time.Millisecond, time.Microsecond, maxTime, "CPU `time` of each task")
	f.integer(&p.Count, "count", 100, 1, maxRounds, "how many tasks, `N`")
	f.duration(&p.Gap, "gap", 0, 0, maxTime, "`time` off the CPU between two tasks (0: back to back)")
	untilEOF := f.Bool("until-eof", false, "stop when standard input ends")
	if err := f.parse(s, args, false); err != nil {
		return err
	}
	ctx, finish := untilStopped(s, *untilEOF)
	defer finish()
	return tasks.Run(ctx, p, s.writer(f.human), s.err, func() string { return reason(ctx) })
}
