package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Progress is a server's report on a call (MCP notifications/progress).
type Progress struct {
	Message  string
	Progress float64
	Total    *float64
}

// A Caller is for whom a request is made: it answers what the server asks
// about that request. Several callers share one connection. Its methods are
// called without locks held; Judge and Hold may not wait.
type Caller interface {
	// Judge says what the caller's policy makes of a question. It asks nobody
	// and has no side effects.
	Judge(elicit.Question) elicit.Verdict
	// Question answers a question by the verdict on it, which may be stricter
	// than the caller's own. ctx ends when the question becomes pointless; its
	// cause says why. It returns at once then, since the request that the
	// question belongs to waits for it. A caller that has ended meanwhile
	// returns ErrCallerGone: somebody else may have caused the question.
	Question(context.Context, elicit.Question, elicit.Verdict) (elicit.Answer, error)
	// Hold stops the clock of the request until resume is called.
	Hold() (resume func())
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
	// Recheck is called before the call is sent again on a connection that was
	// made or listed anew, where the tool may be another. Its error ends the
	// call, as it is. May be nil.
	Recheck func() error
	// Progress hears reports in the order in which they came, never after the
	// call has returned. It must not wait. May be nil.
	Progress func(Progress)
	// Caller answers what the server asks about the call; nil is the client's
	// Owner.
	Caller Caller
}

// inflight is a request of a caller that is running: a call, or, without ID
// and Token, a request of another kind.
type inflight struct {
	Call
	seq int64 // order of start
	// relist: a page that the person was sent to because of this request may
	// have changed what the server offers. Guarded by calls.mu.
	relist bool
}

// calls is what runs on a connection and what its server asks meanwhile.
type calls struct {
	mu        sync.Mutex
	seq       int64
	running   map[*inflight]struct{}     // guarded by mu
	tokens    map[string]*inflight       // those of running that have one; guarded by mu
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
		cs.running, cs.tokens = map[*inflight]struct{}{}, map[string]*inflight{}
	}
	cs.seq++
	f := &inflight{Call: c, seq: cs.seq}
	cs.running[f] = struct{}{}
	if c.Token != "" {
		cs.tokens[c.Token] = f
	}
	return f
}

// remove ends a request, because of why: no progress is delivered any more, and
// questions that nobody else can have asked are closed. It waits for those, so
// that they are closed before their request is seen to end. It reports whether
// the tools should be listed again.
func (cs *calls) remove(f *inflight, why error) (relist bool) {
	cs.mu.Lock()
	delete(cs.running, f)
	if cs.tokens[f.Token] == f {
		delete(cs.tokens, f.Token)
	}
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
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return f.relist
}

// candidates returns the requests that run, calls before others and the most
// recently started first.
func (cs *calls) candidates() []*inflight {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return slices.SortedFunc(maps.Keys(cs.running), func(a, b *inflight) int {
		if other := b.ID == ""; (a.ID == "") != other {
			if other {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.seq, a.seq)
	})
}

// asked enters a question that ends with the last of the requests that it may
// come from, and returns those that still run, in the same order; closed takes
// it out. Without any it enters nothing.
func (cs *calls) asked(end context.CancelCauseFunc, from []*inflight) (still []*inflight, closed func()) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	q := &openQuestion{waits: map[*inflight]bool{}, end: end, closed: make(chan struct{})}
	for _, f := range from {
		if _, runs := cs.running[f]; runs {
			still = append(still, f)
			q.waits[f] = true
		}
	}
	if len(still) == 0 {
		return nil, func() {}
	}
	if cs.questions == nil {
		cs.questions = map[*openQuestion]struct{}{}
	}
	cs.questions[q] = struct{}{}
	return still, func() {
		cs.mu.Lock()
		defer cs.mu.Unlock()
		delete(cs.questions, q)
		close(q.closed)
	}
}

// relist marks requests as such after which the tools are to be listed again.
// It is false when none of them runs.
func (cs *calls) relist(from []*inflight) (any bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, f := range from {
		if _, runs := cs.running[f]; runs {
			f.relist, any = true, true
		}
	}
	return any
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
	if f := cs.tokens[token]; f != nil && f.Progress != nil {
		f.Progress(Progress{p.Message, p.Progress, p.Total})
	}
}

// CallTool carries out a tools/call, answering what the server asks on the
// way, and returns the raw result. Its errors are *protocol.Error, or the
// cause of ctx when that ended first; the server has been told then.
func (c *Client) CallTool(ctx context.Context, call Call) (json.RawMessage, error) {
	if tell := call.Progress; tell != nil {
		call.Progress = func(p Progress) {
			p.Message = c.redact(p.Message)
			tell(p)
		}
	}
	return c.carryOut(ctx, call, "tools/call")
}

// carryOut enters a request among those that run and carries it out.
func (c *Client) carryOut(ctx context.Context, call Call, method string) (json.RawMessage, error) {
	if call.Caller == nil {
		call.Caller = ownersOwn{c.owner}
	}
	f := c.calls.add(call)
	defer func() {
		why := ErrCallEnded
		switch {
		case ctx.Err() != nil:
			why = context.Cause(ctx)
		case c.lost():
			why = ErrServerGone
		}
		if c.calls.remove(f, why) {
			c.toolsStale()
		}
	}()
	return c.rounds(context.WithValue(ctx, callKey{}, f), method, call.Params)
}

// listMembers are the lists that a server may not know, and has none of then.
var listMembers = map[string]string{
	"resources/list":           "resources",
	"resources/templates/list": "resourceTemplates",
	"prompts/list":             "prompts",
}

// Request carries out a resources/* or prompts/* request for a caller, nil for
// the client's Owner, and returns the raw result, which is an object. Of what a
// server does not know to list it has nothing. Its errors are those of
// CallTool.
func (c *Client) Request(ctx context.Context, caller Caller, method string, params json.RawMessage) (json.RawMessage, error) {
	result, err := c.carryOut(ctx, Call{Params: params, Caller: caller}, method)
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

// callOf returns the request that ctx is of, alone, or nil if it is of none.
func callOf(ctx context.Context) []*inflight {
	if f, ok := ctx.Value(callKey{}).(*inflight); ok {
		return []*inflight{f}
	}
	return nil
}
