package stdio

import (
	"bytes"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Of a line that is too long, or is not JSON, we want to know one thing: which
// call it answers. Most servers write the id first, the TypeScript SDK writes
// it last, and inside of a result there may be members of that name too. These
// functions look at the members of the outermost object only.

// A clue is what one end of a line says.
type clue struct {
	id     []byte // the bytes of the id, or nil
	method bool   // there is a method: it is not an answer
}

// fromHead reads the members at the beginning of a line.
func fromHead(head []byte) (c clue) {
	i := skipSpace(head, 0)
	if i == len(head) || head[i] != '{' {
		return c
	}
	for i++; ; {
		i = skipSpace(head, i)
		keyEnd := skipString(head, i)
		if keyEnd < 0 {
			return c
		}
		key := head[i+1 : keyEnd-1]
		i = skipSpace(head, keyEnd)
		if i == len(head) || head[i] != ':' {
			return c
		}
		i = skipSpace(head, i+1)
		end := skipValue(head, i)
		switch string(key) {
		case "method":
			c.method = true
		case "id":
			if end >= 0 {
				c.id = head[i:end]
			}
		}
		if end < 0 {
			return c
		}
		i = skipSpace(head, end)
		if i == len(head) || head[i] != ',' {
			return c
		}
		i++
	}
}

// fromTail reads the members at the end of a line, backwards from its last
// brace. A quote is the end of a string, or its beginning, when an even number
// of backslashes stands before it; so strings can be told from either side.
func fromTail(tail []byte) (c clue) {
	end := len(tail)
	for end > 0 && isSpace(tail[end-1]) {
		end--
	}
	if end == 0 || tail[end-1] != '}' {
		return c
	}
	depth, valueEnd := 1, end-1
	for i := end - 2; i >= 0; i-- {
		switch tail[i] {
		case '"':
			if i = stringStart(tail, i); i < 0 {
				return c
			}
		case '}', ']':
			depth++
		case '{', '[':
			if depth--; depth == 0 {
				return c
			}
		case ',':
			if depth == 1 {
				valueEnd = i
			}
		case ':':
			if depth != 1 {
				continue
			}
			value := bytes.TrimSpace(tail[i+1 : valueEnd])
			last := i - 1
			for last >= 0 && isSpace(tail[last]) {
				last--
			}
			if last < 0 || tail[last] != '"' {
				return c
			}
			first := stringStart(tail, last)
			if first < 0 {
				return c
			}
			switch string(tail[first+1 : last]) {
			case "method":
				c.method = true
			case "id":
				if rawjson.Valid(value) == nil {
					c.id = value
				}
			}
			i = first
		}
	}
	return c
}

// stringStart returns the index of the quote that begins the string whose
// closing quote is at end, or -1.
func stringStart(b []byte, end int) int {
	for i := end - 1; i >= 0; i-- {
		if b[i] != '"' {
			continue
		}
		slashes := 0
		for i-slashes > 0 && b[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			if slashes == i && i > 0 {
				return -1 // the slashes may go on before what we hold
			}
			return i
		}
	}
	return -1
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// skipString returns the index after the string that begins at i, or -1.
func skipString(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// skipValue returns the index after the value that begins at i, or -1 if it
// does not end in b.
func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 {
				return i // the brace after a number or a literal
			}
			if depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return -1
}
