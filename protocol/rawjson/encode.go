package rawjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// Marshal returns v as JSON on one line. See Append.
func Marshal(v any) ([]byte, error) { return Append(nil, v) }

// Append appends v as JSON on one line and returns the longer slice; on an
// error dst is returned as it was.
//
// Types of package protocol's small language come out as encoding/json writes
// them (omitzero, omitempty, sorted keys, null for nil), with two differences:
// strings are not escaped for HTML, and a byte slice with a marshaler of its
// own (json.RawMessage, protocol.OneOf) is copied as it is: null if empty,
// without its white space if it has line breaks, and not checked. Interfaces
// and recursive types are followed at most MaxDepth deep. Types with other
// marshalers, embedded or string-quoted fields, and plain []byte go through
// encoding/json, still without escaping for HTML.
func Append(dst []byte, v any) ([]byte, error) {
	if raw, ok := v.(json.RawMessage); ok {
		return appendRaw(dst, raw), nil
	}
	if v == nil {
		return append(dst, "null"...), nil
	}
	r := reflect.ValueOf(v)
	n := len(dst)
	out, err := planOf(r.Type()).encode(dst, r, 0)
	if err != nil {
		return dst[:n], err
	}
	return out, nil
}

// A plan encodes the values of one type. depth counts the pointers, slices,
// maps and interfaces that were followed.
type plan struct {
	encode func(dst []byte, v reflect.Value, depth int) ([]byte, error)
}

// plans holds the finished *plan of each reflect.Type that was met.
var plans sync.Map

func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	// Plans of a recursive type refer to each other: they are published
	// together when all are finished. Two goroutines may make the same ones.
	b := builder{}
	p := b.plan(t)
	for t, p := range b {
		plans.LoadOrStore(t, p)
	}
	return p
}

type builder map[reflect.Type]*plan

var (
	marshalerType     = reflect.TypeFor[json.Marshaler]()
	textMarshalerType = reflect.TypeFor[encoding.TextMarshaler]()
	zeroerType        = reflect.TypeFor[interface{ IsZero() bool }]()
	numberType        = reflect.TypeFor[json.Number]()
)

func (b builder) plan(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	if p, ok := b[t]; ok {
		return p
	}
	p := new(plan)
	b[t] = p
	p.encode = b.encoder(t)
	return p
}

func (b builder) encoder(t reflect.Type) func([]byte, reflect.Value, int) ([]byte, error) {
	pt := reflect.PointerTo(t)
	switch {
	case t == numberType:
		return encodeForeign
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		if t.Implements(marshalerType) {
			return func(dst []byte, v reflect.Value, _ int) ([]byte, error) { return appendRaw(dst, v.Bytes()), nil }
		}
		return encodeForeign
	case t.Kind() == reflect.Interface:
		return encodeInterface
	case t.Kind() == reflect.Pointer:
		// Whether the pointed-to type has a marshaler is its own plan's matter.
		return encodePointer(b.plan(t.Elem()))
	case pt.Implements(marshalerType), pt.Implements(textMarshalerType):
		return encodeForeign
	}
	switch t.Kind() {
	case reflect.String:
		return func(dst []byte, v reflect.Value, _ int) ([]byte, error) { return AppendString(dst, v.String()), nil }
	case reflect.Bool:
		return func(dst []byte, v reflect.Value, _ int) ([]byte, error) {
			return strconv.AppendBool(dst, v.Bool()), nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(dst []byte, v reflect.Value, _ int) ([]byte, error) {
			return strconv.AppendInt(dst, v.Int(), 10), nil
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return func(dst []byte, v reflect.Value, _ int) ([]byte, error) {
			return strconv.AppendUint(dst, v.Uint(), 10), nil
		}
	case reflect.Float32, reflect.Float64:
		return encodeFloat(t.Bits())
	case reflect.Slice:
		return encodeSlice(b.plan(t.Elem()))
	case reflect.Map:
		k := t.Key()
		if k.Kind() != reflect.String || k.Implements(textMarshalerType) {
			return encodeForeign
		}
		return encodeMap(b.plan(t.Elem()))
	case reflect.Struct:
		if fields, ok := b.fields(t); ok {
			return encodeStruct(fields)
		}
	}
	return encodeForeign
}

// appendRaw appends raw as one value on one line.
func appendRaw(dst, raw []byte) []byte {
	switch {
	case len(raw) == 0:
		return append(dst, "null"...)
	case broken(raw):
		return appendSingle(dst, raw)
	}
	return append(dst, raw...)
}

func encodeForeign(dst []byte, v reflect.Value, _ int) ([]byte, error) {
	if v.CanAddr() && v.Kind() != reflect.Pointer {
		v = v.Addr() // a marshaler may have a pointer receiver
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v.Interface()); err != nil {
		return dst, fmt.Errorf("rawjson: %w", err)
	}
	return append(dst, bytes.TrimSuffix(out.Bytes(), []byte{'\n'})...), nil
}

func tooDeep(v reflect.Value) error {
	return fmt.Errorf("rawjson: encoding %s: nested more than %d deep", v.Type(), MaxDepth)
}

func encodeInterface(dst []byte, v reflect.Value, depth int) ([]byte, error) {
	if v.IsNil() {
		return append(dst, "null"...), nil
	}
	if depth == MaxDepth {
		return dst, tooDeep(v)
	}
	v = v.Elem()
	return planOf(v.Type()).encode(dst, v, depth+1)
}

func encodePointer(elem *plan) func([]byte, reflect.Value, int) ([]byte, error) {
	return func(dst []byte, v reflect.Value, depth int) ([]byte, error) {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		if depth == MaxDepth {
			return dst, tooDeep(v)
		}
		return elem.encode(dst, v.Elem(), depth+1)
	}
}

func encodeSlice(elem *plan) func([]byte, reflect.Value, int) ([]byte, error) {
	return func(dst []byte, v reflect.Value, depth int) ([]byte, error) {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		if depth == MaxDepth {
			return dst, tooDeep(v)
		}
		dst = append(dst, '[')
		var err error
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = elem.encode(dst, v.Index(i), depth+1); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	}
}

func encodeMap(elem *plan) func([]byte, reflect.Value, int) ([]byte, error) {
	return func(dst []byte, v reflect.Value, depth int) ([]byte, error) {
		if v.IsNil() {
			return append(dst, "null"...), nil
		}
		if depth == MaxDepth {
			return dst, tooDeep(v)
		}
		type entry struct {
			key   string
			value reflect.Value
		}
		entries := make([]entry, 0, v.Len())
		for it := v.MapRange(); it.Next(); {
			entries = append(entries, entry{it.Key().String(), it.Value()})
		}
		slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
		dst = append(dst, '{')
		var err error
		for i, e := range entries {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(AppendString(dst, e.key), ':')
			if dst, err = elem.encode(dst, e.value, depth+1); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	}
}

// A field is what a struct's plan knows of one field.
type field struct {
	index               int
	key                 string // `"name":`
	omitEmpty, omitZero bool
	plan                *plan
}

func encodeStruct(fields []field) func([]byte, reflect.Value, int) ([]byte, error) {
	return func(dst []byte, v reflect.Value, depth int) ([]byte, error) {
		dst = append(dst, '{')
		first := true
		var err error
		for i := range fields {
			f := &fields[i]
			fv := v.Field(f.index)
			if f.omitZero && fv.IsZero() || f.omitEmpty && empty(fv) {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(dst, f.key...)
			if dst, err = f.plan.encode(dst, fv, depth); err != nil {
				return dst, err
			}
		}
		return append(dst, '}'), nil
	}
}

// empty is encoding/json's omitempty.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// fields plans the fields of t, or reports false if encoding/json has rules
// for them that are not worth repeating.
func (b builder) fields(t reflect.Type) ([]field, bool) {
	var fields []field
	names := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			return nil, false
		}
		tag := f.Tag.Get("json")
		if !f.IsExported() || tag == "-" {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if name == "" {
			name = f.Name
		}
		if names[name] || strings.ContainsFunc(name, oddInName) {
			return nil, false
		}
		names[name] = true
		w := field{index: i, key: string(AppendString(nil, name)) + ":"}
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "omitempty":
				w.omitEmpty = true
			case "omitzero":
				if f.Type.Implements(zeroerType) || reflect.PointerTo(f.Type).Implements(zeroerType) {
					return nil, false
				}
				w.omitZero = true
			case "string":
				return nil, false
			}
		}
		w.plan = b.plan(f.Type)
		fields = append(fields, w)
	}
	return fields, true
}

// oddInName reports a character that encoding/json may not accept in a tag.
func oddInName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-$./:", r)
}

// encodeFloat writes floats as encoding/json and ECMAScript do.
func encodeFloat(bits int) func([]byte, reflect.Value, int) ([]byte, error) {
	return func(dst []byte, v reflect.Value, _ int) ([]byte, error) {
		x := v.Float()
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return dst, fmt.Errorf("rawjson: encoding %s: %v is no JSON number", v.Type(), x)
		}
		format := byte('f')
		if a := math.Abs(x); a != 0 {
			if bits == 64 && (a < 1e-6 || a >= 1e21) || bits == 32 && (float32(a) < 1e-6 || float32(a) >= 1e21) {
				format = 'e'
			}
		}
		dst = strconv.AppendFloat(dst, x, format, -1, bits)
		if n := len(dst); format == 'e' && n >= 4 && dst[n-4] == 'e' && (dst[n-3] == '-' || dst[n-3] == '+') && dst[n-2] == '0' {
			dst[n-2] = dst[n-1] // e-09 is e-9
			dst = dst[:n-1]
		}
		return dst, nil
	}
}
