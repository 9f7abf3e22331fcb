package cli

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"cpulab/internal/burst"
)

// Bounds that keep a mistyped unit from running for a week.
const (
	maxThreads = 1024
	maxRounds  = 1_000_000
	maxTime    = time.Hour
)

// maxSeed keeps seeds exact in every JSON reader.
const maxSeed = 1<<53 - 1

func runBurst(s streams, args []string) error {
	f := newFlags("burst", "--threads N --work 20ms --interval 1s --rounds R [FLAGS]").withHuman()
	p := burst.Params{Settle: burst.Settle{Auto: true}, Seed: rand.Uint64N(maxSeed)}
	f.integer(&p.Threads, "threads", 8, 1, maxThreads, "OS threads that work at once, `N`")
	f.duration(&p.Work, "work", 20*time.Millisecond, time.Microsecond, maxTime, "CPU `time` that each thread burns in a round")
	f.duration(&p.Interval, "interval", time.Second, time.Millisecond, maxTime, "`time` from one planned start to the next")
	f.integer(&p.Rounds, "rounds", 20, 1, maxRounds, "how many rounds, `R`")
	f.duration(&p.Jitter, "jitter", 0, 0, maxTime, "delay each planned start by a random `time` below this")
	f.Func("seed", "`number` that the jitter starts from (default: random)", func(text string) error {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n > maxSeed {
			return errors.New("allowed is a whole number from 0 to 9007199254740991")
		}
		p.Seed = n
		return nil
	})
	f.Func("settle", "`time` to wait after the last round, or auto: two periods and a tick (default auto)", func(text string) error {
		if text == "auto" {
			p.Settle = burst.Settle{Auto: true}
			return nil
		}
		p.Settle.Auto = false
		if err := (duration{&p.Settle.For, 0, maxTime}).Set(text); err != nil {
			return errors.New("allowed is auto or a duration from 0s to 1h, such as 210ms")
		}
		return nil
	})
	untilEOF := f.Bool("until-eof", false, "stop when standard input ends")
	if err := f.parse(s, args, false); err != nil {
		return err
	}
	if p.Jitter > p.Interval {
		return usagef("--jitter %v is longer than --interval %v: rounds would overtake each other", p.Jitter, p.Interval)
	}
	ctx, finish := untilStopped(s, *untilEOF)
	defer finish()
	return burst.Run(ctx, p, s.writer(f.human), s.err, func() string { return reason(ctx) })
}
