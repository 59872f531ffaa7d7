package elicit

import (
	"math"
	"strconv"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// parsePointer splits a JSON pointer (RFC 6901) into its parts. wrong says why
// it is none.
func parsePointer(s string) (parts []string, wrong string) {
	if !strings.HasPrefix(s, "/") {
		return nil, "must begin with a slash"
	}
	for _, part := range strings.Split(s[1:], "/") {
		for i := range len(part) {
			if part[i] == '~' && (i+1 == len(part) || part[i+1] != '0' && part[i+1] != '1') {
				return nil, "has a ~ that is neither ~0 (for ~) nor ~1 (for /)"
			}
		}
		parts = append(parts, strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~"))
	}
	return parts, ""
}

// formatPointer is the pointer that parsePointer splits into parts.
func formatPointer(parts []string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, part := range parts {
		b.WriteString("/" + escape.Replace(part))
	}
	return b.String()
}

// lookup returns the values at a pointer. They are more than one where a key
// is given more than once, or in another case as well: which of them a server
// takes is its own secret. everywhere reports that no such choice leads past the
// pointer, as it is spelled.
func lookup(doc []byte, pointer []string) (values [][]byte, everywhere bool) {
	values, everywhere = [][]byte{doc}, true
	for _, part := range pointer {
		var next [][]byte
		for _, v := range values {
			exact := false
			switch rawjson.Kind(v) {
			case '{':
				_ = rawjson.Object(v, func(key, value []byte) error {
					if strings.EqualFold(string(key), part) {
						next = append(next, value)
						exact = exact || string(key) == part
					}
					return nil
				})
			case '[':
				want, ok := arrayIndex(part)
				_ = rawjson.Array(v, func(i int, value []byte) error {
					if ok && i == want {
						next = append(next, value)
						exact = true
					}
					return nil
				})
			}
			everywhere = everywhere && exact
		}
		values = next
	}
	return values, everywhere && len(values) > 0
}

// arrayIndex reads a pointer's part as RFC 6901 writes an index: digits
// without a leading zero.
func arrayIndex(part string) (int, bool) {
	if part == "" || part[0] == '0' && len(part) > 1 || strings.Trim(part, "0123456789") != "" {
		return 0, false
	}
	i, err := strconv.Atoi(part)
	return i, err == nil
}

// readings returns the texts of a value: a string's own, else compact JSON. A
// number that has a plainer spelling has both: 1e0 is 1, too.
func readings(value []byte) []string {
	switch rawjson.Kind(value) {
	case '"':
		text, _ := rawjson.String(value)
		return []string{text}
	case '0':
		written := string(value)
		f, err := strconv.ParseFloat(written, 64)
		if err != nil || math.IsInf(f, 0) {
			return []string{written}
		}
		if f == 0 {
			f = 0 // not -0
		}
		if plain := strconv.FormatFloat(f, 'f', -1, 64); plain != written {
			return []string{written, plain}
		}
		return []string{written}
	}
	return []string{string(compact(value))}
}

// compact returns a valid JSON value without white space and with each string
// in its plainest spelling, so that an escape hides nothing.
func compact(value []byte) []byte {
	out := make([]byte, 0, len(value))
	for i := 0; i < len(value); {
		switch c := value[i]; c {
		case ' ', '\t', '\r', '\n':
			i++
		case '"':
			end := i + 1
			for end < len(value) && value[end] != '"' {
				if value[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(value))
			text, _ := rawjson.String(value[i:end])
			out = rawjson.AppendString(out, text)
			i = end
		default:
			out = append(out, c)
			i++
		}
	}
	return out
}
