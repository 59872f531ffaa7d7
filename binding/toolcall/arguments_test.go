package toolcall

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Arguments are an object, or a string that holds one; they keep their bytes
// (O172).
func TestParseArguments(t *testing.T) {
	const exact = `{"z":12345678901234567890,"id":9223372036854775807,"a":1.0,"h":"<b>&","s":"\u2028","k":{"b":1,"a":2}}`
	for in, want := range map[string]string{
		"": "", "null": "", " null ": "", `""`: "", `" \n\t "`: "",
		exact:                                    exact,
		`{}`:                                     `{}`,
		` {} `:                                   ` {} `,
		`"{}"`:                                   `{}`,
		`" {\"a\": 1.0}\n"`:                      `{"a": 1.0}`,
		`"{\n  \"a b\": [1,\n 2]\n}"`:            `{"a b":[1,2]}`,
		`"{\"s\":\"\\u2028\\n\"}"`:               `{"s":"\u2028\n"}`,
		string(rawjson.AppendString(nil, exact)): exact,
	} {
		got, err := ParseArguments(json.RawMessage(in))
		if err != nil || string(got) != want || (got == nil) != (want == "") {
			t.Errorf("ParseArguments(%s) = %s, %v, want %s", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		`[1]`:           "must be a JSON object, not an array",
		`5`:             "must be a JSON object, not a number",
		`true`:          "must be a JSON object, not a boolean",
		`"[1]"`:         "must be a JSON object, not an array",
		`"null"`:        "must be a JSON object, not null",
		`"\"x\""`:       "must be a JSON object, not a string",
		`"{\"a\":"`:     "not valid JSON: unexpected end at byte 5",
		`"{'a':1}"`:     "not valid JSON: no key in quotes at byte 1",
		`"{} {}"`:       "not valid JSON: more after the value",
		`"NaN"`:         "not valid JSON",
		`{"a":hunter2}`: "not valid JSON",
		`nul`:           "not valid JSON",
		`"\ud8"`:        "not valid JSON",
	} {
		got, err := ParseArguments(json.RawMessage(in))
		if err == nil || got != nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("ParseArguments(%s) = %s, %v, want %q", in, got, err, want)
		}
	}
}

func FuzzParseArguments(f *testing.F) {
	for _, s := range []string{``, `null`, `{"a":1.0}`, `"{\"a\":\n1}"`, `"  "`, `[]`, `"\u007b}"`, "{\n}", `{"a":"\ud800"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := ParseArguments(raw)
		if err != nil || got == nil {
			if got != nil {
				t.Fatalf("%q: both %s and %v", raw, got, err)
			}
			return
		}
		if rawjson.Valid(got) != nil || rawjson.Kind(got) != '{' || strings.ContainsAny(string(got), "\r\n") {
			t.Fatalf("%q became %q", raw, got)
		}
		if rawjson.Kind(raw) == '{' && string(got) != string(rawjson.SingleLine(raw)) {
			t.Fatalf("%q became %q", raw, got)
		}
		if again, err := ParseArguments(got); err != nil || string(again) != string(got) {
			t.Fatalf("%q is not at rest: %q, %v", got, again, err)
		}
	})
}

// The params of tools/call have the bytes of the arguments, the caller's own
// _meta, and the sidecar's keys, which a caller can't set.
func TestParams(t *testing.T) {
	for name, c := range map[string]struct {
		in   Request
		want string
	}{
		"plain": {Request{Tool: "a\"b", ThreadID: "t", CallID: "c"}, `{"_meta":{"callId":"c","threadId":"t"},"name":"a\"b","arguments":{}}`},
		"all": {Request{Tool: "x", Arguments: json.RawMessage(`{"z":12345678901234567890, "a":1.0}`), ThreadID: "t", CallID: "c", TurnID: "u", ProgressToken: "p",
			SandboxState: json.RawMessage(`{"s":1}`), Meta: json.RawMessage(`{"traceparent":"00-ab","n":1.0,"tracestate":"k=v"}`)},
			`{"_meta":{"traceparent":"00-ab","n":1.0,"tracestate":"k=v","callId":"c","threadId":"t","turnId":"u","progressToken":"p","codex/sandbox-state-meta":{"s":1}},"name":"x","arguments":{"z":12345678901234567890, "a":1.0}}`},
		"forged": {Request{Tool: "x", ThreadID: "t", CallID: "c", Meta: json.RawMessage(`{"callId":"z","ThreadID":"z","turn\u0049d":"z","progressToken":1,"codex/sandbox-state-meta":{},"ok":1}`)},
			`{"_meta":{"ok":1,"callId":"c","threadId":"t"},"name":"x","arguments":{}}`},
		"meta is a list":  {Request{Tool: "x", Meta: json.RawMessage(`[1]`)}, `{"_meta":{"callId":"","threadId":""},"name":"x","arguments":{}}`},
		"meta is broken":  {Request{Tool: "x", Meta: json.RawMessage(`{"a":1,`)}, `{"_meta":{"callId":"","threadId":""},"name":"x","arguments":{}}`},
		"meta over lines": {Request{Tool: "x", Meta: json.RawMessage("{\n \"a\" : 1\n}")}, `{"_meta":{"a":1,"callId":"","threadId":""},"name":"x","arguments":{}}`},
		"empty arguments": {Request{Tool: "x", Arguments: json.RawMessage(`{}`)}, `{"_meta":{"callId":"","threadId":""},"name":"x","arguments":{}}`},
	} {
		if got := string(Params(c.in)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", name, got, c.want)
		}
	}
}
