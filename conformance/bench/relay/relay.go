// Package relay is the yardstick of the benchmark: the smallest program that
// stands between an editor and an MCP server. It scans each line once, gives a
// request an id of its own, and passes params and results on as they are. It
// does none of what makes a product: no limits, approvals, recovery or order.
package relay

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/lines"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// keptLine is the largest buffer of a line that is used again.
const keptLine = 64 << 10

// A relay is one editor and one server.
type relay struct {
	mu    sync.Mutex // guards server, last, ids and line
	toMCP io.Writer
	last  int64
	ids   map[int64][]byte // the editor's id by ours
	line  []byte

	toEditor io.Writer // of the goroutine that reads the server, and before it starts
	reply    []byte
}

// Run starts the server and relays until in ends.
func Run(server []string, in io.Reader, out io.Writer) error {
	child := exec.Command(server[0], server[1:]...)
	child.Stderr = os.Stderr
	stdin, err := child.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	editor := lines.NewReader(in)
	// The editor's greeting is answered before anything else.
	line, err := editor.Next()
	if err != nil {
		return err
	}
	id, _, _ := parts(line)
	if _, err := fmt.Fprintf(out, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}\n", id); err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	r := &relay{toMCP: stdin, ids: map[int64][]byte{}, toEditor: out}
	answers := make(chan struct{})
	go func() { // ends with the server's output
		defer close(answers)
		r.readServer(lines.NewReader(stdout))
	}()
	r.request(nil, []byte(`"initialize"`), []byte(`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"relay","version":"1"}}`))
	for {
		line, err := editor.Next()
		if err != nil {
			break
		}
		if id, method, params := parts(line); id != nil {
			r.request(id, method, params)
		}
	}
	_ = stdin.Close()
	<-answers
	return child.Wait()
}

// parts returns what is passed on of a request.
func parts(line []byte) (id, method, params []byte) {
	_ = rawjson.Object(line, func(key, value []byte) error { // what is no message has no parts
		switch string(key) {
		case "id":
			id = value
		case "method":
			method = value
		case "params":
			params = value
		}
		return nil
	})
	return id, method, params
}

func (r *relay) request(id, method, params []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	r.ids[r.last] = append([]byte(nil), id...)
	b := append(r.line[:0], `{"jsonrpc":"2.0","id":`...)
	b = strconv.AppendInt(b, r.last, 10)
	b = append(append(b, `,"method":`...), method...)
	b = append(append(b, `,"params":`...), params...)
	b = append(b, "}\n"...)
	_, _ = r.toMCP.Write(b) // a server that is gone has ended its output
	if r.line = b; cap(b) > keptLine {
		r.line = nil
	}
}

func (r *relay) readServer(server *lines.Reader) {
	for {
		line, err := server.Next()
		if err != nil {
			return
		}
		var id, result, fault []byte
		_ = rawjson.Object(line, func(key, value []byte) error {
			switch string(key) {
			case "id":
				id = value
			case "result":
				result = value
			case "error":
				fault = value
			}
			return nil
		})
		n, err := strconv.ParseInt(string(id), 10, 64)
		if err != nil {
			continue
		}
		r.mu.Lock()
		editors := r.ids[n]
		delete(r.ids, n)
		r.mu.Unlock()
		if len(editors) == 0 {
			continue
		}
		b := append(append(r.reply[:0], `{"jsonrpc":"2.0","id":`...), editors...)
		if fault != nil {
			b = append(append(b, `,"error":`...), fault...)
		} else {
			b = append(append(b, `,"result":`...), result...)
		}
		b = append(b, "}\n"...)
		if _, err := r.toEditor.Write(b); err != nil {
			return
		}
		if r.reply = b; cap(b) > keptLine {
			r.reply = nil
		}
	}
}
