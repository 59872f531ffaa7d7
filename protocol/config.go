package protocol

import "encoding/json"

// ConfigReadParams asks for the effective configuration.
type ConfigReadParams struct {
	// Cwd stands for a thread's working folder; absent means the first
	// workspace folder, else the sidecar's own.
	Cwd string `json:"cwd,omitzero"`
	// ThreadID includes the layer of that thread.
	ThreadID ThreadID `json:"threadId,omitzero"`
}

// ConfigLayerSource is a layer in Codex's words.
type ConfigLayerSource struct {
	Type ConfigSourceType `json:"type"`
	// File is there for type user.
	File string `json:"file,omitzero"`
}

// ConfigSourceType is Codex's word for a layer.
type ConfigSourceType string

// The layers in Codex's words.
const (
	ConfigUser         ConfigSourceType = "user"
	ConfigSessionFlags ConfigSourceType = "sessionFlags"
)

// Values lists the words of a ConfigSourceType.
func (ConfigSourceType) Values() []string { return []string{"user", "sessionFlags"} }

// ConfigOrigin says where a key of the configuration was set.
type ConfigOrigin struct {
	Name ConfigLayerSource `json:"name"`
	// Version is a hash that changes when the configuration does.
	Version string          `json:"version"`
	Layer   ConfigLayerName `json:"layer"`
	// Line and Column are 1-based; absent when unknown.
	Line   int64 `json:"line,omitzero"`
	Column int64 `json:"column,omitzero"`
}

// ConfigReadResult is the effective configuration.
type ConfigReadResult struct {
	// Config has the keys of config.toml; secrets are masked.
	Config json.RawMessage `json:"config"`
	// Origins maps dotted keys to where they were set. Defaults have none.
	Origins map[string]ConfigOrigin `json:"origins"`
	// Warnings are the problems found, as configWarning sends them.
	Warnings []ConfigWarningNotification `json:"warnings"`
}

// TextPosition is a place in a text file, both numbers 1-based.
type TextPosition struct {
	Line   int64 `json:"line"`
	Column int64 `json:"column"`
}

// TextRange is a stretch of a text file.
type TextRange struct {
	Start TextPosition `json:"start"`
	End   TextPosition `json:"end"`
}

// ConfigWarningNotification is a problem in the configuration. Everything else
// goes on.
type ConfigWarningNotification struct {
	// Summary is one sentence.
	Summary string     `json:"summary"`
	Details string     `json:"details,omitzero"`
	Path    string     `json:"path,omitzero"`
	Range   *TextRange `json:"range,omitzero"`
	// Key is the dotted key to blame.
	Key    string     `json:"key,omitzero"`
	Server ServerName `json:"server,omitzero"`
	Hint   string     `json:"hint,omitzero"`
}

// WarningNotification is something a person should know; nothing stopped.
type WarningNotification struct {
	Message  string     `json:"message"`
	ThreadID ThreadID   `json:"threadId,omitzero"`
	Server   ServerName `json:"server,omitzero"`
	Kind     Kind       `json:"kind,omitzero"`
	// CallID and RequestID are there when it is about the answer to a question.
	CallID    CallID    `json:"callId,omitzero"`
	RequestID RequestID `json:"requestId,omitzero"`
}
