package load

import (
	"fmt"

	"cpulab/internal/hist"
)

// lagMatters is the lag that could explain anything, in microseconds.
const lagMatters = 1000

// warnings writes what the reader of the result must know to trust it.
func (r *run) warnings() error {
	for k, path := range paths {
		if text := lateWords(path, r.total.lag[k], r.total.latency[k]); text != "" {
			if err := r.warn(text); err != nil {
				return err
			}
		}
	}
	if text := r.rateWords(); text != "" {
		if err := r.warn(text); err != nil {
			return err
		}
	}
	if other := r.client.firstOther(); other != "" {
		return r.warn("Some requests failed in a way that has no name of its own; the first: " + other + ".")
	}
	return nil
}

// lateWords warns when the lag of the load, and not the server, may have made
// the high latencies of one kind of request; "" when it did not.
func lateWords(path string, lag, latency *hist.Hist) string {
	const remedy = "Give the load a CPU of its own, or lower the rate."
	lag99, latency99 := lag.Percentile(990), latency.Percentile(990)
	lagMax, latencyMax := lag.MaxUS(), latency.MaxUS()
	if !lagMax.OK || !latencyMax.OK {
		return ""
	}
	switch {
	case lag99.N > lagMatters && lag99.N > latency99.N/10:
		return fmt.Sprintf("The load itself was late: 1 %% of the %s requests were handed over more than %.1f ms after "+
			"their time, and 1 %% of the answers took more than %.1f ms, which includes this. %s",
			path, ms(lag99.N), ms(latency99.N), remedy)
	case lagMax.N > lagMatters && lagMax.N > latencyMax.N/2:
		return fmt.Sprintf("The load itself was late: one of the %s requests was handed over %.1f ms after its time. "+
			"That alone may explain the slowest answer, of %.1f ms; 99 %% of the requests were at most %.1f ms late. %s",
			path, ms(lagMax.N), ms(latencyMax.N), ms(lag99.N), remedy)
	}
	return ""
}

// rateWords warns when sending went on for more than a hundredth longer than
// it was to: then fewer requests a second were sent; "" when it did not, and
// for a run that was stopped.
func (r *run) rateWords() string {
	did, forUS := r.total.sending, r.params.For.Microseconds()
	overrun := did.overrunUS
	if !overrun.OK || overrun.N <= max(forUS/100, lagMatters) {
		return ""
	}
	return fmt.Sprintf("The load could not hold its rate of %d /work requests a second: it handed the last request over "+
		"%.1f ms after the end of the %.1f s in which all were due, so it sent %.1f a second. "+
		"Give the load more CPU, or lower the rate.",
		r.params.Rate, ms(overrun.N), ms(forUS)/1000, float64(did.work)*1e6/float64(forUS+overrun.N))
}

func ms(us int64) float64 { return float64(us) / 1000 }

func (r *run) warn(text string) error {
	r.out.Begin("warning")
	r.out.Str("text", text)
	return r.out.End()
}
