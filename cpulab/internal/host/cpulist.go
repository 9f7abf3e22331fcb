// Package host tells facts about the machine and the own process.
package host

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxCPUs bounds CPU numbers: the largest kernels are built for 8192.
const MaxCPUs = 8192

// ParseCPUList reads a list as the kernel writes it: "0-1,4". The CPUs come in
// the order of the list.
func ParseCPUList(list string) ([]int, error) {
	var cpus []int
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err1 := parseCPU(low)
		last, err2 := parseCPU(high)
		if err1 != nil || err2 != nil || last < first {
			return nil, fmt.Errorf("%q is no CPU or range of CPUs (write 0-1,4; the largest number is %d)", part, MaxCPUs-1)
		}
		for cpu := first; cpu <= last; cpu++ {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

func parseCPU(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err == nil && n >= MaxCPUs {
		err = strconv.ErrRange
	}
	return int(n), err
}

// FormatCPUList writes ascending CPU numbers as the kernel does.
func FormatCPUList(cpus []int) string {
	var parts []string
	for i := 0; i < len(cpus); {
		end := i
		for end+1 < len(cpus) && cpus[end+1] == cpus[end]+1 {
			end++
		}
		part := strconv.Itoa(cpus[i])
		if end > i {
			part += "-" + strconv.Itoa(cpus[end])
		}
		parts = append(parts, part)
		i = end + 1
	}
	return strings.Join(parts, ",")
}
