package rpc

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A message is the top level of one line. Its slices are parts of the line.
type message struct {
	// id is the id as it came, nil if there is none (a notification) or none
	// that can be sent back.
	id []byte
	// key is equal for equal ids, however they are written, and differs
	// between a string and a number.
	key string
	// method is there for requests and notifications.
	method string
	// params is nil when left out, or null.
	params []byte
	// answer is the result or the error of an answer.
	answer []byte
	failed bool // answer is an error
	kind   messageKind
}

type messageKind int

const (
	request messageKind = iota
	notification
	answer
	// pointless messages are well-formed and concern nothing of ours.
	pointless
)

// parse names what a line is. The error, if any, is to be sent with the
// message's id, or null if that is nil.
func parse(text []byte) (message, *protocol.Error) {
	kind := rawjson.Kind(text)
	if kind == '{' {
		return parseObject(text)
	}
	if err := rawjson.Valid(text); err != nil {
		return message{}, notJSON(text, err)
	}
	if kind == '[' {
		return message{}, protocol.Errorf(protocol.KindInvalidRequest, "batches are not supported").WithHint("send one message a line")
	}
	return message{}, protocol.Errorf(protocol.KindInvalidRequest, "a message is an object")
}

func notJSON(text []byte, err error) *protocol.Error {
	e := protocol.Errorf(protocol.KindParseError, "the line is not JSON")
	if s := (*rawjson.SyntaxError)(nil); errors.As(err, &s) {
		e = protocol.Errorf(protocol.KindParseError, "the line is not JSON: %s at byte %d", s.Msg, s.Offset)
	}
	if header := []byte("content-length:"); len(text) >= len(header) && bytes.EqualFold(text[:len(header)], header) {
		e.WithHint("messages have no headers here: send one JSON object a line")
	}
	return e
}

// members are the values of the members that JSON-RPC knows, nil where absent.
type members struct {
	id, method, params, result, err []byte
	twice                           string // a member that came twice
	idTwice                         bool
}

func (f *members) visit(key, value []byte) error {
	var slot *[]byte
	switch string(key) {
	case "id":
		f.idTwice = f.id != nil
		slot = &f.id
	case "method":
		slot = &f.method
	case "params":
		slot = &f.params
	case "result":
		slot = &f.result
	case "error":
		slot = &f.err
	default:
		return nil
	}
	if *slot != nil {
		f.twice = string(key)
	}
	*slot = value
	return nil
}

func parseObject(text []byte) (message, *protocol.Error) {
	var f members
	if err := rawjson.Object(text, f.visit); err != nil {
		return message{}, notJSON(text, err)
	}
	var m message
	bad := func(why string) (message, *protocol.Error) {
		return m, protocol.Errorf(protocol.KindInvalidRequest, "%s", why)
	}
	if f.id != nil && !f.idTwice {
		var ok bool
		if m.key, ok = idKey(f.id); ok {
			m.id = f.id
		}
	}
	switch {
	case f.twice != "":
		return bad(f.twice + " is there twice")
	case f.id != nil && m.id == nil:
		if f.method == nil && f.err != nil && string(f.id) == "null" {
			m.kind = pointless // what JSON-RPC answers to a line that it can't read
			return m, nil
		}
		return bad("an id is a string or a 64-bit integer")
	case f.method != nil && (f.result != nil || f.err != nil):
		return bad("a message is a request or an answer, not both")
	case f.method != nil:
		return f.request(m, bad)
	case f.result == nil && f.err == nil:
		return bad("neither a request nor an answer: there is no method")
	case m.id == nil:
		return bad("an answer needs the id of its request")
	}
	m.kind = answer
	// Older libraries send both members, one of them null.
	switch null := []byte("null"); {
	case f.err == nil || bytes.Equal(f.err, null) && f.result != nil:
		m.answer = f.result
	case f.result == nil || bytes.Equal(f.result, null):
		m.answer, m.failed = f.err, true
	default:
		return bad("an answer has a result or an error, not both")
	}
	return m, nil
}

func (f *members) request(m message, bad func(string) (message, *protocol.Error)) (message, *protocol.Error) {
	method, ok := rawjson.String(f.method)
	if !ok {
		return bad("method is a string")
	}
	m.method = method
	if f.id == nil {
		m.kind = notification
	}
	switch rawjson.Kind(f.params) {
	case '{', '[':
		m.params = f.params
	case 0, 'n':
	default:
		return bad("params is an object")
	}
	return m, nil
}

// idKey returns what makes two ids equal, and whether id is one that can be
// sent back: a string, or an integer of 64 bits.
func idKey(id []byte) (string, bool) {
	if id[0] == '"' {
		s, ok := rawjson.String(id)
		return `"` + s, ok
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	if err != nil {
		return "", false
	}
	if n == 0 {
		return "0", true // or -0
	}
	return string(id), true
}

// salvage finds what it can in the beginning of a line that was too long.
func salvage(prefix []byte) (m message, isRequest bool) {
	var f members
	_ = rawjson.Object(prefix, f.visit) // what is complete was visited
	if f.id == nil || f.idTwice {
		return message{}, f.method != nil
	}
	if key, ok := idKey(f.id); ok {
		m.id, m.key = f.id, key
	}
	return m, f.method != nil
}
