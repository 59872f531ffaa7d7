package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

func ptr[T any](v T) *T { return &v }

var (
	readOnly = Tool{Hints: protocol.Hints{ReadOnly: ptr(true)}, Definition: Definition{Hash: "h1"}, Timeout: 10 * time.Second}
	writing  = Tool{Title: "Write", Description: "Writes.", Definition: Definition{Hash: "h1"}, Timeout: 10 * time.Second, ResourceURI: "ui://w"}
)

func reads(s string) func() json.RawMessage {
	return func() json.RawMessage { return json.RawMessage(s) }
}

const okResult = `{"content":[{"type":"text","text":"done"}]}`

// A world is everything around a call; what happens is written down in order.
type world struct {
	mu    sync.Mutex // guards what is below
	log   []string
	items []protocol.Item
	times []time.Time

	await  func(ctx context.Context) error
	tool   func() (Tool, bool)
	send   func(ctx context.Context, params json.RawMessage, progress func(Progress)) (json.RawMessage, error)
	answer func(ctx context.Context, q elicit.Question) (elicit.Answer, error)
	memory func(Tool) Memory
}

func newWorld(tool Tool) *world {
	return &world{
		await: func(context.Context) error { return nil },
		tool:  func() (Tool, bool) { return tool, true },
		send: func(context.Context, json.RawMessage, func(Progress)) (json.RawMessage, error) {
			return json.RawMessage(okResult), nil
		},
		answer: func(context.Context, elicit.Question) (elicit.Answer, error) {
			return elicit.Answer{Action: protocol.AnswerAccept}, nil
		},
		memory: func(Tool) Memory { return Memory{} },
	}
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *world) Await(ctx context.Context) error { w.note("await"); return w.await(ctx) }
func (w *world) Tool() (Tool, bool)              { return w.tool() }
func (w *world) Send(ctx context.Context, params json.RawMessage, _ Definition, progress func(Progress)) (json.RawMessage, error) {
	w.note("send %s", params)
	return w.send(ctx, params, progress)
}
func (w *world) Ask(ctx context.Context, q elicit.Question) (elicit.Answer, error) {
	w.note("ask")
	return w.answer(ctx, q)
}
func (w *world) Recall(t Tool) Memory { return w.memory(t) }
func (w *world) Remember(_ context.Context, t Tool, scope protocol.ApprovalScope) {
	w.note("remember %s %s", t.Definition.Hash, scope)
}
func (w *world) Started(item protocol.Item, at time.Time) {
	w.note("started")
	w.items, w.times = append(w.items, item), append(w.times, at)
}
func (w *world) Progress(id protocol.CallID, p Progress) {
	w.note("progress %s %s %v", id, p.Message, p.Progress)
}
func (w *world) Completed(item protocol.Item, omitted bool, at time.Time) {
	w.note("completed %s omitted=%v", item.Status, omitted)
	w.items, w.times = append(w.items, item), append(w.times, at)
}

func (w *world) happened() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(w.log, "\n")
}

func call() Call {
	return Call{ThreadID: "t", CallID: "c", Server: "docs", Tool: "write", Arguments: json.RawMessage(`{"a":1.0}`), CanAsk: func() bool { return true }}
}

func (w *world) run(ctx context.Context, c Call) Outcome { return Run(ctx, c, w, &Gate{}, w, w) }

const sent = `send {"_meta":{"callId":"c","threadId":"t"},"name":"write","arguments":{"a":1.0}}`

// A call that needs no question goes: ready, started, sent, completed.
func TestRunAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(readOnly)
		w.send = func(_ context.Context, _ json.RawMessage, progress func(Progress)) (json.RawMessage, error) {
			time.Sleep(time.Second)
			progress(Progress{Message: "half", Progress: 0.5})
			time.Sleep(time.Second)
			return json.RawMessage(okResult), nil
		}
		o := w.run(t.Context(), call())
		if want := "await\nstarted\n" + sent + "\nprogress c half 0.5\ncompleted completed omitted=false"; w.happened() != want {
			t.Errorf("happened\n%s\nwant\n%s", w.happened(), want)
		}
		if o.Status != protocol.CallCompleted || o.Reason != "" || string(o.Result) != okResult || o.Err != nil || o.Text != "" || !o.Started ||
			o.Duration != 2*time.Second || o.ApprovalWait != 0 || o.Approval != (protocol.Approval{Decision: protocol.ApprovalAllowed, Source: protocol.SourceAnnotations}) {
			t.Errorf("outcome %+v", o)
		}
		if got, want := render(o.Output), "Wall time: 2.0000 seconds\nOutput:|done"; got != want {
			t.Errorf("output %q, want %q", got, want)
		}
		start, end := w.items[0], w.items[1]
		if start.Status != protocol.ItemInProgress || start.ID != "c" || string(start.Arguments) != `{"a":1.0}` || start.DurationMs != nil || start.Result != nil || start.ReadOnlyHint == nil {
			t.Errorf("started %+v", start)
		}
		if string(end.Result) != okResult || *end.DurationMs != 2000 || end.Error != nil {
			t.Errorf("completed %+v", end)
		}
	})
}

// A call that needs an approval is an item before the question, and its time
// does not count the person's (spec section 7).
func TestRunAsksFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(writing)
		var question elicit.Question
		w.answer = func(_ context.Context, q elicit.Question) (elicit.Answer, error) {
			question = q
			time.Sleep(time.Hour)
			return elicit.Answer{Action: protocol.AnswerAccept}, nil
		}
		w.send = func(context.Context, json.RawMessage, func(Progress)) (json.RawMessage, error) {
			time.Sleep(9 * time.Second)
			return json.RawMessage(okResult), nil
		}
		o := w.run(t.Context(), call())
		if want := "await\nstarted\nask\n" + sent + "\ncompleted completed omitted=false"; w.happened() != want {
			t.Errorf("happened\n%s\nwant\n%s", w.happened(), want)
		}
		if o.Duration != 9*time.Second || o.ApprovalWait != time.Hour || o.Approval != (protocol.Approval{Decision: protocol.ApprovalAllowed, Source: protocol.SourcePerson}) {
			t.Errorf("outcome %+v", o)
		}
		if !question.Approval || question.CallID != "c" || !strings.Contains(string(question.Meta), `"tool_params":{"a":1.0}`) || strings.Contains(string(question.Meta), "definition_changed") {
			t.Errorf("question %+v %s", question, question.Meta)
		}
	})
}

// Whatever is not a clear yes keeps the call from being sent, and the model
// and the editor hear why.
func TestRunDeclined(t *testing.T) {
	answer := func(a elicit.Answer, err error) func(*world, *Call) {
		return func(w *world, _ *Call) {
			w.answer = func(context.Context, elicit.Question) (elicit.Answer, error) { return a, err }
		}
	}
	for name, c := range map[string]struct {
		set    func(*world, *Call)
		status protocol.CallStatus
		reason protocol.Reason
		source protocol.ApprovalSource
		kind   protocol.Kind
		text   string
		asked  bool
	}{
		"declined":    {answer(elicit.Answer{Action: "decline"}, nil), protocol.CallDeclined, protocol.ReasonUserDeclined, protocol.SourcePerson, protocol.KindDeclined, "The user declined", true},
		"cancelled":   {answer(elicit.Answer{Action: "cancel"}, nil), protocol.CallDeclined, protocol.ReasonUserCancelled, protocol.SourcePerson, protocol.KindDeclined, "dismissed", true},
		"unclear":     {answer(elicit.Answer{Action: "accept", Content: json.RawMessage(`{"decision":"maybe"}`)}, nil), protocol.CallDeclined, protocol.ReasonUserCancelled, protocol.SourcePerson, protocol.KindDeclined, "not answered clearly", true},
		"no method":   {answer(elicit.Answer{Action: "accept"}, protocol.Errorf(protocol.KindClientUnsupported, "no such method")), protocol.CallDeclined, protocol.ReasonClientUnsupported, protocol.SourceCapability, protocol.KindDeclined, "can't ask", true},
		"editor errs": {answer(elicit.Answer{Action: "accept"}, protocol.Errorf(protocol.KindUpstreamError, "window closed")), protocol.CallDeclined, protocol.ReasonUserCancelled, protocol.SourcePerson, protocol.KindDeclined, "not answered clearly", true},
		"editor gone": {answer(elicit.Answer{Action: "accept"}, errors.New("the editor is gone")), protocol.CallCancelled, protocol.ReasonCancelled, "", protocol.KindCancelled, "cancelled", true},
		"can't ask":   {func(_ *world, c *Call) { c.CanAsk = func() bool { return false } }, protocol.CallDeclined, protocol.ReasonClientUnsupported, protocol.SourceCapability, protocol.KindDeclined, "can't ask", false},
		"nil CanAsk":  {func(_ *world, c *Call) { c.CanAsk = nil }, protocol.CallDeclined, protocol.ReasonClientUnsupported, protocol.SourceCapability, protocol.KindDeclined, "can't ask", false},
		"never":       {func(_ *world, c *Call) { c.Policy.Never = true }, protocol.CallDeclined, protocol.ReasonPolicyNever, protocol.SourcePolicy, protocol.KindDeclined, "requires approval, but approval policy is never", false},
	} {
		t.Run(name, func(t *testing.T) {
			w, call := newWorld(writing), call()
			c.set(w, &call)
			o := w.run(t.Context(), call)
			want := "await\nstarted\nask\ncompleted failed omitted=false"
			if !c.asked {
				want = strings.ReplaceAll(want, "ask\n", "")
			}
			if w.happened() != want {
				t.Errorf("happened\n%s\nwant\n%s", w.happened(), want)
			}
			decision := protocol.ApprovalDeclined
			if c.source == "" {
				decision = protocol.ApprovalNone
			}
			if o.Status != c.status || o.Reason != c.reason || o.Approval != (protocol.Approval{Decision: decision, Source: c.source}) || !strings.Contains(o.Text, c.text) ||
				o.Err == nil || o.Err.Data.Kind != c.kind || o.Err.Data.Server != "docs" || o.Err.Data.Tool != "write" || o.Result != nil {
				t.Errorf("outcome %+v, %v", o, o.Err)
			}
			if c.kind == protocol.KindDeclined && o.Err.Data.Reason != c.reason {
				t.Errorf("error data %+v", o.Err.Data)
			}
			if end := w.items[1]; end.Error == nil || end.Error.Message != o.Text || end.Result != nil || render(o.Output) != o.Text {
				t.Errorf("completed %+v, output %q", end, render(o.Output))
			}
		})
	}
}

// Arguments that are no object are told to the model; nothing is sent, and
// there is no item.
func TestRunInvalidArguments(t *testing.T) {
	w, c := newWorld(readOnly), call()
	c.Arguments = json.RawMessage(`"[1]"`)
	o := w.run(t.Context(), c)
	if w.happened() != "" || o.Status != protocol.CallFailed || o.Reason != protocol.ReasonInvalidArguments || o.Started || o.Approval.Decision != protocol.ApprovalNone {
		t.Errorf("%s, outcome %+v", w.happened(), o)
	}
	if got := render(o.Output); got != "Invalid arguments: the arguments must be a JSON object, not an array." {
		t.Errorf("output %q", got)
	}
	if o.Err.Data.Kind != protocol.KindInvalidParams || o.Err.Data.Pointer != "/arguments" {
		t.Errorf("error %+v", o.Err)
	}
}

// A tool that is gone, or goes while the call waits, is not called.
func TestRunToolGone(t *testing.T) {
	for name, set := range map[string]func(*world, *Call){
		"before": func(w *world, _ *Call) { w.tool = func() (Tool, bool) { return Tool{}, false } },
		"in the queue": func(w *world, _ *Call) {
			n := 0
			w.tool = func() (Tool, bool) { n++; return readOnly, n < 2 }
		},
		"during the question": func(w *world, _ *Call) {
			n := 0
			w.tool = func() (Tool, bool) { n++; return writing, n < 3 }
		},
		"says the server": func(w *world, _ *Call) {
			w.send = func(context.Context, json.RawMessage, func(Progress)) (json.RawMessage, error) {
				return nil, protocol.Errorf(protocol.KindUnknownTool, "no tool")
			}
			w.tool = func() (Tool, bool) { return readOnly, true }
		},
	} {
		w, c := newWorld(writing), call()
		set(w, &c)
		o := w.run(t.Context(), c)
		if o.Status != protocol.CallFailed || o.Reason != protocol.ReasonToolGone || o.Err.Data.Kind != protocol.KindUnknownTool || !o.Started {
			t.Errorf("%s: outcome %+v", name, o)
		}
		if strings.Contains(w.happened(), "send") != (name == "says the server") || !strings.HasSuffix(w.happened(), "completed failed omitted=false") || !strings.Contains(w.happened(), "started") {
			t.Errorf("%s: happened\n%s", name, w.happened())
		}
	}
}

// A definition that changed since the freeze takes a fresh approval, even if
// the annotations would excuse from asking, and the question says so.
func TestRunDefinitionChanged(t *testing.T) {
	w, c := newWorld(readOnly), call()
	c.Frozen = &Definition{Hash: "other"}
	var meta string
	w.answer = func(_ context.Context, q elicit.Question) (elicit.Answer, error) {
		meta = string(q.Meta)
		return elicit.Answer{Action: protocol.AnswerAccept}, nil
	}
	if o := w.run(t.Context(), c); o.Status != protocol.CallCompleted || !strings.Contains(meta, `"definition_changed":true`) {
		t.Errorf("outcome %+v, asked %s", o, meta)
	}
	w, c = newWorld(readOnly), call()
	c.Frozen = &readOnly.Definition
	if o := w.run(t.Context(), c); strings.Contains(w.happened(), "ask") || o.Status != protocol.CallCompleted {
		t.Errorf("asked although nothing changed: %s", w.happened())
	}
}

// What a person allowed for longer is remembered before the call is sent, as it
// was offered; what they allowed before excuses from asking (O072, O077).
func TestRunRemembers(t *testing.T) {
	persist := func(word string) json.RawMessage { return json.RawMessage(`{"persist":"` + word + `"}`) }
	for _, c := range []struct {
		name    string
		mode    elicit.ApprovalMode
		memory  Memory
		meta    json.RawMessage
		offered string
		want    string // what is remembered
	}{
		{"once", elicit.ModeAuto, Memory{Lasting: true}, nil, `"persist":["session","always"]`, ""},
		{"session", elicit.ModeAuto, Memory{Lasting: true}, persist("session"), `"persist":["session","always"]`, "remember h1 session\n"},
		{"always", elicit.ModeAuto, Memory{Lasting: true}, persist("always"), `"persist":["session","always"]`, "remember h1 always\n"},
		{"always, but there is no file", elicit.ModeAuto, Memory{}, persist("always"), `"persist":["session"]`, ""},
		{"mode prompt", elicit.ModePrompt, Memory{Lasting: true}, persist("session"), "", ""},
		{"mode writes", elicit.ModeWrites, Memory{Lasting: true}, persist("always"), "", ""},
	} {
		w := newWorld(writing)
		tool := writing
		tool.Mode = c.mode
		w.tool = func() (Tool, bool) { return tool, true }
		w.memory = func(Tool) Memory { return c.memory }
		w.answer = func(_ context.Context, q elicit.Question) (elicit.Answer, error) {
			if got := strings.Contains(string(q.Meta), `"persist"`); got != (c.offered != "") || !strings.Contains(string(q.Meta), c.offered) {
				t.Errorf("%s: offered %s, want %s", c.name, q.Meta, c.offered)
			}
			return elicit.Answer{Action: protocol.AnswerAccept, Meta: c.meta}, nil
		}
		o := w.run(t.Context(), call())
		if want := "await\nstarted\nask\n" + c.want + sent + "\ncompleted completed omitted=false"; w.happened() != want || o.Approval.Source != protocol.SourcePerson {
			t.Errorf("%s: happened\n%s\nwant\n%s\n%+v", c.name, w.happened(), want, o.Approval)
		}
	}
	w := newWorld(writing)
	w.memory = func(Tool) Memory { return Memory{Standing: elicit.MemoryHolds} }
	if o := w.run(t.Context(), call()); o.Approval != (protocol.Approval{Decision: protocol.ApprovalAllowed, Source: protocol.SourceMemory}) || strings.Contains(w.happened(), "ask") {
		t.Errorf("remembered: %+v\n%s", o.Approval, w.happened())
	}
}

// O080: what was allowed for another definition is asked about anew, and the
// question says in words what is different.
func TestRunOutdatedApproval(t *testing.T) {
	old := Definition{Hash: "h0", Read: reads(`{"description":"Writes.","inputSchema":{"properties":{"to":{"type":"string"}},"type":"object"},"name":"write"}`)}
	for _, c := range []struct {
		name   string
		mode   elicit.ApprovalMode
		memory Memory
		want   string
	}{
		{"for the session", elicit.ModeAuto, Memory{Standing: elicit.MemoryOutdated, Allowed: old}, "bcc"},
		{"for good", elicit.ModeApprove, Memory{Standing: elicit.MemoryOutdated, ModeVoid: true, Allowed: old}, "bcc"},
		{"of another server", elicit.ModeApprove, Memory{Standing: elicit.MemoryOutdated, ModeVoid: true, ServerChanged: true}, "the server's entry in the configuration changed"},
	} {
		tool := readOnly
		tool.Mode = c.mode
		tool.Definition.Read = reads(`{"description":"Writes.","inputSchema":{"properties":{"bcc":{"type":"string"},"to":{"type":"string"}},"type":"object"},"name":"write"}`)
		w := newWorld(tool)
		w.memory = func(Tool) Memory { return c.memory }
		var meta struct {
			Changed bool     `json:"definition_changed"`
			Changes []string `json:"definition_changes"`
			Reason  string   `json:"reason"`
		}
		w.answer = func(_ context.Context, q elicit.Question) (elicit.Answer, error) {
			return elicit.Answer{Action: protocol.AnswerDecline}, json.Unmarshal(q.Meta, &meta)
		}
		o := w.run(t.Context(), call())
		if o.Reason != protocol.ReasonUserDeclined || !meta.Changed || len(meta.Changes) != 1 || !strings.Contains(meta.Changes[0], c.want) ||
			meta.Reason != "the tool changed since it was allowed ("+meta.Changes[0]+")" {
			t.Errorf("%s: asked %+v, outcome %+v", c.name, meta, o)
		}
	}
}

// A call that would be sent again to another tool, on a connection that was made
// anew, is asked about anew first.
func TestRunChangesBeforeItIsSentAgain(t *testing.T) {
	for _, frozen := range []*Definition{nil, &writing.Definition} {
		w := newWorld(writing)
		sends, asked := 0, []string{}
		now := writing
		w.tool = func() (Tool, bool) { return now, true }
		w.send = func(context.Context, json.RawMessage, func(Progress)) (json.RawMessage, error) {
			if sends++; sends == 1 {
				now.Definition.Hash = "h2"
				return nil, fmt.Errorf("sending: %w", ErrToolChanged)
			}
			return json.RawMessage(okResult), nil
		}
		w.answer = func(_ context.Context, q elicit.Question) (elicit.Answer, error) {
			asked = append(asked, fmt.Sprint(strings.Contains(string(q.Meta), "definition_changed")))
			return elicit.Answer{Action: protocol.AnswerAccept}, nil
		}
		c := call()
		c.Frozen = frozen
		if o := w.run(t.Context(), c); o.Status != protocol.CallCompleted || sends != 2 || strings.Join(asked, " ") != "false true" {
			t.Errorf("sent %d times, asked %v, %+v", sends, asked, o)
		}
	}
	w := newWorld(readOnly)
	n := 0
	w.tool = func() (Tool, bool) { n++; return readOnly, n < 4 }
	w.send = func(context.Context, json.RawMessage, func(Progress)) (json.RawMessage, error) {
		n = 3
		return nil, ErrToolChanged
	}
	if o := w.run(t.Context(), call()); o.Reason != protocol.ReasonToolGone {
		t.Errorf("gone meanwhile: %+v", o)
	}
}

// O079: a yes counts for the definition that was shown. If the tool changes
// while the person thinks, the question is put again, not for ever.
func TestRunChangesDuringTheQuestion(t *testing.T) {
	for changes, want := range map[int]struct {
		asks   int
		status protocol.CallStatus
	}{0: {1, protocol.CallCompleted}, 1: {2, protocol.CallCompleted}, 100: {maxApprovals, protocol.CallFailed}} {
		w := newWorld(writing)
		version, asks := 0, 0
		w.tool = func() (Tool, bool) {
			tool := writing
			tool.Definition.Hash = fmt.Sprint("v", version)
			return tool, true
		}
		var marked []bool
		w.answer = func(_ context.Context, q elicit.Question) (elicit.Answer, error) {
			marked = append(marked, strings.Contains(string(q.Meta), "definition_changed"))
			if asks++; asks <= changes {
				version++
			}
			return elicit.Answer{Action: protocol.AnswerAccept}, nil
		}
		o := w.run(t.Context(), call())
		if asks != want.asks || o.Status != want.status || strings.Contains(w.happened(), "send") != (want.status == protocol.CallCompleted) {
			t.Errorf("%d changes: asked %d times, %+v\n%s", changes, asks, o, w.happened())
		}
		for i, m := range marked {
			if m != (i > 0) {
				t.Errorf("%d changes: questions marked %v", changes, marked)
			}
		}
	}
}

// Every kind of failure has its reason and a short text, without the chain of
// errors behind it.
func TestRunFailures(t *testing.T) {
	upstream := protocol.Errorf(protocol.KindUpstreamError, "docs answered tools/call with error -32602")
	upstream.Data.Upstream = &protocol.UpstreamError{Code: -32602, Message: "no such file\u202e", Data: json.RawMessage(`{"x":1}`)}
	for name, c := range map[string]struct {
		err    error
		reason protocol.Reason
		kind   protocol.Kind
		text   string
	}{
		"upstream":  {fmt.Errorf("calling: %w", upstream), protocol.ReasonUpstreamError, protocol.KindUpstreamError, `MCP server "docs" answered with an error: no such file (code -32602)`},
		"bare":      {protocol.Errorf(protocol.KindUpstreamError, "odd"), protocol.ReasonUpstreamError, protocol.KindUpstreamError, `MCP server "docs" answered with an error: odd`},
		"too large": {protocol.Errorf(protocol.KindResultTooLarge, "over 32 MiB"), protocol.ReasonResultTooLarge, protocol.KindResultTooLarge, "The tool ran, but its result is too large: over 32 MiB"},
		"ambiguous": {protocol.Errorf(protocol.KindAmbiguousDelivery, "lost"), protocol.ReasonAmbiguousDelivery, protocol.KindAmbiguousDelivery, "may or may not have taken effect"},
		"exited":    {protocol.Errorf(protocol.KindExited, "docs exited with code 1"), protocol.ReasonServerFailed, protocol.KindExited, `MCP server "docs" is not available: docs exited with code 1`},
		"protocol":  {protocol.Errorf(protocol.KindProtocolError, "no id"), protocol.ReasonUpstreamError, protocol.KindProtocolError, "can't be read: no id"},
		"timeout":   {protocol.Errorf(protocol.KindTimeout, "connecting took 30 s"), protocol.ReasonTimeout, protocol.KindTimeout, "timed out: connecting took 30 s"},
		"unknown":   {errors.New("dial tcp: hunter2"), protocol.ReasonServerFailed, protocol.KindServerFailed, `The call of "write" failed: the connection to MCP server "docs" broke.`},
	} {
		for _, direct := range []bool{false, true} {
			w, call := newWorld(readOnly), call()
			call.Direct = direct
			w.send = func(context.Context, json.RawMessage, func(Progress)) (json.RawMessage, error) { return nil, c.err }
			o := w.run(t.Context(), call)
			if o.Status != protocol.CallFailed || o.Reason != c.reason || o.Err.Data.Kind != c.kind || o.Err.Data.Server != "docs" || o.Err.Data.Tool != "write" || !strings.Contains(o.Text, c.text) || strings.Contains(o.Text+o.Err.Message, "hunter2") {
				t.Errorf("%s: outcome %+v, %+v", name, o, o.Err)
			}
			if want := map[bool]string{false: o.Text, true: ""}[direct]; render(o.Output) != want {
				t.Errorf("%s, direct %v: output %q", name, direct, render(o.Output))
			}
			if !strings.HasSuffix(w.happened(), "completed failed omitted=false") || w.items[1].Error.Message != o.Text {
				t.Errorf("%s: happened\n%s", name, w.happened())
			}
		}
		// The same while waiting for the server: nothing is sent.
		w := newWorld(readOnly)
		w.await = func(context.Context) error { return c.err }
		o := w.run(t.Context(), call())
		if o.Reason != c.reason || w.happened() != "await\nstarted\ncompleted failed omitted=false" || *w.items[1].DurationMs != 0 {
			t.Errorf("%s: %+v\n%s", name, o, w.happened())
		}
	}
	if upstream.Data.Server != "" {
		t.Error("an error that others may hold was changed")
	}
}

// A tool's own error is a result: completed, reason toolError, and the item
// failed with the result (codex-mcp 7.7).
func TestRunToolError(t *testing.T) {
	const result = `{"content":[{"type":"text","text":"no"}],"isError":true,"structuredContent":{"a":1.0},"_meta":{"m":1}}`
	for _, direct := range []bool{false, true} {
		w, c := newWorld(readOnly), call()
		c.Direct = direct
		w.send = func(context.Context, json.RawMessage, func(Progress)) (json.RawMessage, error) {
			return json.RawMessage(result), nil
		}
		o := w.run(t.Context(), c)
		if o.Status != protocol.CallCompleted || o.Reason != protocol.ReasonToolError || o.Err != nil || string(o.Result) != result || (len(o.Output.Items) == 0) != direct {
			t.Errorf("outcome %+v", o)
		}
		end := w.items[1]
		if end.Status != protocol.ItemFailed || end.Error != nil || string(end.Result) != `{"content":[{"type":"text","text":"no"}],"structuredContent":{"a":1.0},"_meta":{"m":1}}` {
			t.Errorf("completed %+v", end)
		}
	}
}

// The item's result is in the shape that items have, and left out if it is
// large; the outcome has it as it came.
func TestRunItemResult(t *testing.T) {
	for in, want := range map[string]string{
		`{}`:                             `{"content":[]}`,
		`{"content":null,"x":1}`:         `{"content":[]}`,
		`{"content":"hi"}`:               `{"content":["hi"]}`,
		`{"content":[{"n":1.0}, 2]}`:     `{"content":[{"n":1.0}, 2]}`,
		`{"_meta":{}, "content":[]}`:     `{"_meta":{}, "content":[]}`,
		`{"content":[1],"content":[2]}`:  `{"content":[2]}`,
		`{"content":[],"isError":false}`: `{"content":[]}`,
		`{"content":[],"_meta":1,"x":2}`: `{"content":[],"_meta":1}`,
		"{\"content\":[\n{\"a\":1}\n]}":  `{"content":[{"a":1}]}`,
	} {
		w := newWorld(readOnly)
		w.send = func(context.Context, json.RawMessage, func(Progress)) (json.RawMessage, error) {
			return json.RawMessage(in), nil
		}
		o := w.run(t.Context(), call())
		if got := string(w.items[1].Result); got != want || string(o.Result) != in {
			t.Errorf("%s: item %s, outcome %s", in, got, o.Result)
		}
	}
	for size, omitted := range map[int]bool{MaxItemResult: false, MaxItemResult + 1: true} {
		w := newWorld(readOnly)
		result := `{"content":[],"_meta":"` + strings.Repeat("x", size-len(`{"content":[],"_meta":""}`)) + `"}`
		w.send = func(context.Context, json.RawMessage, func(Progress)) (json.RawMessage, error) {
			return json.RawMessage(result), nil
		}
		o := w.run(t.Context(), call())
		if (w.items[1].Result == nil) != omitted || !strings.HasSuffix(w.happened(), fmt.Sprintf("completed completed omitted=%v", omitted)) || len(o.Result) != size {
			t.Errorf("%d bytes: %d in the item", size, len(w.items[1].Result))
		}
	}
	w := newWorld(readOnly)
	w.send = func(context.Context, json.RawMessage, func(Progress)) (json.RawMessage, error) {
		return json.RawMessage(`[1]`), nil
	}
	if o := w.run(t.Context(), call()); o.Status != protocol.CallFailed || o.Reason != protocol.ReasonUpstreamError || o.Err.Data.Kind != protocol.KindProtocolError {
		t.Errorf("a result that is no object: %+v", o)
	}
}

// The time limit: the server is told by the context, the outcome says how long
// was waited, a caller can only tighten it.
func TestRunTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		tool, caller time.Duration
		want         time.Duration
		text         string
	}{
		"tool":      {2 * time.Second, 0, 2 * time.Second, "timed out after 2s"},
		"tightened": {2 * time.Second, 1500 * time.Millisecond, 1500 * time.Millisecond, "timed out after 1.5s"},
		"widened":   {2 * time.Second, time.Hour, 2 * time.Second, "timed out after 2s"},
		"default":   {0, 0, DefaultTimeout, "timed out after 300s"},
	} {
		synctest.Test(t, func(t *testing.T) {
			tool := readOnly
			tool.Timeout = c.tool
			w, call := newWorld(tool), call()
			call.Timeout = c.caller
			var cause error
			w.send = func(ctx context.Context, _ json.RawMessage, _ func(Progress)) (json.RawMessage, error) {
				<-ctx.Done()
				cause = context.Cause(ctx)
				time.Sleep(time.Second) // telling the server
				return nil, protocol.Errorf(protocol.KindUpstreamError, "cancelled")
			}
			o := w.run(t.Context(), call)
			if o.Status != protocol.CallFailed || o.Reason != protocol.ReasonTimeout || !strings.Contains(o.Text, c.text) || o.Err.Data.Kind != protocol.KindTimeout || o.Duration != c.want+time.Second || !errors.Is(cause, ErrTimeout) {
				t.Errorf("%s: %+v, cause %v", name, o, cause)
			}
			if !strings.HasSuffix(w.happened(), "completed failed omitted=false") {
				t.Errorf("%s: happened\n%s", name, w.happened())
			}
		})
	}
}

// O087: while a question of the call is open its clock stands still, and the
// time is not the call's.
func TestRunQuestionStopsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tool := readOnly
		tool.Timeout = 2 * time.Second
		w := newWorld(tool)
		w.send = func(ctx context.Context, _ json.RawMessage, _ func(Progress)) (json.RawMessage, error) {
			time.Sleep(time.Second)
			d := DeadlineFrom(ctx)
			d.Pause()
			time.Sleep(time.Hour)
			d.Resume()
			select {
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			case <-time.After(time.Second / 2):
				return json.RawMessage(okResult), nil
			}
		}
		if o := w.run(t.Context(), call()); o.Status != protocol.CallCompleted || o.Duration != 1500*time.Millisecond {
			t.Errorf("outcome %+v", o)
		}
	})
}

// Progress keeps a call alive, up to four times its limit, and never comes
// after the item's end.
func TestRunProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(readOnly)
		var late func(Progress)
		w.send = func(ctx context.Context, _ json.RawMessage, progress func(Progress)) (json.RawMessage, error) {
			late = progress
			for {
				select {
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				case <-time.After(9 * time.Second):
					progress(Progress{Message: "on", Progress: 1, Total: ptr(2.0)})
				}
			}
		}
		o := w.run(t.Context(), call())
		late(Progress{Message: "late"})
		if o.Reason != protocol.ReasonTimeout || o.Duration != 40*time.Second || !strings.Contains(o.Text, "timed out after 40s") {
			t.Errorf("outcome %+v", o)
		}
		if n := strings.Count(w.happened(), "progress c on"); n != 4 || strings.Contains(w.happened(), "late") {
			t.Errorf("happened\n%s", w.happened())
		}
	})
}

// Cancelling ends a call wherever it is; what had begun as an item ends as
// one.
func TestRunCancelled(t *testing.T) {
	block := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
	for name, c := range map[string]struct {
		tool    Tool
		set     func(*world)
		busy    bool // somebody else is in the gate
		started bool
	}{
		"waiting for the server": {readOnly, func(w *world) { w.await = block }, false, false},
		"in the queue":           {writing, func(*world) {}, true, false},
		"during the question": {writing, func(w *world) {
			w.answer = func(ctx context.Context, _ elicit.Question) (elicit.Answer, error) {
				_ = block(ctx)
				return elicit.Answer{Action: "accept"}, protocol.Errorf(protocol.KindCancelled, "the editor was told")
			}
		}, false, true},
		"during the call": {readOnly, func(w *world) {
			w.send = func(ctx context.Context, _ json.RawMessage, _ func(Progress)) (json.RawMessage, error) {
				_ = block(ctx)
				return nil, protocol.Errorf(protocol.KindExited, "the server ended")
			}
		}, false, true},
	} {
		for cause, reason := range map[error]protocol.Reason{nil: protocol.ReasonCancelled, ErrThreadClosed: protocol.ReasonThreadClosed} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(c.tool)
				c.set(w)
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(cause) })
				var g Gate
				if c.busy {
					leave, err := g.Enter(ctx, "docs", Shared)
					if err != nil {
						t.Fatal(err)
					}
					defer leave()
				}
				o := Run(ctx, call(), w, &g, w, w)
				if o.Status != protocol.CallCancelled || o.Reason != reason || o.Started != c.started || o.Err.Data.Kind != protocol.KindCancelled {
					t.Errorf("%s, %v: %+v", name, cause, o)
				}
				if strings.HasSuffix(w.happened(), "completed failed omitted=false") != c.started || strings.Contains(w.happened(), "started") != c.started {
					t.Errorf("%s, %v: happened\n%s", name, cause, w.happened())
				}
			})
		}
	}
}

// A panic of a port leaves Run, but not the item open nor the gate shut.
func TestRunPanics(t *testing.T) {
	for name, set := range map[string]func(*world){
		"send": func(w *world) {
			w.send = func(context.Context, json.RawMessage, func(Progress)) (json.RawMessage, error) { panic("boom") }
		},
		"ask": func(w *world) {
			w.answer = func(context.Context, elicit.Question) (elicit.Answer, error) { panic("boom") }
		},
	} {
		w := newWorld(writing)
		set(w)
		var g Gate
		func() {
			defer func() {
				if r := recover(); r != "boom" {
					t.Errorf("%s: recovered %v", name, r)
				}
			}()
			Run(t.Context(), call(), w, &g, w, w)
			t.Errorf("%s: the panic was swallowed", name)
		}()
		if !strings.HasSuffix(w.happened(), "completed failed omitted=false") || len(g.lanes) != 0 {
			t.Errorf("%s: %d lanes, happened\n%s", name, len(g.lanes), w.happened())
		}
	}
}

// Calls of a server run one by one, those of read-only or parallel tools
// together, and another server's is not held up by a question.
func TestRunGate(t *testing.T) {
	parallel := writing
	parallel.Parallel, parallel.Mode = true, elicit.ModeApprove
	alone := writing
	alone.Mode = elicit.ModeApprove
	for name, c := range map[string]struct {
		tool    Tool
		seconds int
	}{"alone": {alone, 3}, "parallel": {parallel, 1}, "read-only": {readOnly, 1}} {
		synctest.Test(t, func(t *testing.T) {
			var g Gate
			var all sync.WaitGroup
			start := time.Now()
			for range 3 {
				w := newWorld(c.tool)
				w.send = func(context.Context, json.RawMessage, func(Progress)) (json.RawMessage, error) {
					time.Sleep(time.Second)
					return json.RawMessage(okResult), nil
				}
				all.Go(func() { Run(t.Context(), call(), w, &g, w, w) })
			}
			all.Wait()
			if got := time.Since(start); got != time.Duration(c.seconds)*time.Second {
				t.Errorf("%s: took %v, want %d s", name, got, c.seconds)
			}
		})
	}
}

// A tool that stops being safe beside others while its call waits goes back
// into the queue, to run alone.
func TestRunGateAfterAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Gate
		first, err := g.Enter(t.Context(), "docs", Alone)
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(readOnly)
		tool := readOnly
		tool.Mode = elicit.ModeApprove
		w.tool = func() (Tool, bool) { return tool, true }
		var all sync.WaitGroup
		all.Go(func() { Run(t.Context(), call(), w, &g, w, w) })
		synctest.Wait()
		tool.Hints = protocol.Hints{}
		other := enter(t.Context(), &g, "docs", Shared)
		first()
		if !other.inside() || strings.Contains(w.happened(), "started") {
			t.Errorf("the call runs beside another: %s", w.happened())
		}
		other.leave()
		all.Wait()
		if !strings.HasSuffix(w.happened(), "completed completed omitted=false") {
			t.Errorf("happened\n%s", w.happened())
		}
	})
}

// What the configuration says about a call reaches the server and the model.
func TestRunPassesSettingsOn(t *testing.T) {
	tool := readOnly
	tool.SandboxState, tool.OutputTokenLimit = true, 30
	w, c := newWorld(tool), call()
	c.Arguments, c.TurnID, c.ProgressToken, c.SandboxState, c.Meta = nil, "u", "p", json.RawMessage(`{"s":1}`), json.RawMessage(`{"m":1.0}`)
	c.OutputTokenLimit = 1000
	w.send = func(context.Context, json.RawMessage, func(Progress)) (json.RawMessage, error) {
		return json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 2000) + `"}]}`), nil
	}
	o := w.run(t.Context(), c)
	if want := `send {"_meta":{"m":1.0,"callId":"c","threadId":"t","turnId":"u","progressToken":"p","codex/sandbox-state-meta":{"s":1}},"name":"write","arguments":{}}`; !slices.Contains(w.log, want) {
		t.Errorf("happened\n%s", w.happened())
	}
	if o.Output.Truncated == nil || len(o.Output.Items[1].Text) > 120 {
		t.Errorf("output %+v", o.Output)
	}
	if text, err := rawjson.Marshal(w.items[0]); err != nil || !strings.Contains(string(text), `"arguments":null`) {
		t.Errorf("item %s, %v", text, err)
	}
	tool.SandboxState, tool.OutputTokenLimit = false, 0
	w.tool = func() (Tool, bool) { return tool, true }
	if o := w.run(t.Context(), c); o.Output.Truncated != nil || strings.Contains(w.log[len(w.log)-2], "sandbox") {
		t.Errorf("output %+v, %s", o.Output.Truncated, w.happened())
	}
}
