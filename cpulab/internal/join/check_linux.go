package join

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cpulab/internal/cgroup"
)

// checker reads back where the process is. It knows the mounts from before the
// join and afterwards only reads /proc/self/cgroup, which is cheap.
type checker struct {
	wanted []wanted
}

// wanted is a cgroup directory and the mount that it lies in.
type wanted struct {
	dir   string
	mount cgroup.Mount
}

// newChecker finds the mount of each file. A file in none of them is not
// checked: it may be in a mount that the namespace shows under another name.
func newChecker(files []string) checker {
	var c checker
	_, mounts, err := cgroup.ReadSelf()
	if err != nil {
		return c
	}
	for _, file := range files {
		dir, err := filepath.EvalSymlinks(filepath.Dir(file))
		if err != nil {
			continue // the join will say it better
		}
		var best *cgroup.Mount
		for i, m := range mounts {
			inside := dir == m.Point || strings.HasPrefix(dir, m.Point+"/")
			if inside && (best == nil || len(m.Point) > len(best.Point)) {
				best = &mounts[i]
			}
		}
		if best != nil {
			c.wanted = append(c.wanted, wanted{dir, *best})
		}
	}
	return c
}

// joined tells whether the kernel has the process where it should be.
func (c checker) joined() error {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil // without /proc there is nothing to compare with
	}
	memberships := cgroup.ParseMemberships(string(text))
	for _, w := range c.wanted {
		for _, m := range memberships {
			if !w.mount.Carries(m) {
				continue
			}
			if dir, shown := w.mount.Dir(m.Path); shown && dir != w.dir {
				return fmt.Errorf("joined %s, but the kernel has this process in %s: a second --join of the same hierarchy, or a cgroup manager, moved it", w.dir, dir)
			}
		}
	}
	return nil
}
