package upstream

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// withMeta adds members to _meta, which comes first then, and leaves every
// other byte alone.
func TestWithMeta(t *testing.T) {
	const add = `"k":1`
	for in, want := range map[string]string{
		``:                             `{"_meta":{"k":1}}`,
		`{}`:                           `{"_meta":{"k":1}}`,
		`{"_meta":{}}`:                 `{"_meta":{"k":1}}`,
		`{"_meta":{"a":2.0},"b":"<"}`:  `{"_meta":{"k":1,"a":2.0},"b":"<"}`,
		`{"b":1.0,"_meta":{"a":2}}`:    `{"_meta":{"k":1,"a":2},"b":1.0}`,
		`{"b":12345678901234567890 }`:  `{"_meta":{"k":1},"b":12345678901234567890}`,
		`{"b":1,"_meta":null}`:         `{"_meta":{"k":1},"b":1}`,
		`{ "_meta" : { "a" : 2 } }`:    `{"_meta":{"k":1, "a" : 2 }}`,
		`{"a\"b":{"_meta":{"x":1}}}`:   `{"_meta":{"k":1},"a\"b":{"_meta":{"x":1}}}`,
		`{"_meta":{"a":2},"b":[1, 2]}`: `{"_meta":{"k":1,"a":2},"b":[1, 2]}`,
	} {
		got, err := withMeta(json.RawMessage(in), []byte(add))
		if err != nil || string(got) != want {
			t.Errorf("withMeta(%s) = %s, %v; want %s", in, got, err, want)
		}
		if err := rawjson.Valid(got); err != nil {
			t.Errorf("withMeta(%s) is not JSON: %v", in, err)
		}
	}
	if _, err := withMeta(json.RawMessage(`[1]`), []byte(add)); err == nil {
		t.Error("params that are no object are taken")
	}
	if got, _ := withMeta(json.RawMessage(`{"b":1}`), nil); string(got) != `{"b":1}` {
		t.Errorf("without members the params change: %s", got)
	}
}

// withMembers sends answers and state back, each only when it is there.
func TestWithMembers(t *testing.T) {
	for _, tc := range []struct{ params, responses, state, want string }{
		{`{"name":"t"}`, `{"q":{}}`, `"s"`, `{"inputResponses":{"q":{}},"requestState":"s","name":"t"}`},
		{`{"name":"t"}`, ``, `"s"`, `{"requestState":"s","name":"t"}`},
		{`{"name":"t"}`, `{}`, ``, `{"inputResponses":{},"name":"t"}`},
		{`{}`, `{}`, ``, `{"inputResponses":{}}`},
		{`{"name":"t"}`, ``, ``, `{"name":"t"}`},
	} {
		var responses, state json.RawMessage
		if tc.responses != "" {
			responses = json.RawMessage(tc.responses)
		}
		if tc.state != "" {
			state = json.RawMessage(tc.state)
		}
		if got := string(withMembers(json.RawMessage(tc.params), responses, state)); got != tc.want {
			t.Errorf("got %s, want %s", got, tc.want)
		}
	}
}

// A result is complete unless it says otherwise; what it says otherwise must be
// known.
func TestParseRound(t *testing.T) {
	for in, complete := range map[string]bool{
		`{"content":[]}`:                          true,
		`{"resultType":"complete","content":[]}`:  true,
		`{"resultType":"input_required"}`:         false,
		`{"content":[],"x":{"resultType":"odd"}}`: true,
	} {
		r, err := parseRound(json.RawMessage(in))
		if err != nil || (r == nil) != complete {
			t.Errorf("parseRound(%s) = %v, %v", in, r, err)
		}
	}
	for _, in := range []string{`{"resultType":"task"}`, `{"resultType":7}`, `{"resultType":null}`, `[]`, `{"resultType":"input_required","inputRequests":[]}`} {
		if r, err := parseRound(json.RawMessage(in)); err == nil {
			t.Errorf("parseRound(%s) = %v, want an error", in, r)
		}
	}
	r, err := parseRound(json.RawMessage(`{"resultType":"input_required","requestState":"a b","inputRequests":{"z":{"method":"m","params":{"n":1.0}},"a":{"method":"k"}}}`))
	if err != nil || len(r.requests) != 2 || r.requests[0].key != "z" || string(r.requests[0].params) != `{"n":1.0}` || string(r.state) != `"a b"` {
		t.Errorf("got %+v, %v", r, err)
	}
}

// A server's text stays on one line and short, whatever it holds.
func TestOneLine(t *testing.T) {
	got := oneLine("a\nb\x1b[31m\x00c" + strings.Repeat("ä", 1000))
	if strings.ContainsAny(got, "\n\x1b\x00") || len(got) > 1010 || !strings.HasPrefix(got, "a b[31mc") {
		t.Errorf("got %q", got)
	}
}
