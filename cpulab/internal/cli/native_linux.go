package cli

// native are the commands that this system can run.
var native = []command{
	{"burst", "run rounds of threads that burn CPU together", runBurst},
	{"tasks", "burn the same CPU time again and again on one thread", runTasks},
	{"parallel", "start processes together that burn the same CPU time", runParallel},
	{"one", "", runOne},
	{"spin", "keep threads busy and report how much CPU they got", runSpin},
	{"requests", "do small requests back to back and time them", runRequests},
	{"serve", "answer HTTP requests, each of which burns CPU", runServe},
	{"load", "call a service at a rate and time its answers", runLoad},
	{"sample", "read the counters of other cgroups at a fixed rate", runSample},
	{"exec", "join cgroups, then become another program", runExec},
}
