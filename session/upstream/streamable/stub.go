package streamable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// paramHeader is the schema keyword that sends an argument as a header too.
const paramHeader = "x-mcp-header"

// stubs holds, for each method, the smallest result that the SDK takes. ttlMs 0
// keeps its cache from ever answering in the server's place.
var stubs = map[string]string{
	"tools/call":               `{"resultType":"complete","content":[]}`,
	"resources/read":           `{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[]}`,
	"resources/list":           `{"resultType":"complete","ttlMs":0,"cacheScope":"private","resources":[]}`,
	"resources/templates/list": `{"resultType":"complete","ttlMs":0,"cacheScope":"private","resourceTemplates":[]}`,
	"prompts/list":             `{"resultType":"complete","ttlMs":0,"cacheScope":"private","prompts":[]}`,
	"prompts/get":              `{"resultType":"complete","messages":[]}`,
	"completion/complete":      `{"resultType":"complete","completion":{"values":[]}}`,
}

// handshake names the methods whose results the SDK itself must read.
var handshake = map[string]bool{
	"initialize":           true,
	"server/discover":      true,
	"subscriptions/listen": true,
}

// stub returns what the SDK gets in place of a captured result; nil if it must
// have the result itself.
func stub(method string, result []byte) []byte {
	if handshake[method] {
		return nil
	}
	if method == "tools/list" {
		return reducedTools(result)
	}
	if s, ok := stubs[method]; ok {
		return []byte(s)
	}
	return []byte("{}")
}

// reducedTools keeps of a tools/list result what the SDK needs to send
// Mcp-Param headers: name and inputSchema of the tools that ask for such, and
// the cursor. A malformed tool, which would cost the whole list, is left out.
func reducedTools(result []byte) []byte {
	var tools, cursor []byte
	_ = rawjson.Object(result, func(key, value []byte) error {
		switch string(key) {
		case "tools":
			tools = value
		case "nextCursor":
			cursor = value
		}
		return nil
	})
	out := []byte(`{"resultType":"complete","ttlMs":0,"cacheScope":"private"`)
	if rawjson.Kind(cursor) == '"' {
		out = append(append(out, `,"nextCursor":`...), cursor...)
	}
	out = append(out, `,"tools":[`...)
	if rawjson.Kind(tools) == '[' {
		first := true
		_ = rawjson.Array(tools, func(_ int, tool []byte) error {
			if rawjson.Kind(tool) != '{' || !bytes.Contains(tool, []byte(paramHeader)) {
				return nil
			}
			var name, schema []byte
			_ = rawjson.Object(tool, func(key, value []byte) error {
				switch string(key) {
				case "name":
					name = value
				case "inputSchema":
					schema = value
				}
				return nil
			})
			if rawjson.Kind(name) != '"' || rawjson.Kind(schema) != '{' || tooDeep(schema) {
				return nil
			}
			if !first {
				out = append(out, ',')
			}
			first = false
			out = append(append(out, `{"name":`...), name...)
			out = append(append(out, `,"inputSchema":`...), rawjson.SingleLine(schema)...)
			out = append(out, '}')
			return nil
		})
	}
	return append(out, "]}"...)
}

// CheckParamHeaders says what is wrong with the x-mcp-header annotations of a
// tool's input schema, nil if they are right or absent. A client on 2026-07-28
// must drop a tool where they are wrong, and the SDK will send no headers for
// it: the owner, who lists the tools from the raw result, drops it with this reason.
func CheckParamHeaders(inputSchema json.RawMessage) error {
	if !bytes.Contains(inputSchema, []byte(paramHeader)) {
		return nil
	}
	return checkAnnotations(inputSchema, "", map[string]bool{})
}

// checkAnnotations checks the properties of one schema, and of the schemas below.
func checkAnnotations(schema []byte, path string, seen map[string]bool) error {
	properties := rawjson.Member(schema, "properties")
	if rawjson.Kind(properties) != '{' {
		return nil
	}
	return rawjson.Object(properties, func(key, property []byte) error {
		at := path + "/" + string(key)
		if annotation := rawjson.Member(property, paramHeader); annotation != nil {
			kind, _ := rawjson.String(rawjson.Member(property, "type"))
			if kind != "string" && kind != "integer" && kind != "boolean" {
				return fmt.Errorf("property %s: %s needs the type string, integer or boolean, not %q", at, paramHeader, kind)
			}
			name, _ := rawjson.String(annotation)
			if !isToken(name) {
				return fmt.Errorf("property %s: %s is no header name", at, paramHeader)
			}
			if lower := strings.ToLower(name); seen[lower] {
				return fmt.Errorf("property %s: %s %q is used twice", at, paramHeader, name)
			} else {
				seen[lower] = true
			}
		}
		return checkAnnotations(property, at, seen)
	})
}

// isToken reports whether s is a header name by RFC 9110 section 5.1.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		if !isTokenByte(c) {
			return false
		}
	}
	return s != ""
}

// isTokenByte reports whether c may stand in an RFC 9110 token.
func isTokenByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
