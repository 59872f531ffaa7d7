package streamable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/secret"
)

// callKey is the context key of a call's name in the tests.
type callKey struct{}

func callName(ctx context.Context) string {
	name, _ := ctx.Value(callKey{}).(string)
	return name
}

// Each request of a server is told apart by the call on whose stream it came,
// with many calls at once, and the token reaches the SDK's handler.
func TestAttribution(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "s", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		res, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: string(r.Params.Arguments), RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
		if err != nil {
			return nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(res.Content["who"])}}}, nil
	})
	o := Options{OnServerRequest: func(ctx context.Context, method string, params json.RawMessage) string {
		if ExchangeFrom(ctx) == nil || !contains(string(params), `"message":"{\"n\":`) {
			t.Errorf("%s without its call, or without its params: %s", method, params)
		}
		return callName(ctx)
	}}
	co := &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"who": fmt.Sprint(r.Params.Meta[OriginKey], " ", r.Params.Message)}}, nil
	}}
	s := connectServer(t, sdkHandler(server, nil), o, era25, co)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			ctx := context.WithValue(context.Background(), callKey{}, fmt.Sprintf("call-%d", i))
			raw, err := Do(ctx, s, "tools/call", json.RawMessage(fmt.Sprintf(`{"name":"ask","arguments":{"n":%d}}`, i)), nil)
			if want := fmt.Sprintf(`"text":"call-%d {\"n\":%d}"`, i, i); err != nil || !contains(string(raw), want) {
				t.Errorf("got %s, %v; want %s", raw, err, want)
			}
		})
	}
	wg.Wait()
}

// A server can't write the token itself, wherever it puts it.
func TestOriginIsOurs(t *testing.T) {
	for _, c := range []struct{ params, token, want string }{
		{`{"a":1}`, "T", `{"a":1,"_meta":{"` + OriginKey + `":"T"}}`},
		{`{}`, "T", `{"_meta":{"` + OriginKey + `":"T"}}`},
		{``, "T", `{"_meta":{"` + OriginKey + `":"T"}}`},
		{``, "", ``},
		{`{"a":1.0}`, "", `{"a":1.0}`},
		{`[1]`, "T", `[1]`},
		{`{"_meta":{"` + OriginKey + `":"spoofed","k":1.0},"a":"<"}`, "T", `{"a":"<","_meta":{"k":1.0,"` + OriginKey + `":"T"}}`},
		{`{"_meta":{"` + OriginKey + `":"spoofed"}}`, "", `{"_meta":{}}`},
		{`{"_meta":{"io.mcp-sidecar\/\u006frigin":"spoofed"},"_meta":{"io.mcp-sidecar\/origin":"again"}}`, "", `{"_meta":{}}`},
		{`{"_meta":null}`, "T\"", `{"_meta":{"` + OriginKey + `":"T\""}}`},
	} {
		var params []byte
		if c.params != "" {
			params = []byte(c.params)
		}
		if got := string(withOrigin(params, c.token)); got != c.want {
			t.Errorf("%s with %q\n got %s\nwant %s", c.params, c.token, got, c.want)
		}
	}
}

// A stream that breaks off is resumed with the last event's id, after the time
// that the server asked for; what it then asks still belongs to the call.
func TestResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, era: era25, session: "s1"}
		var broke time.Time
		f.handle("tools/call", func(w http.ResponseWriter, _ *http.Request, s seen) {
			emit(w, "id: a1\nretry: 700\ndata:\n\n")
			emit(w, sseEvent("a2", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}`))
			emit(w, "id: a3\ndata: {\"cut")
			broke = time.Now()
			panic(http.ErrAbortHandler)
		})
		answered := make(chan seen, 1)
		// The client's reply has no method: it is found by its verb.
		f.handle("POST", func(w http.ResponseWriter, _ *http.Request, s seen) { answered <- s; w.WriteHeader(202) })
		gets := 0
		f.get = func(w http.ResponseWriter, r *http.Request) {
			last := r.Header.Get("Last-Event-ID")
			if last == "" {
				w.WriteHeader(405)
				return
			}
			if r.Header.Get("Mcp-Session-Id") != "s1" || r.Header.Get("Mcp-Protocol-Version") != era25 || r.Header.Get("Authorization") != "Bearer b" {
				t.Errorf("resumed with headers %v", r.Header)
			}
			switch gets++; gets {
			case 1:
				if got := time.Since(broke); got != 700*time.Millisecond {
					t.Errorf("resumed after %v, want 700ms", got)
				}
				if last != "a2" {
					t.Errorf("resumed after event %q, want a2: a3 was cut off", last)
				}
				w.WriteHeader(503)
			case 2:
				emit(w, sseEvent("a4", `{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}`))
				<-answered
				emit(w, sseEvent("a5", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":2}}`))
			default:
				if last != "a5" {
					t.Errorf("resumed after event %q, want a5", last)
				}
				emit(w, sseEvent("a6", `{"jsonrpc":"2.0","id":`+f.got("tools/call")[0].id+`,"result":{"content":[],"n":1.0}}`))
			}
		}
		var seenBy []string
		o := Options{
			Bearer: secret.New("b"),
			OnNotification: func(ctx context.Context, method string, params json.RawMessage) bool {
				seenBy = append(seenBy, callName(ctx)+" "+method+" "+string(params))
				return true
			},
			OnServerRequest: func(ctx context.Context, method string, _ json.RawMessage) string {
				seenBy = append(seenBy, callName(ctx)+" "+method)
				return callName(ctx)
			},
		}
		co := &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if r.Params.Meta[OriginKey] != "me" {
				t.Errorf("_meta = %v", r.Params.Meta)
			}
			return &mcp.ElicitResult{Action: "decline"}, nil
		}}
		s := connect(t, f, o, era25, co)
		raw, err := Do(context.WithValue(t.Context(), callKey{}, "me"), s, "tools/call", json.RawMessage(`{"name":"t"}`), nil)
		if err != nil || string(raw) != `{"content":[],"n":1.0}` {
			t.Errorf("got %s, %v", raw, err)
		}
		want := "me notifications/progress {\"progressToken\":1,\"progress\":1}\nme elicitation/create\nme notifications/progress {\"progressToken\":1,\"progress\":2}"
		if got := strings.Join(seenBy, "\n"); got != want {
			t.Errorf("hooks saw\n%s\nwant\n%s", got, want)
		}
		_ = s.Close()
	})
}

// A stream that can't be resumed fails the call, not the session.
func TestNotResumed(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		lost    bool
		gets    int
		session string
	}{
		"not offered":  {status: 405, gets: 1, session: "s1"},
		"session lost": {status: 404, gets: 1, session: "s1", lost: true},
		"no session":   {status: 404, gets: 1},
		"unavailable":  {status: 503, gets: maxResumes, session: "s1"},
		"no stream":    {status: 200, gets: 1, session: "s1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{t: t, era: era25, session: c.session}
				f.handle("tools/call", func(w http.ResponseWriter, _ *http.Request, _ seen) { emit(w, "id: a1\ndata:\n\n") })
				gets := 0
				f.get = func(w http.ResponseWriter, r *http.Request) {
					if r.Header.Get("Last-Event-ID") == "" {
						w.WriteHeader(405)
						return
					}
					gets++
					w.WriteHeader(c.status)
				}
				s := connect(t, f, Options{}, era25, nil)
				x := &Exchange{}
				_, err := Do(t.Context(), s, "tools/call", json.RawMessage(`{"name":"t"}`), x)
				var lost *StreamLostError
				if errors.Is(err, ErrSessionLost) != c.lost || !c.lost && !errors.As(err, &lost) || x.SessionLost != c.lost {
					t.Errorf("got %v, session lost %v", err, x.SessionLost)
				}
				if gets != c.gets {
					t.Errorf("tried %d times, want %d", gets, c.gets)
				}
				alive(t, s)
				_ = s.Close()
			})
		})
	}
}

// On 2026-07-28 nothing is resumed, whatever ids the server gives.
func TestNoResumptionWithoutSessions(t *testing.T) {
	f := &fake{t: t, era: era26}
	f.handle("tools/call", func(w http.ResponseWriter, _ *http.Request, _ seen) { emit(w, "id: a1\nretry: 1\ndata:\n\n") })
	s := connect(t, f, Options{}, era26, nil)
	_, err := callTool(t, s, `{"name":"t"}`, nil)
	var lost *StreamLostError
	if !errors.As(err, &lost) || len(f.got("GET")) != 0 {
		t.Errorf("got %v after %d GETs", err, len(f.got("GET")))
	}
}

// Events reach the hooks and the SDK while the stream is open, in order.
func TestEventsPassAtOnce(t *testing.T) {
	for _, era := range []string{era25, era26} {
		t.Run(era, func(t *testing.T) {
			got, next := make(chan string, 10), make(chan bool)
			f := &fake{t: t, era: era}
			f.handle("tools/call", func(w http.ResponseWriter, _ *http.Request, s seen) {
				for i := range 3 {
					emit(w, sseEvent("", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":%d}}`, i)))
					<-next
				}
				emit(w, sseEvent("", `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`))
				<-next
				emit(w, sseEvent("", `{"jsonrpc":"2.0","id":`+s.id+`,"result":{}}`))
			})
			o := Options{OnNotification: func(ctx context.Context, method string, params json.RawMessage) bool {
				got <- fmt.Sprint(callName(ctx), " ", method, " ", string(params))
				return method == "notifications/progress"
			}}
			co := &mcp.ClientOptions{
				ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) {
					t.Error("a notification that was handled reached the SDK")
				},
				//lint:ignore SA1019 the one notification that the SDK hands on in both protocols
				LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) { got <- fmt.Sprint("SDK ", r.Params.Data) },
			}
			s := connectServer(t, f, o, era, co)
			done := make(chan error, 1)
			go func() { // ends with the call
				_, err := Do(context.WithValue(context.Background(), callKey{}, "me"), s, "tools/call", json.RawMessage(`{"name":"t"}`), nil)
				done <- err
			}()
			for i := range 3 {
				want := fmt.Sprintf(`me notifications/progress {"progressToken":"p","progress":%d}`, i)
				if g := receive(t, got, "the event"); g != want {
					t.Errorf("got %s, want %s", g, want)
				}
				next <- true
			}
			if g, want := receive(t, got, "the log"), `me notifications/message {"level":"info","data":1}`; g != want {
				t.Errorf("got %s, want %s", g, want)
			}
			if g := receive(t, got, "the log in the SDK"); g != "SDK 1" {
				t.Errorf("got %s", g)
			}
			next <- true
			if err := receive(t, done, "the result"); err != nil {
				t.Error(err)
			}
		})
	}
}

// Cancelling a call closes its stream; the server of the older protocol is also
// told, the server of the newer is not.
func TestCancel(t *testing.T) {
	for _, era := range []string{era25, era26} {
		t.Run(era, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				closed := make(chan bool, 1)
				f := &fake{t: t, era: era, session: "s1"}
				f.handle("tools/call", func(w http.ResponseWriter, r *http.Request, _ seen) {
					emit(w, ": open\n\n")
					<-r.Context().Done()
					closed <- true
				})
				s := connect(t, f, Options{}, era, nil)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				x := &Exchange{}
				if _, err := Do(ctx, s, "tools/call", json.RawMessage(`{"name":"t"}`), x); !errors.Is(err, context.DeadlineExceeded) || !x.Sent {
					t.Errorf("got %v, sent %v", err, x.Sent)
				}
				<-closed
				synctest.Wait()
				want := 1
				if era == era26 {
					want = 0
				}
				if n := len(f.got("notifications/cancelled")); n != want {
					t.Errorf("the server got %d notifications/cancelled, want %d", n, want)
				}
				alive(t, s)
				_ = s.Close()
			})
		})
	}
}

// A stream that stays open after the response is let go of.
func TestStreamThatStaysOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var held time.Duration
		f := &fake{t: t, era: era25}
		f.handle("tools/call", func(w http.ResponseWriter, r *http.Request, s seen) {
			start := time.Now()
			emit(w, sseEvent("", `{"jsonrpc":"2.0","id":`+s.id+`,"result":{"n":1}}`))
			<-r.Context().Done()
			held = time.Since(start)
		})
		s := connect(t, f, Options{}, era25, nil)
		start := time.Now()
		if _, err := Do(t.Context(), s, "tools/call", json.RawMessage(`{"name":"t"}`), nil); err != nil || time.Since(start) != 0 {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if held != drainTime {
			t.Errorf("the stream was held for %v, want %v", held, drainTime)
		}
		_ = s.Close()
	})
}

// The exchange of a call that was cancelled is written by nobody else any more.
func TestSealedExchange(t *testing.T) {
	f := &fake{t: t, era: era25}
	f.handle("tools/call", func(w http.ResponseWriter, _ *http.Request, s seen) {
		emit(w, ": open\n\n")
		_, _ = io.WriteString(w, sseEvent("", `{"jsonrpc":"2.0","id":`+s.id+`,"result":{}}`))
	})
	s := connect(t, f, Options{}, era25, nil)
	for range 50 {
		ctx, cancel := context.WithCancel(context.Background())
		x := &Exchange{}
		go cancel()
		_, _ = Do(ctx, s, "tools/call", json.RawMessage(`{"name":"t"}`), x)
		_, _ = x.Result, x.Err // the race detector looks on
	}
}
