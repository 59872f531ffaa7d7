package protocol

import "encoding/json"

// ApprovalScope is for how long a person allows a tool.
type ApprovalScope string

// The scopes, as _meta.persist of an approval's answer names them.
const (
	// ApprovalOnce: for the call that was asked about. It is never remembered.
	ApprovalOnce ApprovalScope = "once"
	// ApprovalSession: for the life of the thread.
	ApprovalSession ApprovalScope = "session"
	// ApprovalAlways: for good. It is written into the configuration file that
	// defines the server, as approval_mode of the tool.
	ApprovalAlways ApprovalScope = "always"
)

// Values lists the words of an ApprovalScope.
func (ApprovalScope) Values() []string { return []string{"once", "session", "always"} }

// ApprovalID names a remembered approval.
type ApprovalID string

// RememberedApproval is what a person allowed for longer than one call. It ends
// when the server's entry in the configuration or the tool's definition changes.
type RememberedApproval struct {
	ID    ApprovalID    `json:"id"`
	Scope ApprovalScope `json:"scope"`
	// ThreadID is the thread of an approval for a session.
	ThreadID ThreadID   `json:"threadId,omitzero"`
	Server   ServerName `json:"server"`
	Tool     ToolName   `json:"tool"`
	// DefinitionHash is the definition that was allowed; see BoundTool.
	DefinitionHash string `json:"definitionHash"`
	// Path is the file that an approval for good is written in.
	Path string `json:"path,omitzero"`
	// ApprovedAtMs is when, in milliseconds since 1970.
	ApprovedAtMs int64 `json:"approvedAtMs"`
}

// ApprovalListParams narrows the list. Absent members leave it.
type ApprovalListParams struct {
	// ThreadID leaves out what other threads remember; approvals for good are
	// listed always.
	ThreadID ThreadID   `json:"threadId,omitzero"`
	Server   ServerName `json:"server,omitzero"`
}

// ApprovalListResult lists what is remembered: approvals of sessions in the
// order of threads and of their giving, then those for good.
type ApprovalListResult struct {
	Approvals []RememberedApproval `json:"approvals"`
}

// ApprovalRevokeParams says what is taken back: one approval by its id, or all
// that fit the other members. Without any member nothing is, and that is an
// error.
type ApprovalRevokeParams struct {
	ID       ApprovalID `json:"id,omitzero"`
	ThreadID ThreadID   `json:"threadId,omitzero"`
	Server   ServerName `json:"server,omitzero"`
	Tool     ToolName   `json:"tool,omitzero"`
}

// ApprovalRevokeResult lists what was taken back.
type ApprovalRevokeResult struct {
	Revoked []RememberedApproval `json:"revoked"`
}

// ApprovalMeta is the _meta of the question whether a tool may run. The names
// are Codex's.
type ApprovalMeta struct {
	// Kind is "mcp_tool_call"; a server's question never has it.
	Kind ApprovalKind `json:"codex_approval_kind"`
	// ToolName is the raw name.
	ToolName        ToolName `json:"tool_name"`
	ToolTitle       string   `json:"tool_title,omitzero"`
	ToolDescription string   `json:"tool_description,omitzero"`
	// ToolParams are the arguments, whole.
	ToolParams json.RawMessage `json:"tool_params"`
	// ToolParamsDisplay are those that matter most, at most 50, fit to be shown.
	ToolParamsDisplay []DisplayedParam `json:"tool_params_display,omitempty"`
	CallID            CallID           `json:"call_id"`
	Annotations       Hints            `json:"annotations"`
	// Reason says why a person is asked.
	Reason string `json:"reason"`
	// DefinitionChanged: the tool is not the one that was agreed to.
	DefinitionChanged bool `json:"definition_changed,omitzero"`
	// DefinitionChanges says in sentences what is different.
	DefinitionChanges []string `json:"definition_changes,omitempty"`
	// Persist lists for how long the tool can be allowed beyond this call.
	Persist []ApprovalScope `json:"persist,omitempty"`
}

// ApprovalKind marks an approval.
type ApprovalKind string

// ApprovalToolCall is the only kind there is.
const ApprovalToolCall ApprovalKind = "mcp_tool_call"

// Values lists the words of an ApprovalKind.
func (ApprovalKind) Values() []string { return []string{"mcp_tool_call"} }

// DisplayedParam is an argument as a person is shown it.
type DisplayedParam struct {
	Name string `json:"name"`
	// Value is at most 1 KiB; a longer one is a string that was cut.
	Value       json.RawMessage `json:"value"`
	DisplayName string          `json:"display_name"`
}

// ApprovalAnswerMeta is the _meta of the answer to an approval.
type ApprovalAnswerMeta struct {
	// Persist is one of those that the question offered; absent allows this call
	// only.
	Persist ApprovalScope `json:"persist,omitzero"`
}
