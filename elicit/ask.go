package elicit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// The keys of an approval form's _meta.
const (
	metaKind              = "codex_approval_kind"
	metaToolName          = "tool_name"
	metaToolTitle         = "tool_title"
	metaToolDescription   = "tool_description"
	metaToolParams        = "tool_params"
	metaToolParamsDisplay = "tool_params_display"
	metaCallID            = "call_id"
	metaAnnotations       = "annotations"
	metaReason            = "reason"
	metaDefinitionChanged = "definition_changed"
)

// approvalKind is the value of codex_approval_kind that marks an approval.
const approvalKind = "mcp_tool_call"

// reservedMeta lists the keys that a server's question may not bring: those of
// an approval form, those that Codex's programs add to theirs, and MCP's
// progress token, which belongs to the transport.
var reservedMeta = []string{
	metaKind, metaToolName, metaToolTitle, metaToolDescription, metaToolParams, metaToolParamsDisplay,
	metaCallID, metaAnnotations, metaReason, metaDefinitionChanged, "persist",
	"codex_request_type", "source", "connector_id", "connector_name", "connector_description", "link_id", "link_is_implicit",
	"progressToken",
}

// Limits of what an approval form displays.
const (
	maxDisplayed      = 50   // arguments in tool_params_display
	maxDisplayedValue = 1024 // bytes of one displayed value
)

// approvalSchema is the form of an approval: there is nothing to fill in.
var approvalSchema = json.RawMessage(`{"type":"object","properties":{}}`)

// A ToolCall is a call that a person is asked about.
type ToolCall struct {
	Server protocol.ServerName
	// Tool is the raw name.
	Tool protocol.ToolName
	// Title and Description are the server's own texts; empty is none.
	Title, Description string
	// Arguments is an object, or nil for none.
	Arguments json.RawMessage
	CallID    protocol.CallID
	TurnID    protocol.TurnID
	Hints     protocol.Hints
	// Reason says why a person is asked: the Text of the verdict.
	Reason string
	// DefinitionChanged: the tool is not what the model was shown.
	DefinitionChanged bool
}

// ApprovalForm words the question whether c may run (spec section 7): a form
// without fields whose _meta describes the call. tool_params are the arguments
// byte for byte and whole; tool_params_display are at most 50 of them, sorted
// by name, each cut to 1 KiB and free of characters that deceive the eye.
func ApprovalForm(c ToolCall) Question {
	hints := c.Hints
	hints.Title = Clean(hints.Title, maxTitle)
	annotations, err := rawjson.Marshal(hints)
	if err != nil {
		annotations = []byte("{}")
	}
	params := []byte("{}")
	if len(c.Arguments) > 0 {
		params = rawjson.SingleLine(c.Arguments)
	}
	meta := make([]byte, 0, 512+len(params))
	meta = append(meta, '{')
	meta = appendText(meta, metaKind, approvalKind)
	meta = appendText(meta, metaToolName, string(c.Tool))
	if title := Clean(c.Title, maxTitle); title != "" {
		meta = appendText(meta, metaToolTitle, title)
	}
	if description := CleanLines(c.Description, maxDescription); description != "" {
		meta = appendText(meta, metaToolDescription, description)
	}
	meta = appendMember(meta, metaToolParams, params)
	if display := displayed(params); display != nil {
		meta = appendMember(meta, metaToolParamsDisplay, display)
	}
	meta = appendText(meta, metaCallID, string(c.CallID))
	meta = appendMember(meta, metaAnnotations, annotations)
	meta = appendText(meta, metaReason, c.Reason)
	if c.DefinitionChanged {
		meta = appendMember(meta, metaDefinitionChanged, []byte("true"))
	}
	return Question{
		Server: c.Server,
		Mode:   protocol.QuestionForm,
		Message: fmt.Sprintf(`Allow the %s MCP server to run tool "%s"?`,
			Clean(string(c.Server), maxName), Clean(string(c.Tool), maxName)),
		Schema:   approvalSchema,
		Meta:     append(meta, '}'),
		Approval: true,
		CallID:   c.CallID,
		TurnID:   c.TurnID,
		Certain:  true,
	}
}

func appendText(dst []byte, key, text string) []byte {
	return appendMember(dst, key, rawjson.AppendString(nil, text))
}

// displayed returns the value of tool_params_display, nil for no arguments.
// Arguments given twice are shown twice: which of them a server takes is its
// own secret.
func displayed(arguments []byte) []byte {
	type argument struct {
		name  string
		value []byte
	}
	var all []argument
	err := rawjson.Object(arguments, func(key, value []byte) error {
		all = append(all, argument{string(key), value})
		return nil
	})
	if err != nil || len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b argument) int { return strings.Compare(a.name, b.name) })
	out := []byte{'['}
	for i, a := range all[:min(len(all), maxDisplayed)] {
		if i > 0 {
			out = append(out, ',')
		}
		o := appendText([]byte{'{'}, "name", Clean(a.name, maxName))
		o = appendMember(o, "value", displayedValue(a.value))
		o = appendText(o, "display_name", Clean(a.name, maxName))
		out = append(append(out, o...), '}')
	}
	return append(out, ']')
}

// displayedValue returns a value as it is if it is short and hides nothing;
// else a string: a string's own text, or the text of the JSON.
func displayedValue(value []byte) []byte {
	switch rawjson.Kind(value) {
	case '"':
		text, _ := rawjson.String(value)
		if clean := CleanLines(text, maxDisplayedValue); clean != text {
			return rawjson.AppendString(nil, clean)
		}
		return value
	case '{', '[':
		if len(value) > maxDisplayedValue || strings.Contains(string(value), `\u`) || CleanLines(string(value), maxDisplayedValue) != string(value) {
			return rawjson.AppendString(nil, Clean(string(value), maxDisplayedValue))
		}
		return value
	}
	if len(value) > maxDisplayedValue { // a number of many digits
		return rawjson.AppendString(nil, Clean(string(value), maxDisplayedValue))
	}
	return value
}

// allowLabels are the choices of an approval that let the call through, as
// Codex's own clients name them in the content of an answer.
var allowLabels = []string{"Allow", "Allow for this session", "Allow and don't ask me again"}

// ReadApproval reads the answer to an approval form. It allows the call only
// for the action accept whose content is absent, null or empty, or holds
// nothing but allowing labels ("Allow" …), each as a string or in an array of
// strings. A decline is ReasonUserDeclined; everything else (cancel, the label
// "Cancel", content of another kind, an unknown or misspelled action) is
// ReasonUserCancelled. Allowing for longer than this call is not offered, and
// what the answer says about it is not honoured.
func ReadApproval(a Answer) (allowed bool, reason protocol.Reason) {
	switch a.Action {
	case protocol.AnswerAccept:
		if contentAllows(a.Content) {
			return true, ""
		}
		return false, protocol.ReasonUserCancelled
	case protocol.AnswerDecline:
		return false, protocol.ReasonUserDeclined
	case protocol.AnswerCancel:
	}
	return false, protocol.ReasonUserCancelled
}

func contentAllows(content json.RawMessage) bool {
	switch rawjson.Kind(content) {
	case 0:
		return len(content) == 0
	case 'n':
		return string(content) == "null"
	}
	allows := true
	isLabel := func(v []byte) bool {
		s, ok := rawjson.String(v)
		return ok && slices.Contains(allowLabels, s)
	}
	err := rawjson.Object(content, func(_, value []byte) error {
		if rawjson.Kind(value) != '[' {
			allows = allows && isLabel(value)
			return nil
		}
		n := 0
		err := rawjson.Array(value, func(_ int, v []byte) error {
			n++
			allows = allows && isLabel(v)
			return nil
		})
		allows = allows && n > 0
		return err
	})
	return err == nil && allows
}
