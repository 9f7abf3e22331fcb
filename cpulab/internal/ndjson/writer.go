// Package ndjson writes numbered lines of JSON.
//
// Lines are built field by field into one reused buffer and leave in one
// write(2): the writer runs inside throttled cgroups, where garbage and
// syscalls are charged to what is measured. Numbers are integers only.
package ndjson

import (
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"cpulab/internal/clock"
	"cpulab/internal/opt"
)

// Writer builds one line at a time: Begin, fields, End. It is not safe for
// concurrent use.
type Writer struct {
	out io.Writer
	n   int64
	buf []byte
}

// NewWriter returns a Writer of lines numbered from 1.
func NewWriter(out io.Writer) *Writer {
	return &Writer{out: out, buf: make([]byte, 0, 4096)}
}

// Begin starts a line of a type, stamped with the present.
func (w *Writer) Begin(kind string) { w.BeginAt(kind, clock.MonoUS()) }

// BeginAt starts a line stamped with a time read before.
func (w *Writer) BeginAt(kind string, monoUS int64) {
	w.n++
	w.buf = append(w.buf[:0], '{')
	w.Int("n", w.n)
	w.Str("type", kind)
	w.Int("mono_us", monoUS)
}

// End sends the line.
func (w *Writer) End() error {
	w.buf = append(w.buf, '}', '\n')
	if _, err := w.out.Write(w.buf); err != nil {
		return fmt.Errorf("cannot write to standard output: %w", err)
	}
	return nil
}

// Int adds an integer.
func (w *Writer) Int(key string, v int64) {
	w.key(key)
	w.buf = strconv.AppendInt(w.buf, v, 10)
}

// Opt adds an integer, or null when there is none.
func (w *Writer) Opt(key string, v opt.Int) {
	if v.OK {
		w.Int(key, v.N)
		return
	}
	w.Null(key)
}

// Str adds a string.
func (w *Writer) Str(key, v string) {
	w.key(key)
	w.buf = appendString(w.buf, v)
}

// StrOrNull adds a string, or null for the empty one.
func (w *Writer) StrOrNull(key, v string) {
	if v == "" {
		w.Null(key)
		return
	}
	w.Str(key, v)
}

// Null adds a null.
func (w *Writer) Null(key string) {
	w.key(key)
	w.buf = append(w.buf, "null"...)
}

// Object opens an object; an element of an array has no key.
func (w *Writer) Object(key string) {
	w.key(key)
	w.buf = append(w.buf, '{')
}

// EndObject closes the innermost object.
func (w *Writer) EndObject() { w.buf = append(w.buf, '}') }

// Array opens an array.
func (w *Writer) Array(key string) {
	w.key(key)
	w.buf = append(w.buf, '[')
}

// EndArray closes the innermost array.
func (w *Writer) EndArray() { w.buf = append(w.buf, ']') }

// key adds the comma before a field or element, then the key if there is one.
func (w *Writer) key(key string) {
	switch w.buf[len(w.buf)-1] {
	case '{', '[':
	default:
		w.buf = append(w.buf, ',')
	}
	if key != "" {
		w.buf = appendString(w.buf, key)
		w.buf = append(w.buf, ':')
	}
}

// appendString quotes s as JSON. strconv's quoting is Go's, not JSON's.
func appendString(buf []byte, s string) []byte {
	const hex = "0123456789abcdef"
	buf = append(buf, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			buf = append(buf, '\\', byte(r))
		case r < 0x20 || r == 0x7f:
			buf = append(buf, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			// Ranging turned bytes that are no UTF-8 into U+FFFD already.
			buf = utf8.AppendRune(buf, r)
		}
	}
	return append(buf, '"')
}
