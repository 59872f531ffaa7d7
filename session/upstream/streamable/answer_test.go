package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// writer answers with a status, a content type and a body in which $ID is the
// request's id.
func writer(status int, contentType, body string) func(http.ResponseWriter, *http.Request, seen) {
	return func(w http.ResponseWriter, _ *http.Request, s seen) {
		w.Header()["Content-Type"] = nil
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.ReplaceAll(body, "$ID", s.id))
	}
}

// Whatever a server answers to a call costs that call at most.
func TestAnyAnswerCostsOneCall(t *testing.T) {
	const ok = `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`
	deep := strings.Repeat("[", 3000) + strings.Repeat("]", 3000)
	for _, c := range []struct {
		name, contentType string
		status            int
		body              string
		want              string // the result, or a part of the error
	}{
		{"plain", "application/json", 200, ok, `{"content":[]}`},
		{"charset", "Application/JSON; Charset=UTF-8", 200, ok, `{"content":[]}`},
		{"malformed parameters", "application/json;;=", 200, ok, `{"content":[]}`},
		{"stream in odd case", "Text/Event-Stream; charset=utf-8", 200, "data: " + ok + "\n\n", `{"content":[]}`},
		{"no content type", "", 200, ok, `{"content":[]}`},
		{"text/plain with a response", "text/plain", 200, ok, `{"content":[]}`},
		{"byte order mark", "application/json", 200, "\ufeff" + ok, `{"content":[]}`},
		{"byte order mark in a stream", "text/event-stream", 200, "\ufeffdata: " + ok + "\n\n", `{"content":[]}`},
		{"other success", "application/json", 201, ok, `{"content":[]}`},
		{"array", "application/json", 200, "[" + ok + "]", `{"content":[]}`},
		{"array with a notification", "application/json", 200, `[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}},` + ok + "]", `{"content":[]}`},
		{"no version", "application/json", 200, `{"id":$ID,"result":{"content":[]}}`, `{"content":[]}`},
		{"id as string", "application/json", 200, `{"jsonrpc":"2.0","id":"$ID","result":{"content":[]}}`, `{"content":[]}`},
		{"id as fraction", "application/json", 200, `{"jsonrpc":"2.0","id":$ID.0,"result":{"content":[]}}`, `{"content":[]}`},
		{"id as string in a stream", "text/event-stream", 200, `data: {"jsonrpc":"2.0","id":"$ID","result":{"content":[]}}` + "\n\n", `{"content":[]}`},
		{"no id", "application/json", 200, `{"jsonrpc":"2.0","result":{"content":[]}}`, `{"content":[]}`},
		{"error null beside the result", "application/json", 200, `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]},"error":null}`, `{"content":[]}`},
		{"no content", "application/json", 200, `{"jsonrpc":"2.0","id":$ID,"result":{"structuredContent":{"answer":42}}}`, `{"structuredContent":{"answer":42}}`},
		{"unknown result type", "application/json", 200, `{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"task","taskId":"1"}}`, `{"resultType":"task","taskId":"1"}`},
		{"input required", "text/event-stream", 200, `data: {"jsonrpc":"2.0","id":$ID,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"odd"}},"requestState":"S"}}` + "\n\n", `{"resultType":"input_required","inputRequests":{"a":{"method":"odd"}},"requestState":"S"}`},
		{"no object", "application/json", 200, `{"jsonrpc":"2.0","id":$ID,"result":[1.0]}`, `[1.0]`},
		{"deep", "application/json", 200, `{"jsonrpc":"2.0","id":$ID,"result":` + deep + `}`, deep},
		{"Latin-1", "application/json", 200, `{"jsonrpc":"2.0","id":$ID,"result":{"t":"` + "\xe9" + `"}}`, `{"t":"` + "\uFFFD" + `"}`},
		{"line without colon", "text/event-stream", 200, "hello\n\ndata\n\ndata: " + ok + "\n\n", `{"content":[]}`},
		{"bad events first", "text/event-stream", 200, "data: {\"jso\n\ndata: null\n\ndata:\n\ndata: {}\n\ndata: [1]\n\nevent: ping\ndata: x\n\ndata: " + ok + "\n\n", `{"content":[]}`},
		{"an event of another kind first", "text/event-stream", 200, `event: x` + "\n" + `data: {"jsonrpc":"2.0","id":$ID,"result":{"wrong":1}}` + "\n\nevent: message\ndata: " + ok + "\n\n", `{"content":[]}`},
		{"another response first", "text/event-stream", 200, `data: {"jsonrpc":"2.0","id":9999,"result":{}}` + "\n\ndata: " + ok + "\n\n", `{"content":[]}`},
		{"no last empty line", "text/event-stream", 200, "data: " + ok, `{"content":[]}`},
		{"carriage returns", "text/event-stream", 200, ": hi\r\rid: 1\rdata: " + ok + "\r\r", `{"content":[]}`},

		{"HTML", "text/html", 200, "<html><body>Hi", `HTTP 200: content type "text/html" is no JSON-RPC answer`},
		{"accepted", "", 202, "", "HTTP 202: an answer without a body"},
		{"no body", "application/json", 200, "", "HTTP 200: an answer without a body"},
		{"broken JSON", "application/json", 200, `{"jsonrpc":"2.0","id":$ID,"res`, "no JSON-RPC answer"},
		{"empty array", "application/json", 200, `[]`, "no JSON-RPC answer"},
		{"other id", "application/json", 200, `{"jsonrpc":"2.0","id":12345,"result":{}}`, "no JSON-RPC answer"},
		{"a request in place of a response", "application/json", 200, `{"jsonrpc":"2.0","id":$ID,"method":"ping"}`, "no JSON-RPC answer"},
		{"stream without a response", "text/event-stream", 200, "data: {}\n\n", "the stream ended without the response (unreadable events: 1)"},
		{"cut off", "text/event-stream", 200, `data: {"jsonrpc":"2.0","id":$ID,"resu`, "the stream ended without the response"},
		{"error", "application/json", 200, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"bad <x>","data":{"n":1.0}}}`, "bad <x>"},
		{"error without id", "application/json", 200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}`, "parse"},
		{"error as string", "application/json", 200, `{"error":"went wrong"}`, "went wrong"},
		{"error with odd members", "text/event-stream", 200, `data: {"id":$ID,"error":{"code":"-5","message":{"a":1}}}` + "\n\n", `{"a":1}`},
		{"deep error", "application/json", 200, `{"jsonrpc":"2.0","id":$ID,"error":{"code":1,"message":"deep","data":` + deep + `}}`, "deep"},
		{"400 with error", "application/json", 400, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"bad"}}`, "bad"},
		{"400 with text", "text/plain", 400, "no\n\x1b[31mway", "HTTP 400 Bad Request: no [31mway"},
		{"401", "text/plain", 401, "log in", "HTTP 401 Unauthorized: log in"},
		{"403", "", 403, "", "HTTP 403 Forbidden"},
		{"404 without session", "text/plain", 404, "not here", "HTTP 404 Not Found: not here"},
		{"500 with HTML", "text/html", 500, "<html>", "HTTP 500 Internal Server Error"},
		{"500 with error", "application/json", 500, `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32603,"message":"oh"}}`, "oh"},
		{"503 with error", "application/json", 503, `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"busy"}}`, "HTTP 503 Service Unavailable: busy"},
		{"418", "", 418, "", "HTTP 418 I'm a teapot"},
	} {
		for _, era := range []string{era25, era26} {
			t.Run(c.name+"/"+era, func(t *testing.T) {
				f := &fake{t: t, era: era}
				f.handle("tools/call", writer(c.status, c.contentType, c.body))
				s := connect(t, f, Options{}, era, nil)
				x := &Exchange{}
				raw, err := callTool(t, s, `{"name":"t"}`, x)
				if strings.HasPrefix(c.want, "{") && c.want[1] != '"' || strings.HasPrefix(c.want, "[") || strings.HasPrefix(c.want, `{"`) && c.name != "error with odd members" {
					if err != nil || string(raw) != c.want {
						t.Errorf("got %.200s, %v\nwant %.200s", raw, err, c.want)
					}
				} else if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %.200s, error %v\nwant error %q", raw, err, c.want)
				}
				if x.Status != c.status || x.SessionLost {
					t.Errorf("status %d, session lost %v; want %d, false", x.Status, x.SessionLost, c.status)
				}
				alive(t, s)
			})
		}
	}
}

// The data of a JSON-RPC error come back as they were sent.
func TestErrorData(t *testing.T) {
	f := &fake{t: t, era: era26}
	f.handle("tools/call", writer(400, "application/json", `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32042,"message":"m","data":{"z":12345678901234567890, "a":1.0}}}`))
	s := connect(t, f, Options{}, era26, nil)
	x := &Exchange{}
	_, err := callTool(t, s, `{"name":"t"}`, x)
	var e *jsonrpc.Error
	if !errors.As(err, &e) || e.Code != -32042 || string(e.Data) != `{"z":12345678901234567890, "a":1.0}` {
		t.Errorf("got %#v", err)
	}
	if x.Status != 400 || x.Err != nil || string(x.Error) != `{"code":-32042,"message":"m","data":{"z":12345678901234567890, "a":1.0}}` {
		t.Errorf("exchange %+v", x)
	}
}

// A lost session is told in all the shapes that servers give it, once.
func TestSessionLost(t *testing.T) {
	for _, c := range []struct {
		name        string
		status      int
		contentType string
		body        string
	}{
		{"404", 404, "", ""},
		{"404 text", 404, "text/plain", "Session not found"},
		{"404 HTML", 404, "text/html", "<html>"},
		{"404 error without id", 404, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`},
		{"404 error with string id", 404, "application/json", `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Session not found"}}`},
		{"404 error with our id", 404, "application/json", `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32600,"message":"gone"}}`},
		{"410", 410, "", ""},
		{"400 error", 400, "application/json", `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`},
		{"400 text", 400, "text/plain", "Invalid session"},
		{"200 error without id", 200, "application/json", `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`},
		{"200 event", 200, "text/event-stream", "event: message\ndata: {\"error\":\"Session not found\"}\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fake{t: t, era: era25, session: "s1"}
			f.handle("tools/call", writer(c.status, c.contentType, c.body))
			lost := 0
			s := connect(t, f, Options{OnSessionLost: func(context.Context) { lost++ }}, era25, nil)
			for range 2 {
				x := &Exchange{}
				_, err := callTool(t, s, `{"name":"t"}`, x)
				if !errors.Is(err, ErrSessionLost) || !x.SessionLost {
					t.Errorf("got %v, session lost %v", err, x.SessionLost)
				}
			}
			if lost != 1 {
				t.Errorf("OnSessionLost was called %d times, want once", lost)
			}
			alive(t, s) // this fake answers other methods; the SDK's session must not be dead
			_ = s.Close()
			if n := len(f.got("DELETE")); n != 0 {
				t.Errorf("a lost session was deleted")
			}
		})
	}
}

// An error that knows its request is not about the session.
func TestSessionKept(t *testing.T) {
	f := &fake{t: t, era: era25, session: "s1"}
	f.handle("tools/call", writer(400, "application/json", `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"no browser session, call open first"}}`))
	s := connect(t, f, Options{}, era25, nil)
	x := &Exchange{}
	_, err := callTool(t, s, `{"name":"t"}`, x)
	var e *jsonrpc.Error
	if !errors.As(err, &e) || e.Code != -32602 || x.SessionLost {
		t.Errorf("got %v, session lost %v", err, x.SessionLost)
	}
	_ = s.Close()
	if n := len(f.got("DELETE")); n != 1 {
		t.Errorf("the session was deleted %d times, want once", n)
	}
}

// Retry-After is read as seconds or as a date; junk is nothing.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			value string
			want  time.Duration
		}{
			{"2", 2 * time.Second}, {" 3600 ", time.Hour}, {"0", 0}, {"-1", 0}, {"soon", 0}, {"", 0}, {"1.5", 0},
			{time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat), 90 * time.Second},
			{time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat), 0},
			{"999999999", maxRetryAfter},
		} {
			f := &fake{t: t, era: era25}
			f.handle("tools/call", func(w http.ResponseWriter, _ *http.Request, _ seen) {
				w.Header().Set("Retry-After", c.value)
				w.WriteHeader(429)
			})
			s := connect(t, f, Options{}, era25, nil)
			x := &Exchange{}
			_, err := callTool(t, s, `{"name":"t"}`, x)
			var e *StatusError
			if !errors.As(err, &e) || e.RetryAfter != c.want || x.RetryAfter != c.want {
				t.Errorf("%q: got %v and %v, want %v", c.value, err, x.RetryAfter, c.want)
			}
			_ = s.Close()
		}
	})
}

// What is over the limit fails its call and nothing else, announced or not.
func TestTooLarge(t *testing.T) {
	const limit = 1000
	big := `{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"pad":"` + strings.Repeat("x", limit) + `"}}`
	for name, h := range map[string]func(http.ResponseWriter, *http.Request, seen){
		"json":  writer(200, "application/json", big),
		"event": writer(200, "text/event-stream", "data: "+big+"\n\n"),
		"announced": func(w http.ResponseWriter, _ *http.Request, s seen) {
			w.Header().Set("Content-Type", "application/json")
			b := strings.ReplaceAll(big, "$ID", s.id)
			w.Header().Set("Content-Length", fmt.Sprint(len(b)))
			_, _ = io.WriteString(w, b)
		},
		"many data lines": writer(200, "text/event-stream", strings.Repeat("data:        \n", limit)+"\n"),
		"event without end": func(w http.ResponseWriter, r *http.Request, _ seen) {
			emit(w, "data: "+strings.Repeat("x", 2*limit))
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{t: t, era: era25}
			f.handle("tools/call", h)
			s := connectServer(t, f, Options{MaxBody: limit}, era25, nil)
			_, err := callTool(t, s, `{"name":"t"}`, nil)
			var e *ResultTooLargeError
			if !errors.As(err, &e) || e.Limit != limit {
				t.Errorf("got %v", err)
			}
			f.handle("tools/call", writer(200, "application/json", `{"id":$ID,"result":{"pad":"`+strings.Repeat("x", limit/2)+`"}}`))
			if _, err := callTool(t, s, `{"name":"t"}`, nil); err != nil {
				t.Errorf("a result under the limit: %v", err)
			}
		})
	}
}

// A notification that the server answers oddly changes nothing.
func TestAnswersToNotifications(t *testing.T) {
	for name, h := range map[string]func(http.ResponseWriter, *http.Request, seen){
		"empty object":     writer(200, "application/json", `{}`),
		"no content":       writer(204, "", ""),
		"response":         writer(200, "application/json", `{"jsonrpc":"2.0","result":null,"id":null}`),
		"HTML":             writer(200, "text/html", "<html>"),
		"refused":          writer(400, "text/plain", "no"),
		"broken":           writer(500, "", ""),
		"not found":        writer(404, "", ""),
		"error with an id": writer(400, "application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`),
	} {
		t.Run(name, func(t *testing.T) {
			f := &fake{t: t, era: era25}
			f.handle("notifications/initialized", h)
			s := connect(t, f, Options{}, era25, nil)
			alive(t, s)
		})
	}
}

// The list that the SDK sees keeps what Mcp-Param headers need, and one bad
// tool does not cost the list.
func TestReducedTools(t *testing.T) {
	const schema = `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`
	list := `{"tools":[null,5,{"name":7,"inputSchema":` + schema + `},{"name":"bad","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes"}},` +
		`{"name":"t","inputSchema":` + schema + `,"icons":"x","vendor":1.0}],"nextCursor":"","ttlMs":100000}`
	f := &fake{t: t, era: era26}
	f.handle("tools/list", func(w http.ResponseWriter, _ *http.Request, s seen) { f.result(w, s, list) })
	s := connect(t, f, Options{}, era26, nil)
	for range 2 { // the SDK's cache must not answer the second
		raw, err := Do(context.Background(), s, "tools/list", nil, nil)
		if err != nil || string(raw) != list {
			t.Fatalf("got %s, %v", raw, err)
		}
	}
	if n := len(f.got("tools/list")); n != 2 {
		t.Errorf("the server was asked %d times, want twice", n)
	}
	if _, err := callTool(t, s, `{"name":"t","arguments":{"region":"münchen"}}`, nil); err != nil {
		t.Fatal(err)
	}
	if got, want := f.got("tools/call")[0].header.Get("Mcp-Param-Region"), "=?base64?bcO8bmNoZW4=?="; got != want {
		t.Errorf("Mcp-Param-Region = %q, want %q", got, want)
	}
}

// A resource that is read leaves nothing in the SDK's cache, and is read again.
func TestNoCache(t *testing.T) {
	f := &fake{t: t, era: era26}
	f.handle("resources/read", func(w http.ResponseWriter, _ *http.Request, s seen) {
		f.result(w, s, `{"contents":[{"uri":"a:b","text":"x"}],"ttlMs":100000}`)
	})
	s := connect(t, f, Options{}, era26, nil)
	for range 3 {
		if _, err := Do(context.Background(), s, "resources/read", json.RawMessage(`{"uri":"a:b"}`), nil); err != nil {
			t.Fatal(err)
		}
	}
	got := f.got("resources/read")
	if len(got) != 3 || got[0].header.Get("Mcp-Name") != "a:b" {
		t.Errorf("the server was asked %d times with Mcp-Name %q", len(got), got[0].header.Get("Mcp-Name"))
	}
}

// Mcp-Name carries any name, in base64 where a header would not.
func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"plain name":      "plain name",
		"工具":              "=?base64?5bel5YW3?=",
		" lead":           "=?base64?IGxlYWQ=?=",
		"a\nb":            "=?base64?YQpi?=",
		"=?base64?YQ==?=": "=?base64?PT9iYXNlNjQ/WVE9PT89?=",
	} {
		f := &fake{t: t, era: era26}
		s := connectServer(t, f, Options{}, era26, nil)
		params, _ := json.Marshal(map[string]string{"name": name})
		if _, err := callTool(t, s, string(params), nil); err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if got := f.got("tools/call")[0].header.Get("Mcp-Name"); got != want {
			t.Errorf("%q: Mcp-Name = %q, want %q", name, got, want)
		}
	}
}

// A method of an extension goes out and comes back raw once it is allowed.
func TestCustomMethod(t *testing.T) {
	f := &fake{t: t, era: era26}
	f.handle("tasks/get", func(w http.ResponseWriter, _ *http.Request, s seen) { f.result(w, s, `{"n":1.0}`) })
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	if err := Allow(client, "tasks/get"); err != nil {
		t.Fatal(err)
	}
	s, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: "http://fake.test/mcp", HTTPClient: NewClient(Options{Base: memory{f}})}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	raw, err := Do(context.Background(), s, "tasks/get", json.RawMessage(`{"taskId":"t1"}`), nil)
	if err != nil || string(raw) != `{"n":1.0}` {
		t.Errorf("got %s, %v", raw, err)
	}
	if got := f.got("tasks/get")[0]; got.header.Get("Mcp-Name") != "t1" || !contains(got.params, metaProtocolVersion) {
		t.Errorf("sent %s with Mcp-Name %q", got.params, got.header.Get("Mcp-Name"))
	}
	if _, err := Do(context.Background(), s, "tasks/unknown", nil, nil); err == nil {
		t.Error("a method that was not allowed went out")
	}
	if err := Allow(client, "tools/call"); err == nil {
		t.Error("a standard method was allowed")
	}
}
