package rawjson

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is how deep arrays and objects may be nested, the outermost
// included. It is encoding/json's own bound.
const MaxDepth = 10000

// A SyntaxError says why bytes are not the JSON that was asked for.
type SyntaxError struct {
	// Offset is the index of the byte to blame; it is the length of the input
	// when the input ends too early.
	Offset int
	// Msg says what is wrong there. It never quotes the input.
	Msg string
}

// Error returns the message with its place.
func (e *SyntaxError) Error() string {
	return "json: " + e.Msg + " at byte " + strconv.Itoa(e.Offset)
}

// A fault is a reason for a SyntaxError; 0 is none. It keeps the scanner's
// results in registers.
type fault uint8

const (
	faultEnd fault = iota + 1
	faultValue
	faultKey
	faultColon
	faultObjectNext
	faultArrayNext
	faultControl
	faultEscape
	faultUTF8
	faultNumber
	faultDepth
	faultTrailing
	faultNoObject
	faultNoArray
)

var faultText = [...]string{
	faultEnd:        "unexpected end",
	faultValue:      "no value",
	faultKey:        "no key in quotes",
	faultColon:      "no colon after a key",
	faultObjectNext: "neither comma nor closing brace after a member",
	faultArrayNext:  "neither comma nor closing bracket after an element",
	faultControl:    "control character in a string",
	faultEscape:     "bad escape in a string",
	faultUTF8:       "invalid UTF-8",
	faultNumber:     "bad number",
	faultDepth:      "nested too deep",
	faultTrailing:   "more after the value",
	faultNoObject:   "not an object",
	faultNoArray:    "not an array",
}

func syntaxError(at int, f fault) error { return &SyntaxError{Offset: at, Msg: faultText[f]} }

// Valid reports, as a *SyntaxError, why data is not exactly one JSON value
// with nothing but white space around it; nil means it is.
func Valid(data []byte) error {
	i, f := value(data, space(data, 0), 0)
	if f == 0 {
		if i = space(data, i); i == len(data) {
			return nil
		}
		f = faultTrailing
	}
	return syntaxError(i, f)
}

// Object validates data as exactly one JSON object, in one pass, and calls
// visit for each of its members in order, duplicates included. key is without
// quotes and escapes; value is the member's value as a sub-slice of data,
// without white space around it. An error of visit ends the pass and is
// returned as it is; otherwise the error is a *SyntaxError, and the members that
// are complete before the place to blame have been visited: what can be known of
// a text that was cut off is known.
func Object(data []byte, visit func(key, value []byte) error) error {
	i := space(data, 0)
	if i == len(data) {
		return syntaxError(i, faultEnd)
	}
	if data[i] != '{' {
		return syntaxError(i, faultNoObject)
	}
	i = space(data, i+1)
	if i < len(data) && data[i] == '}' {
		return tail(data, i+1)
	}
	for {
		if i == len(data) {
			return syntaxError(i, faultEnd)
		}
		if data[i] != '"' {
			return syntaxError(i, faultKey)
		}
		start := i + 1
		end, escaped, f := str(data, start)
		if f != 0 {
			return syntaxError(end, f)
		}
		key := data[start : end-1]
		if escaped {
			key = unescape(make([]byte, 0, len(key)), key)
		}
		if i = space(data, end); i == len(data) {
			return syntaxError(i, faultEnd)
		}
		if data[i] != ':' {
			return syntaxError(i, faultColon)
		}
		start = space(data, i+1)
		if end, f = value(data, start, 1); f != 0 {
			return syntaxError(end, f)
		}
		if i = space(data, end); i == len(data) {
			return syntaxError(i, faultEnd)
		}
		if data[i] != ',' && data[i] != '}' {
			return syntaxError(i, faultObjectNext)
		}
		// Only now it is certain that the value ends here.
		if err := visit(key, data[start:end:end]); err != nil {
			return err
		}
		if data[i] == '}' {
			return tail(data, i+1)
		}
		i = space(data, i+1)
	}
}

// Array is Object for exactly one JSON array: visit gets the index and the
// bytes of each element.
func Array(data []byte, visit func(i int, value []byte) error) error {
	i := space(data, 0)
	if i == len(data) {
		return syntaxError(i, faultEnd)
	}
	if data[i] != '[' {
		return syntaxError(i, faultNoArray)
	}
	i = space(data, i+1)
	if i < len(data) && data[i] == ']' {
		return tail(data, i+1)
	}
	for n := 0; ; n++ {
		start := i
		end, f := value(data, start, 1)
		if f != 0 {
			return syntaxError(end, f)
		}
		if i = space(data, end); i == len(data) {
			return syntaxError(i, faultEnd)
		}
		if data[i] != ',' && data[i] != ']' {
			return syntaxError(i, faultArrayNext)
		}
		if err := visit(n, data[start:end:end]); err != nil {
			return err
		}
		if data[i] == ']' {
			return tail(data, i+1)
		}
		i = space(data, i+1)
	}
}

// Kind says what value is by its first byte that is not white space: '{', '[',
// '"', 't', 'f' or 'n', '0' for any number, and 0 for what can't be a value.
func Kind(value []byte) byte {
	i := space(value, 0)
	if i == len(value) {
		return 0
	}
	switch c := value[i]; c {
	case '{', '[', '"', 't', 'f', 'n':
		return c
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return '0'
	}
	return 0
}

func tail(data []byte, i int) error {
	if i = space(data, i); i < len(data) {
		return syntaxError(i, faultTrailing)
	}
	return nil
}

// space returns the index of the first byte from i on that is not white space.
func space(data []byte, i int) int {
	for i < len(data) {
		if c := data[i]; c > ' ' || c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			break
		}
		i++
	}
	return i
}

// value scans the value that begins at i, where depth containers are open
// already, and returns where it ends, or the fault and its place.
func value(data []byte, i, depth int) (int, fault) {
	base := depth
	var f fault
	// One bit for each open container: 1 is an array.
	var arrays [MaxDepth/64 + 1]uint64
begin:
	for {
		if i >= len(data) {
			return len(data), faultEnd
		}
		switch c := data[i]; c {
		case '"':
			if i, _, f = str(data, i+1); f != 0 {
				return i, f
			}
		case '{':
			if depth == MaxDepth {
				return i, faultDepth
			}
			arrays[depth/64] &^= 1 << (depth % 64)
			depth++
			if i = space(data, i+1); i < len(data) && data[i] == '}' {
				depth--
				i++
				break
			}
			if i, f = key(data, i); f != 0 {
				return i, f
			}
			continue
		case '[':
			if depth == MaxDepth {
				return i, faultDepth
			}
			arrays[depth/64] |= 1 << (depth % 64)
			depth++
			if i = space(data, i+1); i < len(data) && data[i] == ']' {
				depth--
				i++
				break
			}
			continue
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			if i, f = number(data, i); f != 0 {
				return i, f
			}
		case 't':
			if i, f = word(data, i, "true"); f != 0 {
				return i, f
			}
		case 'f':
			if i, f = word(data, i, "false"); f != 0 {
				return i, f
			}
		case 'n':
			if i, f = word(data, i, "null"); f != 0 {
				return i, f
			}
		default:
			return i, faultValue
		}
		// A value ended at i; it may have been the last one of what is open.
		for depth > base {
			if i = space(data, i); i == len(data) {
				return i, faultEnd
			}
			array := arrays[(depth-1)/64]>>((depth-1)%64)&1 == 1
			switch c := data[i]; {
			case c == ',':
				i = space(data, i+1)
				if !array {
					if i, f = key(data, i); f != 0 {
						return i, f
					}
				}
				continue begin
			case c == ']' && array, c == '}' && !array:
				depth--
				i++
			case array:
				return i, faultArrayNext
			default:
				return i, faultObjectNext
			}
		}
		return i, 0
	}
}

// key scans a key and its colon at i and returns where the value begins.
func key(data []byte, i int) (int, fault) {
	if i >= len(data) {
		return len(data), faultEnd
	}
	if data[i] != '"' {
		return i, faultKey
	}
	i, _, f := str(data, i+1)
	if f != 0 {
		return i, f
	}
	if i = space(data, i); i == len(data) {
		return i, faultEnd
	}
	if data[i] != ':' {
		return i, faultColon
	}
	return space(data, i+1), 0
}

func word(data []byte, i int, w string) (int, fault) {
	if len(data)-i >= len(w) && string(data[i:i+len(w)]) == w {
		return i + len(w), 0
	}
	for j := range len(w) {
		if i+j == len(data) {
			return len(data), faultEnd
		}
		if data[i+j] != w[j] {
			return i + j, faultValue
		}
	}
	return i + len(w), 0
}

func number(data []byte, i int) (int, fault) {
	if data[i] == '-' {
		i++
	}
	switch {
	case i == len(data):
		return i, faultEnd
	case data[i] == '0':
		i++
	case '1' <= data[i] && data[i] <= '9':
		i = digits(data, i)
	default:
		return i, faultNumber
	}
	if i < len(data) && data[i] == '.' {
		start := i + 1
		if i = digits(data, start); i == start {
			return digitFault(data, i)
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		start := i
		if i = digits(data, start); i == start {
			return digitFault(data, i)
		}
	}
	return i, 0
}

func digits(data []byte, i int) int {
	for i < len(data) && data[i]-'0' <= 9 {
		i++
	}
	return i
}

func digitFault(data []byte, i int) (int, fault) {
	if i == len(data) {
		return i, faultEnd
	}
	return i, faultNumber
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// stops has the high bit set in the lowest byte of w that ends a run of plain
// string bytes: a quote, a backslash or a control character. Bits above the
// lowest one may be wrong.
func stops(w uint64) uint64 {
	quote := w ^ '"'*ones
	slash := w ^ '\\'*ones
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-' '*ones)&^w) & highs
}

// str scans the string whose first byte after the quote is at i and returns
// the index after its closing quote, and whether it has escapes.
func str(data []byte, i int) (end int, escaped bool, f fault) {
	start := i
	var high uint64 // has a bit of highs if a byte was not ASCII
	for {
		// Eight bytes at a time up to something special.
		for len(data)-i >= 8 {
			w := binary.LittleEndian.Uint64(data[i:])
			if m := stops(w); m != 0 {
				n := bits.TrailingZeros64(m)
				high |= w & highs & (1<<n - 1)
				i += n / 8
				goto special
			}
			high |= w
			i += 8
		}
		for i < len(data) {
			c := data[i]
			if c == '"' || c == '\\' || c < ' ' {
				goto special
			}
			high |= uint64(c)
			i++
		}
		return i, escaped, faultEnd
	special:
		switch data[i] {
		case '"':
			if high&highs != 0 && !utf8.Valid(data[start:i]) {
				return start + invalid(data[start:i]), escaped, faultUTF8
			}
			return i + 1, escaped, 0
		case '\\':
			escaped = true
			if i, f = escape(data, i); f != 0 {
				return i, escaped, f
			}
		default:
			return i, escaped, faultControl
		}
	}
}

// invalid returns the index of the first byte of b that is not UTF-8.
func invalid(b []byte) int {
	i := 0
	for i < len(b) {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return i
}

// escape scans the escape whose backslash is at i.
func escape(data []byte, i int) (int, fault) {
	if i+1 == len(data) {
		return len(data), faultEnd
	}
	switch data[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2, 0
	case 'u':
		for j := i + 2; j < i+6; j++ {
			if j >= len(data) {
				return len(data), faultEnd
			}
			if hex(data[j]) < 0 {
				return j, faultEscape
			}
		}
		return i + 6, 0
	}
	return i + 1, faultEscape
}

func hex(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c && c <= 'f':
		return rune(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}
