// Package opt holds numbers that may be absent. A counter that could not be
// read is not zero, and arithmetic with it must not make it look like one.
package opt

import "math"

// Int is an int64 or nothing. The zero value is nothing.
type Int struct {
	N  int64
	OK bool
}

// Of returns a present number.
func Of(n int64) Int { return Int{N: n, OK: true} }

// Sub returns the growth of a counter from before to a. It is absent when
// either end is absent, and when the counter went down: a smaller value belongs
// to a new generation of the cgroup and says nothing about this window.
func (a Int) Sub(before Int) Int {
	if !a.OK || !before.OK || a.N < before.N {
		return Int{}
	}
	return Of(a.N - before.N)
}

// Add adds two numbers; nothing and something is nothing.
func (a Int) Add(b Int) Int {
	if !a.OK || !b.OK {
		return Int{}
	}
	return Of(a.N + b.N)
}

// Div divides a present number, rounding toward zero. Rounded readings of a
// counter that never falls do not fall either.
func (a Int) Div(by int64) Int {
	if !a.OK {
		return a
	}
	return Of(a.N / by)
}

// Parse reads a counter of the kernel: digits only, in the range of an int64.
// Anything else is nothing. strconv would want a string, and would take signs.
func Parse(digits []byte) Int {
	if len(digits) == 0 {
		return Int{}
	}
	var n int64
	for _, d := range digits {
		if d < '0' || d > '9' {
			return Int{}
		}
		digit := int64(d - '0')
		if n > (math.MaxInt64-digit)/10 {
			return Int{}
		}
		n = n*10 + digit
	}
	return Of(n)
}
