package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"cpulab/internal/cgroup"
	"cpulab/internal/sample"
)

func runSample(s streams, args []string) error {
	f := newFlags("sample", "--cgroup NAME=CPUPATH[,CPUACCTPATH] [--cgroup ...] [FLAGS]").withHuman()
	var p sample.Params
	f.integer(&p.Hz, "hz", 50, 1, 1000, "samples a second, `N`")
	f.duration(&p.For, "for", 0, 0, 365*24*time.Hour, "stop after this `time` (0: run until stopped)")
	f.Func("cgroup", "a cgroup to read, as `NAME=CPUPATH[,CPUACCTPATH]`; may be repeated", func(text string) error {
		g, err := parseGroup(text)
		p.Groups = append(p.Groups, g)
		return err
	})
	untilEOF := f.Bool("until-eof", false, "stop when standard input ends")
	if err := f.parse(s, args, false); err != nil {
		return err
	}
	if len(p.Groups) == 0 {
		return usagef("--cgroup is missing: give at least one, as NAME=CPUPATH[,CPUACCTPATH]")
	}
	names := make(map[string]bool)
	for _, g := range p.Groups {
		if names[g.Name] {
			return usagef("--cgroup has the name %q twice: names tell the lines apart", g.Name)
		}
		names[g.Name] = true
	}
	ctx, finish := untilStopped(s, *untilEOF)
	defer finish()
	return sample.Run(ctx, p, s.writer(f.human), func() string { return reason(ctx) })
}

// parseGroup reads NAME=CPUPATH[,CPUACCTPATH]. The second path starts at ",/",
// because "/sys/fs/cgroup/cpu,cpuacct" is the usual name of a v1 mount.
func parseGroup(text string) (sample.Group, error) {
	name, paths, found := strings.Cut(text, "=")
	cpu, acct, both := strings.Cut(paths, ",/")
	if both {
		acct = "/" + acct
	}
	if !found || name == "" || !filepath.IsAbs(cpu) {
		return sample.Group{}, fmt.Errorf("allowed is NAME=CPUPATH or NAME=CPUPATH,CPUACCTPATH with absolute directories")
	}
	return sample.Group{Name: name, Dirs: cgroup.Dirs{CPU: cpu, CPUAcct: acct}}, nil
}
