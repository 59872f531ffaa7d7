package toolcall

import (
	"bytes"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A text is a text of a result that is not decoded yet. Results can be large
// and little of them may reach the model, so only what is kept is decoded.
type text struct {
	// lead comes before the body.
	lead string
	// body is JSON as it is, or if quoted the inside of a JSON string. It is
	// valid.
	body   []byte
	quoted bool
	// size is how many bytes the whole text has.
	size int64
}

// plain is a text of the sidecar's own.
func plain(s string) text { return text{lead: s, size: int64(len(s))} }

// jsonText is the text of a JSON value, with its own bytes.
func jsonText(value []byte) text { return text{body: value, size: int64(len(value))} }

// stringText is the text that a JSON string holds, after lead.
func stringText(lead string, value []byte) text {
	body := bytes.TrimSpace(value)
	body = body[1 : len(body)-1]
	_, n := advance(body, math.MaxInt64)
	return text{lead: lead, body: body, quoted: true, size: int64(len(lead)) + n}
}

// whole returns all of t.
func (t text) whole() string { return t.head(t.size) }

// head returns the longest beginning of t that has at most n bytes and ends
// between characters.
func (t text) head(n int64) string {
	if n <= int64(len(t.lead)) {
		return t.lead[:boundaryBefore(t.lead, n)]
	}
	n -= int64(len(t.lead))
	if !t.quoted {
		return t.lead + string(t.body[:boundaryBefore(t.body, n)])
	}
	end, _ := advance(t.body, n)
	return t.lead + unquote(t.body[:end])
}

// tail returns the longest end of t that has at most n bytes and begins
// between characters.
func (t text) tail(n int64) string {
	bodySize := t.size - int64(len(t.lead))
	if n > bodySize {
		return t.lead[boundaryAfter(t.lead, int64(len(t.lead))-(n-bodySize)):] + text{body: t.body, quoted: t.quoted, size: bodySize}.whole()
	}
	skip := bodySize - n
	if !t.quoted {
		return string(t.body[boundaryAfter(t.body, skip):])
	}
	start, skipped := advance(t.body, skip)
	if skipped < skip {
		_, width := utf8.DecodeRune(t.body[start:])
		if t.body[start] == '\\' {
			width, _ = escape(t.body[start:])
		}
		start += width
	}
	return unquote(t.body[start:])
}

// boundaryBefore returns the last index of at most n where a character of s
// begins or s ends.
func boundaryBefore[S string | []byte](s S, n int64) int64 {
	if n >= int64(len(s)) {
		return int64(len(s))
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// boundaryAfter returns the first index of at least n where a character of s
// begins or s ends.
func boundaryAfter[S string | []byte](s S, n int64) int64 {
	n = max(n, 0)
	for n < int64(len(s)) && !utf8.RuneStart(s[n]) {
		n++
	}
	return min(n, int64(len(s)))
}

// advance goes over whole characters of the inside of a JSON string as long as
// they decode to at most limit bytes. It returns where it stopped and how many
// bytes the part before decodes to.
func advance(body []byte, limit int64) (pos int, decoded int64) {
	for pos < len(body) {
		run := bytes.IndexByte(body[pos:], '\\')
		if run < 0 {
			run = len(body) - pos
		}
		if decoded+int64(run) > limit {
			n := boundaryBefore(body[pos:pos+run], limit-decoded)
			return pos + int(n), decoded + n
		}
		pos += run
		decoded += int64(run)
		if pos == len(body) {
			break
		}
		width, size := escape(body[pos:])
		if decoded+int64(size) > limit {
			break
		}
		pos += width
		decoded += int64(size)
	}
	return pos, decoded
}

// escape returns how many bytes the escape at the beginning of b has, and how
// many it stands for. Both halves of a surrogate pair are one escape.
func escape(b []byte) (width, size int) {
	if b[1] != 'u' {
		return 2, 1
	}
	r := hex4(b[2:6])
	if !utf16.IsSurrogate(r) {
		return 6, utf8.RuneLen(r)
	}
	if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' && utf16.DecodeRune(r, hex4(b[8:12])) != utf8.RuneError {
		return 12, 4
	}
	return 6, utf8.RuneLen(utf8.RuneError)
}

func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		r <<= 4
		switch {
		case c <= '9':
			r |= rune(c - '0')
		default:
			r |= rune(c|0x20-'a') + 10
		}
	}
	return r
}

// unquote decodes a part of the inside of a JSON string that was cut between
// characters.
func unquote(body []byte) string {
	if bytes.IndexByte(body, '\\') < 0 {
		return string(body)
	}
	quoted := make([]byte, 0, len(body)+2)
	quoted = append(append(append(quoted, '"'), body...), '"')
	s, _ := rawjson.String(quoted)
	return s
}

// equals reports whether t, the text of a JSON string, is that of another.
func (t text) equals(value []byte) bool {
	if rawjson.Kind(value) != '"' {
		return false
	}
	other := stringText("", value)
	return t.size == other.size && (bytes.Equal(t.body, other.body) || t.whole() == other.whole())
}

// isBlank reports whether t has nothing but white space.
func (t text) isBlank() bool {
	if t.size > maxBlank {
		return false
	}
	return strings.TrimSpace(t.whole()) == ""
}

// maxBlank bounds the texts that are looked at for being blank, in bytes.
const maxBlank = 4 << 10
