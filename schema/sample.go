package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A sampler makes values of wire types that could really be sent. The bytes of
// a sample are those that encoding/json gives for the Go value, so a sample
// shows what the wire shows.
type sampler struct {
	// want says whether an optional member is there, whether a nullable one is
	// more than null, and whether a list or map has an element. It is asked
	// with the member's path from the root type, and as Type.member.
	want func(path, member string) bool
	// pick chooses one of n possibilities: a word, a shape, true or false.
	pick func(n int) int
}

// sample returns the JSON of a value of t.
func (s sampler) sample(t reflect.Type) ([]byte, error) {
	v, err := s.value(t, typeName(t), typeName(t))
	if err != nil {
		return nil, err
	}
	return marshal(v)
}

// marshal is json.Marshal but for < > &, which the wire does not escape.
func marshal(v reflect.Value) ([]byte, error) {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v.Interface()); err != nil {
		return nil, fmt.Errorf("schema: encoding a sample of %s: %w", v.Type(), err)
	}
	return []byte(strings.TrimSuffix(out.String(), "\n")), nil
}

func typeName(t reflect.Type) string {
	if shapes, ok := shapesOf(t); ok {
		return shapes.TypeName()
	}
	return t.Name()
}

// value makes a value of t for the member at path.
func (s sampler) value(t reflect.Type, path, member string) (reflect.Value, error) {
	v := reflect.New(t).Elem()
	if shapes, ok := shapesOf(t); ok {
		alternatives := shapes.Alternatives()
		i := s.pick(len(alternatives))
		if i == 0 && plausible(v, path, member, typeName(t)) {
			return v, nil
		}
		a, err := s.value(reflect.TypeOf(alternatives[i]), path+" shape", typeName(t)+" shape")
		if err != nil {
			return v, err
		}
		text, err := marshal(a)
		v.SetBytes(text)
		return v, err
	}
	if words := wordsOf(t); words != nil {
		if i := s.pick(len(words)); i > 0 || !plausible(v, path, member, typeName(t)) {
			v.SetString(words[i])
		}
		return v, nil
	}
	if plausible(v, path, member, typeName(t), member[strings.LastIndexByte(member, '.')+1:]) {
		return v, nil
	}
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`{}`))
	case t.Kind() == reflect.Struct:
		return v, s.fill(v, path)
	case t.Kind() == reflect.String:
		v.SetString("text")
	case t.Kind() == reflect.Bool:
		v.SetBool(s.pick(2) == 0)
	case t.Kind() == reflect.Int64:
		v.SetInt(1)
	case t.Kind() == reflect.Float64:
		v.SetFloat(0.5)
	case t.Kind() == reflect.Pointer:
		e, err := s.value(t.Elem(), path, member)
		if err != nil {
			return v, err
		}
		v.Set(reflect.New(t.Elem()))
		v.Elem().Set(e)
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		return v, s.collect(v, path, member)
	default:
		return v, fmt.Errorf("schema: making a sample of %s: %s is not in the small language of package protocol", path, t)
	}
	return v, nil
}

// fill fills the members of a struct. A member that selects others by a
// condition stands before them.
func (s sampler) fill(v reflect.Value, path string) error {
	t := v.Type()
	var brought []string
	for _, m := range membersOf(t) {
		name, options, _ := strings.Cut(m.Tag.Get("json"), ",")
		p, member := path+"."+name, m.owner+"."+name
		optional, pointer := options != "", m.Type.Kind() == reflect.Pointer
		if (optional || pointer) && !slices.Contains(brought, name) && !s.want(p, member) {
			continue
		}
		if pointer && !optional && s.pick(2) == 1 {
			continue // null
		}
		f, err := s.value(m.Type, p, member)
		if err != nil {
			return err
		}
		v.FieldByIndex(m.Index).Set(f)
		for _, c := range conditions[m.owner] {
			if c.Field == name && c.Word == f.String() {
				brought = append(brought, c.Requires...)
			}
		}
	}
	return nil
}

// collect makes a list or map of one element, or of none.
func (s sampler) collect(v reflect.Value, path, member string) error {
	t := v.Type()
	if t.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(t, 0, 1))
	} else {
		v.Set(reflect.MakeMap(t))
	}
	if !s.want(path, member) {
		return nil
	}
	e, err := s.value(t.Elem(), path+"[]", member+"[]")
	if err != nil {
		return err
	}
	if t.Kind() == reflect.Slice {
		v.Set(reflect.Append(v, e))
		return nil
	}
	key := reflect.New(t.Key()).Elem()
	if !plausible(key, member+" key") {
		key.SetString("name")
	}
	v.SetMapIndex(key, e)
	return nil
}

// plausible sets v to the first value that plausibleValues has under one of
// names.
func plausible(v reflect.Value, names ...string) bool {
	for _, n := range names {
		text, ok := plausibleValues[n]
		if !ok {
			continue
		}
		if err := json.Unmarshal([]byte(text), v.Addr().Interface()); err != nil {
			panic(fmt.Sprintf("schema: plausibleValues[%q] does not fit %s: %v", n, v.Type(), err)) // a bug in the table
		}
		return true
	}
	return false
}

// example is the sampler of the reference page: small, but with the members
// that show the use.
var example = sampler{
	want: func(path, member string) bool { return exampleMembers[path] || exampleMembers[member] },
	pick: func(int) int { return 0 },
}
