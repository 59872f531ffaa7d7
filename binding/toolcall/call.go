package toolcall

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A Call is one call of a tool, by its raw names.
type Call struct {
	ThreadID protocol.ThreadID
	CallID   protocol.CallID
	TurnID   protocol.TurnID // may be empty
	Server   protocol.ServerName
	Tool     protocol.ToolName
	// Arguments are as the model or the editor gave them; see ParseArguments.
	Arguments json.RawMessage
	// Meta is added to the request's _meta; see Params.
	Meta json.RawMessage
	// Frozen is what the model was shown; nil if it was shown nothing, and
	// then no change is seen.
	Frozen *Definition
	// Timeout tightens the tool's own limit; 0 leaves it.
	Timeout time.Duration
	// ProgressToken asks the server for progress; "" does not.
	ProgressToken string
	// SandboxState goes to servers that declared that they want it.
	SandboxState json.RawMessage
	// Policy is the thread's, as of now.
	Policy elicit.Policy
	// Rules are the person's own; nil has none.
	Rules *elicit.Rules
	// Templates word the questions for approval.
	Templates elicit.Templates
	// CanAsk reports whether the editor shows approvals. It is asked at the
	// moment of need; nil is no.
	CanAsk func() bool
	// Direct: a person made the call, and reads the server's own result. No
	// output for a model is made.
	Direct bool
	// ImageInput, AudioInput: what the model takes.
	ImageInput, AudioInput bool
	// OutputTokenLimit is the thread's; 0 is DefaultOutputTokens. A tool's own
	// comes first.
	OutputTokenLimit int64
}

// A Definition is what a tool claims to be.
type Definition struct {
	// Hash identifies it; see protocol.BoundTool.
	Hash string
	// Read returns what was hashed, in canonical JSON, for
	// binding.DescribeChange; nil if that is not known any more. It is made
	// when it is needed, which is seldom.
	Read func() json.RawMessage
}

// text is what was hashed; nil if it is not known.
func (d Definition) text() json.RawMessage {
	if d.Read == nil {
		return nil
	}
	return d.Read()
}

// A Tool is what the live catalogue and configuration say about a tool.
type Tool struct {
	Title, Description string
	Hints              protocol.Hints
	Definition         Definition
	// Parallel: the configuration lets calls of the server run beside others.
	// So do calls of read-only tools.
	Parallel bool
	// Mode is the approval mode; DefaultMode is the server's.
	Mode, DefaultMode elicit.ApprovalMode
	// Timeout is the limit of a call; 0 is DefaultTimeout.
	Timeout time.Duration
	// OutputTokenLimit is the tool's own; 0 is the thread's.
	OutputTokenLimit int64
	// SandboxState: the server declared that it wants the sandbox state.
	SandboxState bool
	// ResourceURI is the tool's MCP Apps page.
	ResourceURI string
}

// Progress is a server's report on a call.
type Progress struct {
	Message  string
	Progress float64
	Total    *float64
}

// A Target is a tool on its live server.
type Target interface {
	// Await returns when the server is ready, or an error that says why it
	// can't be. It has a limit of its own.
	Await(ctx context.Context) error
	// Tool returns the tool as it is now; false if it is gone.
	Tool() (Tool, bool)
	// Send sends tools/call with exactly these params and returns the result's
	// bytes. If it has to send again, and the tool is not what as says any more,
	// it returns ErrToolChanged instead. When ctx ends it tells the server and
	// returns soon, with any error. progress may be called from any goroutine; after Send returned it
	// does nothing. An error whose text may be told is a *protocol.Error.
	Send(ctx context.Context, params json.RawMessage, as Definition, progress func(Progress)) (json.RawMessage, error)
}

// Events hears what an editor is told about a call. Its methods must return at
// once: progress is reported under a lock that keeps it before the end.
type Events interface {
	// Started: the call is an item from here on.
	Started(item protocol.Item, at time.Time)
	Progress(id protocol.CallID, p Progress)
	// Completed follows Started exactly once. resultOmitted: there is a
	// result, but the item has none because it is too large for an event.
	Completed(item protocol.Item, resultOmitted bool, at time.Time)
}

// A Person is who is asked, with what they said before.
type Person interface {
	// Ask puts a question. It returns when there is an answer, or an error when
	// there will be none: a *protocol.Error of kind clientUnsupported if the
	// editor does not know such questions, of another kind if it answered with
	// an error, and any other error if it is gone.
	Ask(ctx context.Context, q elicit.Question) (elicit.Answer, error)
	// Recall returns what they allowed of the call's tool, which is t now.
	Recall(t Tool) Memory
	// Remember keeps that they allowed t, before the call is sent. What can't
	// be kept for good is kept for the session, and they are told.
	Remember(ctx context.Context, t Tool, scope protocol.ApprovalScope)
}

// Memory is what a person allowed of a tool before.
type Memory struct {
	Standing elicit.Memory
	// ModeVoid: the tool's own mode does not count; see elicit.ApprovalRequest.
	ModeVoid bool
	// Allowed is what they allowed, if Standing is outdated.
	Allowed Definition
	// ServerChanged: it is outdated because the server is another one now, by
	// what its entry in the configuration says.
	ServerChanged bool
	// Unreadable: it counts as outdated because the records can't be read.
	Unreadable bool
	// Lasting: an approval can be kept for good.
	Lasting bool
}

// ErrThreadClosed is the cause to cancel a call's context with when its thread
// is closed. Any other cause counts as the editor's own cancelling.
var ErrThreadClosed = errors.New("toolcall: the thread was closed")

// ErrToolChanged says that a call was not sent (again), because the tool is not
// what was approved any more.
var ErrToolChanged = errors.New("toolcall: the tool changed")

// An Outcome is how a call ended.
type Outcome struct {
	Status protocol.CallStatus
	Reason protocol.Reason
	// Result is the server's own result, byte for byte; nil if there was none.
	Result json.RawMessage
	// Output is what the model reads: of the result, or a sentence saying why
	// there is none. Of a direct call it is empty.
	Output   protocol.Output
	Approval protocol.Approval
	// Duration is the time of the call itself, without waiting for a person;
	// ApprovalWait is how long its approval took.
	Duration, ApprovalWait time.Duration
	// Text says why there is no result; "" if there is one.
	Text string
	// Err is what a direct call is answered with instead of a result, nil if
	// there is one. A call of a model is answered with the outcome itself,
	// unless it was cancelled before it started.
	Err *protocol.Error
	// Started: the call became an item, and its events were sent.
	Started bool
}
