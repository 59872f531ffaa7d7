// Package fast is an MCP server that costs next to nothing, so that what stands
// before it shows. It answers a call in about ten microseconds, over stdio or
// Streamable HTTP, and speaks the protocol with sessions and, if Modern, the
// one without (2026-07-28) as well.
//
// It answers in order and in one goroutine per stream, knows four methods
// (initialize, server/discover, tools/list, tools/call) and does not check what
// it is sent: it serves the benchmark only.
package fast

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// The tools. All are marked as reading only.
const (
	Echo = "echo" // {"message":string} comes back as text
	Big  = "big"  // {"bytes":n} gives a text of n bytes
	Sink = "sink" // any arguments; gives their size
)

const toolsList = `{"tools":[` +
	`{"name":"echo","inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]},"annotations":{"readOnlyHint":true}},` +
	`{"name":"big","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}},"required":["bytes"]},"annotations":{"readOnlyHint":true}},` +
	`{"name":"sink","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]`

// A Server answers messages. It may be used by many goroutines.
type Server struct {
	// Modern: server/discover is known.
	Modern bool

	mu   sync.Mutex
	bigs map[int][]byte // texts as JSON, by size; guarded by mu
}

// Reply appends the answer to a message, with a line feed, or nothing to what
// needs none.
func (s *Server) Reply(dst, message []byte) []byte {
	var id, method, params []byte
	err := rawjson.Object(message, func(key, value []byte) error {
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
	if err != nil || id == nil || method == nil {
		return dst
	}
	dst = append(append(dst, `{"jsonrpc":"2.0","id":`...), id...)
	head := len(dst)
	dst, ok := s.result(append(dst, `,"result":`...), string(method), params)
	if !ok {
		dst = append(dst[:head], `,"error":{"code":-32601,"message":"unknown method or tool"}`...)
	}
	return append(dst, "}\n"...)
}

func (s *Server) result(dst []byte, method string, params []byte) ([]byte, bool) {
	switch method {
	case `"tools/call"`:
		return s.call(dst, params)
	case `"initialize"`:
		return append(dst, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fast","version":"1"}}`...), true
	case `"server/discover"`:
		return append(dst, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fast","version":"1"}}}`...), s.Modern
	case `"tools/list"`:
		return s.end(append(dst, toolsList...)), true
	}
	return dst, false
}

// end closes a result.
func (s *Server) end(dst []byte) []byte {
	if s.Modern {
		return append(dst, `,"resultType":"complete"}`...)
	}
	return append(dst, '}')
}

func (s *Server) call(dst, params []byte) ([]byte, bool) {
	var name, arguments []byte
	_ = rawjson.Object(params, func(key, value []byte) error { // it was valid in its message
		switch string(key) {
		case "name":
			name = value
		case "arguments":
			arguments = value
		}
		return nil
	})
	dst = append(dst, `{"content":[{"type":"text","text":`...)
	switch string(name) {
	case `"` + Echo + `"`:
		dst = append(dst, member(arguments, "message")...)
	case `"` + Big + `"`:
		n, err := strconv.Atoi(string(member(arguments, "bytes")))
		if err != nil {
			return dst, false
		}
		dst = append(dst, s.text(n)...)
	case `"` + Sink + `"`:
		dst = append(strconv.AppendInt(append(dst, '"'), int64(len(arguments)), 10), '"')
	default:
		return dst, false
	}
	return s.end(append(dst, `}]`...)), true
}

func member(object []byte, name string) (value []byte) {
	_ = rawjson.Object(object, func(k, v []byte) error {
		if string(k) == name {
			value = v
		}
		return nil
	})
	return value
}

// text returns a text of n bytes as JSON.
func (s *Server) text(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.bigs[n]; ok {
		return t
	}
	if s.bigs == nil {
		s.bigs = map[int][]byte{}
	}
	t, _ := json.Marshal(Text(n)) // a string has JSON
	s.bigs[n] = t
	return t
}

// Text is a text of n bytes that looks like output of a program: lines, a few
// quotes, a little beyond ASCII.
func Text(n int) string {
	const line = "The quick brown fox said \"jumps\" over 13 lazy dogs; na\u00efve, they slept on.\n"
	return strings.ToValidUTF8(string(bytes.Repeat([]byte(line), n/len(line)+1)[:n]), "?")
}
