package serve

import "runtime/metrics"

// memory reads what the Go runtime counts about memory, without stopping the
// world and without making garbage.
type memory struct{ samples []metrics.Sample }

const (
	metricLive = iota
	metricCycles
	metricAllocated
	metricGCCPU
)

func newMemory() *memory {
	return &memory{[]metrics.Sample{
		metricLive:      {Name: "/gc/heap/live:bytes"},
		metricCycles:    {Name: "/gc/cycles/total:gc-cycles"},
		metricAllocated: {Name: "/gc/heap/allocs:bytes"},
		metricGCCPU:     {Name: "/cpu/classes/gc/total:cpu-seconds"},
	}}
}

func (m *memory) read() { metrics.Read(m.samples) }

// live is what the last garbage collection found in use, in bytes.
func (m *memory) live() int64 { return int64(m.samples[metricLive].Value.Uint64()) }

// cycles is how many garbage collections there were.
func (m *memory) cycles() int64 { return int64(m.samples[metricCycles].Value.Uint64()) }

// allocated is how many bytes were ever allocated on the heap.
func (m *memory) allocated() int64 { return int64(m.samples[metricAllocated].Value.Uint64()) }

// gcCPUUS is the CPU time of all garbage collections; the runtime counts it at
// the end of each.
func (m *memory) gcCPUUS() int64 { return int64(m.samples[metricGCCPU].Value.Float64() * 1e6) }
