package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func call(args ...string) (code int, out, errOut string) {
	var o, e bytes.Buffer
	code = Main(args, strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// TestUsageErrors: a wrong value is named with its flag and with what is
// allowed, and nothing is on standard output.
func TestUsageErrors(t *testing.T) {
	const procs = "/sys/fs/cgroup/x/cgroup.procs"
	for _, c := range []struct {
		args string
		says []string
	}{
		{"", []string{"Usage", "burst", "tasks", "parallel", "requests", "spin", "sample", "exec"}},
		{"nope", []string{`"nope"`, "Usage"}},
		{"burst --threads 0", []string{`"0"`, "-threads", "1 to 1024"}},
		{"burst --threads x", []string{`"x"`, "-threads"}},
		{"burst --work 20", []string{`"20"`, "-work", "20ms"}},
		{"burst --work 1ns", []string{`"1ns"`, "-work"}},
		{"burst --interval 0s", []string{`"0s"`, "-interval", "1ms"}},
		{"burst --interval -1s", []string{`"-1s"`, "-interval"}},
		{"burst --rounds 1.5", []string{`"1.5"`, "-rounds"}},
		{"burst --jitter 2s", []string{"--jitter 2s", "--interval 1s"}},
		{"burst --seed -1", []string{`"-1"`, "-seed"}},
		{"burst --settle soon", []string{`"soon"`, "-settle", "auto"}},
		{"burst --nope", []string{"-nope"}},
		{"burst more", []string{`"more"`}},
		{"tasks --work 0s", []string{`"0s"`, "-work", "1µs"}},
		{"tasks --count 0", []string{`"0"`, "-count", "1 to 1000000"}},
		{"tasks --gap 2h", []string{`"2h"`, "-gap", "1h"}},
		{"parallel --processes 0", []string{`"0"`, "-processes", "1 to 1024"}},
		{"parallel --rounds x", []string{`"x"`, "-rounds"}},
		{"one --work x", []string{`"x"`, "-work"}},
		{"requests --steps 0", []string{`"0"`, "-steps", "1 to 5000000000"}},
		{"requests --for -1s", []string{`"-1s"`, "-for"}},
		{"spin --threads 1025", []string{`"1025"`, "-threads", "1 to 1024"}},
		{"spin --report 1us", []string{`"1us"`, "-report", "1ms"}},
		{"spin --for 1s --report 2s", []string{"--for 1s", "--report 2s"}},
		{"spin more", []string{`"more"`}},
		{"info more", []string{`"more"`}},
		{"sample", []string{"--cgroup"}},
		{"sample --hz 0 --cgroup a=/x", []string{`"0"`, "-hz", "1 to 1000"}},
		{"sample --cgroup /x", []string{"-cgroup", "NAME=CPUPATH"}},
		{"sample --cgroup a=x", []string{"-cgroup", "absolute"}},
		{"sample --cgroup a=/x --cgroup a=/y", []string{`"a" twice`}},
		{"exec --join " + procs, []string{"command"}},
		{"exec -- true", []string{"--join"}},
		{"exec --join /sys/fs/cgroup/x/tasks -- true", []string{"/tasks", "cgroup.procs"}},
		{"exec --join " + procs + " --cpus 1-0 -- true", []string{`"1-0"`, "-cpus"}},
	} {
		code, out, errOut := call(strings.Fields(c.args)...)
		if code != exitUsage || out != "" {
			t.Errorf("%q: exit %d, stdout %q", c.args, code, out)
		}
		for _, want := range c.says {
			if !strings.Contains(errOut, want) {
				t.Errorf("%q does not say %q:\n%s", c.args, want, errOut)
			}
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range []string{"help", "--help", "burst --help", "sample -h", "exec --help", "info --help", "tasks --help", "parallel --help", "requests --help", "spin --help"} {
		code, out, errOut := call(strings.Fields(args)...)
		if code != exitDone || !strings.Contains(out, "Usage: cpulab") || errOut != "" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", args, code, out, errOut)
		}
	}
}

// TestHidden: what only the program itself calls is no command for people.
func TestHidden(t *testing.T) {
	if _, out, _ := call("help"); strings.Contains(out, "  one") {
		t.Error(out)
	}
	if code, out, errOut := call("one", "--work", "1ms"); code != exitDone || out != "" || errOut != "" {
		t.Errorf("exit %d, %q %q", code, out, errOut)
	}
}

// TestKindsShareNothing runs the kinds with threads in this process, where the
// race detector sees them, and counts their rounds.
func TestKindsShareNothing(t *testing.T) {
	for args, want := range map[string]int{
		"burst --threads 4 --work 1ms --interval 5ms --rounds 3":        3,
		"tasks --work 1ms --count 3":                                    3,
		"spin --threads 4 --for 50ms --report 50ms":                     1,
		"requests --threads 4 --steps 10000 --for 2100ms":               0,
		"requests --threads 1 --steps 5000000000 --for 10s --until-eof": 0,
	} {
		code, out, errOut := call(strings.Fields(args)...)
		rounds := strings.Count(out, `"type":"round"`)
		if code != exitDone || strings.Count(out, `"type":"end"`) != 1 || want > 0 && rounds != want {
			t.Errorf("%s: exit %d, %d rounds: %s%s", args, code, rounds, out, errOut)
		}
	}
}

func TestVersion(t *testing.T) {
	code, out, _ := call("version")
	if code != exitDone || !strings.HasPrefix(out, `{"n":1,"type":"version","mono_us":`) {
		t.Errorf("exit %d: %s", code, out)
	}
}

func TestInfoHoldsUntilEOF(t *testing.T) {
	code, out, errOut := call("info", "--until-eof")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != exitDone || len(lines) != 2 || !strings.Contains(lines[1], `"type":"end"`) || !strings.Contains(lines[1], `"reason":"eof"`) {
		t.Errorf("exit %d: %s%s", code, out, errOut)
	}
}

func TestParseGroup(t *testing.T) {
	for text, want := range map[string][3]string{
		"a=/x":                                {"a", "/x", ""},
		"a=/x,/y":                             {"a", "/x", "/y"},
		"b=/c/cpu,cpuacct/g,/c/cpu,cpuacct/g": {"b", "/c/cpu,cpuacct/g", "/c/cpu,cpuacct/g"},
		"n=/with=sign":                        {"n", "/with=sign", ""},
		"pod one=/a b,c":                      {"pod one", "/a b,c", ""},
	} {
		g, err := parseGroup(text)
		if got := [3]string{g.Name, g.Dirs.CPU, g.Dirs.CPUAcct}; err != nil || got != want {
			t.Errorf("parseGroup(%q) = %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "=", "=/x", "a", "a=", "a=x", "a=x,/y"} {
		if g, err := parseGroup(text); err == nil {
			t.Errorf("parseGroup(%q) = %+v, want an error", text, g)
		}
	}
}

// FuzzDuration: what is taken is in the range and in whole microseconds, and
// reads back as the same.
func FuzzDuration(f *testing.F) {
	for _, text := range []string{"20ms", "30000us", "1.5s", "1h", "2h", "-1s", "1ns", "1us1ns", "20", "", "9999999999h", "+.5s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := 7 * time.Second
		d := duration{&v, time.Microsecond, time.Hour}
		if err := d.Set(text); err != nil {
			if v != 7*time.Second {
				t.Errorf("%q was refused and taken", text)
			}
			return
		}
		if v < time.Microsecond || v > time.Hour || v%time.Microsecond != 0 {
			t.Errorf("%q is %v", text, v)
		}
		if taken := v; d.Set(d.String()) != nil || v != taken {
			t.Errorf("%q is %v, which reads as %v", text, taken, v)
		}
	})
}

// FuzzInteger: what is taken is in the range and reads back as the same.
func FuzzInteger(f *testing.F) {
	for _, text := range []string{"1", "0", "-1", "1024", "1025", "007", "+3", "1_0", "0x10", "1e2", "", "99999999999999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := -7
		i := integer{&v, 1, 1024}
		if err := i.Set(text); err != nil {
			if v != -7 {
				t.Errorf("%q was refused and taken", text)
			}
			return
		}
		if taken := v; v < 1 || v > 1024 || i.Set(i.String()) != nil || v != taken {
			t.Errorf("%q is %d", text, taken)
		}
	})
}
