package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// integer is a flag with a range.
type integer struct {
	value    *int
	min, max int
}

func (f *flags) integer(value *int, name string, preset, low, high int, usage string) {
	*value = preset
	f.Var(integer{value, low, high}, name, usage)
}

func (i integer) String() string {
	if i.value == nil {
		return "" // flag asks a zero integer for its default
	}
	return strconv.Itoa(*i.value)
}

func (i integer) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < i.min || n > i.max {
		return fmt.Errorf("allowed is a whole number from %d to %d", i.min, i.max)
	}
	*i.value = n
	return nil
}

// duration is a flag with a range.
type duration struct {
	value    *time.Duration
	min, max time.Duration
}

func (f *flags) duration(value *time.Duration, name string, preset, low, high time.Duration, usage string) {
	*value = preset
	f.Var(duration{value, low, high}, name, usage)
}

func (d duration) String() string {
	if d.value == nil {
		return ""
	}
	return d.value.String()
}

func (d duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	if err != nil || v < d.min || v > d.max || v%time.Microsecond != 0 {
		return fmt.Errorf("allowed is a duration from %v to %v in whole microseconds, such as 20ms or 1.5s", d.min, d.max)
	}
	*d.value = v
	return nil
}

// list is a flag that may be given more than once.
type list []string

func (l *list) String() string { return strings.Join(*l, " ") }

func (l *list) Set(text string) error {
	*l = append(*l, text)
	return nil
}
