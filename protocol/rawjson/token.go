package rawjson

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

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
	if i >= len(data) {
		return len(data), faultEnd
	}
	if c := data[i]; c == '{' || c == '[' {
		return container(data, i, depth)
	}
	return scalar(data, i)
}

// scalar scans a value that is no container; i is in data.
func scalar(data []byte, i int) (int, fault) {
	switch data[i] {
	case '"':
		end, _, f := str(data, i+1)
		return end, f
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return number(data, i)
	case 't':
		return word(data, i, "true")
	case 'f':
		return word(data, i, "false")
	case 'n':
		return word(data, i, "null")
	}
	return i, faultValue
}

// A nest has one bit for each open container: 1 is an array. What is deeper
// than most is kept apart, so that the usual nest is small and in registers.
type nest struct {
	low  uint64
	high []uint64
}

func (n *nest) set(depth int, array bool) {
	word := &n.low
	if d := depth / 64; d > 0 {
		if len(n.high) < d {
			n.high = append(n.high, 0)
		}
		word = &n.high[d-1]
	}
	*word &^= 1 << (depth % 64)
	if array {
		*word |= 1 << (depth % 64)
	}
}

func (n *nest) isArray(depth int) bool {
	word := n.low
	if d := depth / 64; d > 0 {
		word = n.high[d-1]
	}
	return word>>(depth%64)&1 == 1
}

// container is value for an object or an array.
func container(data []byte, i, depth int) (int, fault) {
	base := depth
	var f fault
	var open nest // by the depth inside this container
begin:
	for {
		if i >= len(data) {
			return len(data), faultEnd
		}
		switch c := data[i]; c {
		case '{', '[':
			if depth == MaxDepth {
				return i, faultDepth
			}
			open.set(depth-base, c == '[')
			depth++
			if i = space(data, i+1); i < len(data) && data[i] == c+2 { // "}" or "]"
				depth--
				i++
				break
			}
			if c == '{' {
				if i, f = key(data, i); f != 0 {
					return i, f
				}
			}
			continue
		default:
			if i, f = scalar(data, i); f != 0 {
				return i, f
			}
		}
		// A value ended at i; it may have been the last one of what is open.
		for depth > base {
			if i = space(data, i); i == len(data) {
				return i, faultEnd
			}
			array := open.isArray(depth - 1 - base)
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
