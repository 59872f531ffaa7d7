package rpc

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

const (
	// maxPointer and maxQuoted bound what an error repeats of the editor's own
	// text, in bytes.
	maxPointer = 256
	maxQuoted  = 64
	// maxExact is the largest integer that a float64 keeps exactly.
	maxExact = 1 << 53
)

// A mismatch says where JSON is not of a wire type. Its pointer grows from the
// inside out.
type mismatch struct {
	pointer string
	text    string
}

func (e *mismatch) Error() string {
	if e.pointer == "" {
		return e.text
	}
	return e.pointer + ": " + e.text
}

// within puts a member's name or an element's index before the pointer.
func within(err error, token string) error {
	if e, ok := err.(*mismatch); ok {
		e.pointer = "/" + clean(strings.NewReplacer("~", "~0", "/", "~1").Replace(token), maxQuoted) + e.pointer
	}
	return err
}

// asError is the answer to params that do not fit.
func (e *mismatch) asError() *protocol.Error {
	e.pointer = clean(e.pointer, maxPointer)
	if e.pointer == "" {
		return protocol.Errorf(protocol.KindInvalidParams, "params %s", e.text)
	}
	return protocol.Errorf(protocol.KindInvalidParams, "params: %s: %s", e.pointer, e.text).WithPointer(e.pointer)
}

func unlike(raw []byte, want string) error {
	return &mismatch{text: "must be " + want + ", not " + noun(raw)}
}

func noun(raw []byte) string {
	switch rawjson.Kind(raw) {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case 'n':
		return "null"
	}
	return "a boolean"
}

// A decodeFunc reads valid JSON without white space around it into v, which is
// settable and zero. Raw members share raw's memory. strict refuses missing
// members and unknown words: what an editor sends is checked, what it answers
// is the asker's to judge.
type decodeFunc func(raw []byte, v reflect.Value, strict bool) error

// decode reads raw into what target points to.
func decode(raw []byte, target any, strict bool) error {
	v := reflect.ValueOf(target).Elem()
	return decoderOf(v.Type())(raw, v, strict)
}

var decoders sync.Map // reflect.Type to decodeFunc

func decoderOf(t reflect.Type) decodeFunc {
	if f, ok := decoders.Load(t); ok {
		return f.(decodeFunc)
	}
	// Wire types are not recursive, but a function that looks itself up would
	// do even then.
	decoders.Store(t, decodeFunc(func(raw []byte, v reflect.Value, strict bool) error {
		return newDecoder(t)(raw, v, strict)
	}))
	f := newDecoder(t)
	decoders.Store(t, f)
	return f
}

func newDecoder(t reflect.Type) decodeFunc {
	if o, ok := reflect.Zero(t).Interface().(interface{ Shapes() protocol.Shapes }); ok {
		return decodeOneOf(o.Shapes().Alternatives())
	}
	switch t.Kind() {
	case reflect.Pointer:
		return decodePointer(decoderOf(t.Elem()))
	case reflect.Struct:
		return decodeStruct(t)
	case reflect.String:
		return decodeString(t)
	case reflect.Bool:
		return decodeBool
	case reflect.Int64:
		return decodeInt
	case reflect.Float64:
		return decodeFloat
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return decodeRaw
		}
		return decodeSlice(decoderOf(t.Elem()))
	case reflect.Map:
		return decodeMap(t, decoderOf(t.Elem()))
	}
	panic(fmt.Sprintf("rpc: %s is not in the small language of wire types", t))
}

func decodeRaw(raw []byte, v reflect.Value, _ bool) error {
	v.SetBytes(raw)
	return nil
}

// decodeOneOf keeps the bytes, once they have one of the shapes.
func decodeOneOf(alternatives []any) decodeFunc {
	types := make([]reflect.Type, len(alternatives))
	shapes := make([]decodeFunc, len(alternatives))
	kinds := make([]byte, len(alternatives))
	var nouns []string
	for i, a := range alternatives {
		types[i] = reflect.TypeOf(a)
		shapes[i] = decoderOf(types[i])
		kinds[i] = kindOf(types[i])
		nouns = append(nouns, noun(append([]byte(nil), kinds[i])))
	}
	return func(raw []byte, v reflect.Value, strict bool) error {
		kind := rawjson.Kind(raw)
		err := unlike(raw, strings.Join(nouns, " or "))
		for i := range shapes {
			if kinds[i] != kind {
				continue
			}
			if err = shapes[i](raw, reflect.New(types[i]).Elem(), strict); err == nil {
				break
			}
		}
		if err == nil {
			v.SetBytes(raw)
		}
		return err
	}
}

// kindOf is what rawjson.Kind says of values of t.
func kindOf(t reflect.Type) byte {
	switch t.Kind() {
	case reflect.String:
		return '"'
	case reflect.Bool:
		return 't'
	case reflect.Slice:
		return '['
	case reflect.Struct, reflect.Map:
		return '{'
	}
	return '0'
}

func decodePointer(elem decodeFunc) decodeFunc {
	return func(raw []byte, v reflect.Value, strict bool) error {
		if rawjson.Kind(raw) == 'n' {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return elem(raw, v.Elem(), strict)
	}
}

func decodeString(t reflect.Type) decodeFunc {
	var words []string
	if w, ok := reflect.Zero(t).Interface().(interface{ Values() []string }); ok {
		words = w.Values()
	}
	return func(raw []byte, v reflect.Value, strict bool) error {
		s, ok := rawjson.String(raw)
		if !ok {
			return unlike(raw, "a string")
		}
		if strict && words != nil && !slices.Contains(words, s) {
			return &mismatch{text: fmt.Sprintf("%q is none of %s", clean(s, maxQuoted), strings.Join(words, ", "))}
		}
		v.SetString(s)
		return nil
	}
}

func decodeBool(raw []byte, v reflect.Value, _ bool) error {
	switch rawjson.Kind(raw) {
	case 't':
		v.SetBool(true)
	case 'f':
	default:
		return unlike(raw, "a boolean")
	}
	return nil
}

// decodeInt also takes 30000.0 and 3e4: in some languages every number is a
// float and is written like one.
func decodeInt(raw []byte, v reflect.Value, _ bool) error {
	if rawjson.Kind(raw) != '0' {
		return unlike(raw, "an integer")
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil {
		x, ferr := strconv.ParseFloat(string(raw), 64)
		if ferr != nil || x != math.Trunc(x) || math.Abs(x) > maxExact {
			return &mismatch{text: "must be an integer of 64 bits"}
		}
		n = int64(x)
	}
	v.SetInt(n)
	return nil
}

func decodeFloat(raw []byte, v reflect.Value, _ bool) error {
	if rawjson.Kind(raw) != '0' {
		return unlike(raw, "a number")
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return &mismatch{text: "must be a number of 64 bits"}
	}
	v.SetFloat(x)
	return nil
}

func decodeSlice(elem decodeFunc) decodeFunc {
	return func(raw []byte, v reflect.Value, strict bool) error {
		if rawjson.Kind(raw) != '[' {
			return unlike(raw, "an array")
		}
		v.Set(reflect.MakeSlice(v.Type(), 0, 0)) // [] is not null
		return rawjson.KnownArray(raw, func(i int, value []byte) error {
			v.Grow(1)
			v.SetLen(i + 1)
			if err := elem(value, v.Index(i), strict); err != nil {
				return within(err, strconv.Itoa(i))
			}
			return nil
		})
	}
}

func decodeMap(t reflect.Type, elem decodeFunc) decodeFunc {
	return func(raw []byte, v reflect.Value, strict bool) error {
		if rawjson.Kind(raw) != '{' {
			return unlike(raw, "an object")
		}
		v.Set(reflect.MakeMap(t))
		return rawjson.KnownObject(raw, func(key, value []byte) error {
			e := reflect.New(t.Elem()).Elem()
			if err := elem(value, e, strict); err != nil {
				return within(err, string(key))
			}
			v.SetMapIndex(reflect.ValueOf(string(key)).Convert(t.Key()), e)
			return nil
		})
	}
}

var rawType = reflect.TypeFor[json.RawMessage]()

// A member is a field of a wire type.
type member struct {
	name     string
	index    int
	optional bool
	raw      bool // null is kept like any other value
	decode   decodeFunc
}

func decodeStruct(t reflect.Type) decodeFunc {
	var members []member
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		members = append(members, member{
			name: name, index: i, decode: decoderOf(f.Type), raw: f.Type == rawType,
			optional: strings.Contains(options, "omitzero") || strings.Contains(options, "omitempty"),
		})
	}
	byName := make(map[string]int, len(members))
	for i, m := range members {
		byName[m.name] = i
	}
	return func(raw []byte, v reflect.Value, strict bool) error {
		if rawjson.Kind(raw) != '{' {
			return unlike(raw, "an object")
		}
		seen := make([]bool, len(members))
		err := rawjson.KnownObject(raw, func(key, value []byte) error {
			i, ok := byName[string(key)]
			if !ok {
				return nil
			}
			m := &members[i]
			if seen[i] {
				// Which one was meant is anybody's guess, and an answer may be
				// an approval.
				return within(&mismatch{text: "is there twice"}, m.name)
			}
			seen[i] = true
			field := v.Field(m.index)
			if rawjson.Kind(value) == 'n' && !m.raw && (m.optional || !strict) {
				return nil // as if it were absent
			}
			if err := m.decode(value, field, strict); err != nil {
				return within(err, m.name)
			}
			return nil
		})
		if err != nil || !strict {
			return err
		}
		for i, m := range members {
			if !seen[i] && !m.optional {
				return within(&mismatch{text: "is missing"}, m.name)
			}
		}
		return nil
	}
}

// clean makes the editor's text fit for a message: without control characters,
// at most max bytes.
func clean(s string, max int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' {
			return '?'
		}
		return r
	}, s)
	if len(s) <= max {
		return s
	}
	n := max
	for n > 0 && s[n]&0xc0 == 0x80 {
		n-- // not inside a rune
	}
	return s[:n] + "…"
}
