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
	sdkMeta := rawjson.Member(sdk, "_meta")
	if rawjson.Kind(sdkMeta) != '{' {
		return ours, nil
	}
	from, to, found := rawjson.Span(ours, "_meta")
	if !found {
		return withMember(ours, "_meta", sdkMeta), nil
	}
	meta := ours[from:to]
	if rawjson.Kind(meta) != '{' {
		meta = []byte("{}")
	}
	err := rawjson.Object(sdkMeta, func(key, value []byte) error {
		f, t, has := rawjson.Span(meta, string(key))
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
