package elicit

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of texts that a person is shown, in bytes.
const (
	maxName        = 256
	maxTitle       = 256
	maxDescription = 4 << 10
	maxMessage     = 16 << 10
	maxURL         = 8 << 10
)

// ellipsis marks a text that was cut.
const ellipsis = "…"

// Clean returns s on a single line of at most max bytes, as it may be shown to
// a person: runs of white space are one space, control, bidirectional and
// other invisible characters are left out, bytes that are not UTF-8 become
// U+FFFD. A text that is cut ends with an ellipsis, on a character's boundary.
func Clean(s string, max int) string { return clean(s, max, false) }

// cleanName is Clean for a name. In one, joiners are only there to make two names
// look the same.
func cleanName(s string) string {
	return strings.NewReplacer("\u200c", "", "\u200d", "").Replace(Clean(s, maxName))
}

// CleanLines is Clean for a text of several lines: line breaks (as \n) and the
// spaces between words stay.
func CleanLines(s string, max int) string { return clean(s, max, true) }

func clean(s string, max int, lines bool) string {
	if max <= 0 {
		return ""
	}
	// Anything past max bytes of clean text is cut anyway: stop there.
	var b strings.Builder
	b.Grow(min(len(s), max+utf8.UTFMax))
	space, cut := false, false // space: white space seen, not yet written
	for i, r := range s {
		if b.Len() > max {
			cut = true
			break
		}
		switch {
		case lines && r == '\n', lines && r == '\t', lines && r == ' ':
		case lines && r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
			continue
		case lines && (r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085'):
			r = '\n'
		case lines && unicode.Is(unicode.Zs, r):
			r = ' '
		case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029':
			space = b.Len() > 0
			continue
		case invisible(r):
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
	}
	out := b.String()
	if lines {
		out = strings.TrimSpace(out)
	}
	if !cut && len(out) <= max {
		return out
	}
	if max < len(ellipsis) {
		return ""
	}
	end := min(len(out), max-len(ellipsis))
	for end > 0 && end < len(out) && !utf8.RuneStart(out[end]) {
		end--
	}
	return strings.TrimRightFunc(out[:end], unicode.IsSpace) + ellipsis
}

// invisible reports a character that shows nothing and can change how the
// others look: controls and formats (bidirectional marks, tags, zero width).
// The two joiners stay; scripts and emoji need them.
func invisible(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	switch r {
	case nonJoiner, joiner:
		return false
	case '\u034f', '\u115f', '\u1160', '\u2800', '\u3164', '\uffa0': // letters and marks without ink
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
}
