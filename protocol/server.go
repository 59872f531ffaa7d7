package protocol

import "encoding/json"

// ServerState is the state of a server in a thread.
type ServerState string

// The states of a server.
const (
	ServerNotStarted   ServerState = "notStarted"
	ServerStarting     ServerState = "starting"
	ServerConnected    ServerState = "connected"
	ServerAuthRequired ServerState = "authenticationRequired"
	ServerFailed       ServerState = "failed"
	ServerCancelled    ServerState = "cancelled"
	ServerDisabled     ServerState = "disabled"
)

// Values lists the words of a ServerState.
func (ServerState) Values() []string {
	return []string{"notStarted", "starting", "connected", "authenticationRequired", "failed", "cancelled", "disabled"}
}

// AuthStatus says how a server is authorized.
type AuthStatus string

// The words for authorization.
const (
	AuthUnknown     AuthStatus = "unknown"
	AuthUnsupported AuthStatus = "unsupported"
	AuthNotLoggedIn AuthStatus = "notLoggedIn"
	AuthBearerToken AuthStatus = "bearerToken"
	AuthOAuth       AuthStatus = "oAuth"
)

// Values lists the words of an AuthStatus.
func (AuthStatus) Values() []string {
	return []string{"unknown", "unsupported", "notLoggedIn", "bearerToken", "oAuth"}
}

// ConfigLayerName names a layer of the configuration.
type ConfigLayerName string

// The layers, lowest first.
const (
	LayerDefaults   ConfigLayerName = "defaults"
	LayerUser       ConfigLayerName = "user"
	LayerFlags      ConfigLayerName = "flags"
	LayerInitialize ConfigLayerName = "initialize"
	LayerThread     ConfigLayerName = "thread"
)

// Values lists the words of a ConfigLayerName.
func (ConfigLayerName) Values() []string {
	return []string{"defaults", "user", "flags", "initialize", "thread"}
}

// ServerOrigin says where a server is configured.
type ServerOrigin struct {
	// Path is the file; absent when the layer is not a file.
	Path string `json:"path,omitzero"`
	// Line is 1-based; absent when unknown.
	Line  int64           `json:"line,omitzero"`
	Layer ConfigLayerName `json:"layer"`
	// Shadowed lists the lower layers that configure the same name.
	Shadowed []ConfigLayerName `json:"shadowed,omitempty"`
}

// ServerFailure says why a server is not there.
type ServerFailure struct {
	Kind  Kind   `json:"kind"`
	Error string `json:"error"`
	// StderrTail is the last lines that the process wrote to stderr.
	StderrTail []string `json:"stderrTail,omitempty"`
	ExitCode   *int64   `json:"exitCode,omitzero"`
	Hint       string   `json:"hint,omitzero"`
}

// ServerStatus is how one server is and what it offers.
type ServerStatus struct {
	Name          ServerName  `json:"name"`
	RuntimeStatus ServerState `json:"runtimeStatus"`
	AuthStatus    AuthStatus  `json:"authStatus"`
	// Tools maps raw names to tools as the server gave them.
	Tools             map[string]json.RawMessage `json:"tools"`
	Resources         []json.RawMessage          `json:"resources"`
	ResourceTemplates []json.RawMessage          `json:"resourceTemplates"`
	// ToolsError is why there is no catalogue.
	ToolsError string `json:"toolsError,omitzero"`
	// ToolsTruncated: the list went over a bound; what was read is kept.
	ToolsTruncated     bool            `json:"toolsTruncated,omitzero"`
	ServerInfo         *ServerInfo     `json:"serverInfo,omitzero"`
	ServerCapabilities json.RawMessage `json:"serverCapabilities,omitzero"`
	Instructions       string          `json:"instructions,omitzero"`
	// HTTPOrigin is scheme, host and port of the endpoint; absent for stdio.
	HTTPOrigin string        `json:"httpOrigin,omitzero"`
	Origin     *ServerOrigin `json:"origin,omitzero"`
	// PID is the server's process; absent for HTTP and where there is none.
	PID int64 `json:"pid,omitzero"`
	// Era is the MCP revision agreed on.
	Era       string         `json:"era,omitzero"`
	LastError *ServerFailure `json:"lastError,omitzero"`
}

// StatusDetail says how much a status row carries.
type StatusDetail string

// The details.
const (
	DetailFull             StatusDetail = "full"
	DetailToolsAndAuthOnly StatusDetail = "toolsAndAuthOnly"
)

// Values lists the words of a StatusDetail.
func (StatusDetail) Values() []string { return []string{"full", "toolsAndAuthOnly"} }

// ServerStatusListParams asks for the servers of a thread; without a thread,
// for those of the configuration.
type ServerStatusListParams struct {
	ThreadID   ThreadID     `json:"threadId,omitzero"`
	ServerName ServerName   `json:"serverName,omitzero"`
	Detail     StatusDetail `json:"detail,omitzero"`
	Cursor     string       `json:"cursor,omitzero"`
	// Limit is the page size; absent means 100.
	Limit int64 `json:"limit,omitzero"`
}

// ServerStatusListResult is a page of servers, sorted by name.
type ServerStatusListResult struct {
	Data       []ServerStatus `json:"data"`
	NextCursor *string        `json:"nextCursor"`
}

// StartupState is a step of a server's start.
type StartupState string

// The steps of a start.
const (
	StartupStarting  StartupState = "starting"
	StartupReady     StartupState = "ready"
	StartupFailed    StartupState = "failed"
	StartupCancelled StartupState = "cancelled"
)

// Values lists the words of a StartupState.
func (StartupState) Values() []string {
	return []string{"starting", "ready", "failed", "cancelled"}
}

// StartupStatusUpdatedNotification is a step of a server's start.
type StartupStatusUpdatedNotification struct {
	ThreadID ThreadID     `json:"threadId"`
	Name     ServerName   `json:"name"`
	Status   StartupState `json:"status"`
	Error    string       `json:"error,omitzero"`
	Kind     Kind         `json:"kind,omitzero"`
	Hint     string       `json:"hint,omitzero"`
	// StderrTail is the last lines that the process wrote to stderr.
	StderrTail []string `json:"stderrTail,omitempty"`
	ExitCode   *int64   `json:"exitCode,omitzero"`
}

// StartupCompletedNotification says that every server of a thread has ended
// its start, one way or another.
type StartupCompletedNotification struct {
	ThreadID  ThreadID         `json:"threadId"`
	Ready     []ServerName     `json:"ready"`
	Failed    []StartupFailure `json:"failed"`
	Cancelled []ServerName     `json:"cancelled"`
}

// ResourceListParams asks for a page of a server's resources.
type ResourceListParams struct {
	ThreadID ThreadID   `json:"threadId"`
	Server   ServerName `json:"server"`
	Cursor   *string    `json:"cursor,omitzero"`
}

// ResourceListResult is MCP's result of resources/list, byte for byte.
type ResourceListResult = OneOf[ResourceListResultShapes]

// ResourceListResultShapes lists the shapes of a ResourceListResult.
type ResourceListResultShapes struct{}

// TypeName returns "ResourceListResult".
func (ResourceListResultShapes) TypeName() string { return "ResourceListResult" }

// Alternatives lists the shapes.
func (ResourceListResultShapes) Alternatives() []any { return []any{ListResourcesResult{}} }

// ListResourcesResult is MCP's result of resources/list.
type ListResourcesResult struct {
	Resources  []json.RawMessage `json:"resources"`
	NextCursor string            `json:"nextCursor,omitzero"`
}

// ResourceTemplatesListParams asks for a page of a server's resource templates.
type ResourceTemplatesListParams struct {
	ThreadID ThreadID   `json:"threadId"`
	Server   ServerName `json:"server"`
	Cursor   *string    `json:"cursor,omitzero"`
}

// ResourceTemplatesListResult is MCP's result of resources/templates/list, byte
// for byte.
type ResourceTemplatesListResult = OneOf[ResourceTemplatesListResultShapes]

// ResourceTemplatesListResultShapes lists the shapes of a ResourceTemplatesListResult.
type ResourceTemplatesListResultShapes struct{}

// TypeName returns "ResourceTemplatesListResult".
func (ResourceTemplatesListResultShapes) TypeName() string { return "ResourceTemplatesListResult" }

// Alternatives lists the shapes.
func (ResourceTemplatesListResultShapes) Alternatives() []any {
	return []any{ListResourceTemplatesResult{}}
}

// ListResourceTemplatesResult is MCP's result of resources/templates/list.
type ListResourceTemplatesResult struct {
	ResourceTemplates []json.RawMessage `json:"resourceTemplates"`
	NextCursor        string            `json:"nextCursor,omitzero"`
}

// ResourceReadParams names a resource of a server.
type ResourceReadParams struct {
	// ThreadID may be absent when one thread is open.
	ThreadID ThreadID        `json:"threadId,omitzero"`
	Server   ServerName      `json:"server"`
	URI      string          `json:"uri"`
	Meta     json.RawMessage `json:"_meta,omitzero"`
}

// ResourceReadResult is MCP's result of resources/read, byte for byte.
type ResourceReadResult = OneOf[ResourceReadResultShapes]

// ResourceReadResultShapes lists the shapes of a ResourceReadResult.
type ResourceReadResultShapes struct{}

// TypeName returns "ResourceReadResult".
func (ResourceReadResultShapes) TypeName() string { return "ResourceReadResult" }

// Alternatives lists the shapes.
func (ResourceReadResultShapes) Alternatives() []any { return []any{ReadResourceResult{}} }

// ReadResourceResult is MCP's result of resources/read.
type ReadResourceResult struct {
	Contents []json.RawMessage `json:"contents"`
}

// PromptListParams asks for a page of a server's prompts.
type PromptListParams struct {
	ThreadID ThreadID   `json:"threadId"`
	Server   ServerName `json:"server"`
	Cursor   *string    `json:"cursor,omitzero"`
}

// PromptListResult is MCP's result of prompts/list, byte for byte.
type PromptListResult = OneOf[PromptListResultShapes]

// PromptListResultShapes lists the shapes of a PromptListResult.
type PromptListResultShapes struct{}

// TypeName returns "PromptListResult".
func (PromptListResultShapes) TypeName() string { return "PromptListResult" }

// Alternatives lists the shapes.
func (PromptListResultShapes) Alternatives() []any { return []any{ListPromptsResult{}} }

// ListPromptsResult is MCP's result of prompts/list.
type ListPromptsResult struct {
	Prompts    []json.RawMessage `json:"prompts"`
	NextCursor string            `json:"nextCursor,omitzero"`
}

// PromptGetParams names a prompt of a server and its arguments.
type PromptGetParams struct {
	ThreadID  ThreadID          `json:"threadId"`
	Server    ServerName        `json:"server"`
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitzero"`
}

// PromptGetResult is MCP's result of prompts/get, byte for byte.
type PromptGetResult = OneOf[PromptGetResultShapes]

// PromptGetResultShapes lists the shapes of a PromptGetResult.
type PromptGetResultShapes struct{}

// TypeName returns "PromptGetResult".
func (PromptGetResultShapes) TypeName() string { return "PromptGetResult" }

// Alternatives lists the shapes.
func (PromptGetResultShapes) Alternatives() []any { return []any{GetPromptResult{}} }

// GetPromptResult is MCP's result of prompts/get.
type GetPromptResult struct {
	Description string            `json:"description,omitzero"`
	Messages    []json.RawMessage `json:"messages"`
}
