package protocol

import "encoding/json"

// Exposure says how a tool of a binding reaches the model.
type Exposure string

const (
	// ExposureDirect tools are in the model's list.
	ExposureDirect Exposure = "direct"
	// ExposureHidden tools can be called by a person only.
	ExposureHidden Exposure = "hidden"
)

// Values lists the words of an Exposure.
func (Exposure) Values() []string { return []string{"direct", "hidden"} }

// Hints are a tool's annotations (MCP ToolAnnotations). Absent differs from
// false. They come from the server and are not to be trusted beyond what the
// approval mode says.
type Hints struct {
	Title       string `json:"title,omitzero"`
	ReadOnly    *bool  `json:"readOnlyHint,omitzero"`
	Destructive *bool  `json:"destructiveHint,omitzero"`
	Idempotent  *bool  `json:"idempotentHint,omitzero"`
	OpenWorld   *bool  `json:"openWorldHint,omitzero"`
}

// ApprovalOutlook says what would be decided for a call of a tool now, if
// nothing were allowed for the session and the arguments are not known: a rule
// with a condition for them asks.
type ApprovalOutlook string

// The outlooks.
const (
	OutlookAllow ApprovalOutlook = "allow"
	OutlookAsk   ApprovalOutlook = "ask"
	OutlookDeny  ApprovalOutlook = "deny"
)

// Values lists the words of an ApprovalOutlook.
func (ApprovalOutlook) Values() []string { return []string{"allow", "ask", "deny"} }

// BoundTool is one tool of a binding.
type BoundTool struct {
	// Name and Namespace are what the model calls. Dialects without
	// namespaces call Flat instead.
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// Flat is namespace and name as one callable name.
	Flat string `json:"flatName"`
	// Server and Tool are the raw names.
	Server   ServerName `json:"server"`
	Tool     ToolName   `json:"tool"`
	Exposure Exposure   `json:"exposure"`
	// Spec is the tool in the dialect of the binding, as a provider takes it.
	// In openai-responses with namespaces it is the function inside its
	// namespace.
	Spec        json.RawMessage `json:"spec"`
	Annotations Hints           `json:"annotations"`
	// ParallelSafe: calls may run beside others of the same server.
	ParallelSafe bool            `json:"parallelSafe"`
	Approval     ApprovalOutlook `json:"approval"`
	// DefinitionHash is the hex SHA-256 of name, description, input schema
	// and annotations in canonical JSON.
	DefinitionHash string `json:"definitionHash"`
	// SchemaBytes is the size of the input schema in the spec.
	SchemaBytes int64 `json:"schemaBytes"`
	// ApproxTokens estimates what the spec costs a model (bytes/4).
	ApproxTokens int64 `json:"approxTokens"`
	// Changes says how the spec differs from what the server offers.
	Changes []SpecChange `json:"changes,omitempty"`
	// UI is the tool's _meta.ui (MCP Apps), as it came.
	UI json.RawMessage `json:"ui,omitzero"`
}

// SpecChange is one difference between a server's tool and its spec.
type SpecChange struct {
	// Path is a JSON pointer into the tool, "" for the whole.
	Path string `json:"path"`
	// Change says what was done, in words.
	Change string `json:"change"`
}

// Namespace groups the tools of one server.
type Namespace struct {
	Name   string     `json:"name"`
	Server ServerName `json:"server"`
	// Instructions is the server's own text about its tools.
	Instructions string `json:"instructions,omitzero"`
}

// PendingServer is a server whose tools are not in the binding yet.
type PendingServer struct {
	Server ServerName  `json:"server"`
	State  ServerState `json:"state"`
}

// OmittedTool is a tool that is not in the binding, with the reason.
type OmittedTool struct {
	Server ServerName `json:"server"`
	// Tool is "" where the whole server, or an entry without a usable name,
	// is meant.
	Tool   ToolName `json:"tool"`
	Reason string   `json:"reason"`
	// Path is a JSON pointer into the tool, where one place is to blame.
	Path string `json:"path,omitzero"`
}

// BindingTotals sums a binding up.
type BindingTotals struct {
	Tools        int64 `json:"tools"`
	Direct       int64 `json:"direct"`
	Deferred     int64 `json:"deferred"`
	SchemaBytes  int64 `json:"schemaBytes"`
	ApproxTokens int64 `json:"approxTokens"`
}

// Binding is the exact catalogue of tools that a model is shown in one step.
// It never changes: the same catalogue gives the same bytes and the same
// fingerprint, across runs and start-up orders.
type Binding struct {
	ID       BindingID `json:"id"`
	ThreadID ThreadID  `json:"threadId"`
	// Revision counts the different bindings of a thread from 1.
	Revision int64 `json:"revision"`
	// Fingerprint is the hex SHA-256 of format, tools and namespaces.
	Fingerprint string `json:"fingerprint"`
	CreatedAtMs int64  `json:"createdAtMs"`
	// Format is the dialect of the specs.
	Format     SpecFormat      `json:"format"`
	Tools      []BoundTool     `json:"tools"`
	Namespaces []Namespace     `json:"namespaces"`
	Pending    []PendingServer `json:"pending"`
	Omitted    []OmittedTool   `json:"omitted"`
	Totals     BindingTotals   `json:"totals"`
	// Specs is the finished list for a provider's tools parameter: the direct
	// tools, in namespaces where the dialect has them.
	Specs []json.RawMessage `json:"specs"`
}

// BindingFreezeParams asks for the tools of the next step.
type BindingFreezeParams struct {
	ThreadID ThreadID `json:"threadId"`
	// WaitMs bounds the wait for servers that are starting, instead of the
	// configured grace. Required servers are waited for in any case.
	WaitMs *int64 `json:"waitMs,omitzero"`
	// PreviousBindingID is the binding that the model was shown before;
	// changes are told against it. Absent means the thread's last one.
	PreviousBindingID BindingID `json:"previousBindingId,omitzero"`
}

// BindingChanges are the callable flat names that differ from another binding.
type BindingChanges struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
	Changed []string `json:"changed"`
}

// BindingFreezeResult is the frozen binding.
type BindingFreezeResult struct {
	Binding Binding `json:"binding"`
	// Unchanged: the previous binding is still exact, and this is it.
	Unchanged bool            `json:"unchanged"`
	Changes   *BindingChanges `json:"changes,omitzero"`
}

// BindingReadParams names a binding.
type BindingReadParams struct {
	ThreadID  ThreadID  `json:"threadId"`
	BindingID BindingID `json:"bindingId"`
}

// BindingReadResult is one binding.
type BindingReadResult struct {
	Binding Binding `json:"binding"`
}

// BindingChangedNotification hints that a new freeze would differ.
type BindingChangedNotification struct {
	ThreadID ThreadID `json:"threadId"`
	// Reason says what happened.
	Reason BindingChangeReason `json:"reason"`
	// Servers are those concerned.
	Servers []ServerName `json:"servers"`
}

// BindingChangeReason says why a new freeze would differ.
type BindingChangeReason string

// The reasons.
const (
	ChangedServerReady  BindingChangeReason = "serverReady"
	ChangedServerFailed BindingChangeReason = "serverFailed"
	ChangedToolList     BindingChangeReason = "toolListChanged"
	ChangedSettings     BindingChangeReason = "settingsChanged"
)

// Values lists the words of a BindingChangeReason.
func (BindingChangeReason) Values() []string {
	return []string{"serverReady", "serverFailed", "toolListChanged", "settingsChanged"}
}
