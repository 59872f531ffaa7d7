package rawjson

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// visits lists what an object or array is taken apart into, by the functions
// for known data or by the others.
func visits(data []byte, known bool) (got []string) {
	object, array := Object, Array
	if known {
		object, array = KnownObject, KnownArray
	}
	member := func(key, value []byte) error { got = append(got, fmt.Sprintf("%s: %s", key, value)); return nil }
	element := func(i int, value []byte) error { got = append(got, fmt.Sprintf("%d: %s", i, value)); return nil }
	_ = object(data, member)
	_ = array(data, element)
	return got
}

var knownSeeds = []string{
	`{}`, `[]`, ` { } `, ` [ ] `, `{"a":1}`, `[1,-2.5e+10,true,false,null]`, `{"a":{"b":[{"c":"}]"}]},"d":"x"}`,
	`{ "a" : [ 1 , { } , "\\" ] , "b\n\u0041" : "\"" }`, `["\\\\","\\\"","a\\\\\"b"]`, `{"":"","":[[]]}`,
	"[\n{\"a\":\r1E5},\t\"\u00e9\"]", `"no container"`, `12`,
}

// Valid data is taken apart the same way.
func TestKnown(t *testing.T) {
	for _, seed := range knownSeeds {
		if diff := cmp.Diff(visits([]byte(seed), false), visits([]byte(seed), true)); diff != "" {
			t.Errorf("%s (-Object and Array, +known):\n%s", seed, diff)
		}
	}
}

// The last member of a name counts; there is none in what is no object.
func TestMember(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{`{"a":1,"b":2}`, "1"}, {`{"a":1,"A":3,"\u0061": [2] }`, "[2]"}, {`{"a":null}`, "null"}, {`{"b":{"a":1}}`, ""},
		{`{}`, ""}, {`["a"]`, ""}, {`"a"`, ""}, {``, ""},
	} {
		if got := Member([]byte(c.data), "a"); string(got) != c.want || (got == nil) != (c.want == "") {
			t.Errorf("Member(%s, a) = %s, want %s", c.data, got, c.want)
		}
	}
}

// An error of visit ends the pass.
func TestKnownStops(t *testing.T) {
	stop := errors.New("stop")
	n := 0
	if err := KnownObject([]byte(`{"a":1,"b":2}`), func(_, _ []byte) error { n++; return stop }); err != stop || n != 1 {
		t.Errorf("KnownObject = %v after %d members", err, n)
	}
	n = 0
	if err := KnownArray([]byte(`[1,2]`), func(int, []byte) error { n++; return stop }); err != stop || n != 1 {
		t.Errorf("KnownArray = %v after %d elements", err, n)
	}
}

// On valid data both ways agree, and on no data is there a panic.
func FuzzKnown(f *testing.F) {
	for _, seed := range knownSeeds {
		f.Add([]byte(seed))
	}
	for _, broken := range []string{`{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `[`, `["`, `[1`, `["\`, `{"\u":1}`, `[}]`, `[,]`, `{"a":}`} {
		f.Add([]byte(broken))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		known := visits(data, true)
		if Valid(data) != nil {
			return
		}
		if diff := cmp.Diff(visits(data, false), known); diff != "" {
			t.Errorf("%q (-Object and Array, +known):\n%s", data, diff)
		}
	})
}
