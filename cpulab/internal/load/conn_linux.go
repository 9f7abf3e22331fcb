package load

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// request is one request on its way.
type request struct {
	kind  kind
	dueNS int64 // when it was scheduled
	lagNS int64 // how much later it was handed over
	tally *tally
}

// conn is a connection and the goroutine that reads its answers. It has at most
// one request under way.
type conn struct {
	client *client
	net    *net.TCPConn
	target *target
	answer answer

	mu      sync.Mutex
	busy    bool
	dead    bool
	current request

	// Of the reading goroutine alone.
	server  string // whom it leads to
	counted bool   // it has answered a request that counts
}

// send hands a request over. It reports false when the connection is gone; the
// request was not sent then.
func (c *conn) send(r request) bool {
	c.mu.Lock()
	if c.dead {
		c.mu.Unlock()
		return false
	}
	c.busy, c.current = true, r
	c.expireAt(r.dueNS + c.client.timeoutNS)
	c.mu.Unlock()
	if _, err := c.net.Write(c.target.request[r.kind]); err != nil {
		c.fail(err)
	}
	return true
}

// expireAt makes reading fail at an instant of CLOCK_MONOTONIC. Only a closed
// connection refuses a deadline, and reading that fails at once.
func (c *conn) expireAt(ns int64) {
	_ = c.net.SetReadDeadline(c.client.watch.when(ns))
}

// read takes answers until the connection ends.
func (c *conn) read() {
	defer c.net.Close()
	raw, err := c.net.SyscallConn()
	if err != nil {
		c.fail(err)
		return
	}
	buf := make([]byte, 2048)
	for {
		// One call for the life of the connection, but for deadlines: net.Conn
		// would try to read once more after each answer, in vain. It must not
		// be closed inside, where closing waits for the call to return.
		alive, end := true, error(nil)
		err := raw.Read(func(fd uintptr) (done bool) {
			alive, end = c.drain(int(fd), buf)
			return !alive
		})
		switch {
		case !alive && end == nil:
			c.closeSilently()
			return
		case !alive:
			c.fail(end)
			return
		case err != nil && !c.spurious(err):
			c.fail(err)
			return
		}
	}
}

// drain reads what is there. The connection ends when alive is false, with its
// last request unless that was answered.
func (c *conn) drain(fd int, buf []byte) (alive bool, err error) {
	for {
		n, err := syscall.Read(fd, buf)
		now := c.client.watch.now()
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return true, nil
		case err != nil:
			return false, err
		case n == 0:
			return false, io.EOF
		}
		if alive, err := c.take(buf[:n], now); !alive || n < len(buf) {
			return alive, err // the poller tells when more comes
		}
	}
}

// take handles what was read.
func (c *conn) take(chunk []byte, nowNS int64) (alive bool, err error) {
	c.mu.Lock()
	busy := c.busy
	c.mu.Unlock()
	if !busy {
		return false, errUnasked
	}
	complete, err := c.answer.feed(chunk)
	if err != nil || !complete {
		return err == nil, err
	}
	return c.done(nowNS), nil
}

var errUnasked = errors.New("a server sent something without being asked")

// done ends the request with its answer and reports whether the connection
// lives on.
func (c *conn) done(nowNS int64) bool {
	r, o := c.current, outcome{}
	switch status := c.answer.status; {
	case nowNS-r.dueNS > c.client.timeoutNS:
		o.failure = "timeout"
	case status > 299:
		o.failure = fmt.Sprintf("status_%dxx", status/100)
	default:
		if string(c.answer.server) != c.server {
			c.server = string(c.answer.server)
		}
		o.server = c.server
		o.fresh = r.tally.counts && !c.counted
		c.counted = c.counted || o.fresh
	}
	keep := c.client.keepAlive && !c.answer.last
	c.answer.reset()
	c.mu.Lock()
	c.busy, c.dead = false, !keep
	c.mu.Unlock()
	// Back among the idle ones before the request counts as ended: whoever
	// waits for the end finds the connection there.
	if keep && !c.client.putBack(c) {
		keep = false
	}
	c.client.ended(r, o, nowNS)
	return keep
}

// closeSilently ends a connection whose answer is complete. It is reset
// instead of closed: a port would otherwise be taken for another minute, and at
// 500 new connections a second there are none left after that minute.
func (c *conn) closeSilently() {
	_ = c.net.SetLinger(0) // fails only when it is closed already
	c.net.Close()
}

// spurious tells a deadline of an earlier request, which nobody waits for, from
// an end of the connection.
func (c *conn) spurious(err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.dead:
		return false
	case !c.busy:
		_ = c.net.SetReadDeadline(time.Time{})
		return true
	}
	return c.client.watch.now() < c.current.dueNS+c.client.timeoutNS
}

// fail ends the connection and, if there is one, its request.
func (c *conn) fail(err error) {
	c.mu.Lock()
	busy, r := c.busy, c.current
	c.busy, c.dead = false, true
	c.mu.Unlock()
	c.net.Close()
	if busy {
		c.client.ended(r, outcome{failure: c.client.failure(err)}, c.client.watch.now())
	}
}
