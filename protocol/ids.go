package protocol

// ThreadID names a thread; the sidecar makes it at thread/start.
type ThreadID string

// BindingID names a binding of a thread; the sidecar makes it at
// thread/binding/freeze.
type BindingID string

// CallID names one tool call. The editor may bring its own (the model's call
// id); otherwise the sidecar makes one.
type CallID string

// TurnID is the editor's own name for the turn a call belongs to. The sidecar
// only passes it on.
type TurnID string

// RequestID is the id of a question: of a request that the sidecar sent to the
// editor ("s-1", "s-2" …), or of one that came as an event ("q-1", "q-2" …).
type RequestID string

// ServerName is the key of a server's table in the configuration. It is a
// raw name: any TOML key.
type ServerName string

// ToolName is the raw name of a tool, as its server calls it.
type ToolName string
