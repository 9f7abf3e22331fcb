package cgroup

import (
	"reflect"
	"strings"
	"testing"
)

// machine is what one process sees in /proc/self.
type machine struct {
	name       string
	cgroup     string
	mountinfo  string
	want       Own
	wantErr    string
	notMounted []string // directories that other mounts cover
}

var machines = []machine{
	{
		name:      "v2 only, systemd",
		cgroup:    "0::/user.slice/user-1000.slice/session-1.scope\n",
		mountinfo: "24 22 0:22 / /sys rw,nosuid shared:7 - sysfs sysfs rw\n35 24 0:30 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n",
		want:      Own{Dirs: Dirs{CPU: "/sys/fs/cgroup/user.slice/user-1000.slice/session-1.scope"}, Version: 2},
	},
	{
		name:   "hybrid, one mount a controller, v2 without cpu",
		cgroup: "9:name=systemd:/\n4:memory:/process_api/94\n3:cpuset:/\n2:cpuacct:/lab\n1:cpu:/lab\n0::/\n",
		mountinfo: `31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
`,
		want: Own{Dirs: Dirs{"/sys/fs/cgroup/cpu/lab", "/sys/fs/cgroup/cpuacct/lab"}, Version: 1},
	},
	{
		name:      "v1, cpu and cpuacct joined",
		cgroup:    "5:cpuacct,cpu:/system.slice/a.service\n1:name=systemd:/system.slice/a.service\n",
		mountinfo: "30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid,nodev,noexec,relatime shared:10 - cgroup cgroup rw,cpu,cpuacct\n",
		want: Own{Dirs: Dirs{"/sys/fs/cgroup/cpu,cpuacct/system.slice/a.service",
			"/sys/fs/cgroup/cpu,cpuacct/system.slice/a.service"}, Version: 1},
	},
	{
		name:   "v1, joined in cpu only: usage would be the whole machine's",
		cgroup: "2:cpuacct:/\n1:cpu:/lab\n",
		mountinfo: "32 31 0:29 / /c/cpu rw - cgroup cgroup rw,cpu\n" +
			"33 31 0:30 / /c/cpuacct rw - cgroup cgroup rw,cpuacct\n",
		want: Own{Dirs: Dirs{"/c/cpu/lab", "/c/cpuacct"}, Version: 1, Apart: true},
	},
	{
		name:      "docker on v1, host cgroup namespace",
		cgroup:    "4:cpu,cpuacct:/docker/abc\n0::/system.slice/containerd.service\n",
		mountinfo: "700 699 0:26 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro,nosuid master:10 - cgroup cgroup rw,cpu,cpuacct\n",
		want:      Own{Dirs: Dirs{"/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct"}, Version: 1},
	},
	{
		name:      "docker on v2, own cgroup namespace",
		cgroup:    "0::/\n",
		mountinfo: "700 699 0:26 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw,nsdelegate\n",
		want:      Own{Dirs: Dirs{CPU: "/sys/fs/cgroup"}, Version: 2},
	},
	{
		name:      "docker on v2, host cgroup namespace, below its own root",
		cgroup:    "0::/system.slice/docker-abc.scope/inner\n",
		mountinfo: "700 699 0:26 /system.slice/docker-abc.scope /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
		want:      Own{Dirs: Dirs{CPU: "/sys/fs/cgroup/inner"}, Version: 2},
	},
	{
		name:      "names that share a beginning are not parents",
		cgroup:    "0::/docker/abc\n",
		mountinfo: "700 699 0:26 /docker/ab /mnt rw - cgroup2 cgroup rw\n",
		wantErr:   "no mounted cgroup hierarchy",
	},
	{
		name:   "several mounts, the first covered",
		cgroup: "0::/lab\n",
		mountinfo: "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n" +
			"36 24 0:30 /other /mnt/other rw - cgroup2 cgroup2 rw\n" +
			"37 24 0:30 / /mnt/covered rw - cgroup2 cgroup2 rw\n",
		notMounted: []string{"/mnt/covered/lab"},
		want:       Own{Dirs: Dirs{CPU: "/sys/fs/cgroup/lab"}, Version: 2},
	},
	{
		name:      "octal escapes, colon and optional fields",
		cgroup:    "0::/my lab:1\n",
		mountinfo: "35 24 0:30 / /mnt/c\\040g\\134x rw shared:1 master:2 propagate_from:3 - cgroup2 c\\040g rw\n",
		want:      Own{Dirs: Dirs{CPU: "/mnt/c g\\x/my lab:1"}, Version: 2},
	},
	{
		name:      "outside of the namespace's root",
		cgroup:    "0::/../elsewhere\n",
		mountinfo: "35 24 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		wantErr:   "no mounted cgroup hierarchy",
	},
	{
		name:      "mounted from outside of the namespace",
		cgroup:    "0::/../elsewhere\n",
		mountinfo: "35 24 0:30 /.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		want:      Own{Dirs: Dirs{CPU: "/sys/fs/cgroup/elsewhere"}, Version: 2},
	},
	{
		name:      "v1 cpu hierarchy not mounted: v2 would show nothing of it",
		cgroup:    "1:cpu:/lab\n0::/\n",
		mountinfo: "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n",
		wantErr:   "cgroup v1 hierarchy (at /lab) that is not mounted",
	},
	{name: "nothing", wantErr: "no mounted cgroup hierarchy"},
	{
		name:      "garbage",
		cgroup:    "x\n::\n1:cpu\n:::\n",
		mountinfo: "- - -\n1 2 3 - cgroup\n - cgroup2 x rw\n",
		wantErr:   "no mounted cgroup hierarchy",
	},
}

func TestLocate(t *testing.T) {
	for _, m := range machines {
		t.Run(m.name, func(t *testing.T) {
			there := func(path string) bool {
				for _, dir := range m.notMounted {
					if strings.HasPrefix(path, dir) {
						return false
					}
				}
				return true
			}
			got, err := locate(ParseMemberships(m.cgroup), ParseMounts(m.mountinfo), there)
			switch {
			case m.wantErr != "":
				if err == nil || !strings.Contains(err.Error(), m.wantErr) {
					t.Errorf("got %+v, error %v; want error with %q", got, err, m.wantErr)
				}
			case err != nil || !reflect.DeepEqual(got, m.want):
				t.Errorf("got %+v, error %v\nwant %+v", got, err, m.want)
			}
		})
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		`a\040b`: "a b", `\011\012\134`: "\t\n\\", `\04`: `\04`, `\`: `\`, `a\x40b`: `a\x40b`, `\777`: "\xff",
	} {
		if got := unescape(in); got != want {
			t.Errorf("unescape(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzLocate looks for crashes: both files are written by others.
func FuzzLocate(f *testing.F) {
	for _, m := range machines {
		f.Add(m.cgroup, m.mountinfo)
	}
	f.Fuzz(func(t *testing.T, memberships, mounts string) {
		own, err := locate(ParseMemberships(memberships), ParseMounts(mounts), func(string) bool { return true })
		if err == nil && own.Version == 2 && own.CPUAcct != "" {
			t.Errorf("v2 with a cpuacct: %+v", own)
		}
	})
}
