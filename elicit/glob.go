package elicit

import (
	"strings"
	"unicode/utf8"
)

// A glob is a pattern for a whole name: * stands for any number of characters,
// ? for one, everything else for itself. Case counts, and nothing escapes. The
// empty glob is no condition.
type glob string

// newGlob returns the glob of a pattern; one of stars alone is no condition.
func newGlob(pattern string) glob {
	if strings.Trim(pattern, "*") == "" {
		return ""
	}
	return glob(pattern)
}

// any reports that every name fits.
func (g glob) any() bool { return g == "" }

// wild reports that every name fits that is not very short.
func (g glob) wild() bool { return g.any() || strings.Trim(string(g), "*?") == "" }

// literal reports that only one name fits.
func (g glob) literal() bool { return !g.any() && !strings.ContainsAny(string(g), "*?") }

// match reports whether the whole name fits. It takes time in the product of
// the lengths at most: only the last star is ever tried again.
func (g glob) match(name string) bool {
	if g.any() {
		return true
	}
	p, s := string(g), name
	star, retry := "", "" // what follows the last star, and where to go on with it
	starred := false
	for {
		switch {
		case p != "" && p[0] == '*':
			p = p[1:]
			star, retry, starred = p, s, true
			continue
		case s == "" && p == "":
			return true
		case s != "" && p != "":
			_, n := utf8.DecodeRuneInString(s)
			if p[0] == '?' {
				p, s = p[1:], s[n:]
				continue
			}
			if strings.HasPrefix(p, s[:n]) {
				p, s = p[n:], s[n:]
				continue
			}
		}
		if !starred || retry == "" {
			return false
		}
		_, n := utf8.DecodeRuneInString(retry)
		retry = retry[n:]
		p, s = star, retry
	}
}
