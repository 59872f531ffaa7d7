package elicit

import (
	"strconv"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// choices are what a field may be chosen from.
type choices struct {
	values []string
	// titles has one text for each value, or is nil.
	titles []string
	// raw has the values as they came, when they are numbers or booleans,
	// which the closed shape can't list.
	raw               [][]byte
	numbers, booleans bool
	// names has the enumNames of the older form, or is nil.
	names []string
}

// titled returns the choices as a list of const and title.
func (c *choices) titled() []byte {
	out := []byte{'['}
	for i, v := range c.values {
		if i > 0 {
			out = append(out, ',')
		}
		o := appendText([]byte{'{'}, "const", v)
		out = append(append(out, appendText(o, "title", c.titles[i])...), '}')
	}
	return append(out, ']')
}

// optionsOf returns the choices of a schema, nil if it has none. alternatives
// are those that are constants.
func optionsOf(at string, o object, alternatives []object) (*choices, error) {
	c := &choices{}
	var values [][]byte
	switch {
	case o.get("enum") != nil:
		at += "/enum"
		err := rawjson.Array(o.get("enum"), func(_ int, v []byte) error {
			values = append(values, v)
			return nil
		})
		if err != nil {
			return nil, &SchemaError{at, "must be a list"}
		}
		if names := stringList(o.get("enumNames")); len(names) == len(values) && len(names) > 0 {
			for _, name := range names {
				c.names = append(c.names, Clean(name, maxTitle))
			}
		}
	case o.get("const") != nil:
		at += "/const"
		values = [][]byte{o.get("const")}
	case alternatives != nil:
		for _, alternative := range alternatives {
			title, ok := rawjson.String(alternative.get("title"))
			if !ok {
				title, _ = rawjson.String(alternative.get("const"))
			}
			values = append(values, alternative.get("const"))
			c.titles = append(c.titles, Clean(title, maxTitle))
		}
	default:
		return nil, nil
	}
	return c, c.take(at, values)
}

// take sorts the values into c: all strings, all numbers or all booleans. A
// null among them only says that the field is optional.
func (c *choices) take(at string, values [][]byte) error {
	kinds := map[byte]bool{}
	seen := map[string]bool{}
	titles := c.titles
	c.titles = nil
	for i, v := range values {
		k := rawjson.Kind(v)
		if k == 'n' {
			c.names = nil
			continue
		}
		if k == 't' {
			k = 'f'
		}
		kinds[k] = true
		s, _ := rawjson.String(v)
		if k != '"' {
			s = string(v)
		}
		if seen[s] {
			c.names = nil
			continue
		}
		seen[s] = true
		c.values = append(c.values, s)
		c.raw = append(c.raw, v)
		if titles != nil {
			c.titles = append(c.titles, titles[i])
		}
	}
	switch {
	case len(c.values) == 0:
		return &SchemaError{at, "offers nothing to choose"}
	case len(c.values) > maxOptions:
		return &SchemaError{at, "has more than " + strconv.Itoa(maxOptions) + " entries"}
	case len(kinds) > 1 || kinds['{'] || kinds['[']:
		return &SchemaError{at, "must have values of one primitive type"}
	}
	c.numbers, c.booleans = kinds['0'], kinds['f']
	return nil
}
