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
	// server's question never has it. Offer lists for how long the tool can be
	// allowed beyond the call.
	Approval bool
	Offer    []protocol.ApprovalScope
	// CallID and TurnID are those of the call that the question belongs to.
	CallID protocol.CallID
	TurnID protocol.TurnID
	// Certain: the protocol itself links the question to the call. Otherwise
	// Candidates are all the calls that were running.
	Certain    bool
	Candidates []protocol.CallID
	// Form is what a form's answers are held against. Prepare sets it; a
	// question without one takes any content.
	Form *Form
}

// An Answer is what a person, or a policy, says to a Question. Any action but
// protocol.AnswerAccept, whatever its spelling, is no acceptance.
type Answer struct {
	Action  protocol.AnswerAction
	Content json.RawMessage
	Meta    json.RawMessage
}

// Judge decides about a server's question as it came, before Prepare, by spec
// section 8, with the person's own rules as the reviewer; the first rule that
// fits decides:
//
//	the thread declines all, the question claims a
//	  reserved kind, the server is unknown      → decline
//	a rule denies                               → decline, ruleDenied
//	policy never and full access                → accept a plain form, else decline
//	policy never, or questions switched off     → decline
//	a rule allows                               → accept a plain form
//	the editor can't show this mode             → decline, clientUnsupported
//	else                                        → ask
//
// A plain form has no fields, says nothing of wanting a person
// (codex_requires_user_input), and no rule asks: there is nothing to it but
// yes and no.
func Judge(p Policy, q Question, can protocol.ElicitationCapability, rule Ruling) Verdict {
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
	case rule.Action == RuleDeny:
		return no(protocol.SourceRule, protocol.ReasonRuleDenied, "the server asks a question, but "+rule.Text)
	case p.Never && p.FullAccess:
		if rule.Action != RuleAsk && isPlain(q) {
			return Verdict{Decision: Allow, Source: protocol.SourcePolicy}
		}
		return no(protocol.SourcePolicy, protocol.ReasonPolicyNever, "the server asks for an answer, but approval policy is never")
	case p.Never:
		return no(protocol.SourcePolicy, protocol.ReasonPolicyNever, "the server asks a question, but approval policy is never")
	case !p.Questions:
		return no(protocol.SourcePolicy, protocol.ReasonPolicyNever, "the server asks a question, but the approval policy switches them off")
	case rule.Action == RuleAllow && isPlain(q):
		return Verdict{Decision: Allow, Source: protocol.SourceRule}
	case isForm(q.Mode) && !can.Form:
		return no(protocol.SourceCapability, protocol.ReasonClientUnsupported, "the editor can't show forms of servers")
	case q.Mode == protocol.QuestionURL && !can.URL:
		return no(protocol.SourceCapability, protocol.ReasonClientUnsupported, "the editor can't send a person to a web page")
	case !isForm(q.Mode) && q.Mode != protocol.QuestionURL:
		return no(protocol.SourceCapability, protocol.ReasonClientUnsupported, "the question is of an unknown kind")
	}
	return Verdict{Decision: Ask, Source: protocol.SourcePerson}
}

// isPlain reports a form that only wants a yes, from anybody.
func isPlain(q Question) bool {
	if !isForm(q.Mode) || wantsPerson(q.Meta) {
		return false
	}
	form, err := ParseForm(q.Schema)
	return err == nil && form.Empty()
}

// metaWantsPerson marks a question that a person must answer; Codex knows it,
// too.
const metaWantsPerson = "codex_requires_user_input"

func wantsPerson(meta json.RawMessage) bool {
	wants := false
	_ = rawjson.Object(meta, func(key, value []byte) error {
		wants = wants || strings.EqualFold(string(key), metaWantsPerson) && string(value) != "false" && rawjson.Kind(value) != 'n'
		return nil
	})
	return wants
}

func isForm(m protocol.QuestionMode) bool { return m == protocol.QuestionForm || m == "" }

// Prepare returns a server's question as an editor gets it: the message and
// the form's texts without control and bidirectional characters, the form in
// the closed shape that editors know, _meta without the sidecar's own keys,
// and the mode spelled out. Form is nil in mode url. An error says, to the
// server's author, why the question can't be shown; the server gets it with
// code -32602.
func Prepare(q Question) (Question, error) {
	q.Message = CleanLines(q.Message, maxMessage)
	q.Meta = CleanMeta(q.Meta)
	q.Approval = false
	switch {
	case isForm(q.Mode):
		q.Mode = protocol.QuestionForm
		form, err := ParseForm(q.Schema)
		if err != nil {
			return Question{}, err
		}
		q.Form, q.Schema = form, form.Schema()
		q.URL, q.ElicitationID = "", ""
	case q.Mode == protocol.QuestionURL:
		q.Form, q.Schema = nil, nil
		if err := checkURL(q.URL); err != nil {
			return Question{}, err
		}
	default:
		return Question{}, &SchemaError{Pointer: "/mode", Problem: "must be form or url"}
	}
	return q, nil
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

// Fit returns an answer as it is taken, if it fits the question: of a form's,
// fields that are null are left out and, with defaults, those that are missing
// get the form's; of an approval's, see ReadApproval. What does not accept
// anything is left alone. The error is an *AnswerError.
func (q Question) Fit(a Answer, defaults bool) (Answer, error) {
	switch {
	case a.Action != protocol.AnswerAccept:
		return a, nil
	case q.Approval:
		return a, unclear(a, q.Offer)
	case q.Form == nil:
		return a, nil
	}
	a.Content = WithoutNulls(a.Content)
	if defaults {
		a.Content = q.Form.FillDefaults(a.Content)
	}
	if err := q.Form.Validate(a.Content); err != nil {
		return Answer{}, err
	}
	return a, nil
}
