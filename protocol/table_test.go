package protocol

import (
	"encoding/json"
	"reflect"
	"regexp"
	"testing"
)

// Every method of Sidecar has exactly one row, and rows have distinct names of
// the form noun/verb.
func TestTableIsTotal(t *testing.T) {
	rows := map[string]int{}
	names := map[string]bool{}
	form := regexp.MustCompile(`^(\$/)?[a-zA-Z]+(/[a-zA-Z]+)*$`)
	for _, m := range Methods {
		if names[m.Name] {
			t.Errorf("%s has two rows", m.Name)
		}
		names[m.Name] = true
		if !form.MatchString(m.Name) {
			t.Errorf("%s is no method name", m.Name)
		}
		if m.Served() {
			rows[m.GoName]++
		}
		if m.Params == nil {
			t.Errorf("%s has no params type", m.Name)
		}
		if m.Notification && m.Result != nil {
			t.Errorf("%s is a notification with a result", m.Name)
		}
	}
	s := reflect.TypeFor[Sidecar]()
	for i := range s.NumMethod() {
		if n := rows[s.Method(i).Name]; n != 1 {
			t.Errorf("Sidecar.%s has %d rows, want 1", s.Method(i).Name, n)
		}
	}
}

// Every wire type is in the small language that doc.go describes.
func TestWireTypesAreInTheSmallLanguage(t *testing.T) {
	seen := map[reflect.Type]bool{}
	sent := false // only ever sent by the sidecar
	var walk func(reflect.Type, string)
	walk = func(r reflect.Type, where string) {
		if seen[r] {
			return
		}
		seen[r] = true
		if s, ok := reflect.Zero(r).Interface().(interface{ Shapes() Shapes }); ok {
			for _, a := range s.Shapes().Alternatives() {
				walk(reflect.TypeOf(a), where+"|")
			}
			return
		}
		if r == reflect.TypeFor[json.RawMessage]() {
			return
		}
		switch r.Kind() {
		case reflect.String, reflect.Bool, reflect.Int64, reflect.Float64:
		case reflect.Pointer, reflect.Slice:
			walk(r.Elem(), where+"[]")
		case reflect.Map:
			if r.Key().Kind() != reflect.String {
				t.Errorf("%s: map with %s keys", where, r.Key())
			}
			walk(r.Elem(), where+"{}")
		case reflect.Struct:
			for i := range r.NumField() {
				f := r.Field(i)
				switch {
				case f.Anonymous && f.Type.Kind() == reflect.Struct && sent:
					// What is sent only may be a shape with more before it.
				case f.Anonymous || f.Tag.Get("json") == "":
					t.Errorf("%s.%s: embedded or untagged", where, f.Name)
				}
				walk(f.Type, where+"."+f.Name)
			}
		default:
			t.Errorf("%s: %s is not in the small language", where, r)
		}
	}
	for _, m := range Methods {
		sent = m.From == FromSidecar && m.Notification
		walk(m.Params, m.Name)
		if m.Result != nil {
			walk(m.Result, m.Name+" result")
		}
	}
	walk(reflect.TypeFor[ErrorData](), "error")
}

// Every kind has a row, a word of its own, and one of the documented codes.
func TestKindTable(t *testing.T) {
	codes := map[Code]bool{0: true, CodeParseError: true, CodeInvalidRequest: true, CodeMethodNotFound: true, CodeInvalidParams: true,
		CodeInternalError: true, CodeOverloaded: true, CodeCancelled: true, CodeFailed: true}
	seen := map[Kind]bool{}
	for _, r := range KindTable {
		if seen[r.Kind] || !codes[r.Code] || r.Meaning == "" {
			t.Errorf("bad row %+v", r)
		}
		seen[r.Kind] = true
	}
	if e := Errorf("nonsense", "x"); e.Code() != CodeInternalError {
		t.Errorf("an unknown kind has code %d", e.Code())
	}
}
