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
	e := encoder{buf: dst}
	if err := e.value(v); err != nil {
		return dst, err
	}
	return e.buf, nil
}

// BigRaw is the size from which Parts does not copy a raw member.
const BigRaw = 32 << 10

// Parts is Append for values with big raw members: the pieces that it returns
// are, one after the other, what Append(head, v) returns. A raw member of at
// least BigRaw bytes on one line is a piece of its own that shares its memory
// with v. The last piece never does; the caller may append to it.
func Parts(head []byte, v any) ([][]byte, error) {
	e := encoder{buf: head, split: true}
	if err := e.value(v); err != nil {
		return nil, err
	}
	return append(e.parts, e.buf), nil
}

// An encoder is the state of one Append or Parts.
type encoder struct {
	buf   []byte   // what is written now
	split bool     // big raw members become parts
	parts [][]byte // finished pieces, before buf
}

func (e *encoder) value(v any) error {
	if v == nil {
		e.buf = append(e.buf, "null"...)
		return nil
	}
	if raw, ok := v.(json.RawMessage); ok {
		e.raw(raw)
		return nil
	}
	r := reflect.ValueOf(v)
	return planOf(r.Type()).encode(e, r, 0)
}

// raw writes raw as one value on one line.
func (e *encoder) raw(raw []byte) {
	switch {
	case len(raw) == 0:
		e.buf = append(e.buf, "null"...)
	case broken(raw):
		e.buf = appendSingle(e.buf, raw)
	case e.split && len(raw) >= BigRaw:
		e.parts = append(e.parts, e.buf, raw)
		e.buf = nil
	default:
		e.buf = append(e.buf, raw...)
	}
}

// A plan encodes the values of one type. depth counts the pointers, slices,
// maps and interfaces that were followed.
type plan struct {
	encode encodeFunc
}

type encodeFunc func(e *encoder, v reflect.Value, depth int) error

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

func (b builder) encoder(t reflect.Type) encodeFunc {
	pt := reflect.PointerTo(t)
	switch {
	case t == numberType:
		return encodeForeign
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		if t.Implements(marshalerType) {
			return func(e *encoder, v reflect.Value, _ int) error { e.raw(v.Bytes()); return nil }
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
		return func(e *encoder, v reflect.Value, _ int) error {
			e.buf = AppendString(e.buf, v.String())
			return nil
		}
	case reflect.Bool:
		return func(e *encoder, v reflect.Value, _ int) error {
			e.buf = strconv.AppendBool(e.buf, v.Bool())
			return nil
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return func(e *encoder, v reflect.Value, _ int) error {
			e.buf = strconv.AppendInt(e.buf, v.Int(), 10)
			return nil
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return func(e *encoder, v reflect.Value, _ int) error {
			e.buf = strconv.AppendUint(e.buf, v.Uint(), 10)
			return nil
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

func encodeForeign(e *encoder, v reflect.Value, _ int) error {
	if v.CanAddr() && v.Kind() != reflect.Pointer {
		v = v.Addr() // a marshaler may have a pointer receiver
	}
	var out bytes.Buffer
	j := json.NewEncoder(&out)
	j.SetEscapeHTML(false)
	if err := j.Encode(v.Interface()); err != nil {
		return fmt.Errorf("rawjson: %w", err)
	}
	e.buf = append(e.buf, bytes.TrimSuffix(out.Bytes(), []byte{'\n'})...)
	return nil
}

func tooDeep(v reflect.Value) error {
	return fmt.Errorf("rawjson: encoding %s: nested more than %d deep", v.Type(), MaxDepth)
}

func encodeInterface(e *encoder, v reflect.Value, depth int) error {
	if v.IsNil() {
		e.buf = append(e.buf, "null"...)
		return nil
	}
	if depth == MaxDepth {
		return tooDeep(v)
	}
	v = v.Elem()
	return planOf(v.Type()).encode(e, v, depth+1)
}

func encodePointer(elem *plan) encodeFunc {
	return func(e *encoder, v reflect.Value, depth int) error {
		if v.IsNil() {
			e.buf = append(e.buf, "null"...)
			return nil
		}
		if depth == MaxDepth {
			return tooDeep(v)
		}
		return elem.encode(e, v.Elem(), depth+1)
	}
}

func encodeSlice(elem *plan) encodeFunc {
	return func(e *encoder, v reflect.Value, depth int) error {
		if v.IsNil() {
			e.buf = append(e.buf, "null"...)
			return nil
		}
		if depth == MaxDepth {
			return tooDeep(v)
		}
		e.buf = append(e.buf, '[')
		for i := range v.Len() {
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			if err := elem.encode(e, v.Index(i), depth+1); err != nil {
				return err
			}
		}
		e.buf = append(e.buf, ']')
		return nil
	}
}

func encodeMap(elem *plan) encodeFunc {
	return func(e *encoder, v reflect.Value, depth int) error {
		if v.IsNil() {
			e.buf = append(e.buf, "null"...)
			return nil
		}
		if depth == MaxDepth {
			return tooDeep(v)
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
		e.buf = append(e.buf, '{')
		for i, m := range entries {
			if i > 0 {
				e.buf = append(e.buf, ',')
			}
			e.buf = append(AppendString(e.buf, m.key), ':')
			if err := elem.encode(e, m.value, depth+1); err != nil {
				return err
			}
		}
		e.buf = append(e.buf, '}')
		return nil
	}
}

// A field is what a struct's plan knows of one field.
type field struct {
	index               int
	key                 string // `"name":`
	omitEmpty, omitZero bool
	plan                *plan
}

func encodeStruct(fields []field) encodeFunc {
	return func(e *encoder, v reflect.Value, depth int) error {
		e.buf = append(e.buf, '{')
		first := true
		for i := range fields {
			f := &fields[i]
			fv := v.Field(f.index)
			if f.omitZero && fv.IsZero() || f.omitEmpty && empty(fv) {
				continue
			}
			if !first {
				e.buf = append(e.buf, ',')
			}
			first = false
			e.buf = append(e.buf, f.key...)
			if err := f.plan.encode(e, fv, depth); err != nil {
				return err
			}
		}
		e.buf = append(e.buf, '}')
		return nil
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
func encodeFloat(bits int) encodeFunc {
	return func(e *encoder, v reflect.Value, _ int) error {
		x := v.Float()
		if math.IsInf(x, 0) || math.IsNaN(x) {
			return fmt.Errorf("rawjson: encoding %s: %v is no JSON number", v.Type(), x)
		}
		format := byte('f')
		if a := math.Abs(x); a != 0 {
			if bits == 64 && (a < 1e-6 || a >= 1e21) || bits == 32 && (float32(a) < 1e-6 || float32(a) >= 1e21) {
				format = 'e'
			}
		}
		dst := strconv.AppendFloat(e.buf, x, format, -1, bits)
		if n := len(dst); format == 'e' && n >= 4 && dst[n-4] == 'e' && (dst[n-3] == '-' || dst[n-3] == '+') && dst[n-2] == '0' {
			dst[n-2] = dst[n-1] // e-09 is e-9
			dst = dst[:n-1]
		}
		e.buf = dst
		return nil
	}
}
