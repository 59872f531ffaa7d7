package rawjson

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// String decodes value, which must be exactly one JSON string with nothing but
// white space around it; otherwise it reports false. A lone surrogate becomes
// U+FFFD, as in encoding/json.
func String(value []byte) (string, bool) {
	i := space(value, 0)
	if i == len(value) || value[i] != '"' {
		return "", false
	}
	end, escaped, f := str(value, i+1)
	if f != 0 || space(value, end) != len(value) {
		return "", false
	}
	text := value[i+1 : end-1]
	if escaped {
		return string(unescape(make([]byte, 0, len(text)), text)), true
	}
	return string(text), true
}

// unescape appends the text of a string that str accepted.
func unescape(dst, text []byte) []byte {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		c := text[i+1]
		text = text[i+2:]
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r := hex4(text)
			text = text[4:]
			if utf16.IsSurrogate(r) {
				// Only both halves in a row are a character.
				pair := rune(utf8.RuneError)
				if len(text) >= 6 && text[0] == '\\' && text[1] == 'u' {
					pair = utf16.DecodeRune(r, hex4(text[2:]))
				}
				if r = pair; r != utf8.RuneError {
					text = text[6:]
				}
			}
			dst = utf8.AppendRune(dst, r)
		default: // a quote, a backslash or a slash
			dst = append(dst, c)
		}
	}
}

func hex4(b []byte) rune {
	return hex(b[0])<<12 | hex(b[1])<<8 | hex(b[2])<<4 | hex(b[3])
}

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. Quotes, backslashes and control
// characters are escaped, and so are U+2028 and U+2029, which some line
// readers take for the end of a line; <, > and & are not. Bytes that are not
// UTF-8 become \ufffd.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		if len(s)-i >= 8 {
			w := word8(s, i)
			if stops(w)|w&highs == 0 {
				i += 8
				continue
			}
		}
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\b':
				dst = append(dst, '\\', 'b')
			case '\f':
				dst = append(dst, '\\', 'f')
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\ufffd`...)
			i++
			start = i
			continue
		}
		if r == '\u2028' || r == '\u2029' {
			dst = append(dst, s[start:i]...)
			dst = append(dst, '\\', 'u', '2', '0', '2', hexDigits[r&15])
			i += n
			start = i
			continue
		}
		i += n
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func word8(s string, i int) uint64 {
	var b [8]byte
	copy(b[:], s[i:i+8])
	return binary.LittleEndian.Uint64(b[:])
}

// SingleLine returns raw itself if it has no line break, else a copy without
// the white space outside strings. The result never has a line break, even if
// raw is not valid JSON.
func SingleLine(raw []byte) []byte {
	if !broken(raw) {
		return raw
	}
	return appendSingle(make([]byte, 0, len(raw)), raw)
}

// broken reports whether raw has a line break.
func broken(raw []byte) bool {
	return bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0
}

func appendSingle(dst, raw []byte) []byte {
	inString := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		if c == '\n' || c == '\r' || !inString && (c == ' ' || c == '\t') {
			continue
		}
		dst = append(dst, c)
		switch {
		case c == '"':
			inString = !inString
		case c == '\\' && inString && i+1 < len(raw) && raw[i+1] != '\n' && raw[i+1] != '\r':
			i++
			dst = append(dst, raw[i])
		}
	}
	return dst
}
