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
	Mode   ApprovalMode
	// Hints are the live annotations, not the frozen ones.
	Hints  protocol.Hints
	Policy Policy
	// CanAsk: the editor can show approvals.
	CanAsk bool
	// Remembered: a person allowed this very definition of the tool before,
	// for longer than one call.
	Remembered bool
	// DefinitionChanged: the tool is not what the model was shown. It takes a
	// fresh approval: the annotations, which may have changed with it, don't
	// excuse from asking.
	DefinitionChanged bool
}

// Approve decides whether a call may run. The rules are those of spec section
// 7 in their order; the first that fits decides:
//
//	mode approve                                → allow, by mode
//	policy never and full access                → allow, by policy
//	mode and annotations ask for no approval,
//	  and the definition is the one shown       → allow, by annotations
//	remembered                                  → allow, by the person
//	policy never                                → decline, policyNever
//	the editor can't ask                        → decline, clientUnsupported
//	else                                        → ask
func Approve(r ApprovalRequest) Verdict {
	need, why := needsApproval(r.Mode, r.Hints)
	if r.DefinitionChanged {
		need, why = true, "the tool changed since the model was shown it"
	}
	switch {
	case r.Mode == ModeApprove:
		return Verdict{Decision: Allow, Source: protocol.SourceMode}
	case r.Policy.Never && r.Policy.FullAccess:
		return Verdict{Decision: Allow, Source: protocol.SourcePolicy}
	case !need:
		return Verdict{Decision: Allow, Source: protocol.SourceAnnotations}
	case r.Remembered:
		return Verdict{Decision: Allow, Source: protocol.SourcePerson}
	case r.Policy.Never:
		return Verdict{Decision: Decline, Source: protocol.SourcePolicy, Reason: protocol.ReasonPolicyNever,
			Text: r.call() + " requires approval, but approval policy is never"}
	case !r.CanAsk:
		return Verdict{Decision: Decline, Source: protocol.SourceCapability, Reason: protocol.ReasonClientUnsupported,
			Text: UnsupportedText(r.Server, r.Tool)}
	}
	return Verdict{Decision: Ask, Source: protocol.SourcePerson, Text: why}
}

// UnsupportedText is the text of a call that needs an approval which the
// editor can't show.
func UnsupportedText(server protocol.ServerName, tool protocol.ToolName) string {
	return ApprovalRequest{Server: server, Tool: tool}.call() + " requires approval, but the editor can't ask for approvals"
}

func (r ApprovalRequest) call() string {
	return fmt.Sprintf("tool %q of MCP server %q", Clean(string(r.Tool), maxName), Clean(string(r.Server), maxName))
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
