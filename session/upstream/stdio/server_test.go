package stdio

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Notifications are told in the order of the wire, and those handled stay away
// from the SDK.
func TestOnNotification(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var told []string
		c, p := newPair(t, Options{OnNotification: func(method string, params json.RawMessage) bool {
			told = append(told, method+" "+string(params))
			return method == "notifications/progress"
		}})
		p.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1.0}}
{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}
{"jsonrpc":"2.0","method":"notifications/progress"}
{"jsonrpc":"2.0","id":null,"method":"notifications/last","params":null}
`)
		for _, want := range []struct{ method, params string }{{"notifications/message", `{"data":"x"}`}, {"notifications/last", ""}} {
			msg, err := c.Read(t.Context())
			request, ok := msg.(*jsonrpc.Request)
			if err != nil || !ok || request.Method != want.method || string(request.Params) != want.params || request.IsCall() {
				t.Errorf("Read = %+v, %v; want %v", msg, err, want)
			}
		}
		want := []string{`notifications/progress {"progress":1.0}`, `notifications/message {"data":"x"}`, "notifications/progress ", "notifications/last "}
		if !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}

// A request of the server carries the token to the SDK, and the SDK's answer
// the server's own id, whatever number that is.
func TestServerRequest(t *testing.T) {
	for _, id := range []string{`7`, `-7`, `0`, `"abc"`, `"a\nb\"c"`, `""`, `9007199254740993`, `-12345678901234567890`, `1.5`, `7.0`, `1e3`} {
		t.Run(id, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var told string
				c, p := newPair(t, Options{OnServerRequest: func(method string, params json.RawMessage) string {
					told = method + " " + string(params)
					return "call-1"
				}})
				p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"n":9007199254740993}}`+"\n", id))
				msg, err := c.Read(t.Context())
				request, ok := msg.(*jsonrpc.Request)
				if err != nil || !ok || !request.IsCall() {
					t.Fatalf("Read = %+v, %v", msg, err)
				}
				if want := `elicitation/create {"n":9007199254740993}`; told != want {
					t.Errorf("told %s, want %s", told, want)
				}
				if want := `{"n":9007199254740993,"_meta":{"io.mcp-sidecar/origin":"call-1"}}`; string(request.Params) != want {
					t.Errorf("params = %s, want %s", request.Params, want)
				}
				go c.Write(t.Context(), &jsonrpc.Response{ID: request.ID, Result: json.RawMessage(`{"id":"mcp-sidecar/id/1"}`)})
				m := p.recv()
				if string(m.ID) != id || string(m.Result) != `{"id":"mcp-sidecar/id/1"}` {
					t.Errorf("the answer has the id %s and %s, want %s", m.ID, m.Result, id)
				}
				if len(c.foreign.raw) != 0 {
					t.Errorf("%d ids are kept", len(c.foreign.raw))
				}
			})
		})
	}
}

func TestMarkOrigin(t *testing.T) {
	for _, test := range []struct{ params, token, want string }{
		{``, ``, ``},
		{`null`, ``, `null`},
		{`[1]`, `t`, `[1]`},
		{``, `t`, `{"_meta":{"io.mcp-sidecar/origin":"t"}}`},
		{`null`, `t`, `{"_meta":{"io.mcp-sidecar/origin":"t"}}`},
		{`{}`, `t`, `{"_meta":{"io.mcp-sidecar/origin":"t"}}`},
		{`{"a":1.0}`, ``, `{"a":1.0}`},
		{`{"a":1.0, "b" : [ 1 ]}`, `t"`, `{"a":1.0,"b":[ 1 ],"_meta":{"io.mcp-sidecar/origin":"t\""}}`},
		{`{"_meta":{"x":1},"a":2}`, `t`, `{"a":2,"_meta":{"x":1,"io.mcp-sidecar/origin":"t"}}`},
		{`{"_meta":null,"a":2}`, `t`, `{"a":2,"_meta":{"io.mcp-sidecar/origin":"t"}}`},
		// A server cannot say where its question comes from.
		{`{"_meta":{"io.mcp-sidecar/origin":"spoof","x":1}}`, ``, `{"_meta":{"x":1}}`},
		{`{"_meta":{"io.mcp-sidecar\/origin":"spoof"}}`, `t`, `{"_meta":{"io.mcp-sidecar/origin":"t"}}`},
		{`{"\u005fmeta":{"io.mcp-sidecar/\u006frigin":"spoof"}}`, ``, `{"_meta":{}}`},
		{`{"_meta":{"io.mcp-sidecar/origin":"a"},"_meta":{"io.mcp-sidecar/origin":"b"}}`, `t`, `{"_meta":{"io.mcp-sidecar/origin":"t"}}`},
	} {
		if got := string(markOrigin([]byte(test.params), test.token)); got != test.want {
			t.Errorf("markOrigin(%s, %q) = %s, want %s", test.params, test.token, got, test.want)
		}
	}
}

// Whatever the params are, they stay the same but for the token.
func FuzzMarkOrigin(f *testing.F) {
	f.Add([]byte(`{"_meta":{"x":[1],"io.mcp-sidecar/origin":2},"a":{"_meta":{}}}`), "t")
	f.Add([]byte(`{"a":"\\","_meta":7}`), "")
	f.Add([]byte(` {"\u005fmeta" : {}} `), "\"\\\n")
	f.Add([]byte(`{"":{},"_meta":{"":null}}`), "é")
	f.Fuzz(func(t *testing.T, params []byte, token string) {
		if rawjson.Valid(params) != nil || rawjson.Kind(params) != '{' {
			return
		}
		var before, after map[string]any
		if json.Unmarshal(params, &before) != nil {
			return // deeper than encoding/json goes, or a number beyond float64
		}
		got := markOrigin(params, token)
		if err := json.Unmarshal(got, &after); err != nil {
			t.Fatalf("markOrigin(%s) = %s: %v", params, got, err)
		}
		meta, _ := after["_meta"].(map[string]any)
		switch origin, marked := meta[OriginKey]; {
		case token == "" && marked:
			t.Fatalf("markOrigin(%s, \"\") = %s", params, got)
		case utf8.ValidString(token) && token != "" && origin != token:
			t.Fatalf("markOrigin(%s, %q) = %s", params, token, got)
		}
		clean := func(params map[string]any) map[string]any {
			if meta, ok := params["_meta"].(map[string]any); ok {
				delete(meta, OriginKey)
				if len(meta) > 0 {
					return params
				}
			}
			delete(params, "_meta")
			return params
		}
		if diff := cmp.Diff(clean(before), clean(after)); diff != "" {
			t.Fatalf("markOrigin(%s) = %s changes more:\n%s", params, got, diff)
		}
	})
}

// Whatever bytes a server writes, nothing panics, and the valid message on the
// next line is seen.
func FuzzRead(f *testing.F) {
	f.Add([]byte("noise"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1073741824,"result":{"a":1}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1073741824,"error":{"code":1,"message":"x","data":[]}}`))
	f.Add([]byte("\ufeff" + `[{"jsonrpc":"2.0","method":"x"},{"id":1,"method":"y","params":{"_meta":{}}}]`))
	f.Add([]byte(`{"result":"` + strings.Repeat("x", 2000) + `","id":1073741824}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1073741824,"result":NaN}` + "\r\n\n{}\n[]\n\xff"))
	f.Add([]byte(strings.Repeat("y", 3*chunkSize)))
	f.Fuzz(func(t *testing.T, data []byte) {
		synctest.Test(t, func(t *testing.T) {
			seen := false
			c, p := newPair(t, Options{
				MaxLine: 1000,
				OnNoise: func(n Noise) {
					if len(n.Head) > 3*noiseBytes || n.Reason == "" {
						t.Errorf("noise = %+v", n)
					}
				},
				OnNotification: func(method string, params json.RawMessage) bool {
					seen = seen || method == "sentinel" && string(params) == `{"n":1.0}`
					return method == "sentinel"
				},
				OnServerRequest: func(string, json.RawMessage) string { return "token" },
			})
			go func() { // the SDK
				for {
					if _, err := c.Read(t.Context()); err != nil {
						return
					}
				}
			}()
			begin(t.Context(), c, "x", "")
			p.recv()
			p.send(string(data) + "\n" + `{"jsonrpc":"2.0","method":"sentinel","params":{"n":1.0}}` + "\n")
			synctest.Wait()
			if !seen {
				t.Error("the message after the bytes was lost")
			}
			if c.Err() != nil {
				t.Errorf("the connection ended: %v", c.Err())
			}
		})
	})
}
