package elicit

import (
	"encoding/json"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A Question is put to a person.
type Question struct {
	Server protocol.ServerName
	// Mode is form or url; empty is form.
	Mode    protocol.QuestionMode
	Message string
	// Schema is the form's JSON Schema; absent means a form without fields.
	Schema json.RawMessage
	// URL and ElicitationID are there in mode url.
	URL           string
	ElicitationID string
	Meta          json.RawMessage
	// Approval: the question is the sidecar's own, whether a tool may run. A
	// server's question never has it.
	Approval bool
	// CallID and TurnID are those of the call that the question belongs to.
	CallID protocol.CallID
	TurnID protocol.TurnID
	// Certain: the protocol itself links the question to the call. Otherwise
	// Candidates are all the calls that were running.
	Certain    bool
	Candidates []protocol.CallID
}

// An Answer is what a person, or a policy, says to a Question. Any action but
// protocol.AnswerAccept, whatever its spelling, is no acceptance.
type Answer struct {
	Action  protocol.AnswerAction
	Content json.RawMessage
	Meta    json.RawMessage
}

// Judge decides about a server's question as it came, before Prepare, by spec
// section 8; the first rule that fits decides:
//
//	the thread declines all, the question claims a
//	  reserved kind, the server is unknown      → decline
//	policy never and full access                → accept a form without fields, else decline
//	policy never, or questions switched off     → decline
//	the editor can't show this mode             → decline, clientUnsupported
//	else                                        → ask
func Judge(p Policy, q Question, can protocol.ElicitationCapability) Verdict {
	no := func(source protocol.ApprovalSource, reason protocol.Reason, text string) Verdict {
		return Verdict{Decision: Decline, Source: source, Reason: reason, Text: text}
	}
	switch {
	case p.DeclineAll:
		return no(protocol.SourcePolicy, protocol.ReasonPolicyNever, "the thread declines all questions of servers")
	case claimsReservedKind(q.Meta):
		return no(protocol.SourcePolicy, protocol.ReasonPolicyNever, "the server's question claims a kind that is reserved for the sidecar")
	case p.UnknownServer:
		return no(protocol.SourcePolicy, protocol.ReasonPolicyNever, "the server that asks is not one of the thread's")
	case p.Never && p.FullAccess:
		if isForm(q.Mode) {
			if form, err := ParseForm(q.Schema); err == nil && form.Empty() {
				return Verdict{Decision: Allow, Source: protocol.SourcePolicy}
			}
		}
		return no(protocol.SourcePolicy, protocol.ReasonPolicyNever, "the server asks for an answer, but approval policy is never")
	case p.Never:
		return no(protocol.SourcePolicy, protocol.ReasonPolicyNever, "the server asks a question, but approval policy is never")
	case !p.Questions:
		return no(protocol.SourcePolicy, protocol.ReasonPolicyNever, "the server asks a question, but the approval policy switches them off")
	case isForm(q.Mode) && !can.Form:
		return no(protocol.SourceCapability, protocol.ReasonClientUnsupported, "the editor can't show forms of servers")
	case q.Mode == protocol.QuestionURL && !can.URL:
		return no(protocol.SourceCapability, protocol.ReasonClientUnsupported, "the editor can't send a person to a web page")
	case !isForm(q.Mode) && q.Mode != protocol.QuestionURL:
		return no(protocol.SourceCapability, protocol.ReasonClientUnsupported, "the question is of an unknown kind")
	}
	return Verdict{Decision: Ask, Source: protocol.SourcePerson}
}

func isForm(m protocol.QuestionMode) bool { return m == protocol.QuestionForm || m == "" }

// Prepare returns a server's question as an editor gets it: the message and
// the form's texts without control and bidirectional characters, the form in
// the closed shape that editors know, _meta without the sidecar's own keys,
// and the mode spelled out. form is nil in mode url. An error says, to the
// server's author, why the question can't be shown; the server gets it with
// code -32602.
func Prepare(q Question) (_ Question, form *Form, err error) {
	q.Message = CleanLines(q.Message, maxMessage)
	q.Meta = CleanMeta(q.Meta)
	q.Approval = false
	switch {
	case isForm(q.Mode):
		q.Mode = protocol.QuestionForm
		if form, err = ParseForm(q.Schema); err != nil {
			return Question{}, nil, err
		}
		q.Schema = form.Schema()
		q.URL, q.ElicitationID = "", ""
	case q.Mode == protocol.QuestionURL:
		q.Schema = nil
		if err := checkURL(q.URL); err != nil {
			return Question{}, nil, err
		}
	default:
		return Question{}, nil, &SchemaError{Pointer: "/mode", Problem: "must be form or url"}
	}
	return q, form, nil
}

// checkURL accepts absolute http and https addresses that look like what they
// are: no user part before the host, no character that is invisible.
func checkURL(s string) error {
	bad := func(problem string) error { return &SchemaError{Pointer: "/url", Problem: problem} }
	if len(s) > maxURL {
		return bad("is too long")
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if scheme = strings.ToLower(scheme); !ok || scheme != "http" && scheme != "https" {
		return bad("must be an absolute http or https address")
	}
	if Clean(s, len(s)) != s || strings.ContainsAny(s, " \\") {
		return bad("has characters that have no place in an address")
	}
	host := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host = rest[:i]
	}
	switch {
	case host == "" || host[0] == ':':
		return bad("has no host")
	case strings.Contains(host, "@"):
		return bad("has a user part before the host")
	}
	return nil
}

// reservedKinds are the values of codex_approval_kind that only the sidecar,
// or a Codex program, may use.
var reservedKinds = []string{approvalKind, "tool_suggestion"}

// claimsReservedKind reports whether a server's _meta says that the question
// is an approval. The comparison is looser than any reader's: some editors
// match keys without regard to case.
func claimsReservedKind(meta json.RawMessage) bool {
	claims := false
	_ = rawjson.Object(meta, func(key, value []byte) error {
		if !strings.EqualFold(string(key), metaKind) {
			return nil
		}
		word, _ := rawjson.String(value)
		for _, kind := range reservedKinds {
			claims = claims || strings.EqualFold(strings.TrimSpace(word), kind)
		}
		return nil
	})
	return claims
}

// CleanMeta returns a server's _meta without the keys that an approval form
// has, however they are spelled, and without its progress token. The rest
// keeps its bytes and order. Nothing left, or no object at all, is nil.
func CleanMeta(meta json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	err := rawjson.Object(meta, func(key, value []byte) error {
		if isReservedMeta(string(key)) {
			return nil
		}
		out = appendMember(out, string(key), value)
		return nil
	})
	if err != nil || len(out) == 1 {
		return nil
	}
	return rawjson.SingleLine(append(out, '}'))
}

func isReservedMeta(key string) bool {
	for _, k := range reservedMeta {
		if strings.EqualFold(key, k) {
			return true
		}
	}
	return false
}

// appendMember appends a member to an object that began with '{'.
func appendMember(dst []byte, key string, value []byte) []byte {
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	dst = append(rawjson.AppendString(dst, key), ':')
	return append(dst, value...)
}
