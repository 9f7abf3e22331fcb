//go:build !linux

package host

// Affinity is unknown outside Linux.
func Affinity() string { return "" }

// Kernel is unknown outside Linux.
func Kernel() string { return "" }
