package toolcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// ParseArguments returns a call's arguments as the bytes that go to the server,
// or nil for none. An object is taken as it is; a string that holds an object,
// as models give it, is taken for what it holds, byte for byte but for line
// breaks between its tokens. Absent, null and a blank string mean none. The
// error for anything else is a text for the model.
func ParseArguments(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	switch rawjson.Kind(raw) {
	case 'n':
		if err := rawjson.Valid(raw); err != nil {
			return nil, invalidArguments(err)
		}
		return nil, nil
	case '"':
		text, ok := rawjson.String(raw)
		if !ok {
			return nil, invalidArguments(rawjson.Valid(raw))
		}
		if strings.TrimSpace(text) == "" {
			return nil, nil
		}
		raw = json.RawMessage(strings.TrimSpace(text))
	}
	if err := rawjson.Valid(raw); err != nil {
		return nil, invalidArguments(err)
	}
	if k := rawjson.Kind(raw); k != '{' {
		return nil, fmt.Errorf("the arguments must be a JSON object, not %s", kindWords[k])
	}
	return rawjson.SingleLine(raw), nil
}

var kindWords = map[byte]string{'[': "an array", '"': "a string", 't': "a boolean", 'f': "a boolean", 'n': "null", '0': "a number"}

func invalidArguments(err error) error {
	if syntax := (*rawjson.SyntaxError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("the arguments are not valid JSON: %s at byte %d", syntax.Msg, syntax.Offset)
	}
	return errors.New("the arguments are not valid JSON")
}
