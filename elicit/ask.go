package elicit

import (
	"cmp"
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
	metaChanges           = "definition_changes"
	metaPersist           = "persist"
)

// approvalKind is the value of codex_approval_kind that marks an approval.
const approvalKind = "mcp_tool_call"

// reservedMeta lists the keys that a server's question may not bring: those of
// an approval form, those that Codex's programs add to theirs, and MCP's
// progress token, which belongs to the transport.
var reservedMeta = []string{
	metaKind, metaToolName, metaToolTitle, metaToolDescription, metaToolParams, metaToolParamsDisplay,
	metaCallID, metaAnnotations, metaReason, metaDefinitionChanged, metaChanges, metaPersist,
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
	// DefinitionChanged: the tool is not what the model was shown, or what a
	// person allowed before; Changes says in sentences what is different.
	DefinitionChanged bool
	Changes           []string
	// Template words the question; the zero Template is the general sentence.
	Template Template
	// Offer lists for how long the call may be allowed beyond itself.
	Offer []protocol.ApprovalScope
}

// Offered returns for how long an approval of a tool can be given, beyond the
// call: only in mode auto, where an approval changes what is asked (spec
// section 7). kept says that there is a file that can keep it for good.
func Offered(r ApprovalRequest, kept bool) []protocol.ApprovalScope {
	switch {
	case r.mode() != ModeAuto && r.mode() != "", r.Rule.Action == RuleAsk:
		return nil
	case kept:
		return []protocol.ApprovalScope{protocol.ApprovalSession, protocol.ApprovalAlways}
	}
	return []protocol.ApprovalScope{protocol.ApprovalSession}
}

// ApprovalForm words the question whether c may run (spec section 7): a form
// without fields whose _meta describes the call. tool_params are the arguments
// byte for byte and whole; tool_params_display are at most 50 of them, those of
// the template first and the others sorted by name, each cut to 1 KiB and free
// of characters that deceive the eye. persist lists the offer, and is absent
// when there is none.
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
	if description := Clean(c.Description, maxDescription); description != "" {
		meta = appendText(meta, metaToolDescription, description)
	}
	meta = appendMember(meta, metaToolParams, params)
	if display := displayed(params, c.Template.Params); display != nil {
		meta = appendMember(meta, metaToolParamsDisplay, display)
	}
	meta = appendText(meta, metaCallID, string(c.CallID))
	meta = appendMember(meta, metaAnnotations, annotations)
	meta = appendText(meta, metaReason, c.Reason)
	if c.DefinitionChanged {
		meta = appendMember(meta, metaDefinitionChanged, []byte("true"))
	}
	if len(c.Changes) > 0 {
		meta = appendMember(meta, metaChanges, appendStrings(nil, c.Changes))
	}
	if len(c.Offer) > 0 {
		words := make([]string, len(c.Offer))
		for i, scope := range c.Offer {
			words[i] = string(scope)
		}
		meta = appendMember(meta, metaPersist, appendStrings(nil, words))
	}
	return Question{
		Server:   c.Server,
		Mode:     protocol.QuestionForm,
		Message:  c.message(),
		Schema:   approvalSchema,
		Meta:     append(meta, '}'),
		Approval: true,
		Offer:    c.Offer,
		CallID:   c.CallID,
		TurnID:   c.TurnID,
		Certain:  true,
	}
}

// message is the question in one sentence.
func (c ToolCall) message() string {
	if c.Template.Text != "" {
		return c.Template.Message(c.Server, c.Tool, c.Title, c.Arguments)
	}
	return fmt.Sprintf(`Allow the %s MCP server to run tool "%s"?`, cleanName(string(c.Server)), cleanName(string(c.Tool)))
}

func appendText(dst []byte, key, text string) []byte {
	return appendMember(dst, key, rawjson.AppendString(nil, text))
}

// displayed returns the value of tool_params_display, nil for no arguments.
// Those named in first come first. Arguments given twice are shown twice: which
// of them a server takes is its own secret.
func displayed(arguments []byte, first []string) []byte {
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
	rank := func(a argument) int {
		if i := slices.Index(first, a.name); i >= 0 {
			return i
		}
		return len(first)
	}
	slices.SortStableFunc(all, func(a, b argument) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.name, b.name))
	})
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

// The labels of the choices of an approval, as Codex's own clients give them in
// the content of an answer, and for how long each allows.
var allowLabels = map[string]protocol.ApprovalScope{
	"Allow":                        protocol.ApprovalOnce,
	"Allow for this session":       protocol.ApprovalSession,
	"Allow and don't ask me again": protocol.ApprovalAlways,
}

// cancelLabel is the choice that does not allow it.
const cancelLabel = "Cancel"

// scopeOrder ranks the scopes, the narrowest first.
var scopeOrder = []protocol.ApprovalScope{protocol.ApprovalOnce, protocol.ApprovalSession, protocol.ApprovalAlways}

// A Consent is what an answer to an approval form says.
type Consent struct {
	Allowed bool
	// Scope is for how long, if allowed. It is one of the offer, or once.
	Scope protocol.ApprovalScope
	// Reason is why not, if not. Unclear: nobody said no, but what they said
	// could not be understood.
	Reason  protocol.Reason
	Unclear bool
}

// ReadApproval reads the answer to an approval form. It allows the call only
// for the action accept whose content is absent, null or empty, or holds
// nothing but allowing labels ("Allow" …), each as a string or in an array of
// strings. A decline is ReasonUserDeclined; everything else (cancel, the label
// "Cancel", content of another kind, an unknown or misspelled action) is
// ReasonUserCancelled.
//
// _meta.persist ("session" or "always"), else the label, says for how long.
// Where both do, the shorter time holds; what was not offered, or is not
// understood, allows this call only.
func ReadApproval(a Answer, offer []protocol.ApprovalScope) Consent {
	switch a.Action {
	case protocol.AnswerAccept:
		labels, no, ok := readLabels(a.Content)
		if no || !ok {
			return Consent{Reason: protocol.ReasonUserCancelled, Unclear: !ok}
		}
		said, _ := persistence(a.Meta)
		scope := narrowest(append(labels, said...))
		if !slices.Contains(offer, scope) {
			scope = protocol.ApprovalOnce
		}
		return Consent{Allowed: true, Scope: scope}
	case protocol.AnswerDecline:
		return Consent{Reason: protocol.ReasonUserDeclined}
	case protocol.AnswerCancel:
		return Consent{Reason: protocol.ReasonUserCancelled}
	}
	return Consent{Reason: protocol.ReasonUserCancelled, Unclear: true}
}

// unclear says, as an *AnswerError, what ReadApproval does not understand in an
// answer that accepts: content other than labels, which is no approval, or a
// time that was not offered, which is once.
func unclear(a Answer, offer []protocol.ApprovalScope) error {
	if _, _, ok := readLabels(a.Content); !ok {
		return &AnswerError{Problem: "must be absent or empty: the question has no fields"}
	}
	said, ok := persistence(a.Meta)
	if !ok || slices.ContainsFunc(said, func(s protocol.ApprovalScope) bool { return s != protocol.ApprovalOnce && !slices.Contains(offer, s) }) {
		return &AnswerError{Meta: true, Pointer: "/" + metaPersist, Problem: "must be absent, or one of those that the question offers"}
	}
	return nil
}

// narrowest returns the shortest of the scopes, once for none.
func narrowest(scopes []protocol.ApprovalScope) protocol.ApprovalScope {
	if len(scopes) == 0 {
		return protocol.ApprovalOnce
	}
	return slices.MinFunc(scopes, func(a, b protocol.ApprovalScope) int {
		return cmp.Compare(slices.Index(scopeOrder, a), slices.Index(scopeOrder, b))
	})
}

// persistence reads _meta.persist. It returns nothing when it is not there, and
// once for what it can't read, which is false.
func persistence(meta json.RawMessage) (said []protocol.ApprovalScope, ok bool) {
	ok = true
	_ = rawjson.Object(meta, func(key, value []byte) error {
		if string(key) != metaPersist || rawjson.Kind(value) == 'n' {
			return nil
		}
		word, _ := rawjson.String(value)
		scope := protocol.ApprovalScope(word)
		if !slices.Contains(scopeOrder, scope) {
			scope, ok = protocol.ApprovalOnce, false
		}
		said = append(said, scope)
		return nil
	})
	return said, ok
}

// readLabels reads the labels in the content of an answer. no is true when the
// label is the one that cancels. ok is false if there is anything else in it, or
// labels of both kinds.
func readLabels(content json.RawMessage) (scopes []protocol.ApprovalScope, no, ok bool) {
	switch rawjson.Kind(content) {
	case 0:
		return nil, false, len(content) == 0
	case 'n':
		return nil, false, string(content) == "null"
	}
	clear := true
	label := func(v []byte) {
		s, _ := rawjson.String(v)
		scope, known := allowLabels[s]
		switch {
		case known:
			scopes = append(scopes, scope)
		case s == cancelLabel:
			no = true
		default:
			clear = false
		}
	}
	err := rawjson.Object(content, func(_, value []byte) error {
		if rawjson.Kind(value) != '[' {
			label(value)
			return nil
		}
		n := 0
		err := rawjson.Array(value, func(_ int, v []byte) error {
			n++
			label(v)
			return nil
		})
		clear = clear && n > 0
		return err
	})
	return scopes, no, err == nil && clear && !(no && len(scopes) > 0)
}
