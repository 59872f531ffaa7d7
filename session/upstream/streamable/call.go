package streamable

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/rs/zerolog"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Bounds of the bodies that are only read to say what went wrong.
const (
	maxErrorBody = 1 << 20  // a JSON-RPC error in an answer with an error status
	maxErrorText = 300      // what is quoted of a body
	maxDrain     = 64 << 10 // what is read to keep a connection usable
)

// codeInvalidRequest is JSON-RPC's code for a message that makes no sense.
const codeInvalidRequest = -32600

// A call is one POST of the SDK on its way: a request, or, without id, a
// notification or a reply.
type call struct {
	t         *transport
	req       *http.Request // the SDK's
	ctx       context.Context
	x         *Exchange // nil if nobody wants the raw side
	id        []byte
	method    string
	session   string
	stateless bool
	sent      http.Header // as they went out, for redact
	skipped   int         // messages that could not be read
}

// run sends a request and returns the answer that the SDK gets.
func (c *call) run(m message, body []byte) (*http.Response, error) {
	params := m.params
	if c.x != nil && c.x.Params != nil {
		var err error
		if params, err = outgoingParams(c.x.Params, m.params); err != nil {
			return nil, c.fail(fmt.Errorf("%s: params: %w", c.method, err))
		}
		body = requestWith(m, params)
	}
	c.req = c.req.Clone(c.ctx)
	setName(c.req.Header, c.method, params)
	if c.method == "subscriptions/listen" {
		return c.listen(body), nil
	}
	ctx, cancel := context.WithCancel(c.ctx)
	resp, err := c.send(ctx, body)
	if err != nil {
		cancel()
		return nil, c.fail(err)
	}
	c.x.note(func(x *Exchange) { x.Status, x.RetryAfter = resp.StatusCode, retryAfter(resp.Header) })
	if isSuccess(resp.StatusCode) && mediaType(resp.Header) == eventType {
		return c.respond(resp, eventType, newStream(c, ctx, cancel, resp)), nil
	}
	defer cancel()
	defer closeBody(resp.Body)
	out, err := c.readAnswer(resp)
	if denied := c.denied(resp, err); denied != nil {
		return nil, c.fail(denied)
	}
	switch {
	case err != nil:
		return nil, c.fail(err)
	case len(out) == 1:
		return c.respond(resp, jsonType, io.NopCloser(bytes.NewReader(out[0]))), nil
	}
	var events []byte // a batch: requests and notifications before the response
	for _, m := range out {
		events = appendEvent(events, m)
	}
	return c.respond(resp, eventType, io.NopCloser(bytes.NewReader(events))), nil
}

// denied remembers that the newer greeting was answered with 401 or 403, and
// returns that when the older one is refused too: the SDK tries it after any
// failure of the newer one, and what a server that does not know it says then
// hides that only authorization is missing.
func (c *call) denied(resp *http.Response, err error) error {
	switch {
	case c.method == "server/discover" && unauthorized(resp):
		c.t.denied.Store(&err)
	case c.method == "initialize" && !isSuccess(resp.StatusCode) && !unauthorized(resp):
		if first := c.t.denied.Load(); first != nil {
			return *first
		}
	}
	return nil
}

func unauthorized(resp *http.Response) bool {
	return resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
}

// requestWith renders the SDK's request with other params, byte for byte.
func requestWith(m message, params []byte) []byte {
	b := make([]byte, 0, len(params)+len(m.method)+len(m.id)+64)
	b = append(append(b, `{"jsonrpc":"2.0","id":`...), m.id...)
	b = rawjson.AppendString(append(b, `,"method":`...), m.method)
	return append(append(append(b, `,"params":`...), params...), '}')
}

// tell sends a notification or a reply. The SDK gets an error only where the
// owner must hear of it: an answer like 400 or 500 to these changes nothing.
func (c *call) tell(body []byte) (*http.Response, error) {
	ctx, cancel := context.WithCancel(c.ctx)
	defer cancel()
	resp, err := c.send(ctx, body)
	if err != nil {
		return nil, err
	}
	defer closeBody(resp.Body)
	if isSuccess(resp.StatusCode) {
		if 0 < resp.ContentLength && resp.ContentLength <= maxDrain {
			_, _ = io.CopyN(io.Discard, resp.Body, resp.ContentLength)
		}
		return accepted(c.req), nil
	}
	err = c.refused(resp)
	if errors.Is(err, ErrSessionLost) || unauthorized(resp) {
		return nil, err
	}
	zerolog.Ctx(c.ctx).Warn().Str("method", c.method).Int("status", resp.StatusCode).Msg("the server refused a message that needs no answer")
	return accepted(c.req), nil
}

// send sends the call, and once more if authorization was asked for and given.
func (c *call) send(ctx context.Context, body []byte) (*http.Response, error) {
	for authorized := false; ; authorized = true {
		resp, sent, err := c.t.send(ctx, c.method, c.req, body)
		c.x.note(func(x *Exchange) { x.Sent = x.Sent || sent })
		if err != nil {
			return nil, err
		}
		c.sent = resp.Request.Header
		if !unauthorized(resp) {
			return resp, nil
		}
		challenge := repairChallenges(resp.Header)
		c.x.note(func(x *Exchange) { x.Status, x.Challenge = resp.StatusCode, challenge })
		if authorized || c.t.opts.Authorize == nil {
			return resp, nil
		}
		resp.Request = c.req // without the configured headers
		err = c.t.opts.Authorize(c.ctx, c.req, resp)
		closeBody(resp.Body)
		if err != nil {
			return nil, fmt.Errorf("%sauthorizing: %w", prefix(c.method), err)
		}
	}
}

// fail notes err as the failure of the exchange and returns it.
func (c *call) fail(err error) error {
	c.x.note(func(x *Exchange) {
		if x.Err == nil {
			x.Err = err
			x.SessionLost = x.SessionLost || errors.Is(err, ErrSessionLost)
		}
	})
	return err
}

// respond makes the SDK's answer. A session id goes through with initialize
// alone: the SDK ends its session over one that changes.
func (c *call) respond(resp *http.Response, contentType string, body io.ReadCloser) *http.Response {
	a := answer(c.req, http.StatusOK, contentType, body)
	if id := resp.Header.Get(sessionHeader); id != "" && c.method == "initialize" {
		a.Header.Set(sessionHeader, id)
	}
	return a
}

func isSuccess(status int) bool { return status >= 200 && status < 300 }

// readAnswer reads an answer that is no stream and returns the messages that
// the SDK gets, the last of which is the response.
func (c *call) readAnswer(resp *http.Response) ([][]byte, error) {
	if !isSuccess(resp.StatusCode) {
		out, err := c.readRefusal(resp)
		return [][]byte{out}, err
	}
	body, err := readAll(resp.Body, resp.ContentLength, c.t.limit)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, &ResultTooLargeError{Limit: c.t.limit}
	case err != nil:
		return nil, &TransportError{Method: c.method, Addr: c.req.URL.Host, Sent: true, Err: err}
	}
	body = bytes.TrimSpace(bytes.TrimPrefix(body, bom))
	var messages [][]byte
	switch {
	case len(body) == 0:
		return nil, c.noAnswer(resp, body, "an answer without a body is none to a request")
	case rawjson.Kind(body) == '[' && rawjson.Array(body, func(_ int, m []byte) error {
		messages = append(messages, m)
		return nil
	}) == nil:
	default:
		messages = [][]byte{body}
	}
	var out [][]byte
	for i, m := range messages {
		o, final, err := c.take(m, i == len(messages)-1)
		if err != nil {
			return nil, err
		}
		if o != nil {
			out = append(out, o)
		}
		if final {
			return out, nil
		}
	}
	if t := mediaType(resp.Header); t != jsonType {
		return nil, c.noAnswer(resp, body, fmt.Sprintf("content type %q is no JSON-RPC answer", t))
	}
	return nil, c.noAnswer(resp, body, "the body is no JSON-RPC answer to the request")
}

// readRefusal reads an answer with an error status: a JSON-RPC error of the
// server where there is one, else a StatusError.
func (c *call) readRefusal(resp *http.Response) ([]byte, error) {
	err := c.refused(resp)
	var status *StatusError
	if !errors.As(err, &status) || status.RPC == nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return nil, err // the status says more than the error
	}
	return renderError(c.id, rpcError{code: status.RPC.Code, message: status.RPC.Message, data: status.RPC.Data}), nil
}

// refused makes the error of an answer with an error status, and notes it.
func (c *call) refused(resp *http.Response) error {
	body, err := readAll(resp.Body, resp.ContentLength, maxErrorBody)
	if err != nil {
		body = nil
	}
	body = bytes.TrimSpace(bytes.TrimPrefix(body, bom))
	e := &StatusError{Method: c.method, Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header)}
	if e.Challenge = repairChallenges(resp.Header); e.Challenge != nil {
		c.x.note(func(x *Exchange) { x.Challenge = e.Challenge })
	}
	m, err := parseMessage(body)
	if err == nil && m.isResponse() && m.failure != nil {
		r := readError(m.failure)
		c.x.note(func(x *Exchange) { x.Error = rawjson.SingleLine(m.failure) })
		e.RPC = &jsonrpc.Error{Code: r.code, Message: r.message, Data: r.data}
		e.Text = c.quote([]byte(r.message))
	} else if t := mediaType(resp.Header); t != "text/html" {
		e.Text = c.quote(body)
	}
	if c.session != "" && (resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone ||
		resp.StatusCode == http.StatusBadRequest && !answers(m, c.id) && mentionsSession(e.Text)) {
		return c.lostSession(e.Text)
	}
	return e
}

// answers reports whether m carries the id of the request: a server that knows
// which request it refuses did not fail to find its session.
func answers(m message, id []byte) bool { return id != nil && m.hasID() && sameID(m.id, id) }

// lostSession says that the session is gone and returns the error.
func (c *call) lostSession(text string) error {
	c.x.note(func(x *Exchange) { x.SessionLost = true })
	c.t.sessionLost(c.ctx, c.session)
	if text == "" {
		return fmt.Errorf("%s%w", prefix(c.method), ErrSessionLost)
	}
	return fmt.Errorf("%s%w: %s", prefix(c.method), ErrSessionLost, text)
}

// mentionsSession reports whether an error without an id is about the session.
func mentionsSession(text string) bool { return strings.Contains(strings.ToLower(text), "session") }

// noAnswer makes the error of a success that is no answer.
func (c *call) noAnswer(resp *http.Response, body []byte, reason string) error {
	e := &StatusError{Method: c.method, Status: resp.StatusCode, Reason: reason}
	if mediaType(resp.Header) != "text/html" {
		e.Text = c.quote(body)
	}
	return e
}

// quote returns the beginning of a body as text for an error.
func (c *call) quote(body []byte) string {
	if len(body) > 4*maxErrorText {
		body = body[:4*maxErrorText]
	}
	return oneLine([]byte(redact(string(body), c.sent)))
}

// take reads one message of the server that came for this call. It returns what
// the SDK gets (nil for nothing), whether that is the response, and an error if
// the call has failed. only says that the message is all, or the last, of a JSON
// body: its id is then read with lenience.
func (c *call) take(raw []byte, only bool) (out []byte, final bool, err error) {
	m, err := parseMessage(raw)
	if err != nil && !utf8.Valid(raw) {
		m, err = parseMessage(bytes.ToValidUTF8(raw, []byte("\uFFFD")))
	}
	if err != nil || !m.hasMethod && !m.isResponse() {
		c.skipped++
		zerolog.Ctx(c.ctx).Debug().Str("method", c.method).Int("bytes", len(raw)).Msg("skipped what is no JSON-RPC message")
		return nil, false, nil
	}
	if m.hasMethod {
		ctx := c.ctx
		if handshake[c.method] {
			ctx = unattributed(ctx)
		}
		return c.t.fromServer(ctx, m, c.stateless), false, nil
	}
	switch {
	case sameID(m.id, c.id):
	case m.failure != nil && !m.hasID():
		// There is one request it can be about. This is how expired sessions
		// look on servers that forgot the status.
		if e := readError(m.failure); c.session != "" && (e.code == codeInvalidRequest || mentionsSession(e.message)) {
			c.x.note(func(x *Exchange) { x.Error = rawjson.SingleLine(m.failure) })
			return nil, false, c.lostSession(c.quote([]byte(e.message)))
		}
	case only && !m.hasID():
		// A result without an id, alone in the answer to one request, is its.
	default:
		c.skipped++
		zerolog.Ctx(c.ctx).Debug().Str("method", c.method).Msg("skipped a response to another request")
		return nil, false, nil
	}
	return c.finish(m), true, nil
}

// finish captures the response and returns the SDK's.
func (c *call) finish(m message) []byte {
	if m.failure != nil {
		c.x.note(func(x *Exchange) { x.Error = rawjson.SingleLine(m.failure) })
		out := renderError(c.id, readError(m.failure))
		if tooDeep(out) {
			e := readError(m.failure)
			out = renderError(c.id, rpcError{code: e.code, message: e.message})
		}
		return out
	}
	result := m.result
	if c.x != nil {
		if s := stub(c.method, result); s != nil {
			c.x.note(func(x *Exchange) { x.Result = rawjson.SingleLine(m.result) })
			return renderResult(c.id, s)
		}
	}
	if tooDeep(result) {
		return renderError(c.id, rpcError{code: codeFailed, message: "the result is nested too deep"})
	}
	return renderResult(c.id, result)
}
