package protocol

import "encoding/json"

// ClientInfo names the editor or extension.
type ClientInfo struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitzero"`
	Version string `json:"version,omitzero"`
}

// WorkspaceFolder is a folder open in the editor. Its uri has the scheme file.
type WorkspaceFolder struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitzero"`
}

// ElicitationCapability says which questions the editor can show.
type ElicitationCapability struct {
	// Form: questions with fields.
	Form bool `json:"form,omitzero"`
	// URL: questions that send the person to a web page.
	URL bool `json:"url,omitzero"`
	// Delivery says how questions and approvals come; absent is request.
	Delivery Delivery `json:"delivery,omitzero"`
	// ApplyDefaults: fields that an answer leaves out get the form's defaults.
	ApplyDefaults bool `json:"applyDefaults,omitzero"`
}

// Delivery is the way in which a question comes to the editor.
type Delivery string

// The ways.
const (
	// DeliveryRequest: the request mcpServer/elicitation/request, whose result
	// is the answer.
	DeliveryRequest Delivery = "request"
	// DeliveryEvent: the notification mcpServer/elicitation/requested, which is
	// answered with the request mcpServer/elicitation/resolve.
	DeliveryEvent Delivery = "event"
)

// Values lists the words of a Delivery.
func (Delivery) Values() []string { return []string{"request", "event"} }

// MCPCapabilities says what the editor can do for MCP servers. What is absent
// is not asked: policy decides, and the reason says so.
type MCPCapabilities struct {
	// Approvals: the editor shows the question whether a tool may run.
	Approvals bool `json:"approvals,omitzero"`
	// Elicitation: the editor shows servers' own questions.
	Elicitation *ElicitationCapability `json:"elicitation,omitzero"`
}

// ClientCapabilities says what the editor can do. A client that sends no mcp
// member is treated like a Codex client: approvals and form questions on, the
// rest off.
type ClientCapabilities struct {
	// ExperimentalAPI is accepted for compatibility; no method needs it.
	ExperimentalAPI bool `json:"experimentalApi,omitzero"`
	// OptOutNotificationMethods lists notifications that are not wanted, by
	// exact name.
	OptOutNotificationMethods []string         `json:"optOutNotificationMethods,omitzero"`
	MCP                       *MCPCapabilities `json:"mcp,omitzero"`
}

// InitializeParams opens a connection.
type InitializeParams struct {
	ClientInfo ClientInfo `json:"clientInfo"`
	// ProcessID is the process of the editor; when it ends, the sidecar ends.
	ProcessID        *int64              `json:"processId,omitzero"`
	WorkspaceFolders []WorkspaceFolder   `json:"workspaceFolders,omitzero"`
	Capabilities     *ClientCapabilities `json:"capabilities,omitzero"`
	// Config is a layer over the configuration files: an object with the keys
	// of config.toml.
	Config json.RawMessage `json:"config,omitzero"`
}

// ServerInfo names the sidecar or an MCP server.
type ServerInfo struct {
	Name    string `json:"name"`
	Title   string `json:"title,omitzero"`
	Version string `json:"version"`
}

// Capabilities says what this sidecar offers.
type Capabilities struct {
	// Methods lists the requests that an editor may send.
	Methods []string `json:"methods"`
	// Notifications lists the notifications that the sidecar may send.
	Notifications []string `json:"notifications"`
	// Limits gives the bounds in force by name, in bytes, milliseconds or
	// counts as the name says.
	Limits map[string]int64 `json:"limits"`
}

// InitializeResult describes the sidecar.
type InitializeResult struct {
	UserAgent string `json:"userAgent"`
	// CodexHome is the sidecar's own folder, where the user's config.toml
	// lies (the name is Codex's).
	CodexHome string `json:"codexHome"`
	// PlatformFamily is "unix" or "windows".
	PlatformFamily string `json:"platformFamily"`
	// PlatformOS is "linux", "macos", "windows" or another system's name.
	PlatformOS string     `json:"platformOs"`
	ServerInfo ServerInfo `json:"serverInfo"`
	// ProtocolVersion is the semantic version of this protocol.
	ProtocolVersion string `json:"protocolVersion"`
	// MCPVersions lists the MCP revisions spoken to servers, newest first.
	MCPVersions  []string     `json:"mcpVersions"`
	Capabilities Capabilities `json:"capabilities"`
}

// ShutdownParams has no members.
type ShutdownParams struct{}

// InitializedParams has no members: the editor has seen the reply to
// initialize. The sidecar does not wait for it.
type InitializedParams struct{}

// ExitParams has no members: the process ends, with code 0 after a shutdown
// and 1 without.
type ExitParams struct{}

// CancelRequestParams names a request of the sender that became pointless. It
// is still answered, with code -32800 or, for a tool call that had started,
// with a result whose status is cancelled. The sidecar sends it too.
type CancelRequestParams struct {
	ID AnyID `json:"id"`
}

// AnyID is the id of a request: a string or a 64-bit integer.
type AnyID = OneOf[AnyIDShapes]

// AnyIDShapes lists the shapes of an AnyID.
type AnyIDShapes struct{}

// TypeName returns "AnyID".
func (AnyIDShapes) TypeName() string { return "AnyID" }

// Alternatives lists the shapes.
func (AnyIDShapes) Alternatives() []any { return []any{"", int64(0)} }
