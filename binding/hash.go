package binding

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Definition returns what a tool claims to be: a JSON object of name,
// description, inputSchema and annotations, as far as there are any, in
// canonical form. It can be kept, to be read by DescribeChange; it is about as
// large as the entry, and never more than twice MaxToolBytes. It is made anew
// each time.
func (t *Tool) Definition() json.RawMessage {
	o := object{{key: "name", val: rawjson.AppendString(nil, string(t.Name))}}
	if t.Description != "" {
		o = append(o, member{"description", rawjson.AppendString(nil, t.Description)})
	}
	if t.InputSchema != nil {
		o = append(o, member{"inputSchema", t.InputSchema})
	}
	if t.Annotations != nil {
		o = append(o, member{"annotations", t.Annotations})
	}
	return canonical(o.bytes())
}

// DefinitionHash is the hex SHA-256 of the Definition. It changes when a
// server changes what is in there, and not with the order of keys, white space
// or the way characters are escaped.
func (t *Tool) DefinitionHash() string { return t.derived().hash }

func definitionHash(t *Tool) string {
	sum := sha256.Sum256(t.Definition())
	return hex.EncodeToString(sum[:])
}

// canonical returns raw with sorted keys, no white space and strings escaped
// in one way. Numbers keep their text: 1.0 and 1 differ, and no digit is lost.
// What is not JSON comes back as it is.
func canonical(raw []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if rawjson.Valid(raw) != nil || d.Decode(&v) != nil {
		return raw
	}
	return appendCanonical(make([]byte, 0, len(raw)), v)
}

func appendCanonical(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case bool:
		if v {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case json.Number:
		return append(dst, v...)
	case string:
		return rawjson.AppendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, e := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendCanonical(dst, e)
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = rawjson.AppendString(dst, k)
			dst = append(dst, ':')
			dst = appendCanonical(dst, v[k])
		}
		return append(dst, '}')
	}
	return dst // the decoder makes nothing else
}
