package main

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A formField is a field of a form, as far as a terminal cares.
type formField struct {
	Type, Title, Description string
	Enum, EnumNames          []string
	OneOf                    []formChoice
	Items                    struct {
		Enum  []string
		AnyOf []formChoice
	}
	Default json.RawMessage

	name     string
	required bool
}

type formChoice struct{ Const, Title string }

// formFields reads a form: its fields in their order.
func formFields(schema json.RawMessage) ([]formField, error) {
	var form struct {
		Properties json.RawMessage
		Required   []string
	}
	if len(schema) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(schema, &form); err != nil || form.Properties == nil {
		return nil, err
	}
	var fields []formField
	err := rawjson.Object(form.Properties, func(key, value []byte) error {
		f := formField{name: string(key), required: slices.Contains(form.Required, string(key))}
		fields = append(fields, f)
		return json.Unmarshal(value, &fields[len(fields)-1])
	})
	return fields, err
}

// fill asks for the fields of a form, one by one.
func (t *terminal) fill(ctx context.Context, fields []formField) (json.RawMessage, error) {
	content := []byte{'{'}
	for i := range fields {
		line, err := t.line(ctx, fields[i].label()+": ")
		if err != nil {
			return nil, err
		}
		value := fields[i].read(line)
		if value == nil {
			continue
		}
		if len(content) > 1 {
			content = append(content, ',')
		}
		content = append(append(rawjson.AppendString(content, fields[i].name), ':'), value...)
	}
	return append(content, '}'), nil
}

// choices lists what a field may be chosen from.
func (f *formField) choices() []formChoice {
	var all []formChoice
	for i, value := range append(slices.Clone(f.Enum), f.Items.Enum...) {
		c := formChoice{Const: value}
		if len(f.EnumNames) == len(f.Enum) && i < len(f.Enum) {
			c.Title = f.EnumNames[i]
		}
		all = append(all, c)
	}
	return append(append(all, f.OneOf...), f.Items.AnyOf...)
}

// label is the prompt for a field: what it is called, what may be said, and
// what an empty line means.
func (f *formField) label() string {
	label := f.Title
	if label == "" {
		label = f.name
	}
	var says []string
	if f.Description != "" {
		says = append(says, f.Description)
	}
	var words []string
	for _, c := range f.choices() {
		if c.Title != "" && c.Title != c.Const {
			words = append(words, c.Const+" = "+c.Title)
		} else {
			words = append(words, c.Const)
		}
	}
	if len(words) > 0 {
		says = append(says, strings.Join(words, ", "))
	}
	switch f.Type {
	case "boolean":
		says = append(says, "y or n")
	case "array":
		says = append(says, "several with commas between")
	}
	if !f.required {
		says = append(says, "optional")
	}
	if len(says) > 0 {
		label += " (" + strings.Join(says, "; ") + ")"
	}
	label = elicit.Clean(label, maxShownLabel)
	if f.Default != nil {
		def := string(f.Default)
		if text, ok := rawjson.String(f.Default); ok {
			def = text
		}
		label += " [" + elicit.Clean(def, maxShownLabel) + "]"
	}
	return label
}

// read turns a typed line into the field's value; nil leaves the field out, so
// that its default counts, if it has one. What does not fit stays a text: the
// sidecar says what is wrong with it, and asks again.
func (f *formField) read(line string) json.RawMessage {
	if line == "" {
		if f.Type == "array" && f.required && f.Default == nil {
			return json.RawMessage("[]")
		}
		return nil
	}
	text := rawjson.AppendString(nil, line)
	switch f.Type {
	case "boolean":
		switch strings.ToLower(line) {
		case "y", "yes", "true":
			return json.RawMessage("true")
		case "n", "no", "false":
			return json.RawMessage("false")
		}
	case "integer", "number":
		if number := numberOf(line); number != nil {
			return number
		}
	case "array":
		return f.readList(line)
	case "string", "":
		return rawjson.AppendString(nil, f.chosen(line))
	}
	return text
}

func (f *formField) readList(line string) json.RawMessage {
	parts := strings.Split(line, ",")
	if slices.ContainsFunc(f.choices(), func(c formChoice) bool { return c.is(line) }) {
		parts = []string{line} // one choice with a comma in it
	}
	list := []byte{'['}
	for _, part := range parts {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = rawjson.AppendString(list, f.chosen(part))
	}
	return append(list, ']')
}

// chosen returns the value of the choice that was typed: its value or its
// title. Without choices it is what was typed.
func (f *formField) chosen(line string) string {
	all := f.choices()
	for _, c := range all {
		if c.Const == line { // before any that is called so
			return line
		}
	}
	for _, c := range all {
		if c.is(line) {
			return c.Const
		}
	}
	return line
}

// is reports whether a choice can be meant: as it is shown, upper and lower
// case being the same.
func (c formChoice) is(line string) bool {
	return c.Const == line || strings.EqualFold(onLine(c.Const), line) || c.Title != "" && strings.EqualFold(onLine(c.Title), line)
}

// numberOf returns a number as JSON has it. Long ones keep their digits; how
// people write them (007, .5, +1) is allowed.
func numberOf(line string) json.RawMessage {
	if rawjson.Kind([]byte(line)) == '0' && rawjson.Valid([]byte(line)) == nil {
		return json.RawMessage(line)
	}
	if n, err := strconv.ParseInt(line, 10, 64); err == nil {
		return json.RawMessage(strconv.FormatInt(n, 10))
	}
	if strings.ContainsAny(line, "xXpP_") { // Go's ways, not people's
		return nil
	}
	x, err := strconv.ParseFloat(line, 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return json.RawMessage(strconv.FormatFloat(x, 'g', -1, 64))
}
