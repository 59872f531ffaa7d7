package upstream

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/process"
)

// An inquirer is a server whose tool asks for the number that it was called
// with, and answers with what it was told. It is a Spawner and an
// http.RoundTripper.
type inquirer struct {
	modern bool

	mu      sync.Mutex // guards the fields below
	waiting map[string]chan json.RawMessage
	running map[string]context.CancelFunc // stdio: requests by id
	wrong   []string
}

type anyMessage struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
}

func (s *inquirer) complain(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
}

// serve handles one message. send takes what is to be sent for it.
func (s *inquirer) serve(ctx context.Context, m anyMessage, send func(string)) {
	result := func(format string, args ...any) {
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, fmt.Sprintf(format, args...)))
	}
	switch m.Method {
	case "":
		s.mu.Lock()
		ch := s.waiting[string(m.ID)]
		delete(s.waiting, string(m.ID))
		s.mu.Unlock()
		if ch == nil {
			s.complain("an answer to nothing: %s", m.ID)
			return
		}
		ch <- m.Result
	case "server/discover":
		if !s.modern {
			send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID))
			return
		}
		result(`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
	case "initialize":
		result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}`)
	case "tools/list":
		result(`{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`)
	case "tools/call":
		s.call(ctx, m, send, result)
	}
}

// call asks "N" in the way of the era, expects {"n":N}, and answers with N.
func (s *inquirer) call(ctx context.Context, m anyMessage, send func(string), result func(string, ...any)) {
	var p struct {
		Arguments      struct{ N, Withdraw int }
		InputResponses map[string]json.RawMessage
		RequestState   string
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		s.complain("params %s: %v", m.Params, err)
		return
	}
	n := p.Arguments.N
	question := fmt.Sprintf(`{"message":"%d","requestedSchema":{"type":"object","properties":{"n":{"type":"integer"}}}}`, n)
	check := func(answer json.RawMessage) {
		var a struct {
			Action  string
			Content struct{ N int }
		}
		if json.Unmarshal(answer, &a) != nil || a.Action != "accept" || a.Content.N != n {
			s.complain("call %d was answered with %s", n, answer)
		}
	}
	if s.modern {
		if p.InputResponses == nil {
			result(`{"resultType":"input_required","requestState":"<%d> ","inputRequests":{"q":{"method":"elicitation/create","params":%s}}}`, n, question)
			return
		}
		if want := fmt.Sprintf("<%d> ", n); p.RequestState != want {
			s.complain("call %d came back with the state %q", n, p.RequestState)
		}
		check(p.InputResponses["q"])
	} else {
		id := fmt.Sprintf(`"q-%d"`, n)
		answer := make(chan json.RawMessage, 1)
		s.mu.Lock()
		s.waiting[id] = answer
		s.mu.Unlock()
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":%s}`, id, question))
		select {
		case a := <-answer:
			check(a)
		case <-ctx.Done():
			if p.Arguments.Withdraw == 1 {
				send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
			}
			return
		}
	}
	result(`{"content":[{"type":"text","text":"%d"}]}`, n)
}

// Spawn implements Spawner.
func (s *inquirer) Spawn(context.Context, process.Spec) (Child, error) {
	c := &fakeChild{exited: make(chan struct{})}
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	c.stdin, c.stdout = stdin, stdout
	ctx, cancel := context.WithCancel(context.Background())
	var writing sync.Mutex
	send := func(line string) {
		writing.Lock()
		defer writing.Unlock()
		_, _ = io.WriteString(out, line+"\n") // a client that is gone is no matter
	}
	go func() { // ends with stdin
		defer close(c.exited)
		defer out.Close()
		defer cancel()
		for lines := bufio.NewScanner(in); lines.Scan(); {
			var m anyMessage
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				s.complain("%s: %v", lines.Bytes(), err)
			}
			if m.Method == "notifications/cancelled" {
				var p struct{ RequestID json.RawMessage }
				_ = json.Unmarshal(m.Params, &p)
				s.mu.Lock()
				if stop := s.running[string(p.RequestID)]; stop != nil {
					stop()
				}
				s.mu.Unlock()
				continue
			}
			ctx, stop := context.WithCancel(ctx)
			if m.Method != "" {
				s.mu.Lock()
				s.running[string(m.ID)] = stop
				s.mu.Unlock()
			}
			go func() { defer stop(); s.serve(ctx, m, send) }()
		}
	}()
	return c, nil
}

// RoundTrip implements http.RoundTripper: calls are answered by event streams.
func (s *inquirer) RoundTrip(r *http.Request) (*http.Response, error) {
	resp := &http.Response{StatusCode: 405, Header: http.Header{}, Body: http.NoBody, Request: r}
	if r.Method != http.MethodPost {
		return resp, nil
	}
	var m anyMessage
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
		return nil, err
	}
	resp.StatusCode = 200
	if m.Method == "" || m.ID == nil {
		resp.StatusCode = 202
		s.serve(r.Context(), m, nil)
		return resp, nil
	}
	read, write := io.Pipe()
	resp.Header.Set("Content-Type", "text/event-stream")
	resp.Body = read
	go func() { // ends with the answer or the request
		stop := context.AfterFunc(r.Context(), func() { write.CloseWithError(r.Context().Err()) })
		defer stop()
		defer write.Close()
		s.serve(r.Context(), m, func(line string) { fmt.Fprintf(write, "data: %s\n\n", line) })
	}()
	return resp, nil
}

// A crowd is everybody who makes calls in a stress test, and the people who are
// asked.
type crowd struct {
	certain bool

	mu    sync.Mutex // guards the fields below
	open  map[int]chan elicit.Answer
	wrong []string
}

func (w *crowd) complain(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// one is a Caller of the crowd.
type one struct {
	*crowd
	n           int
	held, holds int // now and in all; guarded by crowd.mu
}

func (*one) Judge(elicit.Question) elicit.Verdict { return elicit.Verdict{Decision: elicit.Ask} }

func (o *one) Hold() (resume func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.held++
	o.holds++
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.held--
	}
}

func callName(n int) protocol.CallID { return protocol.CallID("c-" + strconv.Itoa(n)) }

// Question waits for the answer, or the end.
func (o *one) Question(ctx context.Context, q elicit.Question, v elicit.Verdict) (elicit.Answer, error) {
	about, err := strconv.Atoi(q.Message)
	switch {
	case err != nil || v.Decision != elicit.Ask || q.Certain != o.certain || q.CallID != callName(o.n):
		o.complain("%d is asked %+v", o.n, q)
	case o.certain && (about != o.n || len(q.Candidates) != 0):
		o.complain("%d is asked what %d should be: %+v", o.n, about, q)
	case !o.certain && (q.Candidates[0] != q.CallID || !slices.Contains(q.Candidates, callName(about))):
		o.complain("the question of %d has the candidates %v", about, q.Candidates)
	}
	ch := make(chan elicit.Answer, 1)
	o.mu.Lock()
	o.open[about] = ch
	o.mu.Unlock()
	select {
	case a := <-ch:
		return a, nil
	case <-ctx.Done():
		return elicit.Answer{Action: protocol.AnswerCancel}, nil
	}
}

// Eight threads make 200 calls on one connection, all of which ask, and are
// answered in any order or given up. Every answer arrives at the call whose
// question it answers. Who the call is is certain wherever the protocol tells,
// and right; where it does not, the true one is among the candidates. Nothing is
// left behind: the bubble ends only when all goroutines have.
func TestQuestionsOfManyCallers(t *testing.T) {
	const threads, each = 8, 25
	for name, tc := range map[string]struct{ modern, http, certain bool }{
		"2026 over stdio": {modern: true, certain: true},
		"2026 over HTTP":  {modern: true, http: true, certain: true},
		"2025 over HTTP":  {http: true, certain: true},
		"2025 over stdio": {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				order := rand.New(rand.NewPCG(1, 2))
				s := &inquirer{modern: tc.modern, waiting: map[string]chan json.RawMessage{}, running: map[string]context.CancelFunc{}}
				server := &config.Server{Name: "s", StartupTimeout: time.Minute}
				if tc.http {
					server.HTTP = &config.HTTP{URL: "http://s.test/mcp"}
				} else {
					server.Stdio = &config.Stdio{Command: "s"}
				}
				c := Start(t.Context(), NewHost("test", "1", s, s), server, Questions{Form: true}, panicking{})
				if status, err := c.Await(t.Context()); err != nil || status.State != protocol.ServerConnected {
					t.Fatalf("%+v, %v", status, err)
				}
				w := &crowd{certain: tc.certain, open: map[int]chan elicit.Answer{}}
				callers, cancels := make([]*one, threads*each), make([]context.CancelFunc, threads*each)
				var all sync.WaitGroup
				var mu sync.Mutex
				answered := map[int]bool{} // guarded by mu
				for n := range callers {
					me := &one{crowd: w, n: n}
					ctx, cancel := context.WithCancel(t.Context())
					callers[n], cancels[n] = me, cancel
					all.Go(func() {
						token := fmt.Sprintf("t-%d/%d", n/each, n)
						result, err := c.CallTool(ctx, Call{ID: callName(n), Token: token, Caller: me,
							Params: fmt.Appendf(nil, `{"_meta":{"progressToken":%q},"name":"t","arguments":{"n":%d,"withdraw":%d}}`, token, n, n%2)})
						mu.Lock()
						defer mu.Unlock()
						if want := fmt.Sprintf(`"text":"%d"`, n); answered[n] != (err == nil && strings.Contains(string(result), want)) {
							t.Errorf("call %d, answered %v, ended with %s, %v", n, answered[n], result, err)
						}
					})
				}
				synctest.Wait()
				for _, n := range order.Perm(len(callers)) {
					w.mu.Lock()
					ch := w.open[n]
					w.mu.Unlock()
					switch {
					case ch == nil:
						t.Errorf("nobody was asked for call %d", n)
						cancels[n]()
					case order.IntN(4) == 0:
						cancels[n]() // never answered
					default:
						mu.Lock()
						answered[n] = true
						mu.Unlock()
						ch <- elicit.Answer{Action: protocol.AnswerAccept, Content: fmt.Appendf(nil, `{"n":%d}`, n)}
					}
					if order.IntN(3) == 0 {
						synctest.Wait()
					}
				}
				all.Wait()
				synctest.Wait()
				for n, cancel := range cancels {
					cancel()
					if o := callers[n]; o.held != 0 || o.holds == 0 || tc.certain && o.holds != 1 {
						t.Errorf("the clock of call %d was held %d times, and %d still hold it", n, o.holds, o.held)
					}
				}
				if len(c.calls.questions) != 0 || len(c.calls.running) != 0 || len(c.calls.tokens) != 0 {
					t.Errorf("left: %d questions, %d calls", len(c.calls.questions), len(c.calls.running))
				}
				c.Close()
				for _, text := range append(s.wrong, w.wrong...) {
					t.Error(text)
				}
			})
		})
	}
}
