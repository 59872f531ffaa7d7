package rawjson

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

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
