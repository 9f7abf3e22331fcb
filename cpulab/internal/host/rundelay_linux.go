package host

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"

	"cpulab/internal/opt"
)

const taskDir = "/proc/self/task"

// RunDelay sums the time that the threads of this process were ready and
// waited for a CPU. It is the only sign of starvation: throttle counters do
// not show it.
//
// It keeps one file per thread open. The set of threads is listed again only
// when the link count of the task directory says that it changed.
type RunDelay struct {
	dir     int // file descriptor of taskDir, -1 without schedstat
	threads map[string]*thread
	links   uint64
	ended   int64 // ns waited by threads that are no more
	buf     [64]byte
}

type thread struct {
	fd     int
	waited int64 // ns at the last reading
	listed bool
}

// NewRunDelay opens the files of the present threads.
func NewRunDelay() *RunDelay {
	dir, err := syscall.Open(taskDir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		dir = -1
	}
	r := &RunDelay{dir: dir, threads: make(map[string]*thread)}
	r.ReadUS() // so that the first measured reading opens nothing
	return r
}

// ReadUS returns the sum in microseconds since the start of the process. It is
// nothing where the kernel does not count (no CONFIG_SCHED_INFO).
func (r *RunDelay) ReadUS() opt.Int {
	if r.dir < 0 {
		return opt.Int{}
	}
	var stat syscall.Stat_t
	if err := syscall.Fstat(r.dir, &stat); err != nil {
		return opt.Int{}
	}
	if links := uint64(stat.Nlink); links != r.links {
		if err := r.list(); err != nil {
			return opt.Int{}
		}
		r.links = links
	}
	total := r.ended
	counted := false
	for tid, t := range r.threads {
		waited, ok := r.read(t.fd)
		if !ok {
			// The thread ended: its wait stays in the sum. Another may have
			// started in its place, so the next reading lists them.
			r.drop(tid, t)
			r.links = 0
			total += t.waited
			continue
		}
		t.waited = waited.N
		total += waited.N
		counted = counted || waited.OK
	}
	if !counted {
		return opt.Int{}
	}
	return opt.Of(total / 1000)
}

// list opens the threads that are new and drops those that ended.
func (r *RunDelay) list() error {
	entries, err := os.ReadDir(taskDir)
	if err != nil {
		return fmt.Errorf("cannot list the own threads: %w", err)
	}
	for _, t := range r.threads {
		t.listed = false
	}
	for _, e := range entries {
		tid := e.Name()
		if t := r.threads[tid]; t != nil {
			t.listed = true
			continue
		}
		fd, err := syscall.Open(taskDir+"/"+tid+"/schedstat", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if errors.Is(err, syscall.ENOENT) {
			continue // ended already, or a kernel without schedstat
		} else if err != nil {
			return fmt.Errorf("cannot open the schedstat of thread %s: %w", tid, err)
		}
		r.threads[tid] = &thread{fd: fd, listed: true}
	}
	for tid, t := range r.threads {
		if !t.listed {
			r.drop(tid, t)
		}
	}
	return nil
}

func (r *RunDelay) drop(tid string, t *thread) {
	r.ended += t.waited
	syscall.Close(t.fd)
	delete(r.threads, tid)
}

// read parses "run_ns wait_ns slices". ok is false when the thread ended; the
// wait is nothing when the kernel counts no slices, where all three are 0.
func (r *RunDelay) read(fd int) (waited opt.Int, ok bool) {
	n, err := syscall.Pread(fd, r.buf[:], 0)
	if err != nil || n == 0 {
		return opt.Int{}, false
	}
	_, rest, _ := bytes.Cut(bytes.TrimRight(r.buf[:n], "\n"), space)
	wait, slices, _ := bytes.Cut(rest, space)
	if opt.Parse(slices).N == 0 {
		return opt.Int{}, true
	}
	return opt.Parse(wait), true
}

var space = []byte{' '}
