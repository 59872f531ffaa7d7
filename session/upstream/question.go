package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

const methodElicit = "elicitation/create"

// OriginKey is the key in _meta under which the transports pass on where a
// server's request came from. It never leaves the process.
const OriginKey = "io.mcp-sidecar/origin"

// Why a question became pointless: causes of the context that Owner.Question
// and Caller.Question get.
var (
	ErrCallEnded  = errors.New("the call has ended")
	ErrServerGone = errors.New("the server is gone")
	ErrWithdrawn  = errors.New("the server withdrew the question")
)

// ErrCallerGone is what a Caller that has ended says to a question.
var ErrCallerGone = errors.New("the caller is gone")

// origins remembers the raw requests of a server between the transport, which
// sees the bytes, and the handler, which is given the SDK's reading of them.
type origins struct {
	mu   sync.Mutex
	next int64
	m    map[string]origin // guarded by mu
}

type origin struct {
	params json.RawMessage
	// from are the requests that it may come from: those that ran when it came,
	// or, if the transport can tell for certain, the one.
	from    []*inflight
	certain bool
}

// maxOrigins bounds how many are kept: those that the SDK refuses before the
// handler hears of them are never taken.
const maxOrigins = 1024

// note keeps a question and returns the token to find it by; "" for any other
// request. from are the requests that it may come from.
func (o *origins) note(method string, params json.RawMessage, from func() []*inflight, certain bool) string {
	if method != methodElicit {
		return ""
	}
	requests := from()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.m == nil {
		o.m = map[string]origin{}
	}
	o.next++
	delete(o.m, strconv.FormatInt(o.next-maxOrigins, 10))
	token := strconv.FormatInt(o.next, 10)
	o.m[token] = origin{slices.Clone(params), requests, certain}
	return token
}

func (o *origins) take(token string) (origin, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	got, ok := o.m[token]
	delete(o.m, token)
	return got, ok
}

// answerResult is a result of elicitation/create as raw bytes.
type answerResult struct {
	mcp.ResultBase
	raw json.RawMessage
}

func (r *answerResult) MarshalJSON() ([]byte, error) { return r.raw, nil }

// answering is the middleware that takes servers' requests before the SDK's
// own handlers: those would refuse forms that are merely unusual, and lose the
// order of their fields.
func (c *Client) answering(o *origins) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch method {
			case methodElicit:
				params, ok := req.GetParams().(*mcp.ElicitParams)
				if !ok {
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no params"}
				}
				token, _ := params.Meta[OriginKey].(string)
				from, ok := o.take(token)
				if !ok {
					return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the request's origin is lost"}
				}
				ctx, done := c.whileAsked(ctx)
				defer done()
				raw, err := c.question(ctx, from.params, from.from, from.certain)
				if err != nil {
					return nil, wireError(err)
				}
				return &answerResult{raw: raw}, nil
			case "roots/list", "sampling/createMessage":
				return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: method + " was not offered by this client"}
			}
			return next(ctx, method, req)
		}
	}
}

// whileAsked returns the context of a server's request with a cause: the SDK
// ends it without one, when the server withdraws the request and when the
// connection ends.
func (c *Client) whileAsked(sdk context.Context) (ctx context.Context, done func()) {
	ctx, end := context.WithCancelCause(context.WithoutCancel(sdk))
	stop := context.AfterFunc(sdk, func() {
		if c.lost() {
			end(ErrServerGone)
		} else {
			end(ErrWithdrawn)
		}
	})
	return ctx, func() { stop(); end(nil) }
}

// wireError turns an error into what a server is told.
func wireError(err error) error {
	var e *jsonrpc.Error
	if errors.As(err, &e) {
		return e
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the question could not be asked"}
}

// question has a question answered and returns the raw result of
// elicitation/create; see route. A question that can't be asked is a
// *jsonrpc.Error for the server, and the editor is told of it.
func (c *Client) question(ctx context.Context, params json.RawMessage, from []*inflight, certain bool) (raw json.RawMessage, err error) {
	defer c.fence("asking a question", func() {
		raw, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "a fault of the client"}
	})
	raw, err = c.ask(ctx, params, from, certain)
	var form *elicit.SchemaError
	if errors.As(err, &form) {
		err = &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: form.Error()}
	}
	var refusal *jsonrpc.Error
	if errors.As(err, &refusal) {
		c.owner.Warn(protocol.ServerName(c.server.Name), protocol.KindProtocolError,
			fmt.Sprintf("a question of server %q was refused: %s", c.server.Name, refusal.Message))
	}
	return raw, err
}

func (c *Client) ask(ctx context.Context, params json.RawMessage, from []*inflight, certain bool) (json.RawMessage, error) {
	q, err := c.parseQuestion(params)
	if err != nil {
		return nil, err
	}
	answer, err := c.route(ctx, q, from, certain)
	if err != nil {
		return nil, err
	}
	accepted := answer.Action == protocol.AnswerAccept
	if accepted && q.Mode == protocol.QuestionURL && !c.calls.relist(from) {
		// What the person did there may change what the server offers. The
		// server holds the call, or its state: it goes on as it is.
		c.toolsStale()
	}
	out := rawjson.AppendString([]byte(`{"action":`), string(answer.Action))
	if accepted && q.Mode == protocol.QuestionForm {
		content := answer.Content
		if len(content) == 0 {
			content = json.RawMessage("{}")
		}
		out = append(append(out, `,"content":`...), content...)
	}
	return append(out, '}'), nil
}

// parseQuestion reads the params of elicitation/create, of a mode that was
// offered. Its errors are for the server.
func (c *Client) parseQuestion(params json.RawMessage) (elicit.Question, error) {
	q, err := c.readQuestion(params)
	if err != nil {
		return q, err
	}
	if q.Mode == protocol.QuestionForm && !c.offer.Form || q.Mode == protocol.QuestionURL && !c.offer.URL {
		return q, notOffered(q.Mode)
	}
	return q, nil
}

// badQuestion is what a server is told about params that can't be used.
func badQuestion(text string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
}

func notOffered(m protocol.QuestionMode) error {
	return badQuestion("/mode: " + strconv.Quote(string(m)) + " was not offered by this client")
}

// readQuestion reads the params of elicitation/create. Its errors are for the
// server.
func (c *Client) readQuestion(params json.RawMessage) (elicit.Question, error) {
	q := elicit.Question{Server: protocol.ServerName(c.server.Name), Mode: protocol.QuestionForm}
	if rawjson.Kind(params) != '{' {
		return q, badQuestion("elicitation/create: params must be an object")
	}
	var fault error
	err := rawjson.Object(params, func(key, value []byte) error {
		switch string(key) {
		case "mode":
			mode, ok := rawjson.String(value)
			if !ok {
				fault = badQuestion("/mode: must be a string")
			}
			q.Mode = protocol.QuestionMode(mode)
		case "message":
			text, ok := rawjson.String(value)
			if !ok {
				fault = badQuestion("/message: must be a string")
			}
			q.Message = c.redact(text)
		case "requestedSchema":
			var ok bool
			if q.Schema, ok = c.redactJSON(value); !ok {
				fault = badQuestion("/requestedSchema: holds a secret of the configuration, which is not shown")
			}
		case "url":
			q.URL, _ = rawjson.String(value)
		case "elicitationId":
			q.ElicitationID, _ = rawjson.String(value)
		case "_meta":
			q.Meta = slices.Clone(value)
		}
		return nil
	})
	switch {
	case err != nil:
		return q, badQuestion("elicitation/create: " + err.Error())
	case fault != nil:
		return q, fault
	case q.Mode == protocol.QuestionForm:
	case q.Mode != protocol.QuestionURL:
		return q, notOffered(q.Mode)
	case q.URL == "":
		return q, badQuestion("/url: required in mode url")
	case len(q.ElicitationID) > MaxElicitationID:
		return q, badQuestion("/elicitationId: is too long")
	}
	return q, nil
}
