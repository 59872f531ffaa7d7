package stdio

import (
	"bytes"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// OriginKey is the member of params._meta by which a handler of the SDK finds
// again what [Options.OnServerRequest] saw: its value is the token, a string.
// A member of that name that came from the server is always removed.
const OriginKey = "io.mcp-sidecar/origin"

// markOrigin returns params with the token under OriginKey in _meta, or, when
// token is empty, without that member. All other members stay as they are, in
// order; params that are not an object are left alone.
func markOrigin(params []byte, token string) []byte {
	switch rawjson.Kind(params) {
	case '{':
	case 0, 'n':
		if token == "" {
			return params
		}
		params = []byte("{}")
	default:
		return params
	}
	if token == "" && !bytes.Contains(params, []byte(`_meta`)) && !bytes.Contains(params, []byte(`\u`)) {
		return params
	}

	out := make([]byte, 0, len(params)+len(OriginKey)+len(token)+24)
	out = append(out, '{')
	var meta []byte
	members := rawjson.Object(params, func(key, value []byte) error {
		if string(key) == "_meta" {
			if rawjson.Kind(value) == '{' {
				meta = value // the last one counts, as for any decoder
			}
			return nil
		}
		out = appendMember(out, key, value)
		return nil
	})
	if members != nil {
		return params // it was valid as part of its line, so this cannot be
	}
	if meta == nil && token == "" {
		return append(out, '}')
	}
	out = append(separate(out), `"_meta":{`...)
	if meta != nil {
		rawjson.Object(meta, func(key, value []byte) error {
			if string(key) != OriginKey {
				out = appendMember(out, key, value)
			}
			return nil
		})
	}
	if token != "" {
		out = appendMember(out, []byte(OriginKey), rawjson.AppendString(nil, token))
	}
	return append(out, '}', '}')
}

// appendMember appends a member to the object that dst is inside of.
func appendMember(dst, key, value []byte) []byte {
	dst = rawjson.AppendString(separate(dst), string(key))
	dst = append(dst, ':')
	return append(dst, value...)
}

// separate appends a comma unless dst has just opened an object.
func separate(dst []byte) []byte {
	if dst[len(dst)-1] == '{' {
		return dst
	}
	return append(dst, ',')
}
