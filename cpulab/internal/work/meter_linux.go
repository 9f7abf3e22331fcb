// Package work burns exact amounts of CPU time.
package work

import "cpulab/internal/clock"

// The clock is read once per lap. A lap this long keeps the overshoot under 50
// us and the share of clock reading in the work at about one percent.
const (
	minLapNS = 10_000
	maxLapNS = 25_000

	minSteps = 64
	maxSteps = 1 << 20
)

// Meter burns CPU time on one OS thread. It learns how many steps make a lap on
// this CPU while it works, so that no calibration run is charged to the cgroup.
type Meter struct {
	steps int
	state uint64
}

// Seed is a state that a xorshift generator may start from: any but 0.
const Seed = 88172645463325252

// NewMeter returns a Meter with laps short enough for any CPU to begin with.
func NewMeter() *Meter { return &Meter{steps: 1024, state: Seed} }

// Burn uses workNS of the calling thread's CPU time and returns what it really
// used. It returns early, with less, when the work is abandoned. The caller
// must hold its thread.
func (m *Meter) Burn(workNS int64, control *Control) (usedNS int64) {
	start := clock.ThreadCPUNS()
	breath := control.breath.Load()
	steps := m.steps
	for usedNS < workNS && !control.abandon.Load() {
		m.state = Spin(m.state, steps)
		before := usedNS
		usedNS = clock.ThreadCPUNS() - start
		steps = m.nextLap(steps, usedNS-before, workNS-usedNS)
		breath = control.Breathed(breath)
	}
	return usedNS
}

// nextLap chooses the steps of the next lap from the length of the last one.
// The lap that would overshoot is cut to what is left.
func (m *Meter) nextLap(steps int, lapNS, leftNS int64) int {
	switch {
	case lapNS < minLapNS:
		m.steps = min(2*m.steps, maxSteps)
	case lapNS > maxLapNS:
		m.steps = max(m.steps/2, minSteps)
	}
	if leftNS > 0 && leftNS < maxLapNS {
		return max(int(int64(steps)*leftNS/max(lapNS, 1)), minSteps)
	}
	return m.steps
}

// Spin makes steps steps of a xorshift generator: a dependency chain that stays
// in registers and never waits for memory. It is not inlined: where nobody uses
// the result, the compiler would leave out the steps and count only.
//
//go:noinline
func Spin(x uint64, steps int) uint64 {
	for range steps {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}
