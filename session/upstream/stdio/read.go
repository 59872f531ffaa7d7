package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

var byteOrderMark = []byte("\ufeff")

// readLoop is the reader.
func (c *Conn) readLoop() {
	defer close(c.readDone)
	defer c.lines.close()
	for {
		l, err := c.lines.next()
		if err != nil {
			c.outputEnded(err)
			return
		}
		select {
		case <-c.done:
			continue // lingering: the output is dropped
		default:
		}
		switch {
		case l.tooLong:
			c.lineTooLong(l)
		default:
			c.line(bytes.TrimSpace(bytes.TrimPrefix(l.data, byteOrderMark)), l.owned)
		}
	}
}

// outputEnded ends the connection with the best cause there is.
func (c *Conn) outputEnded(err error) {
	c.mu.Lock()
	known := c.cause != nil || c.closed != nil
	c.mu.Unlock()
	if !known && c.opts.ExitCause != nil {
		if cause := c.opts.ExitCause(); cause != nil {
			err = cause
		}
	}
	c.end(err, true)
}

// line handles one line. owned is as in line.owned.
func (c *Conn) line(data []byte, owned bool) {
	if len(data) == 0 {
		return
	}
	switch data[0] {
	case '{':
		c.objects(data, owned)
	case '[':
		c.batch(data, owned)
	default:
		c.noise(data, "not a JSON object")
	}
}

// objects handles the objects of a line. More than one come from servers that
// write a message and its newline apart, on more than one thread.
func (c *Conn) objects(data []byte, owned bool) {
	for n := 1; ; n++ {
		data = bytes.TrimSpace(c.object(data, owned))
		switch {
		case len(data) == 0:
			return
		case data[0] != '{':
			c.noise(data, "text after a message")
			return
		case n == maxBatch:
			c.noise(data, "too many messages on a line")
			return
		}
	}
}

// batch takes a batch apart: revision 2025-03-26 had them. The answers to its
// requests go out one by one.
func (c *Conn) batch(data []byte, owned bool) {
	var elements [][]byte
	err := rawjson.Array(data, func(i int, value []byte) error {
		if i == maxBatch {
			return errors.New("a batch of too many elements")
		}
		elements = append(elements, value)
		return nil
	})
	switch {
	case err != nil:
		c.noise(data, err.Error())
	case len(elements) == 0:
		c.noise(data, "an empty batch")
	}
	if err != nil {
		return
	}
	for _, element := range elements {
		if rawjson.Kind(element) == '{' {
			c.object(element, owned)
		} else {
			c.noise(element, "an element of a batch is not an object")
		}
	}
}

// An envelope is the members of a message that matter, as sub-slices of it.
type envelope struct {
	id, method, params, result, err []byte
	version                         []byte // "jsonrpc", which may be missing

	visit func(key, value []byte) error // made once: the hot path allocates none
}

func (e *envelope) init() {
	e.visit = func(key, value []byte) error {
		switch string(key) {
		case "jsonrpc":
			e.version = value
		case "id":
			e.id = value
		case "method":
			e.method = value
		case "params":
			e.params = value
		case "result":
			e.result = value
		case "error":
			e.err = value
		}
		return nil
	}
}

func (e *envelope) read(data []byte) error {
	*e = envelope{visit: e.visit}
	return rawjson.Object(data, e.visit)
}

func isNull(value []byte) bool { return value == nil || rawjson.Kind(value) == 'n' }

// object handles one JSON object: sorts it by its members. It returns what
// comes after it, for a line may hold more.
func (c *Conn) object(data []byte, owned bool) (rest []byte) {
	e := &c.env
	err := e.read(data)
	n := firstValue(data, err)
	if err != nil && n == 0 && !utf8.Valid(data) {
		// Text in another encoding, most likely. The message is worth more than
		// the few characters, which become U+FFFD as in any terminal.
		data, owned = bytes.ToValidUTF8(data, []byte("\ufffd")), true
		err = e.read(data)
		n = firstValue(data, err)
	}
	if n > 0 {
		data, rest = data[:n], data[n:]
		err = e.read(data)
	}
	if err != nil {
		c.malformed(data, err)
		return nil
	}
	switch {
	case e.method != nil:
		c.fromServer(data, owned)
	case isNull(e.id):
		c.noise(data, "neither a method nor an id")
	case isNull(e.err) && e.result == nil:
		c.noise(data, "neither a method, a result nor an error")
		// A JavaScript server that returns undefined answers so; without the
		// version it could be any line of a log.
		if id, ok := answerID(e.id); ok && e.version != nil {
			c.fail(id, &MalformedResultError{Err: errNoResult})
		}
	default:
		c.answered(data, owned)
	}
	return rest
}

// firstValue returns the length of the value that data begins with, if that is
// whole and err is about what follows it, else 0.
func firstValue(data []byte, err error) int {
	var syntax *rawjson.SyntaxError
	if !errors.As(err, &syntax) || rawjson.Valid(data[:syntax.Offset]) != nil {
		return 0
	}
	return syntax.Offset
}

var errNoResult = errors.New("neither a result nor an error")

// malformed handles an object that is not JSON. If it would be an answer, its
// call fails now instead of by its timeout.
func (c *Conn) malformed(data []byte, err error) {
	c.noise(data, err.Error())
	id, ok := clueID(fromHead(data))
	if !ok {
		id, ok = clueID(fromTail(data))
	}
	if ok {
		c.fail(id, &MalformedResultError{Err: err})
	}
}

// clueID returns the id of an answer.
func clueID(c clue) (int64, bool) {
	if c.method || c.id == nil {
		return 0, false
	}
	return answerID(c.id)
}

// answered handles an answer to a request of ours.
func (c *Conn) answered(data []byte, owned bool) {
	e := &c.env
	id, ok := answerID(e.id)
	if !ok {
		c.noise(data, "an answer with an id that is not ours")
		return
	}
	p, late := c.takeAnswered(id)
	if p == nil {
		if !late {
			c.noise(data, "an answer to no request, or a second one")
		}
		return
	}
	p.stopProbe()
	var a answer
	if isNull(e.err) || e.result != nil && rawjson.Kind(e.err) != '{' {
		a.result = keep(e.result, owned)
	} else {
		a.err = wireError(e.err)
	}
	if p.answer != nil {
		p.answer <- a // has room
		return
	}
	c.deliver(&jsonrpc.Response{ID: p.sdkID, Result: a.result, Error: a.err})
}

// fail fails a request of ours, if it is pending.
func (c *Conn) fail(id int64, err error) {
	p, _ := c.takeAnswered(id)
	if p == nil {
		return
	}
	p.stopProbe()
	if p.answer != nil {
		p.answer <- answer{err: err} // has room
	} else {
		c.deliver(&jsonrpc.Response{ID: p.sdkID, Error: err})
	}
}

// fromServer handles a request or a notification of the server.
func (c *Conn) fromServer(data []byte, owned bool) {
	e := &c.env
	method, ok := rawjson.String(e.method)
	if !ok {
		c.noise(data, "a method that is not a string")
		return
	}
	msg := &jsonrpc.Request{Method: method}
	if !isNull(e.params) {
		msg.Params = keep(e.params, owned)
	}
	if isNull(e.id) {
		if c.opts.OnNotification != nil && c.opts.OnNotification(method, msg.Params) {
			return
		}
		c.deliver(msg)
		return
	}
	if msg.ID, ok = c.serverID(e.id); !ok {
		c.noise(data, "a request with an id that is no id")
		return
	}
	token := ""
	if c.opts.OnServerRequest != nil {
		token = c.opts.OnServerRequest(method, msg.Params)
	}
	msg.Params = markOrigin(msg.Params, token)
	c.deliver(msg)
}

// serverID returns the id of a request of the server as the SDK holds it.
func (c *Conn) serverID(raw []byte) (id jsonrpc.ID, ok bool) {
	var value any
	switch rawjson.Kind(raw) {
	case '"':
		value, ok = rawjson.String(raw)
	case '0':
		var n int64
		if n, ok = exactInt(raw); ok {
			value = float64(n)
			break
		}
		c.mu.Lock()
		value, ok = c.foreign.hold(raw)
		c.mu.Unlock()
	}
	if !ok {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(value)
	return id, err == nil
}

// wireError reads an error object. One of another shape becomes the text of an
// internal error, so that its words are not lost.
func wireError(raw []byte) error {
	err := &jsonrpc.Error{Code: jsonrpc.CodeInternalError}
	var shaped bool
	invalid := rawjson.Object(raw, func(key, value []byte) error {
		switch string(key) {
		case "code":
			if code, ok := answerID(value); ok { // "-32000" and -32000.0 are seen
				err.Code, shaped = code, true
			}
		case "message":
			if text, ok := rawjson.String(value); ok {
				err.Message, shaped = text, true
			}
		case "data":
			if !isNull(value) {
				err.Data = bytes.Clone(value)
			}
		}
		return nil
	})
	if invalid == nil && shaped {
		return err
	}
	err.Data = nil
	if text, ok := rawjson.String(raw); ok {
		err.Message = text
	} else {
		err.Message, err.Data = "the server sent an error of an unknown shape", bytes.Clone(raw)
	}
	return err
}

// keep returns value as memory that outlives its line.
func keep(value []byte, owned bool) json.RawMessage {
	if owned {
		return value[:len(value):len(value)]
	}
	return bytes.Clone(value)
}

// overLimit is called when the line that is coming in passes the limit.
func (c *Conn) overLimit(head []byte, size int) {
	found := fromHead(head)
	id, ok := clueID(found)
	if !ok && !found.method {
		var doubtful bool
		id, ok, doubtful = c.onlyCall()
		ok = ok && !doubtful // else the end of the line may tell
	}
	if ok {
		c.fail(id, &ResultTooLargeError{Limit: c.opts.MaxLine, Size: size})
	}
	c.overDone = found.method || ok // nothing more to learn
}

// lineTooLong is called at the end of such a line.
func (c *Conn) lineTooLong(l line) {
	if !c.overDone {
		found := fromTail(l.tail)
		id, ok := clueID(found)
		if !ok && !found.method {
			id, ok, _ = c.onlyCall()
		}
		if ok {
			c.fail(id, &ResultTooLargeError{Limit: c.opts.MaxLine, Size: l.size})
		}
	}
	c.overDone = false
	if c.opts.OnNoise != nil {
		c.opts.OnNoise(Noise{Head: head(l.head), Size: l.size, Reason: "a line above the limit"})
	}
}

func (c *Conn) noise(data []byte, reason string) {
	if c.opts.OnNoise != nil {
		c.opts.OnNoise(Noise{Head: head(data), Size: len(data), Reason: reason})
	}
}

// head returns the beginning of a line as text.
func head(data []byte) string {
	return strings.ToValidUTF8(string(data[:min(len(data), noiseBytes)]), "\ufffd")
}
