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
		item.Result = r.parts.item(o.Result)
	}
	r.events.Completed(item, omitted, time.Now())
}

// item returns result, whose parts r are, in the shape of items: content, which
// is a list, structuredContent and _meta, each as it came.
func (r toolResult) item(result json.RawMessage) json.RawMessage {
	kind := rawjson.Kind(r.content)
	if kind == '[' && !r.more {
		return rawjson.SingleLine(result) // it has that shape
	}
	const names = 64 // the keys and what stands between them
	out := make([]byte, 0, names+len(r.content)+len(r.structured)+len(r.meta))
	out = append(out, `{"content":`...)
	switch kind {
	case '[':
		out = append(out, r.content...)
	case 0, 'n':
		out = append(out, "[]"...)
	default:
		out = append(append(append(out, '['), r.content...), ']')
	}
	if r.structured != nil {
		out = append(append(out, `,"structuredContent":`...), r.structured...)
	}
	if r.meta != nil {
		out = append(append(out, `,"_meta":`...), r.meta...)
	}
	return rawjson.SingleLine(append(out, '}'))
}
