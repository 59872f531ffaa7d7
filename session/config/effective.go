package config

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// Effective is the merged configuration as a JSON object with the TOML keys,
// defaults filled in, for config/read. References are shown as written. What
// may be a secret is Mask: all values of env and http_headers, users and query
// values of URLs, arguments that look like secrets, defaults inside ${env:…},
// and every string in a place this package does not know.
func (c *Config) Effective() json.RawMessage {
	tree, _ := c.describe()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(tree); err != nil { // strings, numbers and booleans always encode
		return json.RawMessage("{}")
	}
	return bytes.TrimSpace(b.Bytes())
}

// Origins maps the dotted TOML key of each value in Effective to where it is
// written. approval_rules has one for each rule: approval_rules[0].
func (c *Config) Origins() map[string]Origin {
	_, origins := c.describe()
	return origins
}

func (c *Config) describe() (map[string]any, map[string]Origin) {
	d := &describer{fields: serverFields(), origins: map[string]Origin{}}
	out := map[string]any{}
	for _, f := range topFields {
		if n := c.root.table[f.name]; n != nil {
			out[f.name] = f.show(n)
			if f.name == rulesKey { // of several layers
				for i, item := range n.items {
					d.origins[rulesKey+elementPart(i)] = item.at
				}
				continue
			}
			d.origin([]string{f.name}, n)
		}
	}
	servers := map[string]any{}
	if n := c.root.table[serversKey]; n != nil {
		for _, name := range n.keys() {
			servers[name] = d.server(name, n.table[name])
		}
	}
	out[serversKey] = servers
	return out, d.origins
}

type describer struct {
	fields  []serverField
	origins map[string]Origin
}

// origin records a value, or every value of a table.
func (d *describer) origin(path []string, n *node) {
	if n.isTable() {
		for _, k := range n.keys() {
			d.origin(child(path, k), n.table[k])
		}
		if len(n.table) > 0 {
			return
		}
	}
	d.origins[shownKey(path)] = n.at
}

func (d *describer) server(name string, n *node) any {
	if !n.isTable() {
		d.origin([]string{serversKey, name}, n)
		return maskAll(n)
	}
	out := map[string]any{}
	command, url := n.table["command"] != nil, n.table["url"] != nil
	for _, f := range d.fields {
		path := []string{serversKey, name, f.name}
		if c := n.table[f.name]; c != nil {
			out[f.name] = f.show(c)
			d.origin(path, c)
			continue
		}
		if f.def == nil || f.on == TransportStdio && !command || f.on == TransportHTTP && !url ||
			f.name == "startup_timeout_sec" && n.table["startup_timeout_ms"] != nil {
			continue
		}
		out[f.name] = f.def
		d.origins[shownKey(path)] = Origin{Layer: LayerDefaults}
	}
	for _, k := range n.keys() {
		if !slices.ContainsFunc(d.fields, func(f serverField) bool { return f.name == k }) {
			out[k] = maskAll(n.table[k])
			d.origin([]string{serversKey, name, k}, n.table[k])
		}
	}
	return out
}

// The show functions turn a node into what may be seen of it. Each shows only
// what has the shape it expects and leaves the rest to maskAll.

// maskAll keeps the shape, the numbers and the booleans, and no string.
func maskAll(n *node) any {
	if n.isTable() {
		out := map[string]any{}
		for k, c := range n.table {
			out[k] = maskAll(c)
		}
		return out
	}
	return maskValue(n.value)
}

func maskValue(v any) any {
	switch v := v.(type) {
	case int64, bool:
		return v
	case float64:
		return number(v)
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = maskValue(x)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = maskValue(x)
		}
		return out
	}
	return Mask
}

// number keeps a float that JSON can hold.
func number(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Mask
	}
	return f
}

func showWord(words []string) func(*node) any {
	return func(n *node) any {
		if s, ok := n.value.(string); ok && (slices.Contains(words, s) || onlyReference(s)) {
			return s
		}
		return maskAll(n)
	}
}

func showMasked(n *node) any {
	if s, ok := n.value.(string); ok && onlyReference(s) {
		return s
	}
	return maskAll(n)
}

func showArg(n *node) any {
	if s, ok := n.value.(string); ok {
		return maskWord(s)
	}
	return maskAll(n)
}

func showURL(n *node) any {
	if s, ok := n.value.(string); ok {
		return maskURL(s)
	}
	return maskAll(n)
}

// texts gives an array's elements as strings, if they all have a spelling.
func texts(n *node) ([]string, bool) {
	list, ok := n.value.([]any)
	if !ok {
		return nil, false
	}
	out := make([]string, len(list))
	for i, v := range list {
		if out[i], ok = spelled(v); !ok {
			return nil, false
		}
	}
	return out, true
}

func showArgs(n *node) any {
	if list, ok := texts(n); ok {
		return maskArgs(list)
	}
	return maskAll(n)
}

// showList is for names: of tools, scopes, surfaces.
func showList(n *node) any {
	list, ok := texts(n)
	if !ok {
		return maskAll(n)
	}
	for i, s := range list {
		if looksLikeToken(s) {
			list[i] = Mask
		}
	}
	return list
}

// showSecretMap shows the names and hides the values. A value that is one
// reference is the name of a secret and stays.
func showSecretMap(field string) func(*node) any {
	return func(n *node) any {
		if !n.isTable() {
			return maskAll(n)
		}
		out := map[string]any{}
		for k, c := range n.table {
			if hiddenName(field, k) {
				k = Mask
			}
			if s, ok := c.value.(string); ok && onlyReference(maskDefaults(s)) {
				out[k] = maskDefaults(s)
				continue
			}
			out[k] = Mask
		}
		return out
	}
}

// showVariable is for the name of a variable.
func showVariable(n *node) any {
	if s, ok := n.value.(string); ok && (plainName(s) || onlyReference(s)) {
		return s
	}
	return maskAll(n)
}

func showNameMap(n *node) any {
	if !n.isTable() {
		return maskAll(n)
	}
	out := map[string]any{}
	for k, c := range n.table {
		if hiddenName("env_http_headers", k) {
			k = Mask
		}
		out[k] = showVariable(c)
	}
	return out
}

func showEnvVars(n *node) any {
	list, ok := n.value.([]any)
	if !ok {
		return maskAll(n)
	}
	out := make([]any, len(list))
	for i, v := range list {
		switch v := v.(type) {
		case map[string]any:
			m := map[string]any{}
			for k, x := range v {
				m[k] = showVariable(&node{value: x})
			}
			out[i] = m
		default:
			out[i] = showVariable(&node{value: v})
		}
	}
	return out
}

func showTools(n *node) any {
	if !n.isTable() {
		return maskAll(n)
	}
	out := map[string]any{}
	for tool, c := range n.table {
		if !c.isTable() {
			out[tool] = maskAll(c)
			continue
		}
		rule := map[string]any{}
		for k, x := range c.table {
			switch {
			case k == "approval_mode":
				rule[k] = showWord(approvalWords)(x)
			case k == "annotations" && x.isTable():
				hints := map[string]any{}
				for name, h := range x.table {
					hints[name] = maskAll(h)
					if name == "title" {
						hints[name] = showArg(h)
					}
				}
				rule[k] = hints
			default:
				rule[k] = maskAll(x)
			}
		}
		out[tool] = rule
	}
	return out
}

func showOAuth(n *node) any {
	if !n.isTable() {
		return maskAll(n)
	}
	out := map[string]any{}
	for k, c := range n.table {
		switch k {
		case "client_id":
			out[k] = maskAll(c)
			if s, ok := c.value.(string); ok && !strings.Contains(s, "://") {
				out[k] = s // public by definition (RFC 6749, 2.2)
			} else if ok {
				out[k] = maskURL(s)
			}
		case "callback_url":
			out[k] = showURL(c)
		case "client_secret_env_var":
			out[k] = showVariable(c)
		default:
			out[k] = maskAll(c)
		}
	}
	return out
}
