package toolcall

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Limits of comparing structuredContent with the content, in bytes.
const (
	minMedia    = 64        // data shorter than this is not looked for
	maxCompared = 256 << 10 // JSON that is compared by meaning, not by bytes
)

// say reports whether the blocks say already what structuredContent does:
//   - a text block is its JSON,
//   - it is the content itself, or the content or a text wrapped in
//     {"result": …}, as common server frameworks do with plain values,
//   - or it holds nothing.
func (b *blocks) say(structured, content []byte) bool {
	switch rawjson.Kind(structured) {
	case 'n':
		return true
	case '{':
		wrapped, members := []byte(nil), 0
		_ = rawjson.Object(structured, func(key, value []byte) error {
			if members++; string(key) == "result" {
				wrapped = value
			}
			return nil
		})
		if members == 0 || members == 1 && wrapped != nil && b.sayValue(wrapped, content) {
			return true
		}
	}
	return b.sayValue(structured, content)
}

func (b *blocks) sayValue(value, content []byte) bool {
	for _, t := range b.texts {
		if t.equals(value) || sameJSON(t, value) {
			return true
		}
	}
	if rawjson.Kind(value) != '[' {
		return false
	}
	if content != nil && sameJSON(jsonText(content), value) {
		return true
	}
	// A list whose elements are one text block each.
	matched := 0
	_ = rawjson.Array(value, func(i int, element []byte) error {
		if i < len(b.texts) && i == matched && (b.texts[i].equals(element) || sameJSON(b.texts[i], element)) {
			matched++
		}
		return nil
	})
	n := 0
	_ = rawjson.Array(value, func(int, []byte) error { n++; return nil })
	return n > 0 && n == matched && n == len(b.texts)
}

// withoutMedia returns structured with the data of binary blocks, which the
// model has or is spared, replaced by a note.
func (b *blocks) withoutMedia(structured []byte) []byte {
	for _, data := range b.media {
		if len(data) >= minMedia && len(data) < len(structured) && bytes.Contains(structured, data) {
			structured = bytes.ReplaceAll(structured, data, []byte("(data of a content block)"))
		}
	}
	return structured
}

// sameJSON reports whether a text is JSON with the meaning of value: equal but
// for white space or, where both are small, equal when decoded. Numbers are
// compared as they are spelled.
func sameJSON(t text, value []byte) bool {
	a, b := tokens{text: t.body, quoted: t.quoted}, tokens{text: value}
	if t.lead != "" {
		return false
	}
	for {
		x, okX := a.next()
		y, okY := b.next()
		if okX != okY || x != y {
			break
		}
		if !okX {
			return true
		}
	}
	if t.size > maxCompared || len(value) > maxCompared {
		return false
	}
	s := []byte(t.whole())
	if k := rawjson.Kind(s); k != rawjson.Kind(value) || k != '{' && k != '[' && k != '"' || rawjson.Valid(s) != nil {
		return false
	}
	return reflect.DeepEqual(decode(s), decode(value))
}

func decode(value []byte) any {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	_ = d.Decode(&v)
	return v
}

// tokens reads the bytes of a JSON text without the white space outside its
// strings; quoted, from the inside of a JSON string.
type tokens struct {
	text    []byte
	quoted  bool
	pending []byte
	inside  bool
	escaped bool
}

func (t *tokens) next() (byte, bool) {
	for {
		c, ok := t.byte()
		if !ok {
			return 0, false
		}
		switch {
		case t.escaped:
			t.escaped = false
		case t.inside && c == '\\':
			t.escaped = true
		case c == '"':
			t.inside = !t.inside
		case !t.inside && (c == ' ' || c == '\t' || c == '\r' || c == '\n'):
			continue
		}
		return c, true
	}
}

var simpleEscapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (t *tokens) byte() (byte, bool) {
	if len(t.pending) > 0 {
		c := t.pending[0]
		t.pending = t.pending[1:]
		return c, true
	}
	if len(t.text) == 0 {
		return 0, false
	}
	c := t.text[0]
	if c != '\\' || !t.quoted {
		t.text = t.text[1:]
		return c, true
	}
	if t.text[1] != 'u' {
		c = simpleEscapes[t.text[1]]
		t.text = t.text[2:]
		return c, true
	}
	width, _ := escape(t.text)
	t.pending = []byte(unquote(t.text[:width]))
	t.text = t.text[width:]
	return t.byte()
}
