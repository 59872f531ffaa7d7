package streamable

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// The challenges of every header that is seen in the field are read by the
// SDK's parser after the repair, and keep what matters.
func TestChallenges(t *testing.T) {
	for _, c := range []struct {
		in   []string
		want string
	}{
		{[]string{`Bearer`}, "bearer map[]"},
		{[]string{`Bearer realm=""`}, "bearer map[]"},
		{[]string{`Bearer error="invalid_token", error_description=""`}, "bearer map[error:invalid_token]"},
		{[]string{`Bearer realm="a, b", resource_metadata="http://x/y?a=b"`}, "bearer map[realm:a, b resource_metadata:http://x/y?a=b]"},
		{[]string{`Bearer resource_metadata=http://x/y, scope=a`}, "bearer map[resource_metadata:http://x/y scope:a]"},
		{[]string{`Negotiate YII=, Bearer realm="x"`}, "negotiate map[] bearer map[realm:x]"},
		{[]string{`Basic realm="x"`, `bearer scope="a b"`}, "basic map[realm:x] bearer map[scope:a b]"},
		{[]string{`Basic realm="x", Bearer scope="a b",error="insufficient_scope"`}, "basic map[realm:x] bearer map[error:insufficient_scope scope:a b]"},
		{[]string{`Bearer error_description="say \"hi\" \\", scope = "a"`}, "bearer map[error_description:say hi scope:a]"},
		{[]string{`Bearer realm="open`}, "bearer map[realm:open]"},
		{[]string{`Bearer ,, scope="a",`}, "bearer map[scope:a]"},
		{[]string{``, ` , `, `"x`}, "x map[]"},
	} {
		h := http.Header{challengeHeader: c.in}
		kept := repairChallenges(h)
		cs, err := oauthex.ParseWWWAuthenticate(h.Values("WWW-Authenticate"))
		if err != nil {
			t.Errorf("%q became %q: %v", c.in, kept, err)
			continue
		}
		var got []string
		for _, c := range cs {
			p := c.Params
			if p == nil {
				p = map[string]string{}
			}
			got = append(got, c.Scheme+" "+fmt.Sprint(p))
		}
		if g := strings.Join(got, " "); g != c.want {
			t.Errorf("%q became %q\n got %s\nwant %s", c.in, kept, g, c.want)
		}
	}
}

// Whatever a server challenges with, the SDK's parser reads what is left of it.
func FuzzChallenges(f *testing.F) {
	for _, s := range []string{`Bearer realm=""`, `Negotiate YII=, Bearer a="b\"c"`, `="x",,Basic`, "Bearer a=b c=d", `Bearer x="` + "\x00\xff" + `"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h := http.Header{challengeHeader: {s}}
		kept := repairChallenges(h)
		if _, err := oauthex.ParseWWWAuthenticate(kept); err != nil {
			t.Fatalf("%q became %q: %v", s, kept, err)
		}
		again := repairChallenges(http.Header{challengeHeader: kept})
		if strings.Join(again, "\n") != strings.Join(kept, "\n") {
			t.Fatalf("%q became %q, then %q", s, kept, again)
		}
	})
}

// Params go out as they are, whatever they look like inside, with what the SDK
// put into _meta.
func FuzzParams(f *testing.F) {
	for _, s := range []string{`{}`, ` { } `, `{"_meta":{}}`, `{"_meta":null,"a":1.0}`, `{"a":{"_meta":[1]},"_meta":{ "k" : "}" } }`,
		`{"_meta":{"io.modelcontextprotocol/protocolVersion":"x"},"\u005fmeta":{"b":[{"c":"\\\""}]}}`, `{"n":12345678901234567890}`, `[1]`,
		`{"_meta":{"a":1.0,"io.modelcontextprotocol/protocolVersion" : "x" , "sdk":"ours"}}`} {
		f.Add([]byte(s))
	}
	sdk := []byte(`{"name":"t","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","sdk":1.0}}`)
	f.Fuzz(func(t *testing.T, ours []byte) {
		out, err := outgoingParams(ours, sdk)
		var before, after map[string]json.RawMessage
		if json.Unmarshal(ours, &before) != nil || before == nil {
			if err == nil && before == nil && !strings.HasPrefix(strings.TrimSpace(string(ours)), "{") {
				t.Fatalf("accepted %q", ours)
			}
			return
		}
		if err != nil {
			return // stricter than encoding/json: UTF-8
		}
		if e := json.Unmarshal(out, &after); e != nil {
			t.Fatalf("%q became %q: %v", ours, out, e)
		}
		for k, v := range before {
			if k != "_meta" && string(after[k]) != string(v) {
				t.Fatalf("%q became %q", ours, out)
			}
		}
		var was, is map[string]json.RawMessage
		_ = json.Unmarshal(before["_meta"], &was)
		if e := json.Unmarshal(after["_meta"], &is); e != nil || string(is[metaProtocolVersion]) != `"2026-07-28"` || is["sdk"] == nil {
			t.Fatalf("%q became %q", ours, out)
		}
		for k, v := range was {
			if k != metaProtocolVersion && string(is[k]) != string(v) {
				t.Fatalf("%q became %q", ours, out)
			}
		}
	})
}

// The annotations of a tool's schema are judged as the SDK's server judges them.
func TestCheckParamHeaders(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object"}`: "",
		`true`:              "",
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"properties":{"c":{"type":"integer","x-mcp-header":"B"}}}}}`:                "",
		`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`:                                                                               `property /a: x-mcp-header needs the type string, integer or boolean, not "number"`,
		`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`:                                                                                "property /a: x-mcp-header is no header name",
		`{"properties":{"a":{"type":"string","x-mcp-header":"A B"}}}`:                                                                             "property /a: x-mcp-header is no header name",
		`{"properties":{"a":{"type":"string","x-mcp-header":5}}}`:                                                                                 "property /a: x-mcp-header is no header name",
		`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"o":{"type":"object","properties":{"b":{"type":"string","x-mcp-header":"a"}}}}}`: `property /o/b: x-mcp-header "a" is used twice`,
	} {
		got := ""
		if err := CheckParamHeaders(json.RawMessage(schema)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", schema, got, want)
		}
	}
}
