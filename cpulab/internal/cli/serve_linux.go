package cli

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"time"

	"cpulab/internal/serve"
)

// maxBytes keeps a mistyped size from taking the machine's memory.
const maxBytes = 8 << 30

// serverName is what a server can be called: it stands in a header and in keys.
var serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

func runServe(s streams, args []string) error {
	f := newFlags("serve", "--listen 127.0.0.1:0 --name NAME --work 5ms --alloc BYTES --live BYTES [FLAGS]").withHuman()
	p := serve.Params{Listen: "127.0.0.1:0", Name: "server"}
	f.Func("listen", "`HOST:PORT` to answer on; port 0: any free one (default 127.0.0.1:0)", func(text string) error {
		p.Listen = text
		return checkListen(text)
	})
	f.Func("name", "`NAME` in every answer (default server)", func(text string) error {
		if !serverName.MatchString(text) {
			return errors.New("allowed are up to 63 letters, digits, dots, dashes and underscores")
		}
		p.Name = text
		return nil
	})
	f.duration(&p.Work, "work", 5*time.Millisecond, 0, time.Minute, "CPU `time` that each request burns")
	f.bytes(&p.Alloc, "alloc", 1<<20, "`BYTES` that each request allocates")
	f.bytes(&p.Live, "live", 64<<20, "`BYTES` that stay in use, for the garbage collector to walk")
	untilEOF := f.Bool("until-eof", false, "stop when standard input ends")
	if err := f.parse(s, args, false); err != nil {
		return err
	}
	ctx, finish := untilStopped(s, *untilEOF)
	defer finish()
	return serve.Run(ctx, p, s.writer(f.human), s.err, func() string { return reason(ctx) })
}

// checkListen refuses what is no address; the host may be empty for all.
func checkListen(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return errors.New("allowed is HOST:PORT with a port from 0 to 65535, such as 127.0.0.1:0")
	}
	return nil
}

func (f *flags) bytes(value *int64, name string, preset int64, usage string) {
	*value = preset
	f.Func(name, usage+fmt.Sprintf(" (default %d)", preset), func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > maxBytes {
			return fmt.Errorf("allowed is a whole number of bytes from 0 to %d", int64(maxBytes))
		}
		*value = n
		return nil
	})
}
