package config

import (
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

// tokenPrefixes open the tokens of well-known services and JSON web tokens.
var tokenPrefixes = []string{
	"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "sk_", "pk_live", "rk_live", "xoxb-", "xoxp-", "xoxa-", "xapp-",
	"eyJ", "AKIA", "ASIA", "AIza", "ya29.", "npm_", "pypi-", "hf_", "dop_v1_", "lin_api_", "ntn_", "figd_", "secret_", "Bearer ", "Basic ",
}

// minToken is the length from which a random-looking word counts as a token.
const minToken = 24

// looksLikeToken reports whether a word is itself a secret rather than the
// name of one: it opens like a known kind of token, or it is long and mixes
// letters and digits the way only random text does.
func looksLikeToken(word string) bool {
	for _, p := range tokenPrefixes {
		if strings.HasPrefix(word, p) && len(word) >= len(p)+4 && word != "npm_config_cafile" {
			if p == "npm_" && len(word) < 36 { // npm's tokens are; its variables are not
				continue
			}
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
	if name, value, ok := strings.Cut(s, ":"); ok && secretName(name) && strings.TrimSpace(value) != "" && !onlyReference(strings.TrimSpace(value)) {
		return name + ": " + Mask
	}
	if words := strings.Fields(s); len(words) > 1 {
		changed := false
		for i, w := range maskArgs(words) {
			changed = changed || w != words[i]
			words[i] = w
		}
		if changed || hasSecretText(s) {
			if changed {
				return strings.Join(words, " ")
			}
			return Mask
		}
	}
	return s
}

// hasSecretText finds "name":"value" and the like inside longer text.
func hasSecretText(s string) bool {
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(` "'{},`, r) }) {
		if looksLikeToken(w) {
			return true
		}
	}
	low := strings.ToLower(s)
	return strings.ContainsAny(s, `{"'`) && secretName(low)
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
