package cli

// native are the commands that this system can run.
var native = []command{
	{"burst", "run rounds of threads that burn CPU together", runBurst},
	{"sample", "read the counters of other cgroups at a fixed rate", runSample},
	{"exec", "join cgroups, then become another program", runExec},
}
