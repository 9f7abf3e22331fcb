package load

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// answer reads one answer after the other from the bytes of a connection. It
// keeps the head only; what a body says does not matter here.
//
// A client of net/http costs several times as much CPU for each request, and
// the load shares the machine with what it measures.
type answer struct {
	head   []byte // until it is complete
	inBody bool
	left   int64 // bytes of the body that are still to come

	status int
	server []byte // of the header X-Throttle-Lab-Server
	last   bool   // the server will close the connection
}

const maxHead = 16 << 10

var (
	headEnd = []byte("\r\n\r\n")
	lineEnd = []byte("\r\n")
)

// reset makes ready for the next answer.
func (a *answer) reset() {
	*a = answer{head: a.head[:0], server: a.server[:0]}
}

// feed takes what was read and reports whether the answer is complete. Nothing
// may come after it: there is one request at a time on a connection.
func (a *answer) feed(chunk []byte) (complete bool, err error) {
	if !a.inBody {
		a.head = append(a.head, chunk...)
		end := bytes.Index(a.head, headEnd)
		switch {
		case end < 0 && len(a.head) > maxHead:
			return false, errors.New("the head of an answer is longer than 16 KiB")
		case end < 0:
			return false, nil
		}
		if err := a.parse(a.head[:end]); err != nil {
			return false, err
		}
		a.inBody = true
		chunk = a.head[end+len(headEnd):]
	}
	a.left -= int64(len(chunk))
	if a.left < 0 {
		return false, errors.New("an answer is longer than it said")
	}
	return a.left == 0, nil
}

// parse reads the status line and the fields that matter.
func (a *answer) parse(head []byte) error {
	first, rest, _ := bytes.Cut(head, lineEnd)
	version, status, _ := bytes.Cut(first, []byte(" "))
	code, _, _ := bytes.Cut(status, []byte(" "))
	n, err := strconv.Atoi(string(code)) // short: no allocation
	if err != nil || !bytes.HasPrefix(version, []byte("HTTP/1.")) || n < 200 || n > 999 {
		return fmt.Errorf("an answer begins with %.60q", first)
	}
	a.status = n
	a.last = !bytes.Equal(version, []byte("HTTP/1.1"))
	length := int64(-1)
	if n == 204 || n == 304 {
		length = 0
	}
	for len(rest) > 0 {
		var line []byte
		line, rest, _ = bytes.Cut(rest, lineEnd)
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case is(name, "content-length"):
			length, err = strconv.ParseInt(string(value), 10, 64)
			if err != nil || length < 0 {
				return fmt.Errorf("an answer has the length %.60q", value)
			}
		case is(name, "transfer-encoding"):
			return fmt.Errorf("an answer has the transfer encoding %.60q: only answers of a known length are read", value)
		case is(name, "connection"):
			a.last = a.last || is(value, "close")
		case is(name, "x-throttle-lab-server"):
			a.server = append(a.server[:0], value...)
		}
	}
	if length < 0 {
		return errors.New("an answer does not say how long it is")
	}
	a.left = length
	return nil
}

// is compares a name of a header, whose case does not matter, with one in
// lower case.
func is(name []byte, lower string) bool {
	if len(name) != len(lower) {
		return false
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}
