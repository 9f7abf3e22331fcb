package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

var (
	// ErrGone says that the cgroup was removed while it was being read.
	ErrGone = errors.New("the cgroup was removed")
	// ErrMissing says that there was no cgroup to begin with.
	ErrMissing = errors.New("no such cgroup")
)

// Dirs says where the files of one cgroup are. On v1 the cpu and the cpuacct
// controller may be different mounts; on v2 CPUAcct is empty.
type Dirs struct {
	CPU     string
	CPUAcct string
}

// Version tells v1 from v2 by a file that every v2 cgroup has and no v1 does.
func (d Dirs) Version() int {
	if _, err := os.Stat(filepath.Join(d.CPU, "cgroup.controllers")); err == nil {
		return 2
	}
	return 1
}

// Reader reads the counters of one cgroup again and again. It keeps its files
// open, because a reading is paid for inside the cgroup that it measures, and
// an open file notices when the cgroup was removed and made again.
type Reader struct {
	stat, usage, local int // file descriptors, -1 for a file that is not there
	buf                []byte
}

// Counters files are far smaller; a reading that fills the buffer is cut off.
const readSize = 4096

// Open opens the counters of a cgroup. A kernel without one of the files is
// fine, a cgroup without any is an error.
func Open(d Dirs) (*Reader, error) {
	r := &Reader{stat: -1, usage: -1, local: -1, buf: make([]byte, readSize)}
	for _, dir := range []string{d.CPU, d.CPUAcct} {
		if err := checkDir(dir); dir != "" && err != nil {
			return nil, err
		}
	}
	acct := d.CPUAcct
	if acct == "" {
		acct = d.CPU // a v1 mount of both, or v2, where the file is not there
	}
	for _, f := range []struct {
		fd   *int
		path string
	}{
		{&r.stat, filepath.Join(d.CPU, "cpu.stat")},
		{&r.local, filepath.Join(d.CPU, "cpu.stat.local")},
		{&r.usage, filepath.Join(acct, "cpuacct.usage")},
	} {
		fd, err := openRead(f.path)
		if err != nil && !errors.Is(err, syscall.ENOENT) {
			r.Close()
			return nil, fmt.Errorf("cannot open %s: %w", f.path, err)
		}
		*f.fd = fd
	}
	if r.stat < 0 && r.usage < 0 {
		r.Close()
		return nil, fmt.Errorf("%s has no cpu.stat: it is not a cgroup of the cpu controller", d.CPU)
	}
	return r, nil
}

func checkDir(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: %s", ErrMissing, path)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", path)
	}
	return nil
}

func openRead(path string) (int, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err == nil {
			return fd, nil
		}
		if err != syscall.EINTR {
			return -1, err
		}
	}
}

// Read replaces c by the present counters. bad counts the counters that were
// there but made no sense. The only error is ErrGone.
func (r *Reader) Read(c *Counters) (bad int, err error) {
	*c = Counters{}
	if r.stat >= 0 {
		text, ok, err := r.pread(r.stat)
		if err != nil {
			return bad, err
		}
		if !ok {
			bad++
		}
		bad += parseStat(text, c)
	}
	if r.usage >= 0 {
		text, ok, err := r.pread(r.usage)
		if err != nil {
			return bad, err
		}
		var faults int
		if c.Usage, faults = parseUsage(text); !ok || faults > 0 {
			bad++
		}
	}
	if r.local >= 0 {
		text, ok, err := r.pread(r.local)
		if err != nil {
			return bad, err
		}
		var faults int
		if c.LocalThrottled, faults = parseLocal(text); !ok {
			bad++
		}
		bad += faults
	}
	return bad, nil
}

// pread reads a whole file from its start. Without a text and with ok false the
// kernel refused for another reason than the end of the cgroup.
func (r *Reader) pread(fd int) (text []byte, ok bool, err error) {
	for {
		n, err := syscall.Pread(fd, r.buf, 0)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.ENODEV || err == syscall.ENOENT:
			return nil, false, ErrGone
		case err != nil || n == len(r.buf):
			return nil, false, nil
		}
		return r.buf[:n], true, nil
	}
}

// Close closes the files.
func (r *Reader) Close() {
	for _, fd := range []int{r.stat, r.usage, r.local} {
		if fd >= 0 {
			syscall.Close(fd)
		}
	}
}
