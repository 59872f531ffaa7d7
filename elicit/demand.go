package elicit

import (
	"encoding/json"
	"math"
	"math/big"
	"regexp/syntax"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// A demand is one thing that a field asks of a value. The judge is a JSON
// Schema library, which is asked keyword by keyword: its own errors quote the
// answer and name no place in it, so the words are ours. Three things it can't
// judge, and they are judged here:
//
//   - A format, which it takes for an annotation.
//   - A text out of a list. It compares with one choice after the other, with
//     fractions: all 1000 choices of 200 lists take it 22 seconds (a set 0.14).
//   - A bound that no float64 holds, which is how it keeps bounds: it takes
//     9007199254740993 for …992.
type demand struct {
	// problem reads after the pointer: "must be …".
	problem string
	met     func(value any) bool
}

// unmet returns the problem of the first demand that a value, as valueOf makes
// it, does not meet; "" if it meets them all.
func unmet(demands []demand, value any) string {
	for _, d := range demands {
		if !d.met(value) {
			return d.problem
		}
	}
	return ""
}

// judged is a demand that the library judges. What it can't read, a pattern in
// a dialect that RE2 lacks, is left to the server.
func judged(problem string, schema *jsonschema.Schema) demand {
	resolved, err := schema.Resolve(nil)
	return demand{problem, func(value any) bool { return err != nil || resolved.Validate(value) == nil }}
}

// The types of values.
var (
	isText    = judged("must be a string", &jsonschema.Schema{Type: "string"})
	isNumber  = judged("must be a number", &jsonschema.Schema{Type: "number"})
	isWhole   = judged("must be a whole number", &jsonschema.Schema{Type: "integer"})
	isBoolean = judged("must be true or false", &jsonschema.Schema{Type: "boolean"})
	isList    = judged("must be a list", &jsonschema.Schema{Type: "array"})
)

// demandsOf returns what a field's schema asks of a value, its type first.
// choices are the field's, nil for none.
func demandsOf(k kind, o object, choices *choices) []demand {
	var out []demand
	switch k {
	case kindString:
		return append([]demand{isText}, textDemands(o)...)
	case kindNumber:
		out = append([]demand{isNumber}, numberDemands(o)...)
	case kindInteger:
		out = append([]demand{isNumber, isWhole}, numberDemands(o)...)
	case kindBoolean:
		out = []demand{isBoolean}
	case kindChoice:
		return []demand{choiceDemand(choices.values)}
	case kindChoices:
		return append([]demand{isList}, listDemands(o)...)
	}
	if choices != nil {
		out = append(out, valueDemand(choices))
	}
	return out
}

// counted returns the demands of a least and a greatest count: of characters,
// by minLength and maxLength, or of choices, by minItems and maxItems.
func counted(o object, least, most, unit string, schema func(least, most *int) *jsonschema.Schema) []demand {
	var out []demand
	if n, ok := count(o.get(least)); ok && n > 0 {
		out = append(out, judged("must have at least "+amount(n, unit), schema(countable(n), nil)))
	}
	if n, ok := count(o.get(most)); ok {
		out = append(out, judged("must have at most "+amount(n, unit), schema(nil, countable(n))))
	}
	return out
}

// countable is a count as an int of any size; there are no longer answers.
func countable(n int64) *int { return jsonschema.Ptr(int(min(n, math.MaxInt32))) }

func amount(n int64, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return strconv.FormatInt(n, 10) + " " + unit + "s"
}

// textDemands returns what a schema asks of a text.
func textDemands(o object) []demand {
	out := counted(o, "minLength", "maxLength", "character", func(least, most *int) *jsonschema.Schema {
		return &jsonschema.Schema{MinLength: least, MaxLength: most}
	})
	if format, _ := rawjson.String(o.get("format")); formats[format] != nil {
		has := formats[format]
		out = append(out, demand{"must be in the format " + format, func(value any) bool {
			text, ok := value.(string)
			return ok && has(text)
		}})
	}
	if pattern, ok := rawjson.String(o.get("pattern")); ok && patternSize(pattern) <= maxPatternSize {
		matches := judged("must match the pattern "+Clean(pattern, maxPatternLength), &jsonschema.Schema{Pattern: pattern})
		out = append(out, demand{matches.problem, func(value any) bool {
			text, _ := value.(string)
			return len(text) > maxPatternText || matches.met(value)
		}})
	}
	return out
}

// patternSize estimates the instructions of a compiled pattern. A short one
// can need millions, a thousand times whatever is repeated; like one that RE2
// can't read, it is left to the server.
func patternSize(pattern string) int {
	if len(pattern) > maxPatternLength {
		return len(pattern) * maxPatternSize
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0 // judged finds the same, and lets everything pass
	}
	var size func(*syntax.Regexp) int
	size = func(re *syntax.Regexp) int {
		n := 1 + len(re.Rune)
		for _, sub := range re.Sub {
			n += size(sub)
		}
		if re.Op == syntax.OpRepeat {
			n *= max(re.Min, re.Max, 1)
		}
		return n
	}
	return size(re)
}

// choiceDemand asks that a value be one of some texts.
func choiceDemand(options []string) demand {
	known := make(map[string]bool, len(options))
	for _, o := range options {
		known[o] = true
	}
	return demand{"must be one of the choices", func(value any) bool {
		text, ok := value.(string)
		return ok && known[text]
	}}
}

// listDemands returns what a schema asks of a list as a whole.
func listDemands(o object) []demand {
	out := counted(o, "minItems", "maxItems", "choice", func(least, most *int) *jsonschema.Schema {
		return &jsonschema.Schema{MinItems: least, MaxItems: most}
	})
	if string(o.get("uniqueItems")) == "true" {
		out = append(out, judged("must not repeat a choice", &jsonschema.Schema{UniqueItems: true}))
	}
	return out
}

// bounds are the keywords about the size of a number; order is how a value
// compares to the bound.
var bounds = []struct {
	keyword, words string
	schema         func(bound *float64) *jsonschema.Schema
	within         func(order int) bool
}{
	{"minimum", "must be at least ", func(b *float64) *jsonschema.Schema { return &jsonschema.Schema{Minimum: b} }, func(order int) bool { return order >= 0 }},
	{"maximum", "must be at most ", func(b *float64) *jsonschema.Schema { return &jsonschema.Schema{Maximum: b} }, func(order int) bool { return order <= 0 }},
	{"exclusiveMinimum", "must be more than ", func(b *float64) *jsonschema.Schema { return &jsonschema.Schema{ExclusiveMinimum: b} }, func(order int) bool { return order > 0 }},
	{"exclusiveMaximum", "must be less than ", func(b *float64) *jsonschema.Schema { return &jsonschema.Schema{ExclusiveMaximum: b} }, func(order int) bool { return order < 0 }},
}

// numberDemands returns what a schema asks of a number.
func numberDemands(o object) []demand {
	var out []demand
	for _, b := range bounds {
		bound := rational(numberOf(o.get(b.keyword)))
		if bound == nil {
			continue
		}
		problem := b.words + Clean(string(o.get(b.keyword)), maxShownNumber)
		if x, exact := bound.Float64(); exact {
			out = append(out, judged(problem, b.schema(&x)))
			continue
		}
		out = append(out, demand{problem, func(value any) bool {
			x := rational(value)
			return x == nil || b.within(x.Cmp(bound))
		}})
	}
	return out
}

// valueDemand asks that a value be one of some numbers or booleans.
func valueDemand(c *choices) demand {
	var values []any
	for _, raw := range c.raw {
		values = append(values, valueOf(raw))
	}
	problem := "must be one of the choices"
	if len(c.values) == 1 {
		problem = "must be " + Clean(c.values[0], maxShownNumber)
	}
	return judged(problem, &jsonschema.Schema{Enum: values})
}

// valueOf returns a JSON value as the library takes it: exactly what tells it
// apart, so that whole numbers of 64 bits stay exact and nothing that is nested
// is read. A number that no float64 holds, and what is no JSON, is nil.
func valueOf(raw []byte) any {
	switch rawjson.Kind(raw) {
	case '[':
		list := []any{}
		_ = rawjson.Array(raw, func(_ int, element []byte) error {
			if rawjson.Kind(element) == '[' {
				list = append(list, []any{})
			} else {
				list = append(list, valueOf(element))
			}
			return nil
		})
		return list
	case '{':
		return map[string]any{}
	case '"':
		if text, ok := rawjson.String(raw); ok {
			return text
		}
	case 't', 'f':
		var b bool
		if json.Unmarshal(raw, &b) == nil {
			return b
		}
	case '0':
		return numberOf(raw)
	}
	return nil
}

// numberOf returns a JSON number as an int64, else a uint64, else a float64;
// nil if none of them holds it.
func numberOf(raw []byte) any {
	if rawjson.Kind(raw) != '0' {
		return nil
	}
	if i, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(string(raw), 10, 64); err == nil {
		return u
	}
	if f, err := strconv.ParseFloat(string(raw), 64); err == nil {
		return f
	}
	return nil
}

// rational returns a number that numberOf made, exactly; nil for anything else.
func rational(value any) *big.Rat {
	switch x := value.(type) {
	case int64:
		return new(big.Rat).SetInt64(x)
	case uint64:
		return new(big.Rat).SetUint64(x)
	case float64:
		return new(big.Rat).SetFloat64(x)
	}
	return nil
}
