package elicit

import (
	"fmt"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// An ApprovalMode says when calls of a tool need a person's approval (spec
// section 7). The empty mode is ModeAuto; an unknown one is ModePrompt, the
// strictest.
type ApprovalMode string

// The approval modes.
const (
	// ModeAuto asks unless the annotations say that the tool only reads, or
	// that it neither destroys nor reaches out.
	ModeAuto ApprovalMode = "auto"
	// ModePrompt always asks.
	ModePrompt ApprovalMode = "prompt"
	// ModeWrites asks unless the annotations say that the tool only reads.
	ModeWrites ApprovalMode = "writes"
	// ModeApprove never asks.
	ModeApprove ApprovalMode = "approve"
)

// Values lists the words of an ApprovalMode.
func (ApprovalMode) Values() []string { return []string{"auto", "prompt", "writes", "approve"} }

// An ApprovalRequest is all that decides about a call.
type ApprovalRequest struct {
	// Server and Tool are the raw names, for the verdict's text.
	Server protocol.ServerName
	Tool   protocol.ToolName
	// Mode is the tool's; DefaultMode is what holds without it. ModeVoid: the
	// tool's own does not count, because a person's answer wrote it and it was
	// for another definition, or was taken back.
	Mode, DefaultMode ApprovalMode
	ModeVoid          bool
	// Hints are the live annotations, not the frozen ones.
	Hints  protocol.Hints
	Policy Policy
	// Rule is what the person's own rules say about the call.
	Rule Ruling
	// CanAsk: the editor can show approvals.
	CanAsk bool
	// Memory is what a person allowed before, for longer than one call.
	Memory Memory
	// ShownAnother: the model was shown another definition of the tool. It
	// takes a fresh approval: the annotations, which may have changed with it,
	// don't excuse from asking.
	ShownAnother bool
}

// Memory is what is remembered of a tool.
type Memory int

// What can be remembered.
const (
	// MemoryNone: nobody allowed it for longer than one call.
	MemoryNone Memory = iota
	// MemoryHolds: a person allowed this very definition of the tool.
	MemoryHolds
	// MemoryOutdated: a person allowed it, and the tool or its server is another
	// now.
	MemoryOutdated
)

// Changed reports that the tool is not what the model was shown or what a
// person allowed, so that a question about it says so.
func (r ApprovalRequest) Changed() bool {
	return r.ShownAnother && r.Memory != MemoryHolds || r.Memory == MemoryOutdated
}

// mode is the mode that counts.
func (r ApprovalRequest) mode() ApprovalMode {
	if r.ModeVoid {
		return r.DefaultMode
	}
	return r.Mode
}

// Approve decides whether a call may run. The rules are those of spec section
// 7 in their order, with the person's own rules where a reviewer has its
// place; the first that fits decides:
//
//	a rule denies                               → decline, ruleDenied
//	a rule asks                                 → as if nothing excused from asking
//	mode approve, for this definition           → allow, by mode
//	policy never and full access                → allow, by policy
//	mode and annotations ask for no approval,
//	  and the definition is the one agreed to   → allow, by annotations
//	remembered, for this definition             → allow, by memory
//	a rule allows,
//	  and the definition is the one agreed to   → allow, by rule
//	policy never                                → decline, policyNever
//	the editor can't ask                        → decline, clientUnsupported
//	else                                        → ask
func Approve(r ApprovalRequest) Verdict {
	need, why := needsApproval(r.mode(), r.Hints)
	switch {
	case r.Rule.Action == RuleAsk:
		need, why = true, r.Rule.Text
		if r.Changed() {
			why += ", and the tool changed"
		}
	case r.Memory == MemoryOutdated:
		need, why = true, "the tool changed since it was allowed"
	case r.Changed():
		need, why = true, "the tool changed since the model was shown it"
	}
	excused := r.Rule.Action != RuleAsk
	switch {
	case r.Rule.Action == RuleDeny:
		return Verdict{Decision: Decline, Source: protocol.SourceRule, Reason: protocol.ReasonRuleDenied,
			Text: r.call() + " was not run: " + r.Rule.Text}
	case excused && r.mode() == ModeApprove:
		return Verdict{Decision: Allow, Source: protocol.SourceMode}
	case excused && r.Policy.Never && r.Policy.FullAccess:
		return Verdict{Decision: Allow, Source: protocol.SourcePolicy}
	case !need:
		return Verdict{Decision: Allow, Source: protocol.SourceAnnotations}
	case excused && r.Memory == MemoryHolds:
		return Verdict{Decision: Allow, Source: protocol.SourceMemory}
	case r.Rule.Action == RuleAllow && !r.Changed():
		return Verdict{Decision: Allow, Source: protocol.SourceRule}
	case r.Policy.Never:
		return Verdict{Decision: Decline, Source: protocol.SourcePolicy, Reason: protocol.ReasonPolicyNever,
			Text: r.call() + " requires approval" + r.insists() + ", but approval policy is never"}
	case !r.CanAsk:
		return Verdict{Decision: Decline, Source: protocol.SourceCapability, Reason: protocol.ReasonClientUnsupported,
			Text: UnsupportedText(r.Server, r.Tool)}
	}
	return Verdict{Decision: Ask, Source: protocol.SourcePerson, Text: why}
}

// insists says that a rule is what requires approval, if one is.
func (r ApprovalRequest) insists() string {
	if r.Rule.Action != RuleAsk {
		return ""
	}
	return " (" + r.Rule.Text + ")"
}

// UnsupportedText is the text of a call that needs an approval which the
// editor can't show.
func UnsupportedText(server protocol.ServerName, tool protocol.ToolName) string {
	return ApprovalRequest{Server: server, Tool: tool}.call() + " requires approval, but the editor can't ask for approvals"
}

func (r ApprovalRequest) call() string {
	return fmt.Sprintf("tool %q of MCP server %q", cleanName(string(r.Tool)), cleanName(string(r.Server)))
}

// needsApproval is the table of modes and annotations, and the reason why a
// person is asked. An absent hint is its worst value: not read-only,
// destructive, open to the world.
func needsApproval(mode ApprovalMode, h protocol.Hints) (need bool, why string) {
	readOnly := h.ReadOnly != nil && *h.ReadOnly
	switch mode {
	case ModeApprove:
		return false, ""
	case ModeWrites:
		return !readOnly, "the tool is not marked read-only"
	case ModeAuto, "":
		switch {
		case h.Destructive != nil && *h.Destructive:
			// It beats readOnlyHint: a server that says both is not believed.
			return true, "the tool is marked destructive"
		case readOnly:
			return false, ""
		case h.Destructive == nil:
			return true, "the tool is not marked harmless"
		case h.OpenWorld == nil || *h.OpenWorld:
			return true, "the tool may reach beyond its server"
		}
		return false, ""
	case ModePrompt:
	}
	return true, "the tool is set to always ask"
}
