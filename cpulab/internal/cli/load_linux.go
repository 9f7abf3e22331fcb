package cli

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"cpulab/internal/arrive"
	"cpulab/internal/load"
)

const (
	maxRate  = 100_000
	maxClump = 10_000
	maxIdle  = 10_000
)

func runLoad(s streams, args []string) error {
	f := newFlags("load", "--to http://HOST:PORT[,http://...] --rate N --for 60s [FLAGS]").withHuman()
	p := load.Params{Arrivals: arrive.Poisson, Seed: rand.Uint64N(maxSeed), KeepAlive: true}
	f.Func("to", "`ADDRESSES` to call, with commas between them: each new connection goes to the next", func(text string) (err error) {
		p.To, err = load.ParseTargets(text)
		return err
	})
	f.integer(&p.Rate, "rate", 100, 1, maxRate, "/work requests a second, `N`")
	f.integer(&p.PingRate, "ping-rate", 20, 0, maxRate, "/ping requests a second, `N`; 0: none")
	f.Var(&p.Arrivals, "arrivals", "`PROCESS` by which requests arrive: poisson or constant")
	f.integer(&p.Clump, "clump", 1, 1, maxClump, "/work requests that arrive in the same instant, `N`; clumps are as much rarer")
	f.Func("seed", "`number` that random arrivals start from (default: random)", func(text string) error {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n > maxSeed {
			return errors.New("allowed is a whole number from 0 to 9007199254740991")
		}
		p.Seed = n
		return nil
	})
	f.duration(&p.Warmup, "warmup", 10*time.Second, 0, maxTime, "`time` of traffic that is not counted")
	f.duration(&p.For, "for", time.Minute, time.Millisecond, 24*time.Hour, "`time` of traffic that is counted")
	f.duration(&p.Timeout, "timeout", 10*time.Second, time.Millisecond, maxTime, "a request has failed after this `time`")
	f.Func("connections", "keep-alive, or new: one for each request (default keep-alive)", func(text string) error {
		if text != "keep-alive" && text != "new" {
			return errors.New("allowed is keep-alive or new")
		}
		p.KeepAlive = text == "keep-alive"
		return nil
	})
	f.integer(&p.Idle, "idle", 1000, 1, maxIdle, "connections that are kept open without a request, `N`")
	untilEOF := f.Bool("until-eof", false, "stop when standard input ends")
	if err := f.parse(s, args, false); err != nil {
		return err
	}
	if len(p.To) == 0 {
		return usagef("--to is missing: give the address of at least one server, such as http://127.0.0.1:8080")
	}
	ctx, finish := untilStopped(s, *untilEOF)
	defer finish()
	return load.Run(ctx, p, s.writer(f.human), s.err, func() string { return reason(ctx) })
}
