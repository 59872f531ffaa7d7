package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-sidecar/mcp-sidecar/binding"
	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// maxApprovals bounds how often one call is put to a person because its tool
// changed meanwhile.
const maxApprovals = 3

// Run carries a call out and says how it ended. It returns when the call is
// over, and blocks until then; ctx cancels it, with ErrThreadClosed as the
// cause when the thread is closed. A panic of a port leaves Run, after the
// item's end was told and the gate left.
func Run(ctx context.Context, c Call, target Target, gate *Gate, person Person, events Events) Outcome {
	r := run{Call: c, shown: c.Frozen, target: target, person: person, events: events}
	arguments, err := ParseArguments(c.Arguments)
	if err != nil {
		return r.end(c.invalidArguments(err))
	}
	r.Arguments = arguments
	if err := target.Await(ctx); err != nil {
		if ctx.Err() != nil {
			return r.end(c.cancelled(context.Cause(ctx)))
		}
		r.logUnknown(ctx, "waiting for the server", err)
		return r.item(Tool{}, func() Outcome { return c.failed(err) })
	}
	tool, ok := target.Tool()
	if !ok {
		return r.item(Tool{}, c.gone)
	}
	for {
		passage := passageOf(tool)
		leave, err := gate.Enter(ctx, c.Server, passage)
		if err != nil {
			return r.end(c.cancelled(err))
		}
		// The catalogue may have changed while the call stood in the queue.
		if tool, ok = target.Tool(); ok && passageOf(tool) != passage {
			leave()
			continue
		}
		defer leave()
		break
	}
	if !ok {
		return r.item(Tool{}, c.gone)
	}
	return r.item(tool, func() Outcome { return r.carryOut(ctx, tool) })
}

// passageOf says how calls of a tool pass the gate (spec section 7).
func passageOf(t Tool) Passage {
	if t.Parallel || t.Hints.ReadOnly != nil && *t.Hints.ReadOnly {
		return Shared
	}
	return Alone
}

// A run is a call on its way.
type run struct {
	Call // Arguments are parsed
	// shown is the definition that the model, or else the person who is asked,
	// was shown; nil if none was.
	shown  *Definition
	target Target
	person Person
	events Events

	// approval and approvalWait are set by approve, duration by send.
	approval               protocol.Approval
	approvalWait, duration time.Duration
	parts                  toolResult // of the outcome's result, set by completed

	mu   sync.Mutex // guards over, and keeps progress before the item's end
	over bool
}

// item tells that the call begins, lets work carry it out and tells that it
// ended, whatever happens in between.
func (r *run) item(tool Tool, work func() Outcome) Outcome {
	r.events.Started(r.itemOf(tool, protocol.ItemInProgress), time.Now())
	// What is told if work panics.
	o := ended(protocol.CallFailed, "", "The call failed because of a fault of the sidecar.", nil)
	defer func() { r.complete(tool, o) }()
	o = work()
	o = r.end(o)
	o.Started = true
	return o
}

// end fills in what the run knows of its outcome.
func (r *run) end(o Outcome) Outcome {
	if r.approval.Decision != "" {
		o.Approval = r.approval
	}
	o.Duration, o.ApprovalWait = r.duration, r.approvalWait
	if r.Direct {
		o.Output = protocol.Output{}
	}
	return o
}

// carryOut is the part of a call that an editor sees as an item.
func (r *run) carryOut(ctx context.Context, tool Tool) Outcome {
	for range maxApprovals {
		o, consent, ok := r.approve(ctx, tool)
		if !ok {
			return o
		}
		shown := tool.Definition
		if consent.Allowed {
			// A person takes time. What runs must be what they said yes to.
			now, ok := r.target.Tool()
			if !ok {
				return r.gone()
			}
			if tool = now; now.Definition.Hash != shown.Hash {
				r.notice(shown)
				continue
			}
			if consent.Scope != protocol.ApprovalOnce {
				r.person.Remember(ctx, tool, consent.Scope)
			}
		}
		o, changed := r.send(ctx, tool)
		if !changed {
			return o
		}
		if tool, ok = r.target.Tool(); !ok {
			return r.gone()
		}
		r.notice(shown)
	}
	r.approval = protocol.Approval{} // of what it was before
	return r.keepsChanging()
}

// notice keeps what was agreed to first, for saying what became of it.
func (r *run) notice(d Definition) {
	if r.shown == nil {
		r.shown = &d
	}
}

// approve decides whether the call may run, asking if it must. consent is what
// a person said who was asked; if it reports false for ok, o is how the call
// ends.
func (r *run) approve(ctx context.Context, tool Tool) (o Outcome, consent elicit.Consent, ok bool) {
	memory := r.person.Recall(tool)
	request := elicit.ApprovalRequest{
		Server: r.Server, Tool: r.Tool, Mode: tool.Mode, DefaultMode: tool.DefaultMode, Hints: tool.Hints, Policy: r.Policy,
		Rule: r.Rules.Call(r.Server, r.Tool, r.Arguments), CanAsk: r.CanAsk != nil && r.CanAsk(),
		Memory: memory.Standing, ModeVoid: memory.ModeVoid, ShownAnother: r.shown != nil && r.shown.Hash != tool.Definition.Hash,
	}
	v := elicit.Approve(request)
	switch v.Decision {
	case elicit.Allow:
		r.approval = protocol.Approval{Decision: protocol.ApprovalAllowed, Source: v.Source}
		return Outcome{}, consent, true
	case elicit.Decline:
		return r.declined(v.Reason, v.Source, v.Text), consent, false
	case elicit.Ask:
	}
	r.approval = protocol.Approval{}
	question, offer := r.question(tool, request, memory, v.Text)
	start := time.Now()
	answer, err := r.person.Ask(ctx, question)
	r.approvalWait += time.Since(start)
	if ctx.Err() != nil {
		return r.cancelled(context.Cause(ctx)), consent, false
	}
	if e := (*protocol.Error)(nil); errors.As(err, &e) {
		if e.Data.Kind == protocol.KindClientUnsupported {
			return r.declined(protocol.ReasonClientUnsupported, protocol.SourceCapability, elicit.UnsupportedText(r.Server, r.Tool)), consent, false
		}
		answer = elicit.Answer{Action: protocol.AnswerCancel} // an error is no approval
	} else if err != nil { // the editor is gone: nobody said anything
		return r.cancelled(err), consent, false
	}
	consent = elicit.ReadApproval(answer, offer)
	if !consent.Allowed {
		text := "The user declined the call of " + r.tool() + "."
		switch {
		case consent.Unclear || err != nil:
			text = "The question whether " + r.tool() + " may run was not answered clearly; it did not run."
		case consent.Reason != protocol.ReasonUserDeclined:
			text = "The user dismissed the question whether " + r.tool() + " may run; it did not run."
		}
		return r.declined(consent.Reason, protocol.SourcePerson, text), consent, false
	}
	r.approval = protocol.Approval{Decision: protocol.ApprovalAllowed, Source: protocol.SourcePerson}
	return Outcome{}, consent, true
}

// question words the question whether the call may run, and returns for how
// long beyond the call the person can allow it.
func (r *run) question(tool Tool, request elicit.ApprovalRequest, memory Memory, why string) (elicit.Question, []protocol.ApprovalScope) {
	c := elicit.ToolCall{
		Server: r.Server, Tool: r.Tool, Title: tool.Title, Description: tool.Description, Arguments: r.Arguments,
		CallID: r.CallID, TurnID: r.TurnID, Hints: tool.Hints, Reason: why,
		DefinitionChanged: request.Changed(), Offer: elicit.Offered(request, memory.Lasting),
	}
	c.Template, _ = r.Templates.Find(r.Server, r.Tool, tool.Title)
	if c.DefinitionChanged {
		// What the person allowed weighs more than what the model was shown.
		before := memory.Allowed
		if before.Hash == "" && r.shown != nil {
			before = *r.shown
		}
		if memory.ServerChanged {
			c.Changes = []string{"the server's entry in the configuration changed"}
		}
		if memory.Unreadable {
			c.Changes = []string{"what was allowed for good can't be read, so this can't be compared"}
		} else if before.Hash != "" && before.Hash != tool.Definition.Hash {
			c.Changes = append(c.Changes, binding.DescribeChange(before.text(), tool.Definition.text())...)
		}
		c.Reason += " (" + strings.Join(c.Changes, "; ") + ")"
	}
	return elicit.ApprovalForm(c), c.Offer
}

// send sends the call under its deadline and shapes the result. changed: it was
// not sent, since the tool is another one now.
func (r *run) send(ctx context.Context, tool Tool) (o Outcome, changed bool) {
	if ctx.Err() != nil {
		return r.cancelled(context.Cause(ctx)), false
	}
	request := Request{
		Tool: r.Tool, Arguments: r.Arguments, Meta: r.Meta,
		ThreadID: r.ThreadID, CallID: r.CallID, TurnID: r.TurnID, ProgressToken: r.ProgressToken,
	}
	if tool.SandboxState {
		request.SandboxState = r.SandboxState
	}
	limited, deadline := NewDeadline(ctx, limitOf(tool, r.Call))
	defer deadline.Stop()
	result, err := r.underDeadline(limited, deadline, Params(request), tool.Definition)
	if err != nil {
		if o, stopped := r.stopped(ctx, limited); stopped {
			return o, false
		}
		if errors.Is(err, ErrToolChanged) {
			return Outcome{}, true
		}
		r.logUnknown(ctx, "calling the tool", err)
		return r.failed(err), false
	}
	return r.completed(result, tool), false
}

// underDeadline is Target.Send with its time taken and its progress heard.
// Both end with it, also when it panics.
func (r *run) underDeadline(ctx context.Context, deadline *Deadline, params json.RawMessage, as Definition) (json.RawMessage, error) {
	start := time.Now()
	defer func() {
		r.duration = time.Since(start) - deadline.Paused()
		r.silence()
	}()
	return r.target.Send(ctx, params, as, func(p Progress) {
		deadline.Progress()
		r.progress(p)
	})
}

// limitOf returns the time limit: a caller can only tighten the tool's.
func limitOf(tool Tool, c Call) time.Duration {
	limit := tool.Timeout
	if limit <= 0 {
		limit = DefaultTimeout
	}
	if c.Timeout > 0 {
		limit = min(limit, c.Timeout)
	}
	return limit
}

// completed is the outcome of a call that has a result.
func (r *run) completed(result json.RawMessage, tool Tool) Outcome {
	parts, err := readResult(result)
	if err != nil {
		return r.failed(protocol.Errorf(protocol.KindProtocolError, "%v", err))
	}
	r.parts = parts
	o := Outcome{Status: protocol.CallCompleted, Result: result}
	if parts.isError {
		o.Reason = protocol.ReasonToolError
	}
	if r.Direct {
		return o
	}
	limit := tool.OutputTokenLimit
	if limit <= 0 {
		limit = r.OutputTokenLimit
	}
	o.Output = parts.shape(ShapeOptions{
		Server: r.Server, Tool: r.Tool, ImageInput: r.ImageInput, AudioInput: r.AudioInput,
		TokenLimit: limit, WallTime: r.duration,
	})
	return o
}

// progress reports unless the call is over.
func (r *run) progress(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.events.Progress(r.CallID, p)
	}
}

// silence ends progress.
func (r *run) silence() {
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
}

// logUnknown keeps the text of an error that nobody is told.
func (r *run) logUnknown(ctx context.Context, doing string, err error) {
	if e := (*protocol.Error)(nil); !errors.As(err, &e) {
		zerolog.Ctx(ctx).Warn().Err(err).Str("server", string(r.Server)).Str("call", string(r.CallID)).Msg("tool call: " + doing)
	}
}
