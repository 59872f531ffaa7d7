package rpc

import (
	"context"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/near"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/sourcegraph/jsonrpc2"
)

const (
	// retryAfterMs is what an editor is told that has too much in flight.
	retryAfterMs = 500
	// maxErrorText bounds each text of an error reply, in bytes: names that an
	// editor or a server gave are repeated in it.
	maxErrorText = 4 << 10
	// maxTypos is how many letters apart a method may be that is suggested.
	maxTypos = 3
)

// rows are the methods that an editor may use, by name.
var rows = func() map[string]*protocol.Method {
	m := map[string]*protocol.Method{}
	for i := range protocol.Methods {
		if row := &protocol.Methods[i]; row.From == protocol.FromEditor {
			m[row.Name] = row
		}
	}
	return m
}()

// phase is how far the conversation is. Only the reader uses it.
type phase int

const (
	fresh phase = iota // initialize has not succeeded
	serving
	shutdown // shutdown has succeeded
)

// Handle implements jsonrpc2.Handler. The library hears of answers only, so
// it is never called.
func (*connection) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {}

// handle deals with a request or a notification, on the reader. It never waits
// for the editor.
func (c *connection) handle(m message) {
	if m.kind == notification {
		c.notified(m)
		return
	}
	if err := c.request(m); err != nil {
		c.refuse(m.id, err)
	}
}

// notified deals with a notification. Unknown ones are ignored, and so are
// those that came too early.
func (c *connection) notified(m message) {
	switch m.method {
	case protocol.MethodExit:
		c.exited.Store(true)
		c.stream.stopped.Store(true)
	case protocol.MethodCancelRequest:
		if id := rawjson.Member(m.params, "id"); id != nil {
			if key, ok := idKey(id); ok {
				c.inflight.cancel(key)
			}
		}
	case protocol.MethodInitialized:
	default:
		c.log.Debug().Str("method", clean(m.method, maxQuoted)).Msg("an unknown notification was ignored")
	}
}

// request admits a request and runs it or starts it. The error is the reply.
func (c *connection) request(m message) *protocol.Error {
	row := rows[m.method]
	duplicate, closing, running := c.inflight.state(m.key)
	switch {
	case duplicate:
		return protocol.Errorf(protocol.KindDuplicateID, "a request with this id is in flight")
	case closing || c.phase == shutdown && (row == nil || !row.Answer):
		return shuttingDown()
	case c.phase == fresh && m.method != protocol.MethodInitialize:
		return protocol.Errorf(protocol.KindNotInitialized, "not initialized: initialize must come first")
	case c.phase != fresh && m.method == protocol.MethodInitialize:
		return protocol.Errorf(protocol.KindAlreadyInitialized, "already initialized")
	case row == nil || !row.Served():
		return unknownMethod(m.method, row)
	case row.Order != protocol.InOrder && running >= c.options.MaxInFlight:
		c.counters.Refused.Add(1)
		err := protocol.Errorf(protocol.KindOverloaded, "%d requests are in flight", running)
		err.Data.RetryAfterMs = retryAfterMs
		return err
	}
	params := row.NewParams()
	if err := decodeParams(m.params, params); err != nil {
		return err
	}
	if row.Order == protocol.InOrder {
		if !c.admit(m.key, nil) {
			return shuttingDown()
		}
		c.inOrder(m, row, params)
		return nil
	}
	// A cancel may be the next line: it must find the request.
	ctx, cancel := context.WithCancelCause(c.ctx)
	if !c.admit(m.key, cancel) {
		cancel(errEnding)
		return shuttingDown()
	}
	carryOut := func() {
		defer cancel(nil)
		reply, _ := c.run(ctx, m, row, params)
		c.reply(m, reply)
	}
	if row.Order != protocol.Admitting {
		c.workers.do(carryOut)
		return nil
	}
	admitted := make(chan struct{}) // closed by the request
	admit := sync.OnceFunc(func() { close(admitted) })
	ctx = protocol.WithAdmission(ctx, admit)
	c.workers.do(func() {
		defer admit()
		carryOut()
	})
	<-admitted
	return nil
}

func shuttingDown() *protocol.Error {
	return protocol.Errorf(protocol.KindShuttingDown, "the sidecar is ending and takes no new requests")
}

// admit enters a request into the table, unless the sidecar is ending.
func (c *connection) admit(key string, cancel context.CancelCauseFunc) bool {
	if !c.inflight.add(key, cancel) {
		return false
	}
	c.counters.InFlight.Add(1)
	return true
}

// inOrder runs a request on the reader. initialize and shutdown move the
// phase.
func (c *connection) inOrder(m message, row *protocol.Method, params any) {
	if p, ok := params.(*protocol.InitializeParams); ok {
		c.editor.unwant(p.Capabilities)
	}
	reply, ok := c.run(c.ctx, m, row, params)
	c.reply(m, reply)
	switch {
	case !ok:
	case m.method == protocol.MethodInitialize:
		c.phase = serving
		c.queue.release()
	case m.method == protocol.MethodShutdown:
		c.phase = shutdown
		c.orderly.Store(true)
	}
}

// run carries out a request and returns its reply, whatever happens, and
// whether it is a result.
func (c *connection) run(ctx context.Context, m message, row *protocol.Method, params any) (reply [][]byte, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			reply, ok = errorReply(m.id, panicError(ctx, row.Name, p)), false
		}
	}()
	result, err := row.Invoke(ctx, c.sidecar, params)
	if err == nil {
		var parts [][]byte
		if parts, err = rawjson.Parts(append(replyHead(m.id), `,"result":`...), result); err == nil {
			return closeLine(parts), true
		}
	}
	return errorReply(m.id, wireError(ctx, row.Name, err)), false
}

// reply queues the reply to a request that was admitted.
func (c *connection) reply(m message, parts [][]byte) {
	c.inflight.free(m.key)
	c.queue.reply(parts)
	c.counters.InFlight.Add(-1)
	c.inflight.finish()
}

// refuse answers what was not admitted. id is nil if it can't be sent back.
func (c *connection) refuse(id []byte, err *protocol.Error) {
	c.queue.reply(errorReply(id, err))
}

func replyHead(id []byte) []byte {
	b := make([]byte, 0, lineSize)
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	if id == nil {
		return append(b, "null"...)
	}
	return append(b, id...)
}

func errorReply(id []byte, err *protocol.Error) [][]byte {
	wire := struct {
		Code    protocol.Code      `json:"code"`
		Message string             `json:"message"`
		Data    protocol.ErrorData `json:"data"`
	}{err.Code(), brief(err.Message), err.Data}
	// What an editor has sent it need not be told again at any length.
	wire.Data.Server, wire.Data.Tool = protocol.ServerName(brief(string(err.Data.Server))), protocol.ToolName(brief(string(err.Data.Tool)))
	wire.Data.Hint, wire.Data.Pointer = brief(err.Data.Hint), brief(err.Data.Pointer)
	parts, perr := rawjson.Parts(append(replyHead(id), `,"error":`...), &wire)
	if perr != nil {
		panic("rpc: an error has no JSON: " + perr.Error()) // its types can't fail
	}
	return closeLine(parts)
}

// brief bounds a text of an error. Its line breaks stay: JSON keeps them.
func brief(s string) string {
	if len(s) <= maxErrorText {
		return s
	}
	n := maxErrorText
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// decodeParams reads params, which are {} when left out, into the row's type.
func decodeParams(raw []byte, params any) *protocol.Error {
	if raw == nil {
		raw = []byte("{}")
	}
	err := decode(raw, params, true)
	if err == nil {
		return nil
	}
	if e, ok := err.(*mismatch); ok {
		return e.asError()
	}
	return protocol.Errorf(protocol.KindInvalidParams, "params: %v", err)
}

// unknownMethod refuses a method, with the nearest one as a hint. row is that
// of a notification, or nil.
func unknownMethod(method string, row *protocol.Method) *protocol.Error {
	name := clean(method, maxQuoted)
	if row != nil {
		return protocol.Errorf(protocol.KindMethodNotFound, "%s is a notification", name).WithHint("send it without an id")
	}
	err := protocol.Errorf(protocol.KindMethodNotFound, "no method %q", name)
	if meant := nearest(method); meant != "" {
		err.WithHint("did you mean %s?", meant)
	}
	return err
}

func nearest(method string) string {
	best, least := "", maxTypos+1
	if len(method) > maxQuoted {
		return ""
	}
	for i := range protocol.Methods {
		row := &protocol.Methods[i]
		if row.From != protocol.FromEditor || !row.Served() {
			continue
		}
		if d := near.Distance(strings.ToLower(method), strings.ToLower(row.Name)); d < least && d < len(row.Name)/2 {
			best, least = row.Name, d
		}
	}
	return best
}
