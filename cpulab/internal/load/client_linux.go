package load

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// client holds the connections. New ones go to one target after the other, as
// behind a load balancer of connections; a request takes the connection that
// was used last, as Go's own client does.
type client struct {
	targets   []*target
	keepAlive bool
	maxIdle   int
	timeoutNS int64
	watch     stopwatch
	ctx       context.Context

	inFlight atomic.Int64
	dialled  int // of the sender alone

	mu    sync.Mutex
	idle  []*conn
	other string // the first error that has no name of its own
}

func newClient(ctx context.Context, p Params) *client {
	c := &client{
		ctx: ctx, watch: newStopwatch(),
		keepAlive: p.KeepAlive, maxIdle: p.Idle, timeoutNS: int64(p.Timeout),
	}
	for _, t := range p.To {
		c.targets = append(c.targets, newTarget(t, p.KeepAlive))
	}
	return c
}

// send hands a request over and returns at once. Only the sender calls it.
func (c *client) send(r request) (inFlight int64) {
	inFlight = c.inFlight.Add(1)
	now := c.watch.now()
	r.lagNS = now - r.dueNS
	if r.lagNS >= c.timeoutNS {
		// The answer could not come in time any more.
		c.ended(r, outcome{failure: "timeout"}, now)
		return inFlight
	}
	for {
		idle := c.takeIdle()
		if idle == nil {
			break
		}
		if idle.send(r) {
			return inFlight
		}
	}
	target := c.targets[c.dialled%len(c.targets)]
	c.dialled++
	go c.dial(target, r)
	return inFlight
}

// dial opens a connection for a request, sends it and stays to read.
func (c *client) dial(target *target, r request) {
	// Until here it was this program that was slow; connecting is a part of
	// the answer's time.
	r.lagNS = c.watch.now() - r.dueNS
	dialer := net.Dialer{Deadline: c.watch.when(r.dueNS + c.timeoutNS), KeepAlive: -1}
	made, err := dialer.DialContext(c.ctx, "tcp", target.address)
	if errors.Is(err, context.Canceled) {
		// The run was stopped: no failure of the server, and so no end of the
		// request either. Its round will not be written.
		return
	}
	if err != nil {
		c.ended(r, outcome{failure: c.failure(err)}, c.watch.now())
		return
	}
	opened := &conn{client: c, net: made.(*net.TCPConn), target: target}
	opened.send(r)
	opened.read()
}

func (c *client) takeIdle() *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := len(c.idle) - 1
	if last < 0 {
		return nil
	}
	taken := c.idle[last]
	c.idle[last] = nil
	c.idle = c.idle[:last]
	return taken
}

// putBack keeps a connection for the next request, unless there are enough.
func (c *client) putBack(back *conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.idle) >= c.maxIdle {
		return false
	}
	c.idle = append(c.idle, back)
	return true
}

func (c *client) ended(r request, o outcome, nowNS int64) {
	c.inFlight.Add(-1)
	o.kind = r.kind
	o.latencyUS = (nowNS - r.dueNS) / 1000
	o.lagUS = r.lagNS / 1000
	r.tally.end(o)
}

// failure names an error; one without a name is kept for the reader.
func (c *client) failure(err error) string {
	var timeout net.Error
	switch {
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "closed"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.other == "" {
		c.other = err.Error()
	}
	return "other"
}

// firstOther is the first error that was counted as other, "" for none.
func (c *client) firstOther() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.other
}
