package load

import (
	"fmt"
	"time"

	"cpulab/internal/opt"
)

// rateMilli is the rate of /work requests that was reached, in thousandths of a
// request a second; nothing when no round was completed. lastNS is when the
// last request was handed over.
func (r *run) rateMilli(lastNS int64) opt.Int {
	rounds := int64(r.rounds.Rounds())
	spanNS := min(rounds*roundNS, int64(r.params.For))
	if rounds == r.params.roundCount() {
		spanNS = max(spanNS, lastNS)
	}
	if spanNS < int64(time.Millisecond) {
		return opt.Int{}
	}
	return opt.Of(r.total.workSent * 1_000_000 / (spanNS / int64(time.Millisecond)))
}

const (
	lagMatters  = 1000 // us; shorter ones explain nothing
	lateMatters = int64(100 * time.Millisecond)
)

// warnings writes what the reader of the result must know to trust it.
func (r *run) warnings(lastNS int64) error {
	lag, latency := r.total.lag.Percentile(990), r.total.latency[work].Percentile(990)
	if lag.OK && latency.OK && lag.N > lagMatters && lag.N > latency.N/10 {
		if err := r.warn("The load itself was late: 1 %% of its requests were handed over more than %.1f ms "+
			"after their time, and 1 %% of the answers took more than %.1f ms, which includes this. "+
			"Give the load a CPU of its own, or lower the rate.", ms(lag.N), ms(latency.N)); err != nil {
			return err
		}
	}
	if late := lastNS - int64(r.params.For); late > max(int64(r.params.For)/100, lateMatters) {
		if err := r.warn("The load could not hold its rate of %d a second: it reached %.1f a second and sent its last "+
			"request %.1f ms late. Give the load more CPU, or lower the rate.",
			r.params.Rate, float64(r.rateMilli(lastNS).N)/1000, ms(late/1000)); err != nil {
			return err
		}
	}
	if other := r.client.firstOther(); other != "" {
		return r.warn("Some requests failed in a way that has no name of its own; the first: %s.", other)
	}
	return nil
}

func ms(us int64) float64 { return float64(us) / 1000 }

func (r *run) warn(format string, args ...any) error {
	r.out.Begin("warning")
	r.out.Str("text", fmt.Sprintf(format, args...))
	return r.out.End()
}
