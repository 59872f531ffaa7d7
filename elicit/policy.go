package elicit

import (
	"fmt"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A Policy is one consistent snapshot of what a thread allows without asking
// and what may be asked at all. The zero Policy asks before tools and declines
// every question of a server.
type Policy struct {
	// Never: nobody is asked. What would need a question is declined.
	Never bool
	// FullAccess: the sandbox is danger-full-access. Together with Never it
	// runs tools unasked.
	FullAccess bool
	// Questions: servers may ask. It is false when a granular policy has
	// mcp_elicitations false; Never outweighs it.
	Questions bool
	// DeclineAll: the thread takes no question of a server, whatever else the
	// policy says: it is closed.
	DeclineAll bool
	// UnknownServer: the server that asks is not among those that this policy
	// was made for.
	UnknownServer bool
}

// ParsePolicy reads a policy as an editor gives it. An absent policy is
// on-request, an absent sandbox is not full access; untrusted and on-failure are
// aliases of on-request. An unknown word, or a granular object without the boolean
// mcp_elicitations, is an error of kind invalidParams whose pointer begins at
// the params that hold approvalPolicy and sandbox (spec section 3.1).
func ParsePolicy(p protocol.ApprovalPolicy, sandbox protocol.SandboxMode) (Policy, error) {
	var out Policy
	switch sandbox {
	case "", protocol.SandboxReadOnly, protocol.SandboxWorkspaceWrite:
	case protocol.SandboxFullAccess:
		out.FullAccess = true
	default:
		return Policy{}, invalid("/sandbox", "unknown sandbox mode; known are %q", protocol.SandboxMode.Values(""))
	}
	switch rawjson.Kind(p) {
	case 0:
		if len(p) > 0 {
			return Policy{}, invalid("/approvalPolicy", "must be a word or an object")
		}
		out.Questions = true
		return out, nil
	case 'n':
		out.Questions = true
		return out, nil
	case '{':
		return parseGranular(p, out)
	}
	word, _ := rawjson.String(p)
	switch protocol.PolicyMode(word) {
	case protocol.PolicyOnRequest, protocol.PolicyUntrusted, protocol.PolicyOnFailure:
		out.Questions = true
	case protocol.PolicyNever:
		out.Never = true
		out.Questions = true
	default:
		return Policy{}, invalid("/approvalPolicy", "unknown approval policy; known are %q and an object with granular", protocol.PolicyMode.Values(""))
	}
	return out, nil
}

func parseGranular(p protocol.ApprovalPolicy, out Policy) (Policy, error) {
	var rules []byte
	err := rawjson.Object(p, func(key, value []byte) error {
		if string(key) == "granular" {
			rules = value
		}
		return nil
	})
	if err != nil || rawjson.Kind(rules) != '{' {
		return Policy{}, invalid("/approvalPolicy/granular", "must be an object")
	}
	said := false
	err = rawjson.Object(rules, func(key, value []byte) error {
		if string(key) != "mcp_elicitations" {
			return nil
		}
		switch string(value) {
		case "true", "false":
			said = true
			out.Questions = string(value) == "true"
			return nil
		}
		said = false
		return nil
	})
	if err != nil || !said {
		return Policy{}, invalid("/approvalPolicy/granular/mcp_elicitations", "must be true or false")
	}
	return out, nil
}

func invalid(pointer, format string, args ...any) error {
	return protocol.Errorf(protocol.KindInvalidParams, "%s: %s", pointer, fmt.Sprintf(format, args...)).WithPointer(pointer)
}
