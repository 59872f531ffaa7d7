package protocol

import "context"

// Sidecar is what an editor may ask. Every method has exactly one row in
// Methods.
type Sidecar interface {
	// Initialize opens the connection. It must be the first request; a second
	// one is refused with kind alreadyInitialized.
	Initialize(context.Context, *InitializeParams) (*InitializeResult, error)
	// Shutdown asks the sidecar to finish: requests that were read are
	// answered, new ones are refused with kind shuttingDown. An exit
	// notification then ends the process with code 0.
	Shutdown(context.Context, *ShutdownParams) error

	// ThreadStart opens a thread and begins to start its servers. It waits
	// for required servers only (and for others as long as waitForServersMs
	// says); a required server that fails makes it fail with kind
	// requiredServerFailed, naming all that failed.
	ThreadStart(context.Context, *ThreadStartParams) (*ThreadStartResult, error)
	// ThreadList lists the open threads, oldest first.
	ThreadList(context.Context, *ThreadListParams) (*ThreadListResult, error)
	// ThreadRead returns one open thread.
	ThreadRead(context.Context, *ThreadReadParams) (*ThreadReadResult, error)
	// ThreadClose closes a thread: its calls are cancelled, its open
	// questions are closed, its servers end in the background.
	ThreadClose(context.Context, *ThreadCloseParams) (*ThreadCloseResult, error)
	// ThreadSettingsUpdate changes policy, model or servers for the next
	// step. Absent fields stay as they are; bindings that were frozen stay
	// valid.
	ThreadSettingsUpdate(context.Context, *ThreadSettingsUpdateParams) (*ThreadSettingsUpdateResult, error)

	// BindingFreeze takes the exact catalogue of tools that a model is shown
	// in one step. It waits for servers that are still starting, at most the
	// start-up grace (or waitMs). An unchanged catalogue keeps its id.
	BindingFreeze(context.Context, *BindingFreezeParams) (*BindingFreezeResult, error)
	// BindingRead returns one of the last 16 bindings of a thread; an older
	// one is refused with kind bindingExpired.
	BindingRead(context.Context, *BindingReadParams) (*BindingReadResult, error)

	// ThreadToolCall carries out a model's call of a bound tool: approval,
	// the call itself, and the result in the shape a model reads. What the
	// model should know (a decline, a time-out, a tool that is gone) is a
	// result; only a mistake of the editor is an error.
	ThreadToolCall(context.Context, *ThreadToolCallParams) (*ThreadToolCallResult, error)
	// ServerToolCall carries out a call by raw names, for a person who
	// pressed a button. The thread's approval policy holds. The result is the
	// server's, byte for byte.
	ServerToolCall(context.Context, *ServerToolCallParams) (*ServerToolCallResult, error)

	// ElicitationResolve answers a question that came as an event. An answer
	// that does not fit the form is refused with the place
	// (data.pointer), and the question stays open; one that is too late, or
	// the second, is refused with kind questionClosed.
	ElicitationResolve(context.Context, *ElicitationResolveParams) (*ElicitationResolveResult, error)
	// ApprovalList lists what a person allowed for longer than one call.
	ApprovalList(context.Context, *ApprovalListParams) (*ApprovalListResult, error)
	// ApprovalRevoke takes approvals back. One for good is taken out of the
	// file that it was written in, and ends in every open thread. A file that
	// can't be changed makes it fail with kind configNotWritten: what was taken
	// back before stays so, the rest is as it was.
	ApprovalRevoke(context.Context, *ApprovalRevokeParams) (*ApprovalRevokeResult, error)

	// ServerStatusList says how each configured server is and what it
	// offers. It never starts a server.
	ServerStatusList(context.Context, *ServerStatusListParams) (*ServerStatusListResult, error)
	// ResourceList lists the resources of a server, one page a request.
	ResourceList(context.Context, *ResourceListParams) (*ResourceListResult, error)
	// ResourceTemplatesList lists the resource templates of a server, one
	// page a request.
	ResourceTemplatesList(context.Context, *ResourceTemplatesListParams) (*ResourceTemplatesListResult, error)
	// ResourceRead reads a resource of a server. The result is the server's,
	// byte for byte.
	ResourceRead(context.Context, *ResourceReadParams) (*ResourceReadResult, error)
	// PromptList lists the prompts of a server, one page a request.
	PromptList(context.Context, *PromptListParams) (*PromptListResult, error)
	// PromptGet gets a prompt of a server with its arguments filled in. The
	// result is the server's, byte for byte.
	PromptGet(context.Context, *PromptGetParams) (*PromptGetResult, error)

	// ConfigRead returns the effective configuration, with secrets masked,
	// and the origin of each key.
	ConfigRead(context.Context, *ConfigReadParams) (*ConfigReadResult, error)
}

// What the sidecar asks and tells the editor.
var (
	ElicitationRequest   = ask[ElicitationRequestParams, ElicitationRequestResult]("mcpServer/elicitation/request")
	ElicitationRequested = tell[ElicitationRequestedNotification]("mcpServer/elicitation/requested")

	ThreadStarted        = tell[ThreadStartedNotification]("thread/started")
	ThreadClosed         = tell[ThreadClosedNotification]("thread/closed")
	ThreadStatusChanged  = tell[ThreadStatusChangedNotification]("thread/status/changed")
	BindingChanged       = tell[BindingChangedNotification]("thread/binding/changed")
	ItemStarted          = tell[ItemStartedNotification]("item/started")
	ItemProgress         = tell[ItemProgressNotification]("item/mcpToolCall/progress")
	ItemCompleted        = tell[ItemCompletedNotification]("item/completed")
	StartupStatusUpdated = tell[StartupStatusUpdatedNotification]("mcpServer/startupStatus/updated")
	StartupCompleted     = tell[StartupCompletedNotification]("mcpServer/startup/completed")
	RequestResolved      = tell[RequestResolvedNotification]("serverRequest/resolved")
	ConfigWarned         = tell[ConfigWarningNotification]("configWarning")
	Warned               = tell[WarningNotification]("warning")
)

// Names of the messages that the wire itself serves.
const (
	MethodInitialize    = "initialize"
	MethodShutdown      = "shutdown"
	MethodInitialized   = "initialized"
	MethodExit          = "exit"
	MethodCancelRequest = "$/cancelRequest"
)

// Methods is the only list of methods: dispatch, JSON Schema, TypeScript types
// and the reference page are made from it.
var Methods = []Method{
	request(MethodInitialize, InOrder, Sidecar.Initialize),
	command(MethodShutdown, InOrder, Sidecar.Shutdown),

	request("thread/start", Admitting, Sidecar.ThreadStart),
	request("thread/list", InOrder, Sidecar.ThreadList),
	request("thread/read", InOrder, Sidecar.ThreadRead),
	request("thread/close", Concurrent, Sidecar.ThreadClose),
	request("thread/settings/update", InOrder, Sidecar.ThreadSettingsUpdate),
	request("thread/binding/freeze", Concurrent, Sidecar.BindingFreeze),
	request("thread/binding/read", InOrder, Sidecar.BindingRead),
	request("thread/tool/call", Concurrent, Sidecar.ThreadToolCall),
	request("mcpServer/tool/call", Concurrent, Sidecar.ServerToolCall),
	answer("mcpServer/elicitation/resolve", InOrder, Sidecar.ElicitationResolve),
	request("approval/list", Concurrent, Sidecar.ApprovalList),
	request("approval/revoke", Concurrent, Sidecar.ApprovalRevoke),
	request("mcpServerStatus/list", Concurrent, Sidecar.ServerStatusList),
	request("mcpServer/resource/list", Concurrent, Sidecar.ResourceList),
	request("mcpServer/resource/templates/list", Concurrent, Sidecar.ResourceTemplatesList),
	request("mcpServer/resource/read", Concurrent, Sidecar.ResourceRead),
	request("mcpServer/prompt/list", Concurrent, Sidecar.PromptList),
	request("mcpServer/prompt/get", Concurrent, Sidecar.PromptGet),
	request("config/read", Concurrent, Sidecar.ConfigRead),

	signal[InitializedParams](MethodInitialized),
	signal[ExitParams](MethodExit),
	signal[CancelRequestParams](MethodCancelRequest),

	ElicitationRequest.Method, ElicitationRequested.Method,

	ThreadStarted.Method, ThreadClosed.Method, ThreadStatusChanged.Method, BindingChanged.Method,
	ItemStarted.Method, ItemProgress.Method, ItemCompleted.Method,
	StartupStatusUpdated.Method, StartupCompleted.Method,
	RequestResolved.Method, ConfigWarned.Method, Warned.Method,
}
