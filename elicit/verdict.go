package elicit

import (
	"encoding/json"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A Decision is what a Verdict says. A smaller one is a stricter one.
type Decision int

// The decisions, strictest first.
const (
	// Decline: the answer is no, and nobody is asked.
	Decline Decision = iota
	// Ask: a person decides.
	Ask
	// Allow: the tool may run; for a server's question, it is accepted with
	// an empty answer.
	Allow
)

// String returns the decision's word, for test failures and logs.
func (d Decision) String() string {
	switch d {
	case Decline:
		return "decline"
	case Ask:
		return "ask"
	case Allow:
		return "allow"
	}
	return "unknown"
}

// A Verdict says what happens with a call or a question, and why. The zero
// Verdict declines.
type Verdict struct {
	Decision Decision
	// Source is who decided; for Ask, who will.
	Source protocol.ApprovalSource
	// Reason is set when Decision is Decline and the call's result can name it.
	Reason protocol.Reason
	// Text is one sentence: why it is declined, or why a person is asked. It
	// is safe to show to a person and to a model. It is empty for Allow.
	Text string
}

// Outlook returns the verdict as a binding shows it for a tool.
func (v Verdict) Outlook() protocol.ApprovalOutlook {
	switch v.Decision {
	case Allow:
		return protocol.OutlookAllow
	case Ask:
		return protocol.OutlookAsk
	case Decline:
	}
	return protocol.OutlookDeny
}

// Answer returns the answer that a server gets without a person: acceptance
// with an empty object for Allow, else a decline.
func (v Verdict) Answer() Answer {
	if v.Decision == Allow {
		return Answer{Action: protocol.AnswerAccept, Content: json.RawMessage("{}")}
	}
	return Answer{Action: protocol.AnswerDecline}
}

// Strictest returns the strictest of the verdicts, the first of equals. It
// joins what the candidate threads of one question say (spec section 8);
// without verdicts it declines.
func Strictest(verdicts ...Verdict) Verdict {
	if len(verdicts) == 0 {
		return Verdict{}
	}
	out := verdicts[0]
	for _, v := range verdicts[1:] {
		if v.Decision < out.Decision {
			out = v
		}
	}
	return out
}
