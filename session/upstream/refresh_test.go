package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

// sessions is a server of an older era over HTTP that holds calls on until they
// are let go, and notes which session each request belongs to.
type sessions struct {
	hold chan struct{} // a call takes one

	mu    sync.Mutex // guards the fields below
	last  int
	ended []string
	calls []string // by session
	down  bool     // no greeting
}

func (s *sessions) web() webFunc {
	return func(method string, id json.RawMessage, r *http.Request) (int, string, io.ReadCloser) {
		result := func(format string, args ...any) (int, string, io.ReadCloser) {
			return 200, "application/json", io.NopCloser(strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, fmt.Sprintf(format, args...))))
		}
		session := r.Header.Get("Mcp-Session-Id")
		s.mu.Lock()
		defer s.mu.Unlock()
		switch method {
		case "GET":
			return 405, "", http.NoBody
		case "DELETE":
			s.ended = append(s.ended, session)
		case "server/discover":
			return result(`"error":{"code":-32601,"message":"no"}`)
		case "initialize":
			if s.down {
				return 404, "", http.NoBody
			}
			s.last++
			return result(`"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"instructions":"of %d","serverInfo":{"name":"s","version":"1"}}`, s.last)
		case "tools/list":
			return result(`"result":{"tools":[{"name":"t%d","inputSchema":{"type":"object"}}]}`, s.last)
		case "tools/call":
			s.calls = append(s.calls, session)
			s.mu.Unlock()
			defer s.mu.Lock()
			select {
			case <-s.hold:
			case <-r.Context().Done():
			}
			return result(`"result":{"content":[]}`)
		}
		return 202, "", http.NoBody
	}
}

// RoundTrip gives each session a name.
func (s *sessions) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.web().RoundTrip(r)
	if err == nil && r.Header.Get("Mcp-Session-Id") == "" {
		s.mu.Lock()
		resp.Header.Set("Mcp-Session-Id", fmt.Sprintf("s-%d", s.last))
		s.mu.Unlock()
	}
	return resp, err
}

func (s *sessions) state() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%d sessions, ended %v, calls of %v", s.last, s.ended, s.calls)
}

// A refresh over HTTP replaces the session. What runs on the old one ends there,
// and the old one after it; what comes later goes to the new one. Refreshes that
// are wanted at the same time are one, and one that fails changes nothing.
func TestRefreshOverHTTP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sessions{hold: make(chan struct{})}
		server := &config.Server{Name: "s", HTTP: &config.HTTP{URL: "http://s.test/mcp"}, StartupTimeout: time.Minute}
		owner := &listener{}
		c := Start(t.Context(), NewHost("test", "1", nil, s), server, Questions{}, owner)
		if status, err := c.Await(t.Context()); err != nil || status.Instructions != "of 1" {
			t.Fatalf("%+v, %v", status, err)
		}
		var calls sync.WaitGroup
		call := func(id string) {
			calls.Go(func() {
				if _, err := c.CallTool(t.Context(), Call{ID: protocol.CallID(id), Token: id, Params: json.RawMessage(`{"name":"t"}`)}); err != nil {
					t.Errorf("call %s: %v", id, err)
				}
			})
			synctest.Wait()
		}
		call("a")
		var refreshes sync.WaitGroup
		for range 20 {
			refreshes.Go(func() {
				if err := c.Refresh(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		refreshes.Wait()
		synctest.Wait()
		greeted := s.last
		if greeted < 2 || greeted > 3 || len(s.ended) != greeted-2 {
			t.Errorf("after 20 refreshes at once: %s", s.state())
		}
		if status := c.Status(); status.State != protocol.ServerConnected || status.Instructions != fmt.Sprintf("of %d", greeted) ||
			string(status.Catalog.Tools[0].Name) != fmt.Sprintf("t%d", greeted) || owner.heard() != greeted-1 {
			t.Errorf("got %+v after %d news", status, owner.heard())
		}
		call("b")
		if want := fmt.Sprintf("[s-1 s-%d]", greeted); fmt.Sprint(s.calls) != want {
			t.Errorf("%s, want calls of %s", s.state(), want)
		}
		s.hold <- struct{}{}
		s.hold <- struct{}{}
		calls.Wait()
		synctest.Wait()
		if len(s.ended) != greeted-1 {
			t.Errorf("the session whose last call has ended goes on: %s", s.state())
		}
		s.mu.Lock()
		s.down = true
		s.mu.Unlock()
		if err := c.Refresh(t.Context()); err == nil {
			t.Error("a refresh that found no server succeeded")
		}
		call("c")
		s.hold <- struct{}{}
		calls.Wait()
		if status := c.Status(); status.State != protocol.ServerConnected || owner.heard() != greeted-1 || len(s.ended) != greeted-1 {
			t.Errorf("after a refresh that failed: %+v; %s", status, s.state())
		}
		c.Close()
		if err := c.Refresh(t.Context()); err != ErrServerGone {
			t.Errorf("a refresh of a closed client: %v", err)
		}
	})
}

// A question that is open while the connection is replaced stays open, and its
// call goes on on the new one.
func TestRefreshBesideAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &inquirer{modern: true, waiting: map[string]chan json.RawMessage{}, running: map[string]context.CancelFunc{}}
		server := &config.Server{Name: "s", HTTP: &config.HTTP{URL: "http://s.test/mcp"}, StartupTimeout: time.Minute}
		c := Start(t.Context(), NewHost("test", "1", nil, s), server, Questions{Form: true}, silent{})
		if status, err := c.Await(t.Context()); err != nil || status.State != protocol.ServerConnected {
			t.Fatalf("%+v, %v", status, err)
		}
		w := &crowd{certain: true, open: map[int]chan elicit.Answer{}}
		var calls sync.WaitGroup
		calls.Go(func() {
			result, err := c.CallTool(t.Context(), Call{ID: callName(7), Token: "7", Caller: &one{crowd: w, n: 7}, Params: json.RawMessage(`{"name":"t","arguments":{"n":7}}`)})
			if err != nil || !strings.Contains(string(result), `"7"`) {
				t.Errorf("got %s, %v", result, err)
			}
		})
		synctest.Wait()
		if err := c.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the old connection is gone
		w.open[7] <- elicit.Answer{Action: protocol.AnswerAccept, Content: json.RawMessage(`{"n":7}`)}
		calls.Wait()
		c.Close()
		for _, text := range append(s.wrong, w.wrong...) {
			t.Error(text)
		}
	})
}

// A request that comes to a connection in the moment in which it is replaced is
// sent on the new one.
func TestRequestToAReplacedConnection(t *testing.T) {
	c, _, _ := asking(t, protocol.ServerConnected)
	now := &requesting{answers: []string{`{"content":[]}`}}
	c.wire = replacing{now, c}
	if _, err := c.CallTool(t.Context(), Call{ID: "1", Token: "1"}); err != nil || len(now.got) != 1 {
		t.Errorf("got %v after %d requests", err, len(now.got))
	}
	// A connection that does so for ever is not asked for ever.
	c.wire = retiredWire{}
	if _, err := c.CallTool(t.Context(), Call{ID: "1", Token: "1"}); err == nil {
		t.Error("a request that was not run succeeded")
	}
}

// replacing is a wire that is replaced by the first request.
type replacing struct {
	*requesting
	c *Client
}

func (w replacing) request(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	w.c.wire = w.requesting
	return nil, errRetired
}

// retiredWire takes no request.
type retiredWire struct{ wire }

func (retiredWire) lost() <-chan struct{} { return nil }
func (retiredWire) request(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, errRetired
}

// A refresh over stdio lists the tools again; the process goes on.
func TestRefreshOverStdio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &guarded{refuse: func(int) string { return "" }}
		c, owner := guardedClient(t, g, false, Questions{})
		if err := c.Refresh(t.Context()); err != nil || g.count("tools/list") != 2 || g.count("initialize") != 1 || owner.heard() != 1 {
			t.Errorf("%v; %d lists, %d greetings, %d news", err, g.count("tools/list"), g.count("initialize"), owner.heard())
		}
		c.Close()
	})
}

// Who waits for a refresh leaves with their own context.
func TestRefreshIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var deaf atomic.Bool
		f := answers(func(string, json.RawMessage) string { return "" })
		server := &config.Server{Name: "s", Stdio: &config.Stdio{Command: "s"}, StartupTimeout: time.Minute}
		c := Start(t.Context(), NewHost("test", "1", fakeServer(func(method string, params json.RawMessage) string {
			if deaf.Load() {
				return ""
			}
			return f(method, params)
		}), nil), server, Questions{}, silent{})
		_, _ = c.Await(t.Context())
		deaf.Store(true)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, ErrCallEnded)
		defer cancel()
		since := time.Now()
		if err := c.Refresh(ctx); err != ErrCallEnded || time.Since(since) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(since))
		}
		c.Close()
	})
}
