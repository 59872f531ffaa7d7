package streamable

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// maxSDKDepth is the nesting that the SDK's decoder takes; a deeper message
// would end its session.
const maxSDKDepth = 1000

// bom is the UTF-8 byte order mark, which some servers put before a body.
var bom = []byte("\xef\xbb\xbf")

// A message is a JSON-RPC message taken apart, not decoded. The members are
// nil where absent and parts of the message's bytes otherwise.
type message struct {
	id, params, result, failure []byte
	method                      string
	hasMethod                   bool
}

// parseMessage takes one JSON object apart. It does not ask for "jsonrpc".
func parseMessage(data []byte) (message, error) {
	var m message
	badMethod := false
	err := rawjson.Object(data, func(key, value []byte) error {
		switch string(key) {
		case "id":
			m.id = value
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.failure = value
		case "method":
			var ok bool
			m.method, ok = rawjson.String(value)
			m.hasMethod, badMethod = true, !ok
		}
		return nil
	})
	if err == nil && badMethod {
		err = errors.New("method is not a string")
	}
	if rawjson.Kind(m.params) == 'n' {
		m.params = nil
	}
	if rawjson.Kind(m.failure) == 'n' {
		m.failure = nil
	}
	return m, err
}

// hasID reports whether the message has an id other than null.
func (m message) hasID() bool { return len(m.id) > 0 && rawjson.Kind(m.id) != 'n' }

// isCall reports whether the message is a request.
func (m message) isCall() bool { return m.hasMethod && m.hasID() }

// isResponse reports whether the message is a result or an error.
func (m message) isResponse() bool {
	return !m.hasMethod && (m.result != nil || m.failure != nil)
}

// sameID reports whether a server's id means the id that we sent, a number.
// A number written as a string or with a fraction of zero still does.
func sameID(got, sent []byte) bool {
	got = bytes.TrimSpace(got)
	if bytes.Equal(got, sent) {
		return true
	}
	if s, ok := rawjson.String(got); ok {
		got = []byte(s)
	}
	g, err1 := strconv.ParseFloat(string(got), 64)
	w, err2 := strconv.ParseFloat(string(sent), 64)
	return err1 == nil && err2 == nil && g == w
}

// maxExactInteger bounds the ids that the SDK, which reads numbers as
// floating point, gives back as they came.
const maxExactInteger = 1 << 53

// answerable reports whether the SDK can answer a request with this id.
func answerable(id []byte) bool {
	switch rawjson.Kind(id) {
	case '"':
		return true
	case '0':
		f, err := strconv.ParseFloat(string(bytes.TrimSpace(id)), 64)
		return err == nil && f == math.Trunc(f) && math.Abs(f) <= maxExactInteger
	}
	return false
}

// renderRequest writes a request (id set) or a notification on one line.
func renderRequest(id []byte, method string, params []byte) []byte {
	b := make([]byte, 0, len(params)+len(method)+len(id)+64)
	b = append(b, `{"jsonrpc":"2.0"`...)
	if id != nil {
		b = append(append(b, `,"id":`...), rawjson.SingleLine(id)...)
	}
	b = rawjson.AppendString(append(b, `,"method":`...), method)
	if params != nil {
		b = append(append(b, `,"params":`...), rawjson.SingleLine(params)...)
	}
	return append(b, '}')
}

// renderResult writes a response on one line.
func renderResult(id, result []byte) []byte {
	b := make([]byte, 0, len(result)+len(id)+40)
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), id...)
	b = append(append(b, `,"result":`...), rawjson.SingleLine(result)...)
	return append(b, '}')
}

// renderError writes an error response on one line.
func renderError(id []byte, e rpcError) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	b = strconv.AppendInt(append(b, `,"error":{"code":`...), e.code, 10)
	b = rawjson.AppendString(append(b, `,"message":`...), e.message)
	if e.data != nil {
		b = append(append(b, `,"data":`...), rawjson.SingleLine(e.data)...)
	}
	return append(b, "}}"...)
}

// An rpcError is a JSON-RPC error read with lenience.
type rpcError struct {
	code    int64
	message string
	data    []byte
}

// readError reads the error member of a response. What servers put there
// besides the object of the standard, a string most of all, becomes the message.
func readError(raw []byte) rpcError {
	e := rpcError{code: codeFailed}
	switch rawjson.Kind(raw) {
	case '{':
		_ = rawjson.Object(raw, func(key, value []byte) error {
			switch string(key) {
			case "code":
				text := string(bytes.TrimSpace(value))
				if s, ok := rawjson.String(value); ok {
					text = s
				}
				if f, err := strconv.ParseFloat(text, 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= maxExactInteger {
					e.code = int64(f)
				}
			case "message":
				if s, ok := rawjson.String(value); ok {
					e.message = s
				} else {
					e.message = string(value)
				}
			case "data":
				e.data = value
			}
			return nil
		})
	case '"':
		e.message, _ = rawjson.String(raw)
	default:
		e.message = string(raw)
	}
	if e.message == "" {
		e.message = "the server gave no message"
	}
	return e
}

// tooDeep reports whether the SDK would refuse the nesting of a valid message.
func tooDeep(data []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				inString = false
			}
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			if depth++; depth > maxSDKDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
