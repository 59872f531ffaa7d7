package config

import (
	"fmt"
	"strings"
)

// parseOverrides merges the -c options, the later over the earlier. An error
// names the option by its number: its text may hold a secret.
func parseOverrides(list []string) (*node, error) {
	at := Origin{Layer: LayerFlags}
	root := newTable(at)
	for i, text := range list {
		path, value, err := parseOverride(text)
		if err != nil {
			return nil, fmt.Errorf("config: reading option -c number %d: %w", i+1, err)
		}
		n := build(value, path, func([]string) Origin { return at })
		root = merge(root, nest(path, n))
	}
	return root, nil
}

// parseOverride splits key=value. The key is a dotted TOML key; the value is
// TOML, or a string when it does not parse.
func parseOverride(text string) (path []string, value any, err error) {
	rest := ""
	scanErr := catchScan(func() {
		p := &scanner{s: text}
		p.ws()
		for _, part := range p.dotted() {
			path = append(path, part.name)
		}
		p.ws()
		p.expect('=')
		rest = strings.TrimSpace(p.s[p.i:])
	})
	switch {
	case scanErr != nil && !strings.Contains(text, "="):
		return nil, nil, fmt.Errorf("want key=value, found no '='")
	case scanErr != nil:
		return nil, nil, fmt.Errorf("malformed key at character %d: %w; quote a part that has blanks, dots or signs: mcp_servers.\"my server\".enabled=false",
			len([]rune(text[:min(offsetOf(scanErr), len(text))]))+1, scanErr)
	}
	return path, overrideValue(rest), nil
}

// overrideValue reads TOML, and takes for a string what is none. A text that
// holds more than one value (newlines, another key) is none either.
func overrideValue(text string) any {
	src := "v = " + text + "\n"
	if _, err := scan(src, nil); err != nil {
		return text
	}
	tree, err := decode(src)
	if err != nil || len(tree) != 1 {
		return text
	}
	return tree["v"]
}
