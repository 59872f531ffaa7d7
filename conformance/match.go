package conformance

import (
	"fmt"
	"maps"
	"strings"
)

// bindings are the values of variables.
type bindings map[string]node

// match compares a value with a pattern and returns the bindings with what the
// pattern binds at first sight. The error says where they differ.
func match(pattern, value node, vars bindings) (bindings, error) {
	next := maps.Clone(vars)
	if next == nil {
		next = bindings{}
	}
	if err := next.match(pattern, value, ""); err != nil {
		return vars, err
	}
	return next, nil
}

func (b bindings) match(p, v node, at string) error {
	differ := func() error {
		return fmt.Errorf("at %s: got %s, want %s", place(at), short(v), short(p))
	}
	switch p.kind {
	case anything:
		return nil
	case variable:
		bound, ok := b[p.text]
		if !ok {
			b[p.text] = v
			return nil
		}
		if err := (bindings{}).match(bound, v, at); err != nil {
			return fmt.Errorf("at %s: got %s, want $%s, which is %s", place(at), short(v), p.text, short(bound))
		}
		return nil
	case str:
		if v.kind != str || !glob(p.text, v.text) {
			return differ()
		}
		return nil
	case literal:
		if v.kind != literal || v.text != p.text {
			return differ()
		}
		return nil
	case object:
		return b.matchObject(p, v, at, differ)
	case array:
		return b.matchArray(p, v, at, differ)
	}
	return differ()
}

func (b bindings) matchObject(p, v node, at string, differ func() error) error {
	if v.kind != object {
		return differ()
	}
	for _, m := range p.members {
		got, ok := v.get(m.key)
		if !ok {
			return fmt.Errorf("at %s: %q is missing", place(at), m.key)
		}
		if err := b.match(m.value, got, at+"/"+m.key); err != nil {
			return err
		}
	}
	if p.more {
		return nil
	}
	for _, m := range v.members {
		if _, ok := p.get(m.key); !ok {
			return fmt.Errorf("at %s: %q is not expected: %s", place(at), m.key, short(m.value))
		}
	}
	return nil
}

func (b bindings) matchArray(p, v node, at string, differ func() error) error {
	switch {
	case v.kind != array:
		return differ()
	case p.loose:
		return b.matchLoose(p.items, v.items, at)
	case len(v.items) < len(p.items), len(v.items) > len(p.items) && !p.more:
		return fmt.Errorf("at %s: got %d items, want %d: %s", place(at), len(v.items), len(p.items), short(v))
	}
	for i := range p.items {
		if err := b.match(p.items[i], v.items[i], fmt.Sprintf("%s/%d", at, i)); err != nil {
			return err
		}
	}
	return nil
}

// matchLoose finds each pattern among the items, in order.
func (b bindings) matchLoose(patterns, items []node, at string) error {
	i := 0
	for _, p := range patterns {
		for ; ; i++ {
			if i == len(items) {
				return fmt.Errorf("at %s: no item is %s", place(at), short(p))
			}
			if next, err := match(p, items[i], b); err == nil {
				maps.Copy(b, next)
				i++
				break
			}
		}
	}
	return nil
}

// glob reports whether s is pattern, in which "..." stands for any text.
func glob(pattern, s string) bool {
	parts := strings.Split(pattern, "...")
	if len(parts) == 1 {
		return pattern == s
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(s, part)
		if i < 0 {
			return false
		}
		s = s[i+len(part):]
	}
	return true
}

func place(at string) string {
	if at == "" {
		return "the top"
	}
	return at
}

// short is a value for an error message.
func short(n node) string {
	const most = 300
	s := n.String()
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + " and so on"
	}
	return s
}

// fill replaces each "$name" in a text that is sent by its value. What is not a
// variable stays the bytes that it was.
func (b bindings) fill(text string) (string, error) {
	var out strings.Builder
	for {
		i := strings.Index(text, `"$`)
		if i < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		end := strings.IndexByte(text[i+1:], '"')
		if end < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		end += i + 1
		name, ok := variableName(text[i+1 : end])
		if !ok {
			out.WriteString(text[:end])
			text = text[end:]
			continue
		}
		value, ok := b[name]
		if !ok {
			return "", fmt.Errorf("$%s %w", name, errUnbound)
		}
		out.WriteString(text[:i])
		out.WriteString(value.String())
		text = text[end+1:]
	}
}
