package fast

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/lines"
)

// keptReply is the largest buffer of a reply that is used again.
const keptReply = 64 << 10

// Serve answers lines until in ends.
func (s *Server) Serve(in io.Reader, out io.Writer) error {
	r := lines.NewReader(in)
	var reply []byte
	for {
		line, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		reply = s.Reply(reply[:0], line)
		if len(reply) > 0 {
			if _, err := out.Write(reply); err != nil {
				return err
			}
		}
		if cap(reply) > keptReply {
			reply = nil
		}
	}
}

// ServeHTTP implements http.Handler: one JSON answer for each POST.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
	case http.MethodDelete:
		return
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var body bytes.Buffer
	body.Grow(int(max(r.ContentLength, 0)) + bytes.MinRead)
	_, _ = body.ReadFrom(r.Body) // what is incomplete is no JSON
	reply := s.Reply(nil, body.Bytes())
	if len(reply) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(reply)))
	if r.Header.Get("Mcp-Session-Id") == "" {
		h.Set("Mcp-Session-Id", rand.Text())
	}
	_, _ = w.Write(reply) // a client that is gone
}

// ListenHTTP serves on a port of its own, which it writes to out as a URL on a
// line, until in ends.
func (s *Server) ListenHTTP(in io.Reader, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "http://%s/mcp\n", l.Addr()); err != nil {
		return err
	}
	go func() { // ends with the process, or with in
		_, _ = io.Copy(io.Discard, in)
		_ = l.Close()
	}()
	_ = http.Serve(l, s) // it ends when l is closed
	return nil
}
