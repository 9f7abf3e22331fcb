package cgroup

import (
	"slices"
	"strings"
)

// Membership is one line of /proc/PID/cgroup: where a process is in one
// hierarchy, seen from the reader's cgroup namespace.
type Membership struct {
	Controllers []string // v1: "cpu", "cpuacct", "name=systemd"; v2: none
	Path        string
}

// V2 tells the line of the unified hierarchy.
func (m Membership) V2() bool { return len(m.Controllers) == 0 }

// Has tells whether the hierarchy carries a v1 controller.
func (m Membership) Has(controller string) bool {
	return slices.Contains(m.Controllers, controller)
}

// ParseMemberships reads /proc/PID/cgroup. Lines that make no sense are left
// out.
func ParseMemberships(text string) []Membership {
	var all []Membership
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		// The path may have colons of its own.
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") {
			continue
		}
		m := Membership{Path: parts[2]}
		if parts[1] != "" {
			m.Controllers = strings.Split(parts[1], ",")
		}
		all = append(all, m)
	}
	return all
}

// Mount is one cgroup mount of /proc/PID/mountinfo.
type Mount struct {
	V2          bool
	Controllers []string // of a v1 mount; other super options are among them
	Root        string   // which cgroup is mounted, "/" for the whole hierarchy
	Point       string   // where
}

// ParseMounts reads /proc/PID/mountinfo and returns its cgroup mounts, the
// newest first, because a later mount covers an earlier one.
func ParseMounts(text string) []Mount {
	var all []Mount
	for line := range strings.Lines(text) {
		// ID parent major:minor root point options [optional...] - type source super
		left, right, found := strings.Cut(line, " - ")
		head, tail := strings.Fields(left), strings.Fields(right)
		if !found || len(head) < 6 || len(tail) < 3 {
			continue
		}
		if tail[0] != "cgroup" && tail[0] != "cgroup2" {
			continue
		}
		m := Mount{V2: tail[0] == "cgroup2", Root: unescape(head[3]), Point: unescape(head[4])}
		if !m.V2 {
			m.Controllers = strings.Split(tail[2], ",")
		}
		all = append(all, m)
	}
	slices.Reverse(all)
	return all
}

// Dir returns the directory of the cgroup path under this mount, and whether
// the mount shows it at all.
func (m Mount) Dir(path string) (string, bool) {
	below := path
	if m.Root != "/" {
		var under bool
		if below, under = strings.CutPrefix(path, m.Root); !under {
			return "", false
		}
	}
	if below != "" && below[0] != '/' {
		return "", false // "/docker/ab" is not under "/docker/a"
	}
	if slices.Contains(strings.Split(below, "/"), "..") {
		return "", false // outside of the cgroup namespace's root
	}
	return strings.TrimSuffix(m.Point, "/") + strings.TrimSuffix(below, "/"), true
}

// Carries tells whether the mount is of the hierarchy of a membership.
func (m Mount) Carries(of Membership) bool {
	if m.V2 || of.V2() {
		return m.V2 && of.V2()
	}
	return slices.Contains(m.Controllers, of.Controllers[0])
}

// unescape undoes the kernel's octal escapes of space, tab, newline, backslash.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && octal(s[i+1]) && octal(s[i+2]) && octal(s[i+3]) {
			out = append(out, (s[i+1]-'0')<<6|(s[i+2]-'0')<<3|(s[i+3]-'0'))
			i += 3
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

func octal(c byte) bool { return c >= '0' && c <= '7' }
