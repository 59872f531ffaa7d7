package upstream

import (
	"bytes"
	"encoding/json"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// withMembers returns params, an object, with inputResponses and requestState
// in front.
func withMembers(params, responses, state json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	if responses != nil {
		out = append(append(out, `"inputResponses":`...), responses...)
	}
	if state != nil {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(out, `"requestState":`...), state...)
	}
	return joinObjects(out, params)
}

// joinObjects appends the members of the object rest to the open object head
// ("{" and members, no brace at the end).
func joinObjects(head []byte, rest json.RawMessage) json.RawMessage {
	body := bytes.TrimSpace(rest)
	if len(body) < 2 {
		body = []byte("{}")
	}
	body = body[1:]
	if len(head) > 1 && bytes.TrimSpace(body)[0] != '}' {
		head = append(head, ',')
	}
	return append(head, body...)
}

// withMeta returns params with members (without braces) added to its _meta,
// which comes first then. The values of the other members stay the bytes that
// they were.
func withMeta(params json.RawMessage, members []byte) (json.RawMessage, error) {
	if len(members) == 0 {
		return params, nil
	}
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	const front = `{"_meta":{`
	out := make([]byte, 0, len(params)+len(members)+len(front)+2)
	out = append(append(out, front...), members...)
	if rest, ok := bytes.CutPrefix(params, []byte(front)); ok { // as calls have it
		if bytes.TrimSpace(rest)[0] != '}' {
			out = append(out, ',')
		}
		return append(out, rest...), nil
	}
	var others []byte
	err := rawjson.Object(params, func(key, value []byte) error {
		if string(key) == "_meta" {
			if rawjson.Kind(value) == '{' {
				out = bytes.TrimSuffix(joinObjects(out, value), []byte("}"))
			}
			return nil
		}
		others = append(rawjson.AppendString(append(others, ','), string(key)), ':')
		others = append(others, value...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out = append(append(out, '}'), others...)
	return append(out, '}'), nil
}
