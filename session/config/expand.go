package config

import "strings"

// expander replaces the references of one configuration:
//
//	${env:NAME}            the variable; an error when it is not set
//	${env:NAME:-default}   the default when it is not set, or empty
//	${workspaceFolder}     the first workspace folder
//	${userHome}            the user's home folder
//
// A replacement is not looked at again. Everything else, $NAME, ${NAME}, ~ and
// %NAME% included, stays as it is.
type expander struct {
	env       environment
	workspace string
	home      string
}

// expand returns s with its references replaced, or what is wrong with one.
// The message names the reference, never a value.
func (x *expander) expand(s string) (out, wrong, hint string) {
	if !strings.Contains(s, "${") {
		return s, "", ""
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String(), "", ""
		}
		body, after, closed := strings.Cut(rest, "}")
		if !closed {
			if isReference(rest) {
				return "", "a ${…} is not closed", "add the missing }"
			}
			b.WriteString("${" + rest)
			return b.String(), "", ""
		}
		value, known, wrong, hint := x.resolve(body)
		switch {
		case wrong != "":
			return "", wrong, hint
		case known:
			b.WriteString(value)
		default:
			b.WriteString("${" + body + "}")
		}
		s = after
	}
}

func (x *expander) resolve(body string) (value string, known bool, wrong, hint string) {
	switch {
	case body == "workspaceFolder":
		if x.workspace == "" {
			return "", true, "uses ${workspaceFolder}, but no workspace folder is open", "open a folder, or write the path"
		}
		return x.workspace, true, "", ""
	case body == "userHome":
		if x.home == "" {
			return "", true, "uses ${userHome}, but the home folder is not known", "set HOME, or write the path"
		}
		return x.home, true, "", ""
	case strings.HasPrefix(body, "input:"):
		ref := "${" + body + "}"
		if looksLikeToken(strings.TrimPrefix(body, "input:")) {
			ref = "${input:…}"
		}
		return "", true, "uses " + ref + ", but asking for inputs is not supported yet", "use ${env:NAME} and set the variable where the editor starts"
	case strings.HasPrefix(body, "env:"):
		name, fallback, hasFallback := strings.Cut(strings.TrimPrefix(body, "env:"), ":-")
		if !validEnvName(name) {
			return "", true, "has a ${env:…} without a usable variable name", "write ${env:NAME}"
		}
		v, set := x.env.lookup(name)
		switch {
		case set && (v != "" || !hasFallback):
			return v, true, "", ""
		case hasFallback:
			return fallback, true, "", ""
		}
		return "", true, "environment variable " + showName(name) + " is not set",
			"set it where the editor starts, or give a default: ${env:" + showName(name) + ":-…}"
	}
	return "", false, "", ""
}

// isReference reports whether the text after ${ begins one of ours.
func isReference(rest string) bool {
	for _, p := range []string{"env:", "input:", "workspaceFolder", "userHome"} {
		if strings.HasPrefix(rest, p) {
			return true
		}
	}
	return false
}

// onlyReference reports whether s is one reference and nothing else that could
// be a value: such text names a secret and may be shown. A masked default is
// no value.
func onlyReference(s string) bool {
	body, ok := strings.CutPrefix(s, "${")
	if !ok {
		return false
	}
	body, ok = strings.CutSuffix(body, "}")
	if !ok || strings.ContainsAny(body, "{}") {
		return false
	}
	if body == "workspaceFolder" || body == "userHome" {
		return true
	}
	name, isInput := strings.CutPrefix(body, "input:")
	if !isInput {
		var isEnv bool
		if name, isEnv = strings.CutPrefix(body, "env:"); !isEnv {
			return false
		}
		name = strings.TrimSuffix(name, ":-"+Mask)
	}
	return plainName(name)
}

// maskDefaults masks the default text of each ${env:NAME:-default}.
func maskDefaults(s string) string {
	if !strings.Contains(s, ":-") {
		return s
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${env:")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		body, after, closed := strings.Cut(rest, "}")
		name, _, hasDefault := strings.Cut(body, ":-")
		b.WriteString("${env:" + name)
		if hasDefault {
			b.WriteString(":-" + Mask)
		}
		if !closed {
			return b.String()
		}
		b.WriteByte('}')
		s = after
	}
}

// validEnvName reports whether a variable can have this name. Windows has
// names with blanks and parentheses, so little is excluded.
func validEnvName(name string) bool {
	return name != "" && !strings.ContainsAny(name, "=\x00\n\r${}")
}

// plainName reports whether a name is one that people give to variables, as
// against a secret written in the wrong place. Only such names are shown.
func plainName(name string) bool {
	if name == "" || looksLikeToken(name) {
		return false
	}
	for i := 0; i < len(name); i++ {
		if c := name[i]; !isBare(c) && c != '(' && c != ')' && c != '.' {
			return false
		}
	}
	return true
}

func showName(name string) string {
	if plainName(name) {
		return name
	}
	return Mask
}

// use tells what a string is for, and so what in it is a likely mistake.
type use int

const (
	useOther use = iota
	usePath      // command, cwd
	useArg       // an argument, which a shell of the user's own may expand
	useValue     // env, headers, url
)

// unexpanded reports whether text that other programs would expand is passed
// on as it is, which is worth a warning.
func unexpanded(s string, u use) bool {
	switch u {
	case useOther:
		return strings.Contains(s, "${")
	case useArg:
		return wholeVariable(s)
	case usePath:
		return strings.HasPrefix(s, "~/") || s == "~" || strings.HasPrefix(s, `~\`) || strings.Contains(s, "${") || dollarWord(s) || percentWord(s)
	case useValue:
		return strings.Contains(s, "${") || dollarWord(s) || wholeVariable(s)
	}
	return false
}

// wholeVariable matches $NAME, ${NAME} and %NAME% as the whole text.
func wholeVariable(s string) bool {
	if n := len(s); n > 2 && s[0] == '%' && s[n-1] == '%' {
		return shoutedName(s[1 : n-1])
	}
	s, ok := strings.CutPrefix(s, "$")
	if !ok {
		return false
	}
	if n := len(s); n > 2 && s[0] == '{' && s[n-1] == '}' {
		return !strings.ContainsAny(s[1:n-1], "{}")
	}
	return shoutedName(s)
}

// dollarWord finds $NAME as a word of its own, as in "Bearer $TOKEN".
func dollarWord(s string) bool {
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t/\"'", r) }) {
		if name, ok := strings.CutPrefix(w, "$"); ok && shoutedName(name) {
			return true
		}
	}
	return false
}

// percentWord finds %NAME%.
func percentWord(s string) bool {
	parts := strings.Split(s, "%")
	for i := 1; i < len(parts)-1; i++ {
		if shoutedName(parts[i]) {
			return true
		}
	}
	return false
}

// shoutedName matches the upper-case names that people give to variables.
func shoutedName(s string) bool {
	if len(s) < 2 || s[0] >= '0' && s[0] <= '9' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
