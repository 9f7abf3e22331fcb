package cgroup

import (
	"fmt"
	"os"
)

// Own is the leaf cgroup of this process.
type Own struct {
	Dirs
	Version int
	// Apart: on v1 the process is in different cgroups of cpu and cpuacct, so
	// that usage counts other processes than throttling does.
	Apart bool
}

// FindOwn finds the cgroup that this process's CPU time is charged to. It is
// looked up, never assumed: containers see their cgroup under any path.
func FindOwn() (Own, error) {
	memberships, mounts, err := ReadSelf()
	if err != nil {
		return Own{}, err
	}
	return locate(memberships, mounts, exists)
}

// ReadSelf reads the memberships of this process and the mounts it sees.
func ReadSelf() ([]Membership, []Mount, error) {
	membership, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, nil, fmt.Errorf("cannot tell the own cgroup: %w", err)
	}
	mountinfo, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, nil, fmt.Errorf("cannot find the cgroup mounts: %w", err)
	}
	return ParseMemberships(string(membership)), ParseMounts(string(mountinfo)), nil
}

// locate finds the own cgroup. A controller is in one hierarchy only: where the
// cpu controller is in a v1 hierarchy, the unified one has no counters for it.
func locate(memberships []Membership, mounts []Mount, exists func(string) bool) (Own, error) {
	cpu := resolve(memberships, mounts, exists, "cpu")
	if cpu != "" {
		acct := resolve(memberships, mounts, exists, "cpuacct")
		return Own{
			Dirs:    Dirs{CPU: cpu, CPUAcct: acct},
			Version: 1,
			Apart:   acct != "" && pathIn(memberships, "cpu") != pathIn(memberships, "cpuacct"),
		}, nil
	}
	if path := pathIn(memberships, "cpu"); path != "" {
		return Own{}, fmt.Errorf("the cpu controller is in a cgroup v1 hierarchy (at %s) that is not mounted here: mount it, in a container read-only", path)
	}
	if dir := resolve(memberships, mounts, exists, ""); dir != "" {
		return Own{Dirs: Dirs{CPU: dir}, Version: 2}, nil
	}
	return Own{}, fmt.Errorf("no mounted cgroup hierarchy shows the cgroup of this process: mount /sys/fs/cgroup, in a container read-only")
}

// pathIn returns the path in the hierarchy of a v1 controller, "" for none.
func pathIn(memberships []Membership, controller string) string {
	for _, m := range memberships {
		if m.Has(controller) {
			return m.Path
		}
	}
	return ""
}

// resolve returns the directory of the own cgroup in the hierarchy of a v1
// controller, or in the unified one for "". A mount point may be covered by
// another mount, so the directory must really be a cgroup.
func resolve(memberships []Membership, mounts []Mount, exists func(string) bool, controller string) string {
	for _, membership := range memberships {
		if membership.V2() != (controller == "") || !membership.V2() && !membership.Has(controller) {
			continue
		}
		for _, mount := range mounts {
			if !mount.Carries(membership) {
				continue
			}
			if dir, shown := mount.Dir(membership.Path); shown && exists(dir+"/cgroup.procs") {
				return dir
			}
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
