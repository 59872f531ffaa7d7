package protocol

import "encoding/json"

// ApprovalPolicy says when a person is asked: a word of PolicyMode or, as an
// object, a GranularPolicy.
type ApprovalPolicy = OneOf[ApprovalPolicyShapes]

// ApprovalPolicyShapes lists the shapes of an ApprovalPolicy.
type ApprovalPolicyShapes struct{}

// TypeName returns "ApprovalPolicy".
func (ApprovalPolicyShapes) TypeName() string { return "ApprovalPolicy" }

// Alternatives lists the shapes.
func (ApprovalPolicyShapes) Alternatives() []any { return []any{PolicyMode(""), GranularPolicy{}} }

// PolicyMode is a plain approval policy.
type PolicyMode string

// The plain policies. PolicyUntrusted and PolicyOnFailure are aliases of
// PolicyOnRequest.
const (
	PolicyUntrusted PolicyMode = "untrusted"
	PolicyOnFailure PolicyMode = "on-failure"
	PolicyOnRequest PolicyMode = "on-request"
	PolicyNever     PolicyMode = "never"
)

// Values lists the words of a PolicyMode.
func (PolicyMode) Values() []string {
	return []string{"untrusted", "on-failure", "on-request", "never"}
}

// GranularPolicy asks by kind of question.
type GranularPolicy struct {
	Granular GranularRules `json:"granular"`
}

// GranularRules are the switches of a GranularPolicy. Only mcp_elicitations
// means something to the sidecar: false declines every question of a server.
type GranularRules struct {
	MCPElicitations    bool `json:"mcp_elicitations"`
	RequestPermissions bool `json:"request_permissions,omitzero"`
	Rules              bool `json:"rules"`
	SandboxApproval    bool `json:"sandbox_approval"`
	SkillApproval      bool `json:"skill_approval,omitzero"`
}

// SandboxMode says how far the agent is trusted. The sidecar sandboxes
// nothing: danger-full-access together with policy never runs tools unasked.
type SandboxMode string

// The sandbox modes.
const (
	SandboxReadOnly       SandboxMode = "read-only"
	SandboxWorkspaceWrite SandboxMode = "workspace-write"
	SandboxFullAccess     SandboxMode = "danger-full-access"
)

// Values lists the words of a SandboxMode.
func (SandboxMode) Values() []string {
	return []string{"read-only", "workspace-write", "danger-full-access"}
}

// SandboxPolicy is a SandboxMode in the shape of Codex's replies.
type SandboxPolicy struct {
	Type SandboxPolicyType `json:"type"`
}

// SandboxPolicyType is the word for a SandboxMode in replies.
type SandboxPolicyType string

// The sandbox modes in replies.
const (
	SandboxPolicyReadOnly       SandboxPolicyType = "readOnly"
	SandboxPolicyWorkspaceWrite SandboxPolicyType = "workspaceWrite"
	SandboxPolicyFullAccess     SandboxPolicyType = "dangerFullAccess"
)

// Values lists the words of a SandboxPolicyType.
func (SandboxPolicyType) Values() []string {
	return []string{"readOnly", "workspaceWrite", "dangerFullAccess"}
}

// Policy returns m in the shape of Codex's replies.
func (m SandboxMode) Policy() SandboxPolicy {
	switch m {
	case SandboxReadOnly:
		return SandboxPolicy{SandboxPolicyReadOnly}
	case SandboxFullAccess:
		return SandboxPolicy{SandboxPolicyFullAccess}
	}
	return SandboxPolicy{SandboxPolicyWorkspaceWrite}
}

// ServerSelection narrows a thread to some of the configured servers. An
// absent include means all; exclude wins.
type ServerSelection struct {
	Include []ServerName `json:"include,omitempty"`
	Exclude []ServerName `json:"exclude,omitempty"`
}

// ModelParam says which model reads the tools: its name alone, as Codex
// clients send it, or a ModelSettings.
type ModelParam = OneOf[ModelParamShapes]

// ModelParamShapes lists the shapes of a ModelParam.
type ModelParamShapes struct{}

// TypeName returns "ModelParam".
func (ModelParamShapes) TypeName() string { return "ModelParam" }

// Alternatives lists the shapes.
func (ModelParamShapes) Alternatives() []any { return []any{"", ModelSettings{}} }

// SpecFormat is a provider's dialect for tool specifications.
type SpecFormat string

// The dialects.
const (
	FormatOpenAIResponses SpecFormat = "openai-responses"
	FormatOpenAIChat      SpecFormat = "openai-chat"
	FormatAnthropic       SpecFormat = "anthropic"
	FormatGemini          SpecFormat = "gemini"
	FormatMCP             SpecFormat = "mcp"
)

// Values lists the words of a SpecFormat.
func (SpecFormat) Values() []string {
	return []string{"openai-responses", "openai-chat", "anthropic", "gemini", "mcp"}
}

// ModelSettings describes the model that reads the tools.
type ModelSettings struct {
	// Name is echoed in replies.
	Name string `json:"name,omitzero"`
	// Format is the dialect of tool specifications; absent means
	// openai-responses.
	Format SpecFormat `json:"format,omitzero"`
	// Namespaces: the model knows namespaces of tools (openai-responses).
	// Absent means yes for that format; the others have none.
	Namespaces *bool `json:"namespaces,omitzero"`
	// ImageInput: images in results are handed on; else they become a sentence.
	ImageInput bool `json:"imageInput,omitzero"`
	// AudioInput: the same for audio.
	AudioInput bool `json:"audioInput,omitzero"`
	// MaxTools bounds the direct tools of a binding; 0 means no bound.
	MaxTools int64 `json:"maxTools,omitzero"`
	// NameMaxLength bounds a callable name in bytes, namespace and separator
	// included; 0 means the dialect's own limit (64 or 128).
	NameMaxLength int64 `json:"nameMaxLength,omitzero"`
	// OutputTokenLimit cuts what the model reads of a result; 0 means 10,000.
	OutputTokenLimit int64 `json:"outputTokenLimit,omitzero"`
}

// ThreadStartParams opens a thread.
type ThreadStartParams struct {
	// Cwd is the thread's working folder, absolute; absent means the first
	// workspace folder, else the sidecar's own.
	Cwd            string         `json:"cwd,omitzero"`
	WorkspaceRoots []string       `json:"workspaceRoots,omitzero"`
	ApprovalPolicy ApprovalPolicy `json:"approvalPolicy,omitzero"`
	Sandbox        SandboxMode    `json:"sandbox,omitzero"`
	// Config is a layer over everything else: an object with the keys of
	// config.toml. It may bring its own mcp_servers.
	Config        json.RawMessage  `json:"config,omitzero"`
	Servers       *ServerSelection `json:"servers,omitzero"`
	Model         ModelParam       `json:"model,omitzero"`
	ModelProvider string           `json:"modelProvider,omitzero"`
	Ephemeral     bool             `json:"ephemeral,omitzero"`
	// WaitForServersMs holds the reply until every server is ready or failed,
	// at most so long. Required servers are waited for in any case.
	WaitForServersMs int64 `json:"waitForServersMs,omitzero"`
}

// Thread describes an open thread in Codex's shape. Fields of turns and
// history are empty: the sidecar keeps none.
type Thread struct {
	ID            ThreadID     `json:"id"`
	SessionID     string       `json:"sessionId"`
	ProjectID     *string      `json:"projectId"`
	Preview       string       `json:"preview"`
	Ephemeral     bool         `json:"ephemeral"`
	ModelProvider string       `json:"modelProvider"`
	Model         string       `json:"model,omitzero"`
	CreatedAt     int64        `json:"createdAt"` // seconds since 1970
	UpdatedAt     int64        `json:"updatedAt"` // seconds since 1970
	Status        ThreadStatus `json:"status"`
	Cwd           string       `json:"cwd"`
	CLIVersion    string       `json:"cliVersion"`
	Source        ThreadSource `json:"source"`
	Turns         []ThreadTurn `json:"turns"`
	// Bindings counts the bindings that are kept.
	Bindings int64 `json:"bindings"`
	// CallsInFlight counts the tool calls that are running.
	CallsInFlight int64 `json:"callsInFlight"`
}

// ThreadTurn is Codex's; the sidecar keeps no turns, so lists of them are
// empty.
type ThreadTurn struct {
	ID string `json:"id"`
}

// ThreadSource says who opened a thread.
type ThreadSource string

// SourceAppServer is every thread's: an editor opened it.
const SourceAppServer ThreadSource = "appServer"

// Values lists the words of a ThreadSource.
func (ThreadSource) Values() []string { return []string{"appServer"} }

// ThreadStatus says what a thread is doing.
type ThreadStatus struct {
	Type ThreadStatusType `json:"type"`
	// ActiveFlags is there when type is active.
	ActiveFlags []ThreadActiveFlag `json:"activeFlags,omitzero"`
}

// ThreadStatusType is idle, or active while a call runs.
type ThreadStatusType string

// The thread states.
const (
	ThreadIdle   ThreadStatusType = "idle"
	ThreadActive ThreadStatusType = "active"
)

// Values lists the words of a ThreadStatusType.
func (ThreadStatusType) Values() []string { return []string{"idle", "active"} }

// ThreadActiveFlag says what an active thread waits for.
type ThreadActiveFlag string

// What an active thread may wait for.
const (
	WaitingOnApproval  ThreadActiveFlag = "waitingOnApproval"
	WaitingOnUserInput ThreadActiveFlag = "waitingOnUserInput"
)

// Values lists the words of a ThreadActiveFlag.
func (ThreadActiveFlag) Values() []string {
	return []string{"waitingOnApproval", "waitingOnUserInput"}
}

// StartupFailure is a server that did not start.
type StartupFailure struct {
	Name  ServerName `json:"name"`
	Kind  Kind       `json:"kind"`
	Error string     `json:"error"`
}

// Startup says how far a thread's servers are.
type Startup struct {
	Ready   []ServerName     `json:"ready"`
	Pending []ServerName     `json:"pending"`
	Failed  []StartupFailure `json:"failed"`
}

// ThreadStartResult describes the opened thread.
type ThreadStartResult struct {
	Thread            Thread            `json:"thread"`
	Model             string            `json:"model"`
	ModelProvider     string            `json:"modelProvider"`
	Cwd               string            `json:"cwd"`
	ApprovalPolicy    ApprovalPolicy    `json:"approvalPolicy"`
	ApprovalsReviewer ApprovalsReviewer `json:"approvalsReviewer"`
	Sandbox           SandboxPolicy     `json:"sandbox"`
	Startup           Startup           `json:"startup"`
}

// ApprovalsReviewer says who answers approvals.
type ApprovalsReviewer string

// ReviewerUser is the person at the editor.
const ReviewerUser ApprovalsReviewer = "user"

// Values lists the words of an ApprovalsReviewer.
func (ApprovalsReviewer) Values() []string { return []string{"user"} }

// ThreadListParams has no members that matter here; Codex's filters are
// ignored.
type ThreadListParams struct{}

// ThreadListResult lists the open threads.
type ThreadListResult struct {
	Data       []Thread `json:"data"`
	NextCursor *string  `json:"nextCursor"`
}

// ThreadReadParams names a thread.
type ThreadReadParams struct {
	ThreadID ThreadID `json:"threadId"`
}

// ThreadReadResult is one thread.
type ThreadReadResult struct {
	Thread   Thread         `json:"thread"`
	Settings ThreadSettings `json:"settings"`
	Startup  Startup        `json:"startup"`
}

// ThreadSettings is what thread/settings/update may change.
type ThreadSettings struct {
	ApprovalPolicy ApprovalPolicy  `json:"approvalPolicy"`
	Sandbox        SandboxMode     `json:"sandbox"`
	Model          ModelSettings   `json:"model"`
	Servers        ServerSelection `json:"servers"`
}

// ThreadCloseParams names a thread.
type ThreadCloseParams struct {
	ThreadID ThreadID `json:"threadId"`
}

// ThreadCloseResult has no members.
type ThreadCloseResult struct{}

// ThreadSettingsUpdateParams changes a thread's settings for the next step.
// Absent members stay as they are; one that is there replaces the whole.
type ThreadSettingsUpdateParams struct {
	ThreadID       ThreadID         `json:"threadId"`
	ApprovalPolicy ApprovalPolicy   `json:"approvalPolicy,omitzero"`
	Sandbox        SandboxMode      `json:"sandbox,omitzero"`
	Model          ModelParam       `json:"model,omitzero"`
	Servers        *ServerSelection `json:"servers,omitzero"`
}

// ThreadSettingsUpdateResult is the settings now in force.
type ThreadSettingsUpdateResult struct {
	Settings ThreadSettings `json:"settings"`
}

// ThreadStartedNotification says that a thread was opened.
type ThreadStartedNotification struct {
	Thread Thread `json:"thread"`
}

// ThreadClosedNotification says that a thread was closed.
type ThreadClosedNotification struct {
	ThreadID ThreadID `json:"threadId"`
}

// ThreadStatusChangedNotification says what a thread is doing now.
type ThreadStatusChangedNotification struct {
	ThreadID ThreadID     `json:"threadId"`
	Status   ThreadStatus `json:"status"`
}
