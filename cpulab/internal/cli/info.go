package cli

import (
	"cpulab/internal/clock"
	"cpulab/internal/facts"
)

// everywhere are the commands that need no cgroups.
var everywhere = []command{
	{"version", "tell what this binary is", version},
	{"info", "tell what the Go runtime and the kernel give this process", info},
}

func version(s streams, args []string) error {
	f := newFlags("version", "").withHuman()
	if err := f.parse(s, args, false); err != nil {
		return err
	}
	w := s.writer(f.human)
	w.Begin("version")
	facts.WriteBuild(w)
	return w.End()
}

func info(s streams, args []string) error {
	f := newFlags("info", "[--hold] [--until-eof]").withHuman()
	hold := f.Bool("hold", false, "stay until SIGTERM or SIGINT")
	untilEOF := f.Bool("until-eof", false, "stay until standard input ends")
	if err := f.parse(s, args, false); err != nil {
		return err
	}
	ctx, finish := untilStopped(s, *untilEOF)
	defer finish()
	w := s.writer(f.human)
	monoUS, unixUS := clock.Pair()
	w.BeginAt("info", monoUS)
	w.Int("unix_us", unixUS)
	facts.Collect().AddTo(w)
	if err := w.End(); err != nil || !*hold && !*untilEOF {
		return err
	}
	<-ctx.Done()
	w.Begin("end")
	w.Str("reason", reason(ctx))
	return w.End()
}
