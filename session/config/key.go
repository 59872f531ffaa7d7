package config

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/near"
)

// formatKey writes a path as a dotted TOML key. Parts that are not bare keys
// are quoted, so different paths never look alike.
func formatKey(path []string) string {
	var b strings.Builder
	for i, part := range path {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(formatKeyPart(part))
	}
	return b.String()
}

func formatKeyPart(part string) string {
	bare := part != ""
	for i := 0; i < len(part); i++ {
		if !isBare(part[i]) {
			bare = false
			break
		}
	}
	if bare {
		return part
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range part {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			b.WriteString(`\U` + hexDigits(r, 8))
		default:
			b.WriteString(`\u` + hexDigits(r, 4))
		}
	}
	b.WriteByte('"')
	return b.String()
}

func hexDigits(r rune, width int) string {
	s := strconv.FormatInt(int64(r), 16)
	return strings.Repeat("0", width-len(s)) + s
}

// shownKey is formatKey for people. A part that is no name but looks like a
// token, or stands where names of variables and headers are expected, is
// masked. Names of servers and tools are whatever they are.
func shownKey(path []string) string {
	if len(path) < 3 || path[0] != serversKey {
		return formatKey(path)
	}
	shown := slices.Clone(path)
	for i := 2; i < len(path); i++ {
		if i == 3 && path[2] == "tools" {
			continue
		}
		if looksLikeToken(path[i]) || i == 3 && hiddenName(path[2], path[i]) {
			shown[i] = Mask
		}
	}
	return formatKey(shown)
}

// hiddenName reports whether a key of an entry's table of names is none.
func hiddenName(field, key string) bool {
	switch field {
	case "env":
		return badEnvName(key) != "" || !plainName(key)
	case "http_headers", "env_http_headers":
		return badHeaderName(key) != "" || !plainName(key)
	}
	return false
}

// parseDotted reads a whole string as a dotted TOML key.
func parseDotted(s string) (path []string, ok bool) {
	err := catchScan(func() {
		p := &scanner{s: s}
		p.ws()
		for _, part := range p.dotted() {
			path = append(path, part.name)
		}
		if p.i != len(p.s) {
			p.fail("unexpected text after the key")
		}
	})
	return path, err == nil
}

// child returns path with one more part, never sharing its backing array.
func child(path []string, part ...string) []string {
	return append(path[:len(path):len(path)], part...)
}

// maxComparedKey is the longest unknown key that is compared with the known
// ones; longer ones resemble none.
const maxComparedKey = 64

// nearest returns the known key that unknown was most likely meant to be, or
// "". Spelling conventions (camelCase, dashes) and shared beginnings count as
// near; beyond that, a third of the letters may differ.
func nearest(unknown string, known []string) string {
	if unknown == "" || len(unknown) > maxComparedKey {
		return ""
	}
	plain := squash(unknown)
	if withUnit := unknown + "_sec"; slices.Contains(known, withUnit) {
		return withUnit // its sibling in milliseconds would be nearer
	}
	best, bestDistance := "", len(plain)/3+1
	for _, k := range known {
		sk := squash(k)
		if sk == plain {
			return k
		}
		if d := near.Distance(plain, sk); d < bestDistance || d == bestDistance && best == "" {
			best, bestDistance = k, d
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known {
		sk := squash(k)
		if len(plain) >= 4 && (strings.HasPrefix(sk, plain) || strings.HasSuffix(sk, plain)) ||
			len(sk) >= 4 && strings.HasPrefix(plain, sk) {
			if best == "" || len(k) < len(best) {
				best = k
			}
		}
	}
	return best
}

// squash drops what spelling conventions add: case, underscores, dashes,
// blanks and dots.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '_', '-', ' ', '.':
			return -1
		case utf8.RuneError:
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
