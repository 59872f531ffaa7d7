package tomledit

import (
	"fmt"
	"slices"
	"strings"
)

// written returns a key as TOML writes it, with quotes where they are needed.
func written(key []string) string {
	parts := make([]string, len(key))
	for i, name := range key {
		parts[i] = name
		if name == "" || strings.IndexFunc(name, func(r rune) bool { return r > 0x7f || !isBare(byte(r)) }) >= 0 {
			parts[i] = basic(name)
		}
	}
	return strings.Join(parts, ".")
}

// basic returns s in double quotes.
func basic(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// inStyleOf returns value in the quotes of the old value, if it can stand in
// them.
func inStyleOf(old, value string) string {
	literal := strings.IndexFunc(value, func(r rune) bool { return r == '\'' || r < 0x20 && r != '\t' || r == 0x7f }) < 0
	switch {
	case strings.HasPrefix(old, `'''`) && literal:
		return `'''` + value + `'''`
	case strings.HasPrefix(old, `'`) && literal:
		return `'` + value + `'`
	case strings.HasPrefix(old, `"""`):
		return `""` + basic(value) + `""`
	}
	return basic(value)
}

func hasPrefix(key, prefix []string) bool {
	return len(key) >= len(prefix) && slices.Equal(key[:len(prefix)], prefix)
}

// shared counts the names that two keys begin with together.
func shared(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// join appends to a copy.
func join(base, key []string) []string { return slices.Concat(base, key) }
