package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"cpulab/internal/cgroup"
)

// build compiles the program once a test run, with the go line of a mod file.
var build = func() func(t *testing.T, modfile string) string {
	var mu sync.Mutex
	built := map[string]string{}
	return func(t *testing.T, modfile string) string {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if built[modfile] == "" {
			path := filepath.Join(scratch, strings.TrimSuffix(modfile, ".mod"))
			cmd := exec.Command("go", "build", "-modfile="+modfile, "-trimpath", "-buildvcs=false", "-o", path, ".")
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOTOOLCHAIN=local")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", cmd, err, out)
			}
			built[modfile] = path
		}
		return built[modfile]
	}
}()

var scratch string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "cpulab-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// cannot skips a test that this machine cannot run. In CI, where the machine is
// chosen for it, that is a failure.
func cannot(t *testing.T, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI must be able to run this: "+format, args...)
	}
	t.Skipf(format, args...)
}

// group is a cgroup made for one test.
type group struct {
	dirs cgroup.Dirs
	v2   bool
}

// newGroup makes a cgroup with a quota per 100 ms, 0 for none, and removes it
// when the test ends.
func newGroup(t *testing.T, quotaUS int) group {
	t.Helper()
	if os.Getuid() != 0 {
		cannot(t, "making cgroups needs root")
	}
	_, mounts, err := cgroup.ReadSelf()
	if err != nil {
		cannot(t, "no cgroups: %v", err)
	}
	name := fmt.Sprintf("cpulab-test-%d-%s", os.Getpid(), strings.ReplaceAll(t.Name(), "/", "-"))
	var g group
	for _, m := range mounts {
		switch control, _ := os.ReadFile(filepath.Join(m.Point, "cgroup.subtree_control")); {
		case m.Carries(cgroup.Membership{Controllers: []string{"cpu"}}):
			g.dirs.CPU = filepath.Join(m.Point, name)
		case m.Carries(cgroup.Membership{Controllers: []string{"cpuacct"}}):
			g.dirs.CPUAcct = filepath.Join(m.Point, name)
		case m.V2 && bytes.Contains(control, []byte("cpu")):
			g = group{cgroup.Dirs{CPU: filepath.Join(m.Point, name)}, true}
		}
	}
	if g.dirs.CPU == "" {
		cannot(t, "no mounted cgroup hierarchy has the cpu controller for its children")
	}
	for _, dir := range g.all() {
		if err := os.Mkdir(dir, 0o755); err != nil {
			cannot(t, "cannot make a cgroup: %v", err)
		}
		t.Cleanup(func() { remove(t, dir) })
	}
	if quotaUS > 0 {
		file, text := "cpu.cfs_quota_us", strconv.Itoa(quotaUS)
		if g.v2 {
			file, text = "cpu.max", text+" 100000"
		}
		if err := os.WriteFile(filepath.Join(g.dirs.CPU, file), []byte(text), 0o600); err != nil {
			cannot(t, "cannot set a quota: %v", err)
		}
	}
	return g
}

func (g group) all() []string {
	if g.dirs.CPUAcct == "" || g.dirs.CPUAcct == g.dirs.CPU {
		return []string{g.dirs.CPU}
	}
	return []string{g.dirs.CPU, g.dirs.CPUAcct}
}

// join returns the arguments that run a command in the group.
func (g group) join(command ...string) []string {
	args := []string{"exec"}
	for _, dir := range g.all() {
		args = append(args, "--join", filepath.Join(dir, "cgroup.procs"))
	}
	return append(append(args, "--"), command...)
}

// flag returns the group as a sample takes it.
func (g group) flag() string {
	return "g=" + strings.Join(g.all(), ",")
}

// remove empties and removes a cgroup, whatever the test left in it.
func remove(t *testing.T, dir string) {
	var err error
	for range 200 {
		if err = os.Remove(dir); err == nil || os.IsNotExist(err) {
			return
		}
		procs, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for pid := range strings.FieldsSeq(string(procs)) {
			if n, err := strconv.Atoi(pid); err == nil {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("cannot remove %s: %v", dir, err)
}

// program is a running cpulab.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout io.Closer
	out    *bufio.Scanner
	errs   bytes.Buffer
	n      int
}

// start starts the usual build.
func start(t *testing.T, args ...string) *program {
	t.Helper()
	return startFile(t, build(t, "go.mod"), args...)
}

func startFile(t *testing.T, path string, args ...string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command(path, args...)}
	p.cmd.Stderr = &p.errs
	stdin, err1 := p.cmd.StdinPipe()
	stdout, err2 := p.cmd.StdoutPipe()
	if err := p.cmd.Start(); err != nil || err1 != nil || err2 != nil {
		t.Fatal(err, err1, err2)
	}
	p.stdin, p.stdout = stdin, stdout
	p.out = bufio.NewScanner(stdout)
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// next returns the next line, nil at the end, and checks its number.
func (p *program) next() line {
	p.t.Helper()
	if !p.out.Scan() {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(p.out.Bytes()))
	dec.UseNumber()
	var l line
	if err := dec.Decode(&l); err != nil {
		p.t.Fatalf("%s: %v", p.out.Text(), err)
	}
	if p.n++; l.int("n") != int64(p.n) {
		p.t.Errorf("line %d has n %d", p.n, l.int("n"))
	}
	return l
}

// rest returns the lines to the end and checks the exit code.
func (p *program) rest(code int) (lines []line) {
	p.t.Helper()
	for l := p.next(); l != nil; l = p.next() {
		lines = append(lines, l)
	}
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("%v: exit %d, want %d\n%s", p.cmd.Args, got, code, p.errs.String())
	}
	return lines
}

// line is one line of output.
type line map[string]any

// int returns an integer field, -1 when it is null or absent. A number with a
// fraction is -1 too: the protocol has none.
func (l line) int(key string) int64 {
	number, _ := l[key].(json.Number)
	n, err := strconv.ParseInt(string(number), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

func (l line) object(key string) line {
	o, _ := l[key].(map[string]any)
	return o
}
