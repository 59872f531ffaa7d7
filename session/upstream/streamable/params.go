package streamable

import (
	"bytes"
	"errors"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// metaProtocolVersion is the member of _meta that must equal a header.
const metaProtocolVersion = "io.modelcontextprotocol/protocolVersion"

// outgoingParams returns what to send as params: ours, with the members of
// _meta that the SDK put into its own.
func outgoingParams(ours, sdk []byte) ([]byte, error) {
	if err := rawjson.Valid(ours); err != nil {
		return nil, err
	}
	if rawjson.Kind(ours) != '{' {
		return nil, errors.New("params are not an object")
	}
	sdkMeta := member(sdk, "_meta")
	if rawjson.Kind(sdkMeta) != '{' {
		return ours, nil
	}
	from, to, found := span(ours, "_meta")
	if !found {
		return withMember(ours, "_meta", sdkMeta), nil
	}
	meta := ours[from:to]
	if rawjson.Kind(meta) != '{' {
		meta = []byte("{}")
	}
	err := rawjson.Object(sdkMeta, func(key, value []byte) error {
		f, t, has := span(meta, string(key))
		switch {
		case !has:
			meta = withMember(meta, string(key), value)
		case string(key) == metaProtocolVersion:
			meta = splice(meta, f, t, value)
		}
		return nil
	})
	return splice(ours, from, to, meta), err
}

// withOrigin returns a server request's params with token, if any, as the one
// OriginKey in _meta. They are written anew: the hook had the raw ones.
func withOrigin(params []byte, token string) []byte {
	if params != nil && rawjson.Kind(params) != '{' {
		return params
	}
	var meta []byte
	out := []byte{'{'}
	add := func(b, key, value []byte) []byte {
		if len(b) > 1 {
			b = append(b, ',')
		}
		return append(append(rawjson.AppendString(b, string(key)), ':'), value...)
	}
	if params != nil {
		_ = rawjson.Object(params, func(key, value []byte) error {
			if string(key) == "_meta" {
				meta = value
			} else {
				out = add(out, key, value)
			}
			return nil
		})
	}
	if meta == nil && token == "" {
		return params
	}
	newMeta := []byte{'{'}
	if rawjson.Kind(meta) == '{' {
		_ = rawjson.Object(meta, func(key, value []byte) error {
			if string(key) != OriginKey {
				newMeta = add(newMeta, key, value)
			}
			return nil
		})
	}
	if token != "" {
		newMeta = add(newMeta, []byte(OriginKey), rawjson.AppendString(nil, token))
	}
	return append(add(out, []byte("_meta"), append(newMeta, '}')), '}')
}

// member returns the value of key in a valid JSON object, or nil.
func member(object []byte, key string) []byte {
	if from, to, ok := span(object, key); ok {
		return object[from:to]
	}
	return nil
}

// splice returns b with b[from:to] replaced.
func splice(b []byte, from, to int, with []byte) []byte {
	out := make([]byte, 0, len(b)-(to-from)+len(with))
	return append(append(append(out, b[:from]...), with...), b[to:]...)
}

// withMember returns the valid JSON object with one more member at its end.
func withMember(object []byte, key string, value []byte) []byte {
	end := bytes.LastIndexByte(object, '}')
	head := bytes.TrimRight(object[:end], " \t\r\n")
	out := make([]byte, 0, len(object)+len(key)+len(value)+4)
	out = append(out, object[:end]...)
	if head[len(head)-1] != '{' {
		out = append(out, ',')
	}
	out = append(rawjson.AppendString(out, key), ':')
	return append(append(out, value...), object[end:]...)
}

// span finds the value of the last member named key in a valid JSON object.
// It reads object as valid, and finds nothing in anything but an object.
func span(object []byte, key string) (from, to int, found bool) {
	i := skipSpace(object, 0)
	if i >= len(object) || object[i] != '{' {
		return 0, 0, false
	}
	for i = skipSpace(object, i+1); i < len(object) && object[i] == '"'; {
		keyEnd := skipValue(object, i)
		name, _ := rawjson.String(object[i:keyEnd])
		i = skipSpace(object, skipSpace(object, keyEnd)+1) // the colon
		end := skipValue(object, i)
		if name == key {
			from, to, found = i, end, true
		}
		i = skipSpace(object, end)
		if i < len(object) && object[i] == ',' {
			i = skipSpace(object, i+1)
		}
	}
	return from, to, found
}

// skipSpace returns the index of the first byte from i on that is no JSON space.
func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the index behind the valid JSON value that begins at i.
func skipValue(b []byte, i int) int {
	depth, inString := 0, false
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				if inString = false; depth == 0 {
					return i + 1
				}
			}
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r'):
			return i
		}
	}
	return len(b)
}
