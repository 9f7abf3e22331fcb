package load

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// target is a server to call.
type target struct {
	address string // host:port
	request [kinds][]byte
}

// ParseTargets reads addresses such as http://127.0.0.1:8080, with commas
// between them.
func ParseTargets(text string) ([]Target, error) {
	var targets []Target
	for part := range strings.SplitSeq(text, ",") {
		address, err := parseTarget(part)
		if err != nil {
			return nil, err
		}
		targets = append(targets, Target{part, address})
	}
	return targets, nil
}

// Target is an address as it was given and as it is dialled.
type Target struct{ Text, Address string }

func parseTarget(text string) (string, error) {
	allowed := errors.New("allowed are addresses such as http://127.0.0.1:8080, with commas between them")
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", allowed
	}
	host, port := u.Hostname(), u.Port()
	if u.Path != "" && u.Path != "/" || host == "" || strings.ContainsAny(host, "\r\n\t ,") {
		return "", allowed
	}
	if port == "" {
		if strings.HasSuffix(u.Host, ":") {
			return "", allowed
		}
		port = "80"
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", allowed
	}
	return net.JoinHostPort(host, port), nil
}

// newTarget renders the requests once: sending one is then a single write.
func newTarget(t Target, keepAlive bool) *target {
	made := &target{address: t.Address}
	more := ""
	if !keepAlive {
		more = "Connection: close\r\n"
	}
	for kind, path := range paths {
		made.request[kind] = fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: cpulab\r\n%s\r\n", path, t.Address, more)
	}
	return made
}
