package protocol

import "encoding/json"

// ThreadToolCallParams is a model's call of a bound tool.
type ThreadToolCallParams struct {
	ThreadID  ThreadID  `json:"threadId"`
	BindingID BindingID `json:"bindingId"`
	// Name is the tool's name; with Namespace where the dialect has them, else
	// the flat name. A flat name is understood in every dialect.
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitzero"`
	// Arguments is an object, or a string that holds one as JSON (as models
	// give it). Absent, null and "" mean none. An object reaches the server
	// byte for byte.
	Arguments json.RawMessage `json:"arguments,omitzero"`
	// CallID is the model's id of the call; absent, one is made.
	CallID CallID `json:"callId,omitzero"`
	TurnID TurnID `json:"turnId,omitzero"`
	// TimeoutMs tightens the configured time limit.
	TimeoutMs int64 `json:"timeoutMs,omitzero"`
	// Meta is added to the request's _meta.
	Meta json.RawMessage `json:"_meta,omitzero"`
}

// CallStatus says how a call ended.
type CallStatus string

// The ways a call ends.
const (
	CallCompleted CallStatus = "completed"
	CallFailed    CallStatus = "failed"
	CallDeclined  CallStatus = "declined"
	CallCancelled CallStatus = "cancelled"
)

// Values lists the words of a CallStatus.
func (CallStatus) Values() []string {
	return []string{"completed", "failed", "declined", "cancelled"}
}

// Reason says why a call did not complete, or completed with an error of the
// tool.
type Reason string

// The reasons. The list is closed; new words may come with a minor version.
const (
	// ReasonToolError: the tool itself reported an error (isError).
	ReasonToolError Reason = "toolError"
	// ReasonInvalidArguments: the arguments are not a JSON object; nothing was
	// sent.
	ReasonInvalidArguments Reason = "invalidArguments"
	// ReasonToolGone: the tool is no longer in the live catalogue; nothing was
	// sent.
	ReasonToolGone Reason = "toolGone"
	// ReasonServerFailed: the server is not there.
	ReasonServerFailed Reason = "serverFailed"
	// ReasonUpstreamError: the server answered with a protocol error.
	ReasonUpstreamError Reason = "upstreamError"
	// ReasonTimeout: the time limit ran out; the server was told.
	ReasonTimeout Reason = "timeout"
	// ReasonResultTooLarge: the result is over the limit for one message.
	ReasonResultTooLarge Reason = "resultTooLarge"
	// ReasonAmbiguousDelivery: the connection was lost while the call was
	// under way; it may or may not have taken effect.
	ReasonAmbiguousDelivery Reason = "ambiguousDelivery"
	// ReasonUserDeclined: a person said no.
	ReasonUserDeclined Reason = "userDeclined"
	// ReasonUserCancelled: a person dismissed the question, or the answer was
	// unclear.
	ReasonUserCancelled Reason = "userCancelled"
	// ReasonPolicyNever: an approval is needed and the policy never asks.
	ReasonPolicyNever Reason = "policyNever"
	// ReasonClientUnsupported: an approval is needed and the editor can't ask.
	ReasonClientUnsupported Reason = "clientUnsupported"
	// ReasonRuleDenied: a rule of the configuration (approval_rules) forbids
	// it.
	ReasonRuleDenied Reason = "ruleDenied"
	// ReasonCancelled: the editor cancelled the request.
	ReasonCancelled Reason = "cancelled"
	// ReasonThreadClosed: the thread was closed while the call ran.
	ReasonThreadClosed Reason = "threadClosed"
)

// Values lists the words of a Reason.
func (Reason) Values() []string {
	return []string{"toolError", "invalidArguments", "toolGone", "serverFailed", "upstreamError", "timeout",
		"resultTooLarge", "ambiguousDelivery", "userDeclined", "userCancelled", "policyNever", "clientUnsupported",
		"ruleDenied", "cancelled", "threadClosed"}
}

// ApprovalDecision says whether a call was let through.
type ApprovalDecision string

// The decisions.
const (
	ApprovalAllowed  ApprovalDecision = "allowed"
	ApprovalDeclined ApprovalDecision = "declined"
	// ApprovalNone: the call ended before the question came up.
	ApprovalNone ApprovalDecision = "none"
)

// Values lists the words of an ApprovalDecision.
func (ApprovalDecision) Values() []string { return []string{"allowed", "declined", "none"} }

// ApprovalSource says who decided.
type ApprovalSource string

// Who may decide.
const (
	// SourceMode: the tool's approval mode is approve.
	SourceMode ApprovalSource = "mode"
	// SourcePolicy: the thread's approval policy.
	SourcePolicy ApprovalSource = "policy"
	// SourceAnnotations: the mode and the tool's annotations.
	SourceAnnotations ApprovalSource = "annotations"
	// SourcePerson: a person answered.
	SourcePerson ApprovalSource = "person"
	// SourceMemory: a person allowed it before, for longer than one call.
	SourceMemory ApprovalSource = "memory"
	// SourceRule: a rule of the configuration (approval_rules).
	SourceRule ApprovalSource = "rule"
	// SourceCapability: the editor can't ask.
	SourceCapability ApprovalSource = "capability"
)

// Values lists the words of an ApprovalSource.
func (ApprovalSource) Values() []string {
	return []string{"mode", "policy", "annotations", "person", "memory", "rule", "capability"}
}

// Approval says what was decided about a call, and by whom.
type Approval struct {
	Decision ApprovalDecision `json:"decision"`
	Source   ApprovalSource   `json:"source,omitzero"`
}

// OutputType is the type of an OutputItem.
type OutputType string

// The types of output items.
const (
	OutputText  OutputType = "text"
	OutputImage OutputType = "image"
	OutputAudio OutputType = "audio"
)

// Values lists the words of an OutputType.
func (OutputType) Values() []string { return []string{"text", "image", "audio"} }

// OutputItem is a piece of what the model reads.
type OutputItem struct {
	Type OutputType `json:"type"`
	Text string     `json:"text,omitzero"`
	// Data is base64.
	Data     string `json:"data,omitzero"`
	MIMEType string `json:"mimeType,omitzero"`
}

// OutputTruncation says how much the model does not see.
type OutputTruncation struct {
	OmittedBytes  int64 `json:"omittedBytes"`
	OmittedTokens int64 `json:"omittedTokens"` // approximate
}

// Output is what the model reads of a result.
type Output struct {
	Items     []OutputItem      `json:"items"`
	Truncated *OutputTruncation `json:"truncated,omitzero"`
}

// ThreadToolCallResult is how a model's call ended.
type ThreadToolCallResult struct {
	CallID CallID     `json:"callId"`
	Status CallStatus `json:"status"`
	Reason Reason     `json:"reason,omitzero"`
	Server ServerName `json:"server"`
	Tool   ToolName   `json:"tool"`
	// Result is the server's own result, byte for byte. Absent when there was
	// none.
	Result   json.RawMessage `json:"result,omitzero"`
	Output   Output          `json:"output"`
	Approval Approval        `json:"approval"`
	// DurationMs is the time of the call itself, without waiting for a person.
	DurationMs int64 `json:"durationMs"`
}

// ServerToolCallParams is a person's call by raw names.
type ServerToolCallParams struct {
	ThreadID  ThreadID        `json:"threadId"`
	Server    ServerName      `json:"server"`
	Tool      ToolName        `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitzero"`
	Meta      json.RawMessage `json:"_meta,omitzero"`
}

// ServerToolCallResult is the server's result, byte for byte.
type ServerToolCallResult = OneOf[ServerToolCallResultShapes]

// ServerToolCallResultShapes lists the shapes of a ServerToolCallResult.
type ServerToolCallResultShapes struct{}

// TypeName returns "ServerToolCallResult".
func (ServerToolCallResultShapes) TypeName() string { return "ServerToolCallResult" }

// Alternatives lists the shapes.
func (ServerToolCallResultShapes) Alternatives() []any { return []any{CallToolResult{}} }

// CallToolResult is MCP's result of tools/call.
type CallToolResult struct {
	Content           []json.RawMessage `json:"content"`
	StructuredContent json.RawMessage   `json:"structuredContent,omitzero"`
	IsError           bool              `json:"isError,omitzero"`
	Meta              json.RawMessage   `json:"_meta,omitzero"`
}

// ItemType is the type of an Item.
type ItemType string

// ItemMCPToolCall is a call of a tool of an MCP server.
const ItemMCPToolCall ItemType = "mcpToolCall"

// Values lists the words of an ItemType.
func (ItemType) Values() []string { return []string{"mcpToolCall"} }

// ItemStatus is the state of an Item.
type ItemStatus string

// The item states.
const (
	ItemInProgress ItemStatus = "inProgress"
	ItemDone       ItemStatus = "completed"
	ItemFailed     ItemStatus = "failed"
)

// Values lists the words of an ItemStatus.
func (ItemStatus) Values() []string { return []string{"inProgress", "completed", "failed"} }

// ItemError is why an item failed.
type ItemError struct {
	Message string `json:"message"`
}

// Item is a tool call as editors show it, in Codex's shape.
type Item struct {
	Type      ItemType        `json:"type"`
	ID        CallID          `json:"id"`
	Server    ServerName      `json:"server"`
	Tool      ToolName        `json:"tool"`
	Status    ItemStatus      `json:"status"`
	Arguments json.RawMessage `json:"arguments"`
	// Result is there when the server gave one.
	Result       json.RawMessage `json:"result,omitzero"`
	Error        *ItemError      `json:"error,omitzero"`
	DurationMs   *int64          `json:"durationMs,omitzero"`
	ReadOnlyHint *bool           `json:"readOnlyHint,omitzero"`
	// ResourceURI is the tool's MCP Apps page.
	ResourceURI string `json:"mcpAppResourceUri,omitzero"`
}

// ItemStartedNotification says that a call began. Its approval comes after.
type ItemStartedNotification struct {
	ThreadID    ThreadID `json:"threadId"`
	TurnID      TurnID   `json:"turnId"`
	Item        Item     `json:"item"`
	StartedAtMs int64    `json:"startedAtMs"`
}

// ItemProgressNotification is a server's progress report on a call.
type ItemProgressNotification struct {
	ThreadID ThreadID `json:"threadId"`
	TurnID   TurnID   `json:"turnId"`
	ItemID   CallID   `json:"itemId"`
	Message  string   `json:"message"`
	Progress float64  `json:"progress"`
	Total    *float64 `json:"total,omitzero"`
}

// ItemCompletedNotification says that a call ended. It always follows
// item/started and comes before the reply. A result above 1 MiB is left out
// here (resultOmitted); the reply has it.
type ItemCompletedNotification struct {
	ThreadID      ThreadID `json:"threadId"`
	TurnID        TurnID   `json:"turnId"`
	Item          Item     `json:"item"`
	ResultOmitted bool     `json:"resultOmitted,omitzero"`
	CompletedAtMs int64    `json:"completedAtMs"`
}
