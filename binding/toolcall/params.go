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
	// Arguments is an object as ParseArguments returns it, nil for none.
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
//	{"name":…,"arguments":…,"_meta":{…the caller's, callId, threadId, turnId, progressToken, codex/sandbox-state-meta}}
//
// Arguments and the caller's own members (traceparent and tracestate among
// them) keep their bytes. Whatever of the caller's is spelled like one of the
// sidecar's keys, in any case, is dropped: some servers match keys without
// regard to case.
func Params(r Request) json.RawMessage {
	meta := []byte{'{'}
	valid := rawjson.Valid(r.Meta) == nil && rawjson.Kind(r.Meta) == '{'
	if valid {
		_ = rawjson.Object(r.Meta, func(key, value []byte) error {
			if !isOwnMeta(string(key)) {
				meta = appendMember(meta, string(key), value)
			}
			return nil
		})
	}
	meta = appendText(meta, metaCallID, string(r.CallID))
	meta = appendText(meta, metaThreadID, string(r.ThreadID))
	if r.TurnID != "" {
		meta = appendText(meta, metaTurnID, string(r.TurnID))
	}
	if r.ProgressToken != "" {
		meta = appendText(meta, metaProgressToken, r.ProgressToken)
	}
	if r.SandboxState != nil {
		meta = appendMember(meta, metaSandboxState, r.SandboxState)
	}
	meta = append(meta, '}')

	out := make([]byte, 0, len(r.Tool)+len(r.Arguments)+len(meta)+64)
	out = appendText(append(out, '{'), "name", string(r.Tool))
	if r.Arguments != nil {
		out = appendMember(out, "arguments", r.Arguments)
	}
	return append(appendMember(out, "_meta", rawjson.SingleLine(meta)), '}')
}

func isOwnMeta(key string) bool {
	for _, own := range ownMeta {
		if strings.EqualFold(key, own) {
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

func appendText(dst []byte, key, text string) []byte {
	return appendMember(dst, key, rawjson.AppendString(nil, text))
}
