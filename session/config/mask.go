package config

import (
	"slices"
	"strings"
	"unicode"
)

// secretWords are the pieces of a name that make its value a secret.
var secretWords = []string{
	"token", "secret", "password", "passwd", "passphrase", "pwd", "apikey", "key", "auth", "bearer", "credential", "cookie", "session", "signature", "pat", "dsn",
}

// secretName reports whether a flag's, variable's or parameter's name promises
// a secret value.
func secretName(name string) bool {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) })
	joined := strings.Join(parts, "")
	for _, w := range secretWords {
		if len(w) <= 3 { // "key" and "pat" inside "monkey" or "path" promise nothing
			for _, p := range parts {
				if p == w {
					return true
				}
			}
			if w == "key" && strings.HasSuffix(joined, w) {
				return true
			}
			continue
		}
		if strings.Contains(joined, w) {
			return true
		}
	}
	return false
}

// tokenPrefixes open the tokens of well-known services and JSON web tokens;
// nothing else begins like this.
var tokenPrefixes = []string{
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "sk_live_", "sk_test_", "rk_live_", "xoxb-", "xoxp-", "xoxa-", "xapp-",
	"eyJ", "AIza", "ya29.", "pypi-", "dop_v1_", "lin_api_", "figd_", "Bearer ", "Basic ",
}

// vaguePrefixes open tokens too, but also names such as npm_config_cafile or
// ASIA_REGION, so the rest has to look the part.
var vaguePrefixes = []string{"npm_", "hf_", "secret_", "ntn_", "AKIA", "ASIA"}

// minToken is the length from which a random-looking word counts as a token,
// minVague the same behind a vague prefix.
const (
	minToken = 24
	minVague = 16
)

// looksLikeToken reports whether a word is itself a secret rather than the
// name of one: it opens like a known kind of token, or it is long and mixes
// letters and digits the way only random text does.
func looksLikeToken(word string) bool {
	for _, p := range tokenPrefixes {
		if rest, ok := strings.CutPrefix(word, p); ok && len(rest) >= 4 {
			return true
		}
	}
	for _, p := range vaguePrefixes {
		if rest, ok := strings.CutPrefix(word, p); ok && len(rest) >= minVague && !strings.ContainsAny(rest, "_-") {
			return true
		}
	}
	if len(word) < minToken {
		return false
	}
	var digits, lower, upper int
	for _, r := range word {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case r >= 'a' && r <= 'z':
			lower++
		case r >= 'A' && r <= 'Z':
			upper++
		case r == '_' || r == '-' || r == '=' || r == '+':
		default:
			return false
		}
	}
	return digits >= 3 && (lower > 0 && upper > 0 || digits >= 8 && lower+upper > 0)
}

// maskArgs copies an argument vector with what looks like a secret masked.
func maskArgs(args []string) []string {
	out := make([]string, len(args))
	hideNext := false
	for i, a := range args {
		switch {
		case hideNext && !strings.HasPrefix(a, "--"):
			out[i], hideNext = Mask, false
		default:
			out[i] = maskWord(a)
			hideNext = namesSecret(a)
		}
	}
	return out
}

// namesSecret reports whether an argument is a flag whose value is the next one.
func namesSecret(arg string) bool {
	if !strings.HasPrefix(arg, "-") || strings.ContainsAny(arg, "=: ") {
		return false
	}
	return secretName(arg) || arg == "-H" || arg == "--header" || arg == "-u" || arg == "--user"
}

// maskWord masks one argument, or a command in which somebody wrote a whole
// command line. A reference such as ${env:NAME} stays readable.
func maskWord(s string) string {
	s = maskDefaults(s)
	if onlyReference(s) {
		return s
	}
	if looksLikeToken(s) {
		return Mask
	}
	if strings.Contains(s, "://") {
		return maskURL(s)
	}
	if name, value, ok := strings.Cut(s, "="); ok && value != "" {
		switch {
		case onlyReference(value):
			return s
		case secretName(name) || looksLikeToken(value):
			return name + "=" + Mask
		}
	}
	if name, value, ok := strings.Cut(s, ": "); ok && secretName(name) && strings.TrimSpace(value) != "" && !onlyReference(strings.TrimSpace(value)) {
		return name + ": " + Mask
	}
	if hasSecretText(s) {
		return Mask
	}
	if words := strings.Fields(s); len(words) > 1 {
		if masked := maskArgs(words); !slices.Equal(masked, words) {
			return strings.Join(masked, " ")
		}
	}
	return s
}

// hasSecretText finds "name":"value" and the like inside structured text.
func hasSecretText(s string) bool {
	return strings.ContainsAny(s, `{"'`) && !onlyReference(s) && secretName(withoutReferences(s))
}

// maskURL masks the user, the query values and the fragment of a URL, and
// path segments that look like tokens. Text that is no URL is masked whole. It
// cuts by hand, because a URL with ${…} in it does not parse.
func maskURL(s string) string {
	s = maskDefaults(s)
	if onlyReference(s) {
		return s
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || strings.ContainsAny(scheme, "?#@/ ") {
		return Mask
	}
	rest, fragment, hasFragment := strings.Cut(rest, "#")
	rest, query, hasQuery := strings.Cut(rest, "?")
	authority, path, hasPath := strings.Cut(rest, "/")
	var b strings.Builder
	b.WriteString(scheme + "://")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		if user := authority[:i]; onlyReference(user) {
			b.WriteString(user + "@")
		} else {
			b.WriteString(Mask + "@")
		}
		authority = authority[i+1:]
	}
	b.WriteString(authority)
	if hasPath {
		segments := strings.Split(path, "/")
		for i, seg := range segments {
			if strings.Contains(seg, "@") {
				// A slash inside a password puts the user into the path.
				if i == 0 || strings.Contains(seg, ":") {
					return scheme + "://" + Mask
				}
			}
			if looksLikeToken(seg) {
				segments[i] = Mask
			}
		}
		b.WriteString("/" + strings.Join(segments, "/"))
	}
	if hasQuery {
		b.WriteByte('?')
		for i, pair := range strings.Split(query, "&") {
			if i > 0 {
				b.WriteByte('&')
			}
			name, value, ok := strings.Cut(pair, "=")
			switch {
			case !ok:
				b.WriteString(Mask) // a lone word may be a key
			case onlyReference(value):
				b.WriteString(pair)
			default:
				b.WriteString(name + "=" + Mask)
			}
		}
	}
	if hasFragment && fragment != "" {
		b.WriteString("#" + Mask)
	}
	return b.String()
}
