package toolcall

import (
	"encoding/json"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// MaxItemResult is the largest result that an item carries, in bytes of the
// server's result. A larger one is in the reply only.
const MaxItemResult = 1 << 20

func (r *run) itemOf(tool Tool, s protocol.ItemStatus) protocol.Item {
	return protocol.Item{
		Type: protocol.ItemMCPToolCall, ID: r.CallID, Server: r.Server, Tool: r.Tool, Status: s,
		Arguments: r.Arguments, ReadOnlyHint: tool.Hints.ReadOnly, ResourceURI: tool.ResourceURI,
	}
}

// complete tells that the item ended with o. A result goes into the item, also
// one that reports an error of the tool; otherwise the item has an error.
func (r *run) complete(tool Tool, o Outcome) {
	item := r.itemOf(tool, protocol.ItemFailed)
	if o.Status == protocol.CallCompleted && o.Reason == "" {
		item.Status = protocol.ItemDone
	}
	ms := r.duration.Milliseconds()
	item.DurationMs = &ms
	omitted := false
	switch {
	case o.Status != protocol.CallCompleted:
		item.Error = &protocol.ItemError{Message: o.Text}
	case len(o.Result) > MaxItemResult:
		omitted = true
	default:
		item.Result = itemResult(o.Result)
	}
	r.events.Completed(item, omitted, time.Now())
}

// itemResult returns a result in the shape of items: content, which is a list,
// structuredContent and _meta, each as it came.
func itemResult(result json.RawMessage) json.RawMessage {
	parts, err := readResult(result)
	if err != nil {
		return nil
	}
	content := parts.content
	switch rawjson.Kind(content) {
	case '[':
	case 0, 'n':
		content = []byte("[]")
	default:
		content = append(append([]byte{'['}, content...), ']')
	}
	out := appendMember([]byte{'{'}, "content", content)
	if parts.structured != nil {
		out = appendMember(out, "structuredContent", parts.structured)
	}
	if parts.meta != nil {
		out = appendMember(out, "_meta", parts.meta)
	}
	return rawjson.SingleLine(append(out, '}'))
}
