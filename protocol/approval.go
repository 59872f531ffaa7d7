package protocol

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
