// Vegeta is what the lab's own load is measured against: the load generator of
// that name under a constant rate, and a receiver that stamps what arrives.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "vegeta:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "receive":
		return receive()
	case len(args) == 4 && args[0] == "attack":
		rate, err1 := strconv.Atoi(args[2])
		seconds, err2 := strconv.Atoi(args[3])
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		return attack(args[1], rate, time.Duration(seconds)*time.Second)
	}
	return errors.New("usage: receive | attack URL RATE SECONDS")
}

// attack sends at a constant rate and keeps the latencies, as a person would
// have vegeta do it.
func attack(url string, rate int, d time.Duration) error {
	targeter := vegeta.NewStaticTargeter(vegeta.Target{Method: "GET", URL: url + "/work"})
	attacker := vegeta.NewAttacker(vegeta.Timeout(10 * time.Second))
	var metrics vegeta.Metrics
	for result := range attacker.Attack(targeter, vegeta.Rate{Freq: rate, Per: time.Second}, d, "bench") {
		metrics.Add(result)
	}
	metrics.Close()
	if metrics.Success < 1 {
		// The machine may be too busy for it: that is a result, too.
		fmt.Fprintf(os.Stderr, "vegeta: only %.1f %% succeeded: %v\n", 100*metrics.Success, metrics.Errors)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"requests": metrics.Requests, "p50_us": metrics.Latencies.P50.Microseconds(), "p99_us": metrics.Latencies.P99.Microseconds(),
	})
}

// arrivals has room for all that a bench sends.
const arrivals = 2_000_000

// receive answers whatever comes until standard input ends, then writes when
// each request arrived, in microseconds of CLOCK_MONOTONIC.
func receive() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	stamps := make([]int64, arrivals)
	var n atomic.Int64
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(c, stamps, &n)
		}
	}()
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	if n.Load() > arrivals {
		return fmt.Errorf("more than %d arrivals", arrivals)
	}
	return json.NewEncoder(os.Stdout).Encode(stamps[:n.Load()])
}

var (
	reply   = []byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n")
	headEnd = []byte("\r\n\r\n")
)

// answer takes requests without a body, one at a time.
func answer(c net.Conn, stamps []int64, n *atomic.Int64) {
	defer c.Close()
	buf := make([]byte, 4096)
	filled := 0
	for {
		got, err := c.Read(buf[filled:])
		if err != nil {
			return
		}
		now := monoUS()
		if filled += got; !bytes.HasSuffix(buf[:filled], headEnd) {
			continue
		}
		filled = 0
		if i := n.Add(1); i <= arrivals {
			stamps[i-1] = now
		}
		if _, err := c.Write(reply); err != nil {
			return
		}
	}
}

func monoUS() int64 {
	var ts syscall.Timespec
	const clockMonotonic = 1
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
	return ts.Nano() / 1000
}
