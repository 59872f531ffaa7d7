package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A scripted Caller: it judges as it is told, and answers with act, or, without
// it, when the question ends.
type scripted struct {
	verdict elicit.Verdict
	act     func(elicit.Question, elicit.Verdict) (elicit.Answer, error)

	mu    sync.Mutex // guards the fields below
	asked []elicit.Question
	by    []elicit.Verdict
	held  int
	holds int
}

func (s *scripted) Judge(elicit.Question) elicit.Verdict { return s.verdict }

func (s *scripted) Question(ctx context.Context, q elicit.Question, v elicit.Verdict) (elicit.Answer, error) {
	s.mu.Lock()
	s.asked, s.by = append(s.asked, q), append(s.by, v)
	s.mu.Unlock()
	if s.act != nil {
		return s.act(q, v)
	}
	<-ctx.Done()
	return elicit.Answer{Action: protocol.AnswerCancel}, nil
}

func (s *scripted) Hold() (resume func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held++
	s.holds++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.held--
	}
}

func (s *scripted) state() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, q := range s.asked {
		names = append(names, fmt.Sprintf("%s%v", q.CallID, q.Candidates))
	}
	return fmt.Sprintf("asked %s, held %d of %d", strings.Join(names, " "), s.held, s.holds)
}

var asks = elicit.Verdict{Decision: elicit.Ask}

// runs enters calls 1, 2, … of callers.
func runs(c *Client, callers ...*scripted) []*inflight {
	var list []*inflight
	for i, s := range callers {
		id := fmt.Sprint(i + 1)
		list = append(list, c.calls.add(Call{ID: protocol.CallID(id), Token: id, Caller: s}))
	}
	return list
}

// O085: a question that any of several calls may have caused goes to the caller of the
// most recent, names all, and stops the clocks of all until the last of them has
// ended. Only the call that a question is certain to come from stands still for
// it.
func TestWhoIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p, _ := asking(t, protocol.ServerConnected)
		a, b, d := &scripted{verdict: asks}, &scripted{verdict: asks}, &scripted{verdict: asks}
		list := runs(c, a, b, d)
		ask := func(from []*inflight, certain bool) chan string {
			answer := make(chan string, 1)
			go func() {
				raw, err := c.question(t.Context(), aQuestion, from, certain)
				answer <- fmt.Sprint(string(raw), err)
			}()
			synctest.Wait()
			return answer
		}
		unsure := ask(c.calls.candidates(), false)
		if d.state() != "asked 3[3 2 1], held 1 of 1" || a.state() != "asked , held 1 of 1" || b.state() != "asked , held 1 of 1" {
			t.Errorf("1 %s; 2 %s; 3 %s", a.state(), b.state(), d.state())
		}
		sure := ask(list[:1], true)
		if a.state() != "asked 1[], held 2 of 2" || b.state() != "asked , held 1 of 1" || !a.asked[0].Certain {
			t.Errorf("1 %s; 2 %s; 3 %s", a.state(), b.state(), d.state())
		}
		c.calls.remove(list[0], ErrCallEnded)
		if got := <-sure; got != `{"action":"cancel"}<nil>` || a.state() != "asked 1[], held 1 of 2" {
			t.Errorf("%s; 1 %s", got, a.state())
		}
		c.calls.remove(list[2], ErrCallEnded) // whose caller is asked: the others may still have caused it
		synctest.Wait()
		if len(unsure) != 0 || b.state() != "asked , held 1 of 1" {
			t.Error("the question ended with one of its candidates")
		}
		c.calls.remove(list[1], ErrCallEnded)
		if got := <-unsure; got != `{"action":"cancel"}<nil>` || a.held+b.held+d.held != 0 || len(p.asked) != 0 {
			t.Errorf("%s; 1 %s; 2 %s; 3 %s", got, a.state(), b.state(), d.state())
		}
	})
}

// The strictest policy of all who may have caused a question holds, whoever is
// asked. Nobody's clock stops for what no person is asked.
func TestStrictestCaller(t *testing.T) {
	decided := func(_ elicit.Question, v elicit.Verdict) (elicit.Answer, error) { return v.Answer(), nil }
	for _, tc := range []struct {
		verdicts []elicit.Decision // of the older and the newer call
		want     elicit.Decision
	}{
		{[]elicit.Decision{elicit.Decline, elicit.Ask}, elicit.Decline},
		{[]elicit.Decision{elicit.Ask, elicit.Decline}, elicit.Decline},
		{[]elicit.Decision{elicit.Decline, elicit.Allow}, elicit.Decline},
		{[]elicit.Decision{elicit.Ask, elicit.Allow}, elicit.Ask},
		{[]elicit.Decision{elicit.Allow, elicit.Allow}, elicit.Allow},
	} {
		c, _, _ := asking(t, protocol.ServerConnected)
		a, b := &scripted{act: decided}, &scripted{act: decided}
		a.verdict.Decision, b.verdict.Decision = tc.verdicts[0], tc.verdicts[1]
		runs(c, a, b)
		raw, err := c.question(t.Context(), aQuestion, c.calls.candidates(), false)
		accepted := string(raw) == `{"action":"accept","content":{}}`
		if err != nil || len(a.asked) != 0 || len(b.by) != 1 || b.by[0].Decision != tc.want || accepted != (tc.want == elicit.Allow) {
			t.Errorf("%v: the newer is asked by %v, the server hears %s, %v", tc.verdicts, b.by, raw, err)
		}
		if held := a.holds == 1 && b.holds == 1; held != (tc.want == elicit.Ask) || a.holds != b.holds {
			t.Errorf("%v: clocks were held %d and %d times", tc.verdicts, a.holds, b.holds)
		}
	}
}

// When the thread of the caller that is asked closes, the next one is asked; its
// closing is nobody's answer.
func TestCallerGone(t *testing.T) {
	gone := func(elicit.Question, elicit.Verdict) (elicit.Answer, error) { return elicit.Answer{}, ErrCallerGone }
	yes := func(elicit.Question, elicit.Verdict) (elicit.Answer, error) {
		return elicit.Answer{Action: protocol.AnswerAccept, Content: json.RawMessage(`{"a":1}`)}, nil
	}
	c, p, _ := asking(t, protocol.ServerConnected)
	a, b := &scripted{verdict: asks, act: yes}, &scripted{verdict: asks, act: gone}
	list := runs(c, a, b)
	raw, err := c.question(t.Context(), aQuestion, c.calls.candidates(), false)
	if string(raw) != `{"action":"accept","content":{"a":1}}` || err != nil || a.state() != "asked 1[2 1], held 0 of 1" {
		t.Errorf("got %s, %v; 1 %s", raw, err, a.state())
	}
	// One that is certain is never another's.
	raw, err = c.question(t.Context(), aQuestion, list[1:], true)
	if string(raw) != `{"action":"cancel"}` || err != nil || len(a.asked) != 1 || len(p.asked) != 0 {
		t.Errorf("got %s, %v; 1 %s", raw, err, a.state())
	}
}

// Only what ran when a question came can have caused it: a call that starts
// before it is put is no candidate, and when all that ran have ended, nobody is
// asked.
func TestLateCallIsNoCandidate(t *testing.T) {
	var o origins
	c, p, _ := asking(t, protocol.ServerConnected)
	a, b := &scripted{verdict: asks, act: func(elicit.Question, elicit.Verdict) (elicit.Answer, error) {
		return elicit.Answer{Action: protocol.AnswerDecline}, nil
	}}, &scripted{verdict: asks}
	list := runs(c, a)
	token := o.note(methodElicit, aQuestion, c.calls.candidates, false)
	runs(c, b)
	from, ok := o.take(token)
	if _, err := c.question(t.Context(), from.params, from.from, from.certain); !ok || err != nil || a.state() != "asked 1[1], held 0 of 1" || b.state() != "asked , held 0 of 0" {
		t.Errorf("%v; 1 %s; 2 %s", err, a.state(), b.state())
	}
	c.calls.remove(list[0], nil)
	if raw, err := c.question(t.Context(), from.params, from.from, from.certain); string(raw) != `{"action":"cancel"}` || err != nil || len(p.asked) != 0 || len(b.asked) != 0 {
		t.Errorf("got %s, %v", raw, err)
	}
}

// A question of another request than a call is put to the caller of that, not to
// the owner, and is no call's.
func TestQuestionOfARequest(t *testing.T) {
	c, p, _ := asking(t, protocol.ServerConnected)
	w := &requesting{answers: []string{
		`{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":` + string(aQuestion) + `}}}`,
		`{"messages":[]}`}}
	c.wire = w
	call, request := &scripted{verdict: asks}, &scripted{verdict: asks, act: func(elicit.Question, elicit.Verdict) (elicit.Answer, error) {
		return elicit.Answer{Action: protocol.AnswerAccept}, nil
	}}
	runs(c, call)
	if _, err := c.Request(t.Context(), request, "prompts/get", json.RawMessage(`{"name":"p"}`)); err != nil {
		t.Fatal(err)
	}
	if request.state() != "asked [], held 0 of 1" || request.asked[0].Certain || call.holds != 0 || len(p.asked) != 0 {
		t.Errorf("the request %s; the call %s", request.state(), call.state())
	}
	if want := `{"inputResponses":{"q":{"action":"accept","content":{}}},"name":"p"}`; w.got[1] != want {
		t.Errorf("got %s, want %s", w.got[1], want)
	}
	// Beside a call, a request is a candidate without a name.
	c.calls.add(Call{Caller: request})
	call.act = request.act
	if _, err := c.question(t.Context(), aQuestion, c.calls.candidates(), false); err != nil {
		t.Fatal(err)
	}
	if call.state() != "asked 1[1], held 0 of 1" || request.holds != 2 {
		t.Errorf("the request %s; the call %s", request.state(), call.state())
	}
}

// requesting is a wire of the newer era that gives one answer after the other.
type requesting struct {
	wire
	answers []string
	got     []string
}

func (w *requesting) request(_ context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
	w.got = append(w.got, string(params))
	return json.RawMessage(w.answers[min(len(w.got), len(w.answers))-1]), nil
}
func (*requesting) modern() bool          { return true }
func (*requesting) lost() <-chan struct{} { return nil }

// Rounds end, and bring back what they are given, byte for byte; one request
// that is declined, or that can't be asked, does not take the others along.
func TestRounds(t *testing.T) {
	form := func(message string) string {
		return `{"method":"elicitation/create","params":{"message":"` + message + `","requestedSchema":{"type":"object","properties":{}}}}`
	}
	for name, tc := range map[string]struct {
		answers []string
		sent    []string
		fails   protocol.Kind
		quiet   bool // nobody may be asked
	}{
		"a state alone": {
			answers: []string{`{"resultType":"input_required","requestState":" \u0041<12345678901234567890> "}`, `{"content":[]}`},
			sent:    []string{`{"name":"t"}`, `{"requestState":" \u0041<12345678901234567890> ","name":"t"}`}},
		"an empty state": {
			answers: []string{`{"resultType":"input_required","requestState":""}`, `{"content":[]}`},
			sent:    []string{`{"name":"t"}`, `{"requestState":"","name":"t"}`}},
		"neither": {
			answers: []string{`{"resultType":"input_required"}`, `{"content":[]}`},
			sent:    []string{`{"name":"t"}`, `{"name":"t"}`}},
		"a state that goes away": {
			answers: []string{`{"resultType":"input_required","requestState":"1"}`, `{"resultType":"input_required"}`, `{"content":[]}`},
			sent:    []string{`{"name":"t"}`, `{"requestState":"1","name":"t"}`, `{"name":"t"}`}},
		"no requests": {
			answers: []string{`{"resultType":"input_required","inputRequests":{},"requestState":"s"}`, `{"content":[]}`},
			sent:    []string{`{"name":"t"}`, `{"requestState":"s","name":"t"}`}},
		"one declined, one refused": {
			answers: []string{`{"resultType":"input_required","inputRequests":{"b":` + form("yes") + `,"a":` + form("no") +
				`,"c":{"method":"elicitation/create","params":{"mode":"odd","message":"?"}}},"requestState":"s"}`, `{"content":[]}`},
			sent: []string{`{"name":"t"}`,
				`{"inputResponses":{"b":{"action":"accept","content":{"x":1.0}},"a":{"action":"decline"},"c":{"action":"decline"}},"requestState":"s","name":"t"}`}},
		"an unknown method": {
			answers: []string{`{"resultType":"input_required","inputRequests":{"a":` + form("yes") + `,"r":{"method":"roots/list"}}}`},
			sent:    []string{`{"name":"t"}`}, fails: protocol.KindProtocolError, quiet: true},
		"an unknown result": {
			answers: []string{`{"resultType":"task"}`}, sent: []string{`{"name":"t"}`}, fails: protocol.KindProtocolError},
		"without end": {
			answers: []string{`{"resultType":"input_required","requestState":"1"}`},
			sent:    append([]string{`{"name":"t"}`}, slices.Repeat([]string{`{"requestState":"1","name":"t"}`}, MaxRounds-1)...), fails: protocol.KindProtocolError},
	} {
		c, _, _ := asking(t, protocol.ServerConnected)
		w := &requesting{answers: tc.answers}
		c.wire, c.owner = w, silent{}
		me := &scripted{verdict: asks, act: func(q elicit.Question, _ elicit.Verdict) (elicit.Answer, error) {
			if q.Message == "no" {
				return elicit.Answer{Action: protocol.AnswerDecline}, nil
			}
			return elicit.Answer{Action: protocol.AnswerAccept, Content: json.RawMessage(`{"x":1.0}`)}, nil
		}}
		result, err := c.CallTool(t.Context(), Call{ID: "1", Token: "1", Params: json.RawMessage(`{"name":"t"}`), Caller: me})
		if e, _ := err.(*protocol.Error); !slices.Equal(w.got, tc.sent) || (tc.fails == "") != (err == nil) || e != nil && e.Data.Kind != tc.fails {
			t.Errorf("%s: got %s, %v after sending\n%s\nwant\n%s", name, result, err, strings.Join(w.got, "\n"), strings.Join(tc.sent, "\n"))
		}
		if tc.quiet && len(me.asked) > 0 {
			t.Errorf("%s: somebody was asked in vain", name)
		}
	}
}

// What a server asks beside questions leaves nothing behind, and what the SDK
// refuses before the handler hears of it is bounded.
func TestOrigins(t *testing.T) {
	var o origins
	from := func() []*inflight { t.Error("a ping was looked into"); return nil }
	for range 10 {
		if token := o.note("ping", json.RawMessage(`{}`), from, false); token != "" {
			t.Errorf("a ping got the token %q", token)
		}
	}
	var last string
	for range 2 * maxOrigins {
		last = o.note(methodElicit, json.RawMessage(`{}`), func() []*inflight { return nil }, false)
	}
	if len(o.m) != maxOrigins {
		t.Errorf("%d are kept, want %d", len(o.m), maxOrigins)
	}
	if _, ok := o.take(last); !ok || len(o.m) != maxOrigins-1 {
		t.Errorf("the last is there: %v; %d are left", ok, len(o.m))
	}
}
