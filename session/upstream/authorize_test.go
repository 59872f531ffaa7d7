package upstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

const (
	twoPages = `"error":{"code":-32042,"message":"log in","data":{"elicitations":[` +
		`{"mode":"url","elicitationId":"e-1","url":"https://a.test/1","message":"First"},` +
		`{"mode":"url","elicitationId":"e-2","url":"https://a.test/2","message":"Second"}]}}`
	onePage = `"error":{"code":-32042,"message":"log in","data":{"elicitations":[{"mode":"url","elicitationId":"e-1","url":"https://a.test/1","message":"First"}]}}`
)

// says answers questions with one action after the other, the last one for ever.
func says(actions ...protocol.AnswerAction) *scripted {
	var mu sync.Mutex
	return &scripted{verdict: asks, act: func(q elicit.Question, _ elicit.Verdict) (elicit.Answer, error) {
		mu.Lock()
		defer mu.Unlock()
		action := actions[0]
		if len(actions) > 1 {
			actions = actions[1:]
		}
		_, err := elicit.Prepare(q)
		return elicit.Answer{Action: action}, err
	}}
}

// Error -32042 asks a person to visit its pages, for the call that failed for
// certain. When all were accepted the tools are listed again, over HTTP on a
// session of its own, and the call goes out once more. Anything else leaves the
// error.
func TestURLElicitationRequired(t *testing.T) {
	const yes, no, never = protocol.AnswerAccept, protocol.AnswerDecline, protocol.AnswerCancel
	url := Questions{Form: true, URL: true}
	for name, tc := range map[string]struct {
		refusals []string // of the first calls
		says     []protocol.AnswerAction
		offer    Questions
		asked    string
		calls    int
		lists    int
		hint     string // of the error; "in" is no error
	}{
		"accepted":         {refusals: []string{onePage}, says: []protocol.AnswerAction{yes}, offer: url, asked: "https://a.test/1", calls: 2, lists: 2, hint: "in"},
		"two accepted":     {refusals: []string{twoPages}, says: []protocol.AnswerAction{yes}, offer: url, asked: "https://a.test/1 https://a.test/2", calls: 2, lists: 2, hint: "in"},
		"one declined":     {refusals: []string{twoPages}, says: []protocol.AnswerAction{no}, offer: url, asked: "https://a.test/1", calls: 1, lists: 1, hint: "not accepted"},
		"the other":        {refusals: []string{twoPages}, says: []protocol.AnswerAction{yes, never}, offer: url, asked: "https://a.test/1 https://a.test/2", calls: 1, lists: 1, hint: "not accepted"},
		"an odd answer":    {refusals: []string{onePage}, says: []protocol.AnswerAction{"Accept"}, offer: url, asked: "https://a.test/1", calls: 1, lists: 1, hint: "not accepted"},
		"twice":            {refusals: []string{onePage, onePage, onePage}, says: []protocol.AnswerAction{yes}, offer: url, asked: "https://a.test/1", calls: 2, lists: 2},
		"not offered":      {refusals: []string{onePage}, says: []protocol.AnswerAction{yes}, offer: Questions{Form: true}, calls: 1, lists: 1, hint: "can't show"},
		"a page of a file": {refusals: []string{strings.Replace(onePage, "https://a.test/1", "file:///etc/passwd", 1)}, says: []protocol.AnswerAction{yes}, offer: url, asked: "file:///etc/passwd", calls: 1, lists: 1, hint: "can't be shown"},
		"a form":           {refusals: []string{strings.Replace(twoPages, `"mode":"url","elicitationId":"e-2"`, `"mode":"form"`, 1)}, says: []protocol.AnswerAction{yes}, offer: url, calls: 1, lists: 1},
		"no list":          {refusals: []string{`"error":{"code":-32042,"message":"log in"}`}, says: []protocol.AnswerAction{yes}, offer: url, calls: 1, lists: 1},
		"too many":         {refusals: []string{`"error":{"code":-32042,"message":"x","data":{"elicitations":[` + strings.Repeat(`{"mode":"url","url":"https://a.test"},`, MaxPagesAsked) + `{"mode":"url","url":"https://a.test"}]}}`}, says: []protocol.AnswerAction{yes}, offer: url, calls: 1, lists: 1},
		"another error":    {refusals: []string{strings.Replace(onePage, "-32042", "-32041", 1)}, says: []protocol.AnswerAction{yes}, offer: url, calls: 1, lists: 1},
	} {
		for _, where := range []string{"stdio", "HTTP", "2026 stdio", "2026 HTTP"} {
			t.Run(name+"/"+where, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					g := &guarded{modern: strings.HasPrefix(where, "2026"), refuse: func(n int) string {
						if n <= len(tc.refusals) {
							return tc.refusals[n-1]
						}
						return ""
					}}
					overHTTP := strings.HasSuffix(where, "HTTP")
					c, owner := guardedClient(t, g, overHTTP, tc.offer)
					greeting := g.count("initialize") + g.count("server/discover")
					me := says(tc.says...)
					result, err := c.CallTool(t.Context(), Call{ID: "1", Token: "1", Caller: me, Params: json.RawMessage(`{"name":"t"}`)})
					var asked []string
					for _, q := range me.asked {
						asked = append(asked, q.URL)
						if q.Mode != protocol.QuestionURL || q.CallID != "1" || !q.Certain || q.ElicitationID == "" || q.Server != "docs" {
							t.Errorf("asked %+v", q)
						}
					}
					if got := strings.Join(asked, " "); got != tc.asked || me.held != 0 || me.holds != len(asked) {
						t.Errorf("asked %q, want %q; held %d of %d", got, tc.asked, me.held, me.holds)
					}
					var e *protocol.Error
					switch {
					case tc.hint == "in":
						if err != nil || !strings.Contains(string(result), `"in"`) {
							t.Errorf("got %s, %v", result, err)
						}
					case !errors.As(err, &e) || e.Data.Kind != protocol.KindUpstreamError || e.Data.Upstream == nil || !strings.Contains(e.Data.Hint, tc.hint) || (tc.hint == "") != (e.Data.Hint == ""):
						t.Errorf("got %s, %+v; want the hint %q", result, err, tc.hint)
					}
					synctest.Wait()
					if calls, lists := g.count("tools/call"), g.count("tools/list"); calls != tc.calls || lists != tc.lists || owner.heard() != tc.lists-1 {
						t.Errorf("%d calls, %d lists and %d news, want %d, %d and %d", calls, lists, owner.heard(), tc.calls, tc.lists, tc.lists-1)
					}
					if again := g.count("initialize") + g.count("server/discover") - greeting; (again > 0) != (overHTTP && tc.lists > 1) {
						t.Errorf("the server was greeted %d times more", again)
					}
					if d := c.Status().Catalog.Tools[0].Description; d != fmt.Sprint(tc.lists) {
						t.Errorf("the catalogue is that of list %s, want %d", d, tc.lists)
					}
					time.Sleep(time.Minute)
					if n := g.count("tools/list"); n != tc.lists {
						t.Errorf("the tools are listed again afterwards: %d lists", n)
					}
					c.Close()
				})
			})
		}
	}
}

// A request that is no call may lead to a page, too.
func TestURLElicitationRequiredByARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &guarded{refuse: func(n int) string {
			if n == 1 {
				return onePage
			}
			return ""
		}}
		c, _ := guardedClient(t, g, false, Questions{URL: true})
		me := says(protocol.AnswerAccept)
		if result, err := c.Request(t.Context(), me, "prompts/get", json.RawMessage(`{"name":"p"}`)); err != nil || me.state() != "asked [], held 0 of 1" {
			t.Errorf("got %s, %v; %s", result, err, me.state())
		}
		c.Close()
	})
}

// A question of mode url within a call goes on with the call, after which the
// tools are listed again, as they are when the server says that the visit is
// over. What it says of others it says in vain, and it never answers a question.
func TestPageWithinACall(t *testing.T) {
	page := json.RawMessage(`{"mode":"url","elicitationId":"e-1","url":"https://a.test/1","message":"First"}`)
	over := func(id string) json.RawMessage { return fmt.Appendf(nil, `{"elicitationId":%q}`, id) }
	synctest.Test(t, func(t *testing.T) {
		g := &guarded{refuse: func(int) string { return "" }}
		c, owner := guardedClient(t, g, false, Questions{URL: true})
		lists := func() int {
			time.Sleep(time.Second)
			return g.count("tools/list")
		}
		me := &scripted{verdict: asks}
		list := runs(c, me)
		answer := make(chan string, 1)
		me.act = func(elicit.Question, elicit.Verdict) (elicit.Answer, error) {
			return elicit.Answer{Action: protocol.AnswerAction(<-answer)}, nil
		}
		ask := func() chan string {
			heard := make(chan string, 1)
			go func() {
				raw, err := c.question(t.Context(), page, list, true)
				heard <- fmt.Sprint(string(raw), err)
			}()
			synctest.Wait()
			return heard
		}
		if c.notification("notifications/elicitation/complete", over("e-1")); lists() != 1 {
			t.Error("a visit that nobody knows was taken notice of")
		}
		heard := ask()
		c.notification("notifications/elicitation/complete", over("e-1"))
		if n := lists(); n != 2 || len(heard) != 0 {
			t.Errorf("%d lists, answered %v: a visit that is over is a new list and no answer", n, len(heard) != 0)
		}
		answer <- "accept"
		if got := <-heard; got != `{"action":"accept"}<nil>` {
			t.Errorf("the server hears %s", got)
		}
		if n := lists(); n != 2 {
			t.Error("listed before the call ended")
		}
		if c.calls.remove(list[0], ErrCallEnded) != true {
			t.Error("the tools need not be listed after the call")
		}
		// A visit that was declined is over.
		list = runs(c, me)
		heard = ask()
		answer <- "decline"
		<-heard
		c.notification("notifications/elicitation/complete", over("e-1"))
		if n := lists(); n != 2 || c.calls.remove(list[0], ErrCallEnded) {
			t.Errorf("%d lists after a visit that did not take place", n)
		}
		// One that was accepted may be over later, once.
		list = runs(c, me)
		heard = ask()
		answer <- "accept"
		<-heard
		c.calls.remove(list[0], ErrCallEnded)
		c.notification("notifications/elicitation/complete", over("e-1"))
		c.notification("notifications/elicitation/complete", over("e-1"))
		if n := lists(); n != 3 || len(c.visits.ids) != 0 || owner.heard() != 2 {
			t.Errorf("%d lists, %d news, open %v", n, owner.heard(), c.visits.ids)
		}
		c.Close()
	})
}

// A mode that the editor can't show is not offered, in either era, and asking in
// it is an error of the server that nobody sees.
func TestModesOffered(t *testing.T) {
	url := json.RawMessage(`{"mode":"url","elicitationId":"e","url":"https://a.test","message":"?"}`)
	for _, tc := range []struct {
		offer Questions
		caps  string
		fails []string // which of the modes
	}{
		{Questions{}, `{}`, []string{"form", "url"}},
		{Questions{Form: true}, `{"elicitation":{"form":{}}}`, []string{"url"}},
		{Questions{URL: true}, `{"elicitation":{"url":{}}}`, []string{"form"}},
		{Questions{Form: true, URL: true}, `{"elicitation":{"form":{},"url":{}}}`, nil},
	} {
		for _, modern := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var said string
				f := answers(func(method string, params json.RawMessage) string {
					var p struct {
						Capabilities json.RawMessage
						Meta         map[string]json.RawMessage `json:"_meta"`
					}
					_ = json.Unmarshal(params, &p)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case method == "server/discover" && modern:
						return `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
					case method == "initialize":
						said = string(p.Capabilities)
					case method == "tools/list" && modern:
						said = string(p.Meta["io.modelcontextprotocol/clientCapabilities"])
					}
					return ""
				})
				server := &config.Server{Name: "s", StartupTimeout: time.Minute, Stdio: &config.Stdio{Command: "s"}}
				owner := &listener{}
				c := Start(t.Context(), NewHost("test", "1", f, f), server, tc.offer, owner)
				_, _ = c.Await(t.Context())
				mu.Lock()
				if said != tc.caps {
					t.Errorf("%+v, modern %v: offered %s, want %s", tc.offer, modern, said, tc.caps)
				}
				mu.Unlock()
				me := says(protocol.AnswerAccept)
				list := runs(c, me)
				var fails []string
				for _, q := range []json.RawMessage{aQuestion, url} {
					if _, err := c.question(t.Context(), q, list, true); err != nil {
						mode := "form"
						if strings.Contains(string(q), "url") {
							mode = "url"
						}
						fails = append(fails, mode)
						if !strings.Contains(err.Error(), "was not offered by this client") {
							t.Error(err)
						}
					}
				}
				if !slices.Equal(fails, tc.fails) || len(me.asked) != 2-len(fails) || len(owner.warned) != len(fails) {
					t.Errorf("%+v: refused %v, want %v; asked %d, warned %q", tc.offer, fails, tc.fails, len(me.asked), owner.warned)
				}
				c.Close()
			})
		}
	}
}

// challenging is a server over HTTP that answers calls with a challenge until it
// is let in.
type challenging struct {
	fakeServer
	mu     sync.Mutex
	status int // 0 lets in; guarded by mu
	header []string
	key    string // the X-Token that is let in, "" for none
}

func (s *challenging) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	status := s.status
	s.mu.Unlock()
	if r.Method != http.MethodPost || status == 0 || s.key != "" && r.Header.Get("X-Token") == s.key {
		return s.fakeServer.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(string(body), `"tools/call"`) {
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		return s.fakeServer.RoundTrip(r)
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Www-Authenticate": s.header}, Body: http.NoBody, Request: r}, nil
}

// A call that is refused with 401 or 403, and a page for people, leads there by
// a question of the sidecar's own, and goes out once more when it is accepted.
// In all other cases the error is that of any call without authorization.
func TestChallengeNamesAPage(t *testing.T) {
	const page = `error="invalid_token", error_uri="https://a.test/login?x=1"`
	const text = "The docs MCP server wants authorization (HTTP 401). Open its page, and accept when you are done."
	url := Questions{URL: true}
	for name, tc := range map[string]struct {
		status  int
		header  []string
		says    protocol.AnswerAction
		offer   Questions
		stays   bool // refuses after the visit, too
		asked   string
		message string
		ok      bool
	}{
		"accepted":        {status: 401, header: []string{"Bearer " + page}, says: "accept", offer: url, asked: "https://a.test/login?x=1", message: text, ok: true},
		"with its words":  {status: 401, header: []string{"Bearer " + page + ", error_description=\"Log\u202e in\u0007 now\""}, says: "accept", offer: url, asked: "https://a.test/login?x=1", message: text + "\nThe server says: \"Log in now\"", ok: true},
		"forbidden":       {status: 403, header: []string{"Bearer ERROR_URI=https://a.test/x"}, says: "accept", offer: url, asked: "https://a.test/x", message: strings.Replace(text, "401", "403", 1), ok: true},
		"the second one":  {status: 401, header: []string{`Basic realm="x"`, "Bearer " + page}, says: "accept", offer: url, asked: "https://a.test/login?x=1", message: text, ok: true},
		"declined":        {status: 401, header: []string{"Bearer " + page}, says: "decline", offer: url, asked: "https://a.test/login?x=1", message: text},
		"cancelled":       {status: 401, header: []string{"Bearer " + page}, says: "cancel", offer: url, asked: "https://a.test/login?x=1", message: text},
		"again":           {status: 401, header: []string{"Bearer " + page}, says: "accept", offer: url, stays: true, asked: "https://a.test/login?x=1", message: text},
		"no page":         {status: 401, header: []string{`Bearer error="invalid_token"`}, says: "accept", offer: url},
		"no challenge":    {status: 401, says: "accept", offer: url},
		"an empty page":   {status: 401, header: []string{`Bearer error_uri=""`}, says: "accept", offer: url},
		"a script":        {status: 401, header: []string{`Bearer error_uri="javascript:alert(1)"`}, says: "accept", offer: url, asked: "javascript:alert(1)", message: text},
		"not offered":     {status: 401, header: []string{"Bearer " + page}, says: "accept", offer: Questions{Form: true}},
		"another status":  {status: 500, header: []string{"Bearer " + page}, says: "accept", offer: url},
		"a long sentence": {status: 401, header: []string{"Bearer " + page + `, error_description="` + strings.Repeat("x", 2000) + `"`}, says: "accept", offer: url, asked: "https://a.test/login?x=1", message: text + "\nThe server says: \"" + strings.Repeat("x", maxSaid-3) + "…\"", ok: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &guarded{refuse: func(int) string { return "" }}
				s := &challenging{fakeServer: g.fake(), status: tc.status, header: tc.header}
				server := &config.Server{Name: "docs", StartupTimeout: 30 * time.Second, HTTP: &config.HTTP{URL: "http://s.test/mcp"}}
				c := Start(t.Context(), NewHost("test", "1", nil, s), server, tc.offer, silent{})
				if status, err := c.Await(t.Context()); err != nil || status.State != protocol.ServerConnected {
					t.Fatalf("%+v, %v", status, err)
				}
				me := &scripted{verdict: asks, act: func(q elicit.Question, _ elicit.Verdict) (elicit.Answer, error) {
					s.mu.Lock()
					defer s.mu.Unlock()
					if !tc.stays {
						s.status = 0
					}
					_, err := elicit.Prepare(q)
					return elicit.Answer{Action: tc.says}, err
				}}
				result, err := c.CallTool(t.Context(), Call{ID: "1", Token: "1", Caller: me, Params: json.RawMessage(`{"name":"t"}`)})
				var asked, message string
				if len(me.asked) > 0 {
					q := me.asked[0]
					asked, message = q.URL, q.Message
					if q.Mode != protocol.QuestionURL || q.ElicitationID == "" || !q.Certain || q.CallID != "1" || q.Meta != nil {
						t.Errorf("asked %+v", q)
					}
				}
				if asked != tc.asked || message != tc.message || len(me.asked) > 1 {
					t.Errorf("asked %d times for %q: %q, want %q: %q", len(me.asked), asked, message, tc.asked, tc.message)
				}
				kind := protocol.KindAuthRequired
				if tc.status == 500 {
					kind = protocol.KindHTTPStatus
				}
				var e *protocol.Error
				if tc.ok != (err == nil) || err != nil && (!errors.As(err, &e) || e.Data.Kind != kind) {
					t.Errorf("got %s, %v", result, err)
				}
				if lists := g.count("tools/list"); (lists == 2) != (tc.ok || tc.stays) {
					t.Errorf("%d lists", lists)
				}
				c.Close()
			})
		})
	}
}
