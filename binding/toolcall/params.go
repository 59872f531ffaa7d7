package toolcall

import (
	"encoding/json"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// The keys of _meta that are the sidecar's (spec section 7).
const (
	metaCallID        = "callId"
	metaThreadID      = "threadId"
	metaTurnID        = "turnId"
	metaProgressToken = "progressToken"
	metaSandboxState  = "codex/sandbox-state-meta"
)

var ownMeta = []string{metaCallID, metaThreadID, metaTurnID, metaProgressToken, metaSandboxState}

// A Request is what tools/call is sent with.
type Request struct {
	// Tool is the raw name.
	Tool protocol.ToolName
	// Arguments is an object as ParseArguments returns it, nil for none: then
	// an empty object is sent.
	Arguments json.RawMessage
	// Meta is what the caller adds to _meta; anything but an object is left
	// out.
	Meta     json.RawMessage
	ThreadID protocol.ThreadID
	CallID   protocol.CallID
	// TurnID and ProgressToken may be empty, SandboxState nil: then the
	// server does not get them.
	TurnID        protocol.TurnID
	ProgressToken string
	SandboxState  json.RawMessage
}

// Params returns the params of tools/call on one line:
//
//	{"_meta":{…the caller's, callId, threadId, turnId, progressToken, codex/sandbox-state-meta},"name":…,"arguments":…}
//
// Arguments and the caller's own members (traceparent and tracestate among
// them) keep their bytes. Whatever of the caller's is spelled like one of the
// sidecar's keys, in any case, is dropped: some servers match keys without
// regard to case. _meta comes first, so that who adds to it need not pass over
// the arguments.
func Params(r Request) json.RawMessage {
	const names = 192 // the keys and what stands between them
	out := make([]byte, 0, names+len(r.Tool)+len(r.Arguments)+len(r.Meta)+len(r.CallID)+len(r.ThreadID)+len(r.TurnID)+
		len(r.ProgressToken)+len(r.SandboxState))
	out = append(out, `{"_meta":{`...)
	if rawjson.Kind(r.Meta) == '{' && rawjson.Valid(r.Meta) == nil {
		_ = rawjson.Object(rawjson.SingleLine(r.Meta), func(key, value []byte) error {
			if !isOwnMeta(string(key)) {
				out = append(appendKey(out, string(key)), value...)
			}
			return nil
		})
	}
	out = appendText(out, metaCallID, string(r.CallID))
	out = appendText(out, metaThreadID, string(r.ThreadID))
	if r.TurnID != "" {
		out = appendText(out, metaTurnID, string(r.TurnID))
	}
	if r.ProgressToken != "" {
		out = appendText(out, metaProgressToken, r.ProgressToken)
	}
	if r.SandboxState != nil {
		out = append(appendKey(out, metaSandboxState), rawjson.SingleLine(r.SandboxState)...)
	}
	out = appendText(append(out, '}'), "name", string(r.Tool))
	out = appendKey(out, "arguments")
	if r.Arguments == nil {
		// MCP lets a client leave them out, but many servers check an object
		// and refuse the call.
		return append(out, "{}}"...)
	}
	return append(append(out, r.Arguments...), '}')
}

func isOwnMeta(key string) bool {
	for _, own := range ownMeta {
		if strings.EqualFold(key, own) {
			return true
		}
	}
	return false
}

// appendKey appends the key of a member to an object that is open at the end of
// dst.
func appendKey(dst []byte, key string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(rawjson.AppendString(dst, key), ':')
}

func appendText(dst []byte, key, text string) []byte {
	return rawjson.AppendString(appendKey(dst, key), text)
}
