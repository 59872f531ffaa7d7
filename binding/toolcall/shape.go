package toolcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// ShapeOptions say for whom a result is shaped.
type ShapeOptions struct {
	// Server and Tool are the raw names, for the sidecar's own sentences.
	Server protocol.ServerName
	Tool   protocol.ToolName
	// ImageInput and AudioInput: the model takes images, audio.
	ImageInput, AudioInput bool
	// TokenLimit bounds the texts; 0 is DefaultOutputTokens.
	TokenLimit int64
	// WallTime is how long the call took.
	WallTime time.Duration
}

// maxBlocks bounds the blocks of a result that are looked at; the rest are
// told as a number.
const maxBlocks = 10_000

// Shape makes of a server's result what the model reads, and tells whether the
// tool itself reported an error (isError). The last paragraph of spec section
// 7 is what it does:
//
//	Wall time: 0.0123 seconds     the first item
//	Output:
//	text blocks                   as plain text
//	images, audio                 as items if the model takes them, else a sentence
//	resource links, resources     as text; binary ones as a sentence
//	any other block               as its JSON text
//	structuredContent             as JSON text, unless a text says the same
//
// The texts together are cut to the token limit: head and tail stay. Only what
// stays is decoded. Content that is no list counts as one block, null blocks
// as none. The error is for a result that is not a JSON object; its text says
// why and quotes nothing.
func Shape(result json.RawMessage, o ShapeOptions) (_ protocol.Output, isError bool, err error) {
	r, err := readResult(result)
	if err != nil {
		return protocol.Output{}, false, err
	}
	out := r.shape(o)
	return out, r.isError, nil
}

// A toolResult is a server's result, taken apart but not decoded.
type toolResult struct {
	content, structured, meta []byte
	isError                   bool
	more                      bool // it has other members, or one of these twice
}

func readResult(result json.RawMessage) (r toolResult, err error) {
	err = rawjson.Object(result, func(key, value []byte) error {
		var slot *[]byte
		switch string(key) {
		case "content":
			slot = &r.content
		case "structuredContent":
			slot = &r.structured
		case "_meta":
			slot = &r.meta
		case "isError":
			r.isError = string(value) == "true"
			fallthrough
		default:
			r.more = true
			return nil
		}
		r.more = r.more || *slot != nil
		*slot = value
		return nil
	})
	if syntax := (*rawjson.SyntaxError)(nil); errors.As(err, &syntax) {
		return toolResult{}, fmt.Errorf("the result is not a JSON object: %s at byte %d", syntax.Msg, syntax.Offset)
	}
	return r, err
}

func (r toolResult) shape(o ShapeOptions) protocol.Output {
	b := blocks{options: o}
	b.readAll(r.content)
	if structured := r.structured; structured != nil && !b.say(structured, r.content) {
		b.pieces = append(b.pieces, piece{text: jsonText(b.withoutMedia(structured))})
	}

	header := fmt.Sprintf("Wall time: %.4f seconds\nOutput:", o.WallTime.Seconds())
	said := false
	for _, p := range b.pieces {
		said = said || p.media == nil && !p.text.isBlank()
	}
	switch {
	case r.isError && !said:
		// An error that says nothing in words still has to be told.
		sentence := fmt.Sprintf("The tool %q of MCP server %q reported an error without a message.", name(string(o.Tool)), name(string(o.Server)))
		b.pieces = append([]piece{{text: plain(sentence)}}, b.pieces...)
	case len(b.pieces) == 0:
		header += "\n(no output)"
	}
	items, truncated := cut(b.pieces, o.TokenLimit)
	return protocol.Output{
		Items:     append([]protocol.OutputItem{{Type: protocol.OutputText, Text: header}}, items...),
		Truncated: truncated,
	}
}

// name makes a name fit for a sentence.
func name(s string) string {
	const maxName = 200
	return elicit.Clean(s, maxName)
}
