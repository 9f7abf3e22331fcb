package cli

import (
	"path/filepath"

	"cpulab/internal/host"
	"cpulab/internal/join"
)

func runExec(s streams, args []string) error {
	f := newFlags("exec", "--join FILE [--join FILE ...] [--cpus LIST] -- CMD [ARG...]")
	var p join.Params
	f.Var((*list)(&p.Files), "join", "cgroup.procs `FILE` of a cgroup to join; may be repeated")
	f.Func("cpus", "run on these CPUs only, a `LIST` such as 0-1,4", func(text string) (err error) {
		p.CPUs, err = host.ParseCPUList(text)
		return err
	})
	if err := f.parse(s, args, true); err != nil {
		return err
	}
	p.Command = f.Args()
	if len(p.Command) == 0 {
		return usagef("the command is missing: give it after --")
	}
	if len(p.Files) == 0 {
		return usagef("--join is missing: give the cgroup.procs of at least one cgroup")
	}
	for _, file := range p.Files {
		// A v1 tasks file would take one thread and leave the others behind.
		if filepath.Base(file) != "cgroup.procs" {
			return usagef("invalid value %q for flag -join: allowed is a file named cgroup.procs", file)
		}
	}
	return join.Exec(p)
}
