package host

import (
	"slices"
	"testing"
)

func TestCPUList(t *testing.T) {
	for list, want := range map[string][]int{
		"0": {0}, "0-1": {0, 1}, "0-2,4": {0, 1, 2, 4}, "3,7-8": {3, 7, 8}, "8191": {8191},
	} {
		got, err := ParseCPUList(list)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseCPUList(%q) = %v, %v", list, got, err)
		}
		if back := FormatCPUList(got); back != list {
			t.Errorf("%q came back as %q", list, back)
		}
	}
	for _, list := range []string{"", ",", "a", "1-", "-1", "2-1", "8192", "0-99999999999", "0 1", "1-2-3"} {
		if got, err := ParseCPUList(list); err == nil {
			t.Errorf("ParseCPUList(%q) = %v, want an error", list, got)
		}
	}
}
