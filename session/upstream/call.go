package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Progress is a server's report on a call (MCP notifications/progress).
type Progress struct {
	Message  string
	Progress float64
	Total    *float64
}

// A Call is one tools/call.
type Call struct {
	// ID is the editor's name for the call.
	ID protocol.CallID
	// Params are the request's params. They go out as they are, with members
	// added to _meta where the protocol era wants them.
	Params json.RawMessage
	// Token is the progress token inside Params, unique among the running
	// calls of the process.
	Token string
	// Progress hears reports in the order in which they came, never after the
	// call has returned. It must not wait. May be nil.
	Progress func(Progress)
}

// inflight is a call that is running.
type inflight struct {
	Call
	seq int64 // order of start
}

// calls is what runs on a connection and what its server asks meanwhile.
type calls struct {
	mu        sync.Mutex
	seq       int64
	running   map[string]*inflight       // by token; guarded by mu
	questions map[*openQuestion]struct{} // guarded by mu
}

// openQuestion is a question that calls have caused, or may have.
type openQuestion struct {
	waits  map[*inflight]bool // those that still run; guarded by calls.mu
	end    context.CancelCauseFunc
	closed chan struct{} // closed when it is answered or given up, and the editor told
}

func (cs *calls) add(c Call) *inflight {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.running == nil {
		cs.running = map[string]*inflight{}
	}
	cs.seq++
	f := &inflight{Call: c, seq: cs.seq}
	cs.running[c.Token] = f
	return f
}

// remove ends a call, because of why: no progress is delivered any more, and
// questions that nobody else can have asked are closed. It waits for those, so
// that they are closed before their call is seen to end.
func (cs *calls) remove(f *inflight, why error) {
	cs.mu.Lock()
	delete(cs.running, f.Token)
	var pointless []*openQuestion
	for q := range cs.questions {
		if q.waits[f] {
			delete(q.waits, f)
			if len(q.waits) == 0 {
				q.end(why)
				pointless = append(pointless, q)
			}
		}
	}
	cs.mu.Unlock()
	for _, q := range pointless {
		<-q.closed
	}
}

// asked enters a question that ends with the last of the calls it may come
// from; closed takes it out. It is false when none of them runs.
func (cs *calls) asked(end context.CancelCauseFunc, from ...*inflight) (closed func(), ok bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.askedLocked(end, from)
}

func (cs *calls) askedLocked(end context.CancelCauseFunc, from []*inflight) (closed func(), ok bool) {
	q := &openQuestion{waits: map[*inflight]bool{}, end: end, closed: make(chan struct{})}
	for _, f := range from {
		if cs.running[f.Token] == f {
			q.waits[f] = true
		}
	}
	if len(q.waits) == 0 {
		return nil, false
	}
	if cs.questions == nil {
		cs.questions = map[*openQuestion]struct{}{}
	}
	cs.questions[q] = struct{}{}
	return func() {
		cs.mu.Lock()
		defer cs.mu.Unlock()
		delete(cs.questions, q)
		close(q.closed)
	}, true
}

// progress delivers a notifications/progress. It runs on the reader, so that
// reports keep their order with the result; the lock keeps a late one from
// coming after the call has returned.
func (cs *calls) progress(params json.RawMessage) {
	var p struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64         `json:"progress"`
		Total    *float64        `json:"total"`
		Message  string          `json:"message"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	token, ok := rawjson.String(p.Token)
	if !ok {
		token = string(p.Token)
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if f := cs.running[token]; f != nil && f.Progress != nil {
		f.Progress(Progress{p.Message, p.Progress, p.Total})
	}
}

// CallTool carries out a tools/call, answering what the server asks on the
// way, and returns the raw result. Its errors are *protocol.Error, or the
// cause of ctx when that ended first; the server has been told then.
func (c *Client) CallTool(ctx context.Context, call Call) (json.RawMessage, error) {
	f := c.calls.add(call)
	defer func() {
		why := ErrCallEnded
		switch {
		case ctx.Err() != nil:
			why = context.Cause(ctx)
		case c.lost():
			why = ErrServerGone
		}
		c.calls.remove(f, why)
	}()
	return c.rounds(context.WithValue(ctx, callKey{}, f), "tools/call", call.Params)
}

// listMembers are the lists that a server may not know, and has none of then.
var listMembers = map[string]string{
	"resources/list":           "resources",
	"resources/templates/list": "resourceTemplates",
	"prompts/list":             "prompts",
}

// Request carries out a resources/* or prompts/* request and returns the raw
// result, which is an object. Of what a server does not know to list it has
// nothing. Its errors are those of CallTool.
func (c *Client) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	result, err := c.rounds(ctx, method, params)
	var refused *protocol.Error
	switch member, isList := listMembers[method]; {
	case isList && errors.As(err, &refused) && refused.Data.Upstream != nil && refused.Data.Upstream.Code == jsonrpc.CodeMethodNotFound:
		return json.RawMessage(`{"` + member + `":[]}`), nil
	case err != nil:
		return nil, err
	case rawjson.Kind(result) != '{':
		return nil, c.protocolFault("%s: the result is no object", method)
	}
	return result, nil
}

// callKey is the key under which a request's context holds its *inflight.
type callKey struct{}

func callOf(ctx context.Context) *inflight {
	f, _ := ctx.Value(callKey{}).(*inflight)
	return f
}

// rounds sends a request and, as long as the server needs input (MCP
// 2026-07-28, multi round-trip requests), answers and sends it again.
func (c *Client) rounds(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	conn, gone := c.live()
	if gone != nil {
		return nil, gone
	}
	first := params
	for range MaxRounds {
		result, err := conn.request(ctx, method, params)
		if err != nil {
			return nil, c.callError(ctx, conn, method, err)
		}
		if !conn.modern() {
			return result, nil
		}
		need, err := parseRound(result)
		if err != nil {
			return nil, c.protocolFault("%s: %v", method, err)
		}
		if need == nil {
			return result, nil
		}
		responses, err := c.fulfil(ctx, need.requests)
		if err != nil {
			return nil, err
		}
		// requestState goes back byte for byte, and only when there was one.
		params = withMembers(first, responses, need.state)
	}
	return nil, protocol.Errorf(protocol.KindProtocolError, "server %q asked back more than %d times in one %s", c.server.Name, MaxRounds, method).
		WithServer(protocol.ServerName(c.server.Name))
}

// round is what a result of type input_required asks for.
type round struct {
	requests []inputRequest // in the order in which they came
	state    json.RawMessage
}

type inputRequest struct {
	key    string
	method string
	params json.RawMessage
}

var errResultType = errors.New("unknown result type")

// parseRound returns nil for a complete result.
func parseRound(result json.RawMessage) (*round, error) {
	var kind string
	var requests, state json.RawMessage
	err := rawjson.Object(result, func(key, value []byte) error {
		switch string(key) {
		case "resultType":
			kind, _ = rawjson.String(value)
			if kind == "" {
				kind = "?"
			}
		case "inputRequests":
			requests = value
		case "requestState":
			state = value
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	switch kind {
	case "", "complete":
		return nil, nil
	case "input_required":
	default:
		return nil, errResultType
	}
	r := &round{state: state}
	if requests == nil || rawjson.Kind(requests) == 'n' {
		return r, nil
	}
	err = rawjson.Object(requests, func(key, value []byte) error {
		in := inputRequest{key: string(key)}
		err := rawjson.Object(value, func(k, v []byte) error {
			switch string(k) {
			case "method":
				in.method, _ = rawjson.String(v)
			case "params":
				in.params = v
			}
			return nil
		})
		r.requests = append(r.requests, in)
		return err
	})
	return r, err
}

// fulfil answers every request of a round, all at the same time.
func (c *Client) fulfil(ctx context.Context, requests []inputRequest) (json.RawMessage, error) {
	if requests == nil {
		return nil, nil
	}
	answers := make([]json.RawMessage, len(requests))
	errs := make([]error, len(requests))
	var all sync.WaitGroup
	for i, r := range requests {
		all.Go(func() {
			if r.method != methodElicit {
				errs[i] = c.protocolFault("the server needs %q, which was not offered to it", r.method)
				return
			}
			answers[i], errs[i] = c.question(ctx, r.params, callOf(ctx), true)
			var refusal *jsonrpc.Error
			if errors.As(errs[i], &refusal) { // there is no way to answer with an error
				answers[i], errs[i] = json.RawMessage(`{"action":"decline"}`), nil
			}
		})
	}
	all.Wait()
	out := []byte{'{'}
	for i, r := range requests {
		if err := errs[i]; err != nil {
			if cause := context.Cause(ctx); cause != nil {
				return nil, cause
			}
			return nil, err
		}
		if i > 0 {
			out = append(out, ',')
		}
		out = rawjson.AppendString(out, r.key)
		out = append(out, ':')
		out = append(out, answers[i]...)
	}
	return append(out, '}'), nil
}

// withMembers returns params, an object, with inputResponses and requestState
// in front.
func withMembers(params, responses, state json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	if responses != nil {
		out = append(append(out, `"inputResponses":`...), responses...)
	}
	if state != nil {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, `"requestState":`...), state...)
	}
	return joinObjects(out, params)
}

// joinObjects appends the members of the object rest to the open object head
// ("{" and members, no brace at the end).
func joinObjects(head []byte, rest json.RawMessage) json.RawMessage {
	body := bytes.TrimSpace(rest)
	if len(body) < 2 {
		body = []byte("{}")
	}
	body = body[1:]
	if len(head) > 1 && bytes.TrimSpace(body)[0] != '}' {
		head = append(head, ',')
	}
	return append(head, body...)
}

// withMeta returns params with members (without braces) added to its _meta,
// which comes first then. The values of the other members stay the bytes that
// they were.
func withMeta(params json.RawMessage, members []byte) (json.RawMessage, error) {
	if len(members) == 0 {
		return params, nil
	}
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	const front = `{"_meta":{`
	out := make([]byte, 0, len(params)+len(members)+len(front)+2)
	out = append(append(out, front...), members...)
	if rest, ok := bytes.CutPrefix(params, []byte(front)); ok { // as calls have it
		if bytes.TrimSpace(rest)[0] != '}' {
			out = append(out, ',')
		}
		return append(out, rest...), nil
	}
	var others []byte
	err := rawjson.Object(params, func(key, value []byte) error {
		if string(key) == "_meta" {
			if rawjson.Kind(value) == '{' {
				out = bytes.TrimSuffix(joinObjects(out, value), []byte("}"))
			}
			return nil
		}
		others = append(rawjson.AppendString(append(others, ','), string(key)), ':')
		others = append(others, value...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out = append(append(out, '}'), others...)
	return append(out, '}'), nil
}
