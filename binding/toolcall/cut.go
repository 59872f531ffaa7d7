package toolcall

import (
	"fmt"
	"math"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// Figures of spec section 7 and 12.
const (
	// DefaultOutputTokens bounds what a model reads of one result.
	DefaultOutputTokens = 10_000
	// bytesPerToken is the estimate that tokens are counted by.
	bytesPerToken = 4
	// markerRoom is what the mark of a cut takes out of the limit, in bytes.
	markerRoom = 80
)

// A piece is one item of an output before it is cut: a text, or an item that
// is passed on whole.
type piece struct {
	text  text
	media *protocol.OutputItem
}

// cut returns the items of the pieces. Their texts together have at most as
// many bytes as the tokens stand for (but for the mark, if the limit is
// smaller than that): the head and the tail are kept, and a mark between them
// says how much went. Media are not counted and stay where they are.
func cut(pieces []piece, tokens int64) ([]protocol.OutputItem, *protocol.OutputTruncation) {
	if tokens <= 0 {
		tokens = DefaultOutputTokens
	}
	limit := int64(math.MaxInt64)
	if tokens < limit/bytesPerToken {
		limit = tokens * bytesPerToken
	}
	var total int64
	for _, p := range pieces {
		total += p.text.size
	}
	items := make([]protocol.OutputItem, 0, len(pieces))
	if total <= limit {
		for _, p := range pieces {
			items = append(items, p.item(p.text.whole()))
		}
		return items, nil
	}

	// The texts are one stream: [0, head) and [tail, total) stay.
	kept := max(limit-markerRoom, 0)
	head := kept / 2
	tail := total - (kept - head)
	var start, left int64
	type gap struct{ item, at int }
	var mark *gap
	for _, p := range pieces {
		if p.media != nil {
			items = append(items, *p.media)
			continue
		}
		end := start + p.text.size
		switch {
		case end <= head:
			s := p.text.whole()
			left += int64(len(s))
			items = append(items, p.item(s))
		case mark == nil: // the gap begins here
			before := p.text.head(head - start)
			after := ""
			if end > tail {
				after = p.text.tail(min(end-tail, p.text.size-int64(len(before))))
			}
			left += int64(len(before) + len(after))
			mark = &gap{len(items), len(before)}
			items = append(items, p.item(before+after))
		case end > tail:
			s := p.text.tail(min(end-tail, p.text.size))
			left += int64(len(s))
			items = append(items, p.item(s))
		}
		start = end
	}
	omitted := total - left
	truncated := &protocol.OutputTruncation{OmittedBytes: omitted, OmittedTokens: (omitted + bytesPerToken - 1) / bytesPerToken}
	if mark != nil {
		t := &items[mark.item].Text
		*t = (*t)[:mark.at] + marker(*truncated, mark.at > 0, mark.at < len(*t)) + (*t)[mark.at:]
	}
	return items, truncated
}

// marker is the mark of a cut, on a line of its own.
func marker(t protocol.OutputTruncation, before, after bool) string {
	s := fmt.Sprintf("[… %d bytes (about %d tokens) left out …]", t.OmittedBytes, t.OmittedTokens)
	if before {
		s = "\n" + s
	}
	if after {
		s += "\n"
	}
	return s
}

func (p piece) item(s string) protocol.OutputItem {
	if p.media != nil {
		return *p.media
	}
	return protocol.OutputItem{Type: protocol.OutputText, Text: s}
}
