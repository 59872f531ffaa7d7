package config

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// text expands one string of the entry. It reports false after recording what
// is wrong.
func (e *entry) text(at Origin, sub []string, s string, u use) (string, bool) {
	out, wrong, hint := e.l.expand.expand(s)
	if wrong != "" {
		e.fail(at, sub, wrong, hint)
		return "", false
	}
	if strings.ContainsRune(out, 0) {
		e.fail(at, sub, "holds a zero byte", "")
		return "", false
	}
	// Look at what was written, without what was expanded: a password may well
	// look like a variable.
	if left := withoutReferences(s); unexpanded(left, u) {
		e.warn(at, sub, "looks like a variable, but is passed on as it is", "write ${env:NAME}, ${workspaceFolder} or ${userHome}; nothing else is expanded")
	}
	return out, true
}

// withoutReferences removes the references that expand.
func withoutReferences(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, after, closed := strings.Cut(rest, "}")
		if !closed || !isReference(rest) {
			b.WriteString("${" + rest)
			return b.String()
		}
		s = after
	}
}

// str reads a string that must not be empty.
func (e *entry) str(n *node, sub []string, u use) (string, bool) {
	s, wrong := asString(n)
	if wrong != "" {
		e.fail(n.at, sub, wrong, "")
		return "", false
	}
	s, ok := e.text(n.at, sub, s, u)
	if ok && strings.TrimSpace(s) == "" {
		e.fail(n.at, sub, "must not be empty", "")
		return "", false
	}
	return s, ok
}

func (e *entry) boolean(n *node, sub []string) (bool, bool) {
	b, wrong := asBool(n)
	if wrong != "" {
		hint := ""
		if _, isString := n.value.(string); isString {
			hint = "write it without quotes"
		}
		e.fail(n.at, sub, wrong, hint)
	}
	return b, wrong == ""
}

func (e *entry) integer(n *node, sub []string, low, high int) (int, bool) {
	i, wrong := asInt(n, low, high)
	if wrong != "" {
		e.fail(n.at, sub, wrong, "")
	}
	return i, wrong == ""
}

func (e *entry) word(n *node, sub []string, words []string) (string, bool) {
	if s, isString := n.value.(string); isString {
		expanded, ok := e.text(n.at, sub, s, useOther)
		if !ok {
			return "", false
		}
		n = &node{value: expanded, at: n.at}
	}
	s, wrong := asWord(n, words)
	if wrong != "" {
		e.fail(n.at, sub, wrong, "")
	}
	return s, wrong == ""
}

// seconds reads a limit. usual is the longest that nobody would wonder about;
// a longer one was probably meant in milliseconds.
func (e *entry) seconds(n *node, sub []string, usual time.Duration) (time.Duration, bool) {
	d, wrong := asSeconds(n)
	if wrong != "" {
		hint := ""
		if _, isString := n.value.(string); isString {
			hint = "write a number without quotes, in seconds"
		}
		e.fail(n.at, sub, wrong, hint)
		return 0, false
	}
	e.oddLimit(n, sub, d, usual)
	return d, true
}

func (e *entry) oddLimit(n *node, sub []string, d, usual time.Duration) {
	switch {
	case d == 0:
		e.warn(n.at, sub, "leaves no time at all", "remove the key for the default")
	case d < time.Second:
		e.warn(n.at, sub, "is less than a second", "_sec is in seconds, _ms in milliseconds")
	case d > usual:
		e.warn(n.at, sub, "is more than "+usual.String(), "_sec is in seconds, _ms in milliseconds")
	}
}

// strings reads an array of strings. The result is not nil.
func (e *entry) strings(n *node, sub []string, u use) ([]string, bool) {
	list, isArray := n.value.([]any)
	if !isArray {
		hint := ""
		if _, isString := n.value.(string); isString {
			hint = `put it in brackets: ["…"]`
			if sub[len(sub)-1] == "args" {
				hint = `write one string for each argument: ["-y", "package"]`
			}
		}
		e.fail(n.at, sub, wantKind(n, "an array of strings"), hint)
		return nil, false
	}
	out, ok := make([]string, 0, len(list)), true
	for i, v := range list {
		s, isText := spelled(v)
		if !isText {
			e.fail(n.at, sub, ordinal(i)+" must be a string, not "+kindOf(v), quoteHint(v))
			ok = false
			continue
		}
		s, good := e.text(n.at, sub, s, u)
		ok = ok && good
		out = append(out, s)
	}
	return out, ok
}

func ordinal(i int) string { return "element " + strconv.Itoa(i+1) }

// stringMap reads a table of strings. badKey says what is wrong with a key, or
// "". A bad key is not quoted, since somebody wrote something else than a name
// there; the line tells which one it is.
func (e *entry) stringMap(n *node, sub []string, u use, badKey func(string) string) (map[string]string, bool) {
	if !n.isTable() {
		e.fail(n.at, sub, wantKind(n, "a table of strings"), `write { NAME = "value" }`)
		return nil, false
	}
	out, ok := map[string]string{}, true
	for _, k := range n.keys() {
		c, path := n.table[k], child(sub, k)
		if wrong := badKey(k); wrong != "" {
			e.fail(c.at, sub, wrong, "")
			ok = false
			continue
		}
		swallowed := e.l.isField(k) && sub[0] == "env"
		hint := ""
		if swallowed {
			hint = k + " is a key of the server: write it above this table, under " + header(e.s.Name)
		}
		s, isText := spelled(c.value)
		if !isText {
			if hint == "" {
				hint = quoteHint(c.value)
			}
			e.fail(c.at, path, wantKind(c, "a string"), hint)
			ok = false
			continue
		}
		if swallowed {
			e.warn(c.at, path, "becomes a variable of the child", hint)
		}
		s, good := e.text(c.at, path, s, u)
		ok = ok && good
		out[k] = s
	}
	return out, ok
}

// variableName reads the name of an environment variable. A name that looks
// like a token is the usual slip, and must not be repeated.
func (e *entry) variableName(at Origin, sub []string, name string) bool {
	switch {
	case looksLikeToken(name):
		e.fail(at, sub, "must be the name of an environment variable, and this looks like a token itself", "put the token into a variable and write the variable's name")
	case !plainName(name):
		e.fail(at, sub, "must be the name of an environment variable", "write the name alone, without $ or quotes")
	default:
		return true
	}
	return false
}

// unknownIn warns of the keys of a nested table that are not known.
func (e *entry) unknownIn(n *node, sub, known []string) {
	for _, k := range n.keys() {
		if !slices.Contains(known, k) {
			e.warn(n.table[k].at, child(sub, k), "unknown key", hintNested(k, known, e.s.Name))
		}
	}
}
