package streamable

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/secret"
)

// A standalone stream that closes at once, again and again, for ever, costs
// the session nothing, and the server no more than a GET a minute.
func TestStandaloneClosesForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, era: era25, session: "s1"}
		f.get = func(w http.ResponseWriter, _ *http.Request) { emit(w, ": hi\n\n") }
		s := connect(t, f, Options{}, era25, nil)
		time.Sleep(10 * time.Second)
		if n := len(f.got("GET")); n < 3 || n > 5 {
			t.Errorf("%d GETs in ten seconds, want ever fewer", n)
		}
		time.Sleep(6 * time.Hour)
		alive(t, s)
		if n := len(f.got("GET")); n < 6*60 || n > 6*60*3/2 {
			t.Errorf("%d GETs in six hours, want about one a minute", n)
		}
		_ = s.Close()
		synctest.Wait()
		n := len(f.got("GET"))
		time.Sleep(time.Hour)
		if m := len(f.got("GET")); m != n {
			t.Errorf("%d GETs after Close", m-n)
		}
	})
}

// A stream that lived, or brought something, is opened again at once.
func TestStandaloneInUse(t *testing.T) {
	for name, c := range map[string]struct {
		get   func(w http.ResponseWriter, r *http.Request)
		after time.Duration
		least int
	}{
		"idle for a minute": {func(w http.ResponseWriter, r *http.Request) {
			emit(w, ": hi\n\n")
			_ = sleep(r.Context(), time.Minute)
		}, 2 * time.Hour, 115},
		"one message each": {func(w http.ResponseWriter, _ *http.Request) {
			emit(w, sseEvent("", `{"jsonrpc":"2.0","method":"notifications/x"}`))
		}, time.Minute, 55},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{t: t, era: era25, session: "s1", get: c.get}
				s := connect(t, f, Options{}, era25, nil)
				time.Sleep(c.after)
				if n := len(f.got("GET")); n < c.least {
					t.Errorf("%d GETs in %v, want at least %d", n, c.after, c.least)
				}
				_ = s.Close()
			})
		})
	}
}

// A proxy that closes an idle stream every minute is met with a new one at once;
// what comes on it is delivered, unattributed, and the gap is told.
func TestStandaloneReopens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, era: era25, session: "s1"}
		opened := 0
		var initialized atomic.Bool
		f.handle("notifications/initialized", func(w http.ResponseWriter, _ *http.Request, _ seen) {
			time.Sleep(2 * time.Second)
			initialized.Store(true)
			w.WriteHeader(202)
		})
		f.get = func(w http.ResponseWriter, r *http.Request) {
			if !initialized.Load() {
				t.Error("the stream was opened before the session was")
			}
			if r.Header.Get("Mcp-Session-Id") != "s1" || r.Header.Get("X-Key") != "k" {
				t.Errorf("headers %v", r.Header)
			}
			opened++
			emit(w, ": hi\n\n")
			if opened > 3 {
				emit(w, sseEvent("", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"n":%d}}`, opened)))
			}
			_ = sleep(r.Context(), time.Minute)
		}
		gaps := 0
		var seenBy []string
		changed := 0
		o := Options{
			Header: map[string]secret.Value{"x-key": secret.New("k")},
			OnGap:  func(context.Context) { gaps++ },
			OnNotification: func(ctx context.Context, method string, params json.RawMessage) bool {
				if ExchangeFrom(ctx) != nil {
					t.Error("a notification of no call has an exchange")
				}
				seenBy = append(seenBy, method+string(params))
				return opened > 4
			},
		}
		co := &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed++ }}
		s := connect(t, f, o, era25, co)
		time.Sleep(5*time.Minute + 30*time.Second)
		synctest.Wait()
		if opened < 5 || gaps != opened-1 {
			t.Errorf("opened %d times in five minutes, with %d gaps", opened, gaps)
		}
		if len(seenBy) != opened-3 || changed != 1 {
			t.Errorf("opened %d times: hook saw %v, the SDK %d", opened, seenBy, changed)
		}
		alive(t, s)
		_ = s.Close()
	})
}

// A standalone stream goes on after its last event, without a gap, and keeps to
// the time that the server asked for.
func TestStandaloneResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, era: era25, session: "s1"}
		var last []string
		var closed time.Time
		f.get = func(w http.ResponseWriter, r *http.Request) {
			last = append(last, r.Header.Get("Last-Event-ID"))
			switch len(last) {
			case 1:
				emit(w, "retry: 2500\n"+sseEvent("e1", `{"jsonrpc":"2.0","method":"notifications/x"}`))
				closed = time.Now()
			case 2:
				if got := time.Since(closed); got != 2500*time.Millisecond {
					t.Errorf("opened again after %v", got)
				}
				emit(w, sseEvent("e2", `{"jsonrpc":"2.0","method":"notifications/x"}`))
			case 3:
				w.WriteHeader(400) // it forgot
			default:
				emit(w, ": hi\n\n")
				<-r.Context().Done()
			}
		}
		gaps := 0
		s := connect(t, f, Options{OnGap: func(context.Context) { gaps++ }}, era25, nil)
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := fmt.Sprintf("%q", last); got != `["" "e1" "e2" ""]` || gaps != 1 {
			t.Errorf("resumed after %s with %d gaps", got, gaps)
		}
		alive(t, s)
		_ = s.Close()
	})
}

// A server that offers no standalone stream is asked once, however it says so;
// one that wants a login or is down is asked again now and then.
func TestStandaloneRefused(t *testing.T) {
	for name, c := range map[string]struct {
		get        http.HandlerFunc
		least, max int // GETs in an hour
	}{
		"405": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(405) }, 1, 1},
		"404": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404) }, 1, 1},
		"400": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) }, 1, 1},
		"501": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(501) }, 1, 1},
		"JSON": {func(w http.ResponseWriter, _ *http.Request) {
			writer(200, "application/json", `{"error":{"code":1}}`)(w, nil, seen{})
		}, 1, 1},
		"elsewhere": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://evil.test/")
			w.WriteHeader(307)
		}, 1, 1},
		"401": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(401)
		}, 12, 13},
		"503":          {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, 50, 90},
		"429":          {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", "600"); w.WriteHeader(429) }, 6, 7},
		"reset":        {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 50, 90},
		"never starts": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{t: t, era: era25, session: "s1"}
				f.get = c.get
				o := Options{
					Authorize: func(context.Context, *http.Request, *http.Response) error {
						t.Error("a login for the optional stream")
						return nil
					},
					OnSessionLost: func(context.Context) { t.Error("the session was taken for lost") },
				}
				s := connect(t, f, o, era25, nil)
				time.Sleep(time.Hour)
				synctest.Wait()
				if n := len(f.got("GET")); n < c.least || n > c.max {
					t.Errorf("%d GETs in an hour, want %d to %d", n, c.least, c.max)
				}
				alive(t, s)
				_ = s.Close()
			})
		})
	}
}

// A session that is gone when a good stream is opened again is told.
func TestStandaloneTellsTheLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, era: era25, session: "s1"}
		first := true
		f.get = func(w http.ResponseWriter, _ *http.Request) {
			if first {
				first = false
				emit(w, ": hi\n\n")
				return
			}
			w.WriteHeader(404)
		}
		lost := 0
		s := connect(t, f, Options{OnSessionLost: func(context.Context) { lost++ }}, era25, nil)
		time.Sleep(time.Hour)
		synctest.Wait()
		if lost != 1 || len(f.got("GET")) != 2 {
			t.Errorf("lost %d times after %d GETs", lost, len(f.got("GET")))
		}
		_ = s.Close()
	})
}

// A server's request on the standalone stream belongs to no call.
func TestStandaloneRequest(t *testing.T) {
	reply := make(chan string, 1)
	f := &fake{t: t, era: era25, session: "s1"}
	f.handle("POST", func(w http.ResponseWriter, _ *http.Request, s seen) { reply <- s.body; w.WriteHeader(202) })
	f.get = func(w http.ResponseWriter, r *http.Request) {
		emit(w, "data: junk\n\n"+sseEvent("", `{"jsonrpc":"2.0","id":1,"result":{}}`)+sseEvent("", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`)+
			sseEvent("", `{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}`))
		emit(w, sseEvent("", `{"jsonrpc":"2.0","id":"q","method":"roots/list"}`))
		<-r.Context().Done()
	}
	o := Options{OnServerRequest: func(ctx context.Context, method string, params json.RawMessage) string {
		if ExchangeFrom(ctx) != nil || method != "roots/list" || params != nil {
			t.Errorf("hook got %s %s with exchange %v", method, params, ExchangeFrom(ctx))
		}
		return ""
	}}
	// Whoever connects may have an exchange in the context; the stream has not.
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	o.Base = memory{f}
	s, err := client.Connect(WithExchange(context.Background(), &Exchange{}), &mcp.StreamableClientTransport{Endpoint: "http://fake.test/", HTTPClient: NewClient(o)},
		&mcp.ClientSessionOptions{ProtocolVersion: era25})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if got, want := receive(t, reply, "the reply"), `{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}`; got != want {
		t.Errorf("replied %s, want %s", got, want)
	}
}

// subscriptions/listen is opened again when it drops, and does not hold up Connect.
func TestListen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, era: era26, capabilities: `{"tools":{"listChanged":true}}`}
		opened := 0
		f.handle("subscriptions/listen", func(w http.ResponseWriter, r *http.Request, s seen) {
			switch opened++; opened {
			case 1:
				time.Sleep(time.Minute) // no headers for long
				emit(w, sseEvent("x", `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}`))
			case 2:
				w.WriteHeader(502)
			case 3:
				emit(w, sseEvent("", `{"jsonrpc":"2.0","id":5,"method":"ping"}`)) // has no place in this version
				emit(w, sseEvent("", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
			case 4:
				emit(w, sseEvent("", `{"jsonrpc":"2.0","id":`+s.id+`,"result":{}}`)) // the server ends it
			}
			if r.Header.Get("Last-Event-ID") != "" {
				t.Error("a stream of this version was resumed")
			}
		})
		gaps := 0
		var changed atomic.Int32
		co := &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed.Add(1) }}
		start := time.Now()
		s := connect(t, f, Options{OnGap: func(context.Context) { gaps++ }}, era26, co)
		if d := time.Since(start); d > time.Second {
			t.Errorf("connecting took %v", d)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if opened != 4 || gaps != 2 || changed.Load() != 1 {
			t.Errorf("opened %d times, %d gaps, %d changes; want 4, 2, 1", opened, gaps, changed.Load())
		}
		if n := len(f.got("POST")); n != 5 {
			t.Errorf("%d POSTs, want discover and four listens", n)
		}
		alive(t, s)
		_ = s.Close()
	})
}

// A server that refuses subscriptions/listen is asked once.
func TestListenRefused(t *testing.T) {
	for name, h := range map[string]func(http.ResponseWriter, *http.Request, seen){
		"404 error": writer(404, "application/json", `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"no"}}`),
		"200 error": writer(200, "application/json", `{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"no"}}`),
		"400":       writer(400, "text/plain", "no"),
		"202":       writer(202, "", ""),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{t: t, era: era26, capabilities: `{"tools":{"listChanged":true}}`}
				f.handle("subscriptions/listen", h)
				co := &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {}}
				s := connect(t, f, Options{}, era26, co)
				time.Sleep(time.Hour)
				if n := len(f.got("subscriptions/listen")); n != 1 {
					t.Errorf("asked %d times, want once", n)
				}
				alive(t, s)
				_ = s.Close()
			})
		})
	}
}

// Whoever wants to ask a server for something can wait for the stream on which
// it may ask back; one that is refused, or does not come, holds nobody up.
func TestStandaloneSettles(t *testing.T) {
	for name, c := range map[string]struct {
		get   http.HandlerFunc
		after time.Duration
	}{
		"opens late": {func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(listenWait / 2)
			emit(w, ": hi\n\n")
			<-r.Context().Done()
		}, listenWait / 2},
		"is refused":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(405) }, 0},
		"wants a login": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, 0},
		"breaks off":    {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0},
		"never starts":  {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, listenWait},
		"comes too late": {func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Minute)
			emit(w, ": hi\n\n")
			<-r.Context().Done()
		}, listenWait},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &fake{t: t, era: era25, session: "s1", get: c.get}
				settled := make(chan struct{})
				s := connect(t, f, Options{OnListening: func() { close(settled) }}, era25, nil) // a second call panics
				since := time.Now()
				<-settled
				if got := time.Since(since); got != c.after {
					t.Errorf("settled after %v, want %v", got, c.after)
				}
				time.Sleep(10 * time.Minute)
				_ = s.Close()
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		f := &fake{t: t, era: era26, capabilities: `{"tools":{"listChanged":true}}`}
		co := &mcp.ClientOptions{ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {}}
		f.handle("subscriptions/listen", func(w http.ResponseWriter, r *http.Request, _ seen) {
			emit(w, ": hi\n\n")
			<-r.Context().Done()
		})
		s := connect(t, f, Options{OnListening: func() { t.Error("there is no standalone stream in 2026-07-28") }}, era26, co)
		time.Sleep(time.Hour)
		_ = s.Close()
	})
}
