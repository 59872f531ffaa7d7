package toolcall

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Limits of what is made of a result's blocks, in bytes.
const (
	maxMedia       = 20 << 20 // base64 of one image or audio that is passed on
	maxURI         = 2 << 10
	maxDescription = 1 << 10
)

// blocks turns a result's content into pieces.
type blocks struct {
	options ShapeOptions
	pieces  []piece
	// texts are those of the text blocks, and media the base64 of the binary
	// ones: structuredContent often repeats them.
	texts []text
	media [][]byte
}

func (b *blocks) readAll(content []byte) {
	if rawjson.Kind(content) != '[' {
		if content != nil {
			b.read(content)
		}
		return
	}
	more := 0
	_ = rawjson.KnownArray(content, func(i int, block []byte) error {
		if i >= maxBlocks {
			more++
			return nil
		}
		b.read(block)
		return nil
	})
	if more > 0 {
		b.add(plain(fmt.Sprintf("(%d more blocks of content were left out.)", more)))
	}
}

func (b *blocks) add(t text) {
	if t.size > 0 {
		b.pieces = append(b.pieces, piece{text: t})
	}
}

// A block has the members that one of the known types may have, undecoded.
type block struct {
	kind, text, data, mimeType, resource, uri, name, title, description, size, blob []byte
}

func (b *blocks) read(raw []byte) {
	switch rawjson.Kind(raw) {
	case 'n':
		return
	case '"':
		b.addText(raw)
		return
	case '{':
	default:
		b.add(jsonText(raw))
		return
	}
	x := parseBlock(raw)
	switch kind, _ := rawjson.String(x.kind); {
	case kind == "text" && isString(x.text):
		b.addText(x.text)
	case kind == "image" && isString(x.data):
		b.addMedia(x, protocol.OutputImage, b.options.ImageInput, "An image", "takes no images")
	case kind == "audio" && isString(x.data):
		b.addMedia(x, protocol.OutputAudio, b.options.AudioInput, "A sound", "takes no audio")
	case kind == "resource_link" && word(x.uri, maxURI) != "":
		b.add(plain(linkText(x)))
	case kind == "resource" && rawjson.Kind(x.resource) == '{' && b.addResource(parseBlock(x.resource)):
	default:
		b.add(jsonText(raw))
	}
}

func parseBlock(raw []byte) (x block) {
	_ = rawjson.KnownObject(raw, func(key, value []byte) error {
		switch string(key) {
		case "type":
			x.kind = value
		case "text":
			x.text = value
		case "data":
			x.data = value
		case "mimeType":
			x.mimeType = value
		case "resource":
			x.resource = value
		case "uri":
			x.uri = value
		case "name":
			x.name = value
		case "title":
			x.title = value
		case "description":
			x.description = value
		case "size":
			x.size = value
		case "blob":
			x.blob = value
		}
		return nil
	})
	return x
}

func isString(value []byte) bool { return rawjson.Kind(value) == '"' }

// word decodes a short text for a sentence, "" if there is none.
func word(value []byte, max int) string {
	if !isString(value) || len(value) > 8*max {
		return ""
	}
	s, _ := rawjson.String(value)
	return elicit.Clean(s, max)
}

func (b *blocks) addText(value []byte) {
	t := stringText("", value)
	b.texts = append(b.texts, t)
	b.add(t)
}

// addMedia passes an image or a sound on, or says why not. Data that is not
// base64 would make a provider refuse the whole step.
func (b *blocks) addMedia(x block, kind protocol.OutputType, taken bool, what, refusal string) {
	data := inside(x.data)
	b.media = append(b.media, data)
	mime := word(x.mimeType, maxURI)
	switch {
	case !taken:
		b.add(plain(leftOut(what, mime, data, "the model "+refusal)))
	case len(data) > maxMedia:
		b.add(plain(leftOut(what, mime, data, "it is too large")))
	case !isBase64(data):
		b.add(plain(leftOut(what, mime, data, "its data is not base64")))
	case mime == "":
		b.add(plain(leftOut(what, mime, data, "its MIME type is missing")))
	default:
		b.pieces = append(b.pieces, piece{media: &protocol.OutputItem{Type: kind, Data: string(data), MIMEType: mime}})
	}
}

// leftOut says that something binary is not shown.
func leftOut(what, mime string, data []byte, why string) string {
	if mime != "" {
		what += " (" + mime + ")"
	}
	return fmt.Sprintf("(%s of about %d bytes was left out: %s.)", what, len(data)/4*3, why)
}

// addResource adds an embedded resource; it reports false for one that has
// neither contents nor an address.
func (b *blocks) addResource(x block) bool {
	uri, mime := word(x.uri, maxURI), word(x.mimeType, maxURI)
	label := "Resource"
	if uri != "" {
		label += " " + uri
	}
	if mime != "" {
		label += " (" + mime + ")"
	}
	switch {
	case isString(x.text):
		lead := label + ":\n"
		if uri == "" {
			lead = ""
		}
		b.add(stringText(lead, x.text))
	case isString(x.blob):
		data := inside(x.blob)
		b.media = append(b.media, data)
		b.add(plain(fmt.Sprintf("(%s of about %d bytes was left out: it is binary.)", label, len(data)/4*3)))
	case uri != "":
		b.add(plain(label))
	default:
		return false
	}
	return true
}

// linkText describes a resource link on one line.
func linkText(x block) string {
	s := "Resource link"
	if title := word(x.title, maxDescription); title != "" {
		s += " " + title
	} else if n := word(x.name, maxDescription); n != "" {
		s += " " + n
	}
	s += ": " + word(x.uri, maxURI)
	var facts []string
	if mime := word(x.mimeType, maxURI); mime != "" {
		facts = append(facts, mime)
	}
	if rawjson.Kind(x.size) == '0' && len(x.size) <= 20 {
		facts = append(facts, string(x.size)+" bytes")
	}
	if len(facts) > 0 {
		s += " (" + strings.Join(facts, ", ") + ")"
	}
	if d := word(x.description, maxDescription); d != "" {
		s += " – " + d
	}
	return s
}

// inside returns what is between the quotes of a JSON string. Base64 has
// nothing that must be escaped but may have; then it is decoded.
func inside(value []byte) []byte {
	body := bytes.TrimSpace(value)
	body = body[1 : len(body)-1]
	if bytes.IndexByte(body, '\\') >= 0 {
		return []byte(unquote(body))
	}
	return body
}

// isBase64 reports whether data is padded standard base64 of something.
func isBase64(data []byte) bool {
	if len(data) == 0 || len(data)%4 != 0 {
		return false
	}
	digits := bytes.TrimRight(data, "=")
	if len(data)-len(digits) > 2 {
		return false
	}
	for _, c := range digits {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/') {
			return false
		}
	}
	return true
}
