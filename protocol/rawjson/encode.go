package rawjson

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strconv"
	"sync"
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
	if e.parts == nil {
		e.parts = e.only[:0]
	}
	return append(e.parts, e.buf), nil
}

// An encoder is the state of one Append or Parts.
type encoder struct {
	buf   []byte   // what is written now
	split bool     // big raw members become parts
	parts [][]byte // finished pieces, before buf
	only  [1][]byte
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
