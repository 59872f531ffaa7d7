package streamable

import (
	"net/http"
	"strings"
	"unicode/utf8"
)

// challengeHeader is the header of a 401 that says how to log in.
const challengeHeader = "Www-Authenticate"

// Bounds of what is read of a WWW-Authenticate header.
const (
	maxChallenges      = 16
	maxChallengeLength = 8 << 10
)

// repairChallenges rewrites the WWW-Authenticate headers of h, one challenge
// each, so that the SDK's parser reads them: it gives up on an empty value, on
// a token68 and on an unclosed quote. It returns the challenges.
func repairChallenges(h http.Header) []string {
	var all []string
	for _, line := range h.Values(challengeHeader) {
		all = append(all, parseChallenges(line)...)
	}
	if len(all) > maxChallenges {
		all = all[:maxChallenges]
	}
	h.Del(challengeHeader)
	for _, c := range all {
		h.Add(challengeHeader, c)
	}
	return all
}

// parseChallenges reads RFC 9110 section 11.6.1 with lenience and renders each
// challenge as `scheme name="value", …` without what cannot be read.
func parseChallenges(s string) []string {
	if len(s) > maxChallengeLength {
		s = s[:maxChallengeLength]
	}
	var out []string
	params := 0
	for {
		s = strings.TrimLeft(s, " \t,")
		n := 0
		for n < len(s) && isTokenByte(s[n]) {
			n++
		}
		if s == "" {
			return out
		}
		if n == 0 { // no token can begin here
			s = s[1:]
			continue
		}
		name := s[:n]
		s = strings.TrimLeft(s[n:], " \t")
		if !strings.HasPrefix(s, "=") {
			out, params = append(out, name), 0
			s = skipToken68(s)
			continue
		}
		var value string
		value, s = challengeValue(strings.TrimLeft(s[1:], " \t"))
		value = strings.TrimSpace(strings.Map(quotable, value))
		if value == "" || len(out) == 0 {
			continue
		}
		last := &out[len(out)-1]
		if params > 0 {
			*last += ","
		}
		*last += " " + name + `="` + value + `"`
		params++
	}
}

// skipToken68 drops the credentials that may follow a scheme in place of
// parameters: characters of base64 up to a comma or the end.
func skipToken68(s string) string {
	n := 0
	for n < len(s) && (isTokenByte(s[n]) || s[n] == '/') {
		n++
	}
	end := n
	for end < len(s) && s[end] == '=' {
		end++
	}
	rest := strings.TrimLeft(s[end:], " \t")
	if n > 0 && (rest == "" && end > n || rest != "" && rest[0] == ',' && end >= n && isToken68(s[:end])) {
		return rest
	}
	return s
}

// isToken68 tells a token68 from a scheme that stands alone before a comma:
// it ends in padding or has a character that schemes do not use.
func isToken68(s string) bool {
	return strings.ContainsAny(s, "=/+") || len(s) > 24
}

// challengeValue reads a quoted string, closed or not, or a token, and returns
// it without quotes and backslashes, and what follows.
func challengeValue(s string) (value, rest string) {
	if !strings.HasPrefix(s, `"`) {
		if end := strings.IndexAny(s, ", \t"); end >= 0 {
			return s[:end], s[end:]
		}
		return s, ""
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:]
		case '\\':
			if i++; i < len(s) {
				b.WriteByte(s[i])
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}

// quotable drops what can't stand between quotes without an escape.
func quotable(r rune) rune {
	if r < 0x20 || r == '"' || r == '\\' || r == 0x7f || r == utf8.RuneError {
		return -1
	}
	return r
}
