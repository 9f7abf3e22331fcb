package load

import (
	"strings"
	"testing"
)

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		text   string
		status int
		server string
		last   bool
	}{
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-Throttle-Lab-Server: server.1\r\n\r\nok\n", 200, "server.1", false},
		{"HTTP/1.1 200 OK\r\ncontent-length:3\r\nx-throttle-lab-server:  a \r\n\r\nok\n", 200, "a", false},
		{"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", 503, "", true},
		{"HTTP/1.1 204\r\n\r\n", 204, "", false},
		{"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", 200, "", true},
	} {
		// In one piece, and byte by byte.
		for _, step := range []int{len(c.text), 1} {
			var a answer
			complete := false
			for at := 0; at < len(c.text); at += step {
				var err error
				if complete, err = a.feed([]byte(c.text[at : at+step])); err != nil {
					t.Fatalf("%q: %v", c.text, err)
				}
				if complete != (at+step == len(c.text)) {
					t.Fatalf("%q: complete %v after %d bytes", c.text, complete, at+step)
				}
			}
			if a.status != c.status || string(a.server) != c.server || a.last != c.last {
				t.Errorf("%q: %+v", c.text, a)
			}
		}
	}
}

func TestBadAnswers(t *testing.T) {
	for text, says := range map[string]string{
		"SSH-2.0-x\r\n\r\n":                                       "begins with",
		"HTTP/1.1 abc\r\n\r\n":                                    "begins with",
		"HTTP/1.1 100 Continue\r\n\r\n":                           "begins with",
		"HTTP/1.1 200 OK\r\n\r\n":                                 "how long",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n":           "length",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy":          "longer",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n":   "encoding",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 2*maxHead): "16 KiB",
	} {
		var a answer
		complete, err := a.feed([]byte(text))
		if complete || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: %v, %v, want %q", text, complete, err, says)
		}
	}
}

// FuzzAnswer: whatever arrives, in whatever pieces, is an answer or an error,
// and the pieces do not matter.
func FuzzAnswer(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-Throttle-Lab-Server: s\r\n\r\nok\n", uint8(7))
	f.Add("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", uint8(1))
	f.Add("\r\n\r\n", uint8(3))
	f.Fuzz(func(t *testing.T, text string, step uint8) {
		var whole answer
		complete, err := whole.feed([]byte(text))
		if complete && (whole.left != 0 || whole.status < 200) {
			t.Fatalf("%q: %+v", text, whole)
		}
		var pieces answer
		for at, size := 0, int(step)+1; at < len(text); at += size {
			done, pieceErr := pieces.feed([]byte(text[at:min(at+size, len(text))]))
			if pieceErr != nil {
				if err == nil && len(text) <= maxHead {
					t.Fatalf("%q: %v in pieces only", text, pieceErr)
				}
				return
			}
			if done && at+size >= len(text) && !complete {
				t.Fatalf("%q: complete in pieces only", text)
			}
		}
	})
}

func FuzzParseTargets(f *testing.F) {
	f.Add("http://127.0.0.1:8080")
	f.Add("http://a,http://[::1]:9/")
	f.Add("http://a b:1")
	f.Fuzz(func(t *testing.T, text string) {
		targets, err := ParseTargets(text)
		if err != nil {
			return
		}
		if len(targets) != strings.Count(text, ",")+1 {
			t.Fatalf("%q: %v", text, targets)
		}
		for _, target := range targets {
			head := string(newTarget(target, true).request[work])
			if strings.Count(head, "\r\n") != 4 || !strings.HasPrefix(head, "GET /work HTTP/1.1\r\n") {
				t.Fatalf("%q makes the request %q", text, head)
			}
		}
	})
}

func TestParseTargets(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1:41234":     "127.0.0.1:41234",
		"http://server":              "server:80",
		"http://[::1]:8080/":         "[::1]:8080",
		"http://a.ns.svc:1,http://b": "a.ns.svc:1 b:80",
		"http://a:1,http://a:1":      "a:1 a:1",
	} {
		targets, err := ParseTargets(text)
		var got []string
		for _, target := range targets {
			got = append(got, target.Address)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "127.0.0.1:80", "https://a", "http://", "http://a:0", "http://a:70000", "http://a:", "http://a/x",
		"http://a?x", "http://u@a", "http://a#f", "http://a,", ",http://a", "http://a:b", "http://a\r\nX: y",
	} {
		if targets, err := ParseTargets(text); err == nil {
			t.Errorf("%q is taken as %v", text, targets)
		}
	}
}
