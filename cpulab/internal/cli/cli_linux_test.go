package cli

import (
	"bytes"
	"strings"
	"testing"
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
		{"", []string{"Usage", "burst", "sample", "exec"}},
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
	for _, args := range []string{"help", "--help", "burst --help", "sample -h", "exec --help", "info --help"} {
		code, out, errOut := call(strings.Fields(args)...)
		if code != exitDone || !strings.Contains(out, "Usage: cpulab") || errOut != "" {
			t.Errorf("%q: exit %d, stdout %q, stderr %q", args, code, out, errOut)
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
