package stdio

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const smallLimit = 100_000

// A line above the limit fails the call it belongs to before it has ended, and
// nothing else; wherever its id stands, and whatever it holds.
func TestTooLarge(t *testing.T) {
	fill := `"text":"` + strings.Repeat(`\"id\":1,`, smallLimit/5) + `"`
	inner := `{"id":5,"method":"x",` + fill + `,"k":[{"id":6}],"end":"\\"}`
	for _, test := range []struct {
		name   string
		format string // of the id
		others int    // further calls under way
		early  bool   // fails before the line ends
	}{
		{"id first", `{"jsonrpc":"2.0","id":%s,"result":` + inner + `}`, 2, true},
		{"id as a string", `{"jsonrpc":"2.0","id":"%s","result":` + inner + `}`, 2, true},
		{"id last", `{"result":` + inner + `,"jsonrpc":"2.0","id":%s}`, 2, false},
		{"id last with spaces", `{"result":` + inner + ` , "jsonrpc" : "2.0", "id" : %s } `, 2, false},
		{"id last, one call", `{"result":` + inner + `,"jsonrpc":"2.0","id":%s}`, 0, true},
		{"no id, one call", `{"result":` + inner + `,"n":1%.0s}`, 0, true},
		{"not JSON at all", strings.Repeat("noise", smallLimit) + "%.0s", 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var noise []Noise
				c, p := newPair(t, Options{MaxLine: smallLimit, OnNoise: func(n Noise) { noise = append(noise, n) }})
				var others []<-chan reply
				var ids []string
				for range test.others {
					others = append(others, begin(t.Context(), c, "other", ""))
					ids = append(ids, string(p.recv().ID))
				}
				done := begin(t.Context(), c, "x", "")
				line := fmt.Sprintf(test.format, p.recv().ID)
				size := len(line)
				check := func() {
					t.Helper()
					var large *ResultTooLargeError
					if r := <-done; !errors.As(r.err, &large) || large.Limit != smallLimit || large.Size <= smallLimit || large.Size > size {
						t.Errorf("Call = %#v, want a ResultTooLargeError", r.err)
					}
				}
				if test.early {
					p.send(line)
					check()
				} else {
					p.send(line)
					synctest.Wait()
					select {
					case r := <-done:
						t.Fatalf("Call = %v before its id was seen", r.err)
					default:
					}
					p.send("\n")
					check()
				}
				if test.early {
					p.send("\n")
				}
				for i, other := range others {
					p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%d}`+"\n", ids[i], i))
					(<-other).want(t, fmt.Sprint(i))
				}
				synctest.Wait()
				if len(noise) != 1 || noise[0].Size != len(line) {
					t.Errorf("noise = %+v, want one of %d bytes", noise, len(line))
				}
			})
		})
	}
}

// A large notification, or an answer of which nothing is known among several
// calls, fails none of them.
func TestTooLargeOfNobody(t *testing.T) {
	fill := strings.Repeat("x", smallLimit)
	for _, test := range []struct {
		name, line string
		calls      int
	}{
		{"notification", `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + fill + `"}}`, 1},
		{"notification, method last", `{"params":{"data":"` + fill + `"},"id":1,"method":"x"}`, 2},
		{"no id, two calls", `{"result":"` + fill + `"}`, 2},
		{"an unknown id", `{"id":12,"result":"` + fill + `"}`, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c, p := newPair(t, Options{MaxLine: smallLimit})
				var waiting []<-chan reply
				var ids []string
				for range test.calls {
					waiting = append(waiting, begin(t.Context(), c, "x", ""))
					ids = append(ids, string(p.recv().ID))
				}
				p.send(test.line + "\n")
				for i, done := range waiting {
					p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%d}`+"\n", ids[i], i))
					(<-done).want(t, fmt.Sprint(i))
				}
			})
		})
	}
}

// A call of the SDK fails the same way, and a line at the limit is no error.
func TestTooLargeForTheSDK(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{MaxLine: smallLimit})
		id, _ := jsonrpc.MakeID(float64(3))
		if err := c.Write(t.Context(), &jsonrpc.Request{ID: id, Method: "tools/list"}); err != nil {
			t.Fatal(err)
		}
		p.recv()
		p.send(`{"jsonrpc":"2.0","id":3,"result":"` + strings.Repeat("x", smallLimit) + `"}` + "\n")
		msg, err := c.Read(t.Context())
		response, ok := msg.(*jsonrpc.Response)
		var large *ResultTooLargeError
		if err != nil || !ok || response.ID != id || !errors.As(response.Error, &large) {
			t.Errorf("Read = %#v, %v", msg, err)
		}

		for extra, fits := range []bool{true, false} {
			done := begin(t.Context(), c, "x", "")
			head := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":"`, p.recv().ID)
			fill := strings.Repeat("x", smallLimit-len(head)-2+extra)
			p.send(head + fill + `"}` + "\n")
			if r := <-done; (r.err == nil) != fits {
				t.Errorf("with %d bytes above the limit: %v", extra, r.err)
			}
		}
	})
}

// An answer that is not JSON fails its call at once.
func TestMalformedAnswer(t *testing.T) {
	for _, format := range []string{
		`{"jsonrpc":"2.0","id":%s,"result":{"value":NaN}}`,
		`{"result":{"value":NaN},"jsonrpc":"2.0","id":%s}`,
		`{"jsonrpc":"2.0","id":%s,"result":{"text":"cut`,
		`{"jsonrpc":"2.0","id":%s}`,
	} {
		bubble(t, func(t *testing.T) {
			c, p := newPair(t, Options{})
			other := begin(t.Context(), c, "other", "")
			id := p.recv().ID
			done := begin(t.Context(), c, "x", "")
			p.send(fmt.Sprintf(format, p.recv().ID) + "\n")
			var malformed *MalformedResultError
			if r := <-done; !errors.As(r.err, &malformed) {
				t.Errorf("%s: %v, want a MalformedResultError", format, r.err)
			}
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":1}`+"\n", id))
			(<-other).want(t, "1")
		})
	}
}

// Servers that write a message and its newline apart, on two threads, put two
// on a line: each is taken, and what is no message is told and skipped.
func TestSeveralOnALine(t *testing.T) {
	for name, tc := range map[string]struct{ before, after, noise string }{
		"a notification after":  {after: ` {"jsonrpc":"2.0","method":"y"}`},
		"a notification before": {before: `{"jsonrpc":"2.0","method":"y"}`},
		"another encoding":      {before: "{\"jsonrpc\":\"2.0\",\"method\":\"\xe4\"}"},
		"blanks after":          {after: " \t"},
		"text after":            {after: `DEBUG done`, noise: "text after a message"},
		"a log object before":   {before: `{"level":"info"} `, noise: "neither a method nor an id"},
		"half a message after":  {after: `{"jsonrpc":"2.0","id":`, noise: "json: unexpected end"},
		"a batch after":         {after: `[]`, noise: "text after a message"},
		"no end of them":        {after: strings.Repeat(`{"jsonrpc":"2.0","method":"y"}`, maxBatch), noise: "too many messages on a line"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var noise []Noise
				c, p := newPair(t, Options{
					OnNoise:        func(n Noise) { noise = append(noise, n) },
					OnNotification: func(string, json.RawMessage) bool { return true },
				})
				one, two := begin(t.Context(), c, "x", ""), begin(t.Context(), c, "x", "")
				answer := func(id json.RawMessage, result int) string {
					return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%d}`, id, result)
				}
				first, second := p.recv().ID, p.recv().ID
				p.send(tc.before + answer(first, 1) + answer(second, 2) + tc.after + "\n")
				results := string((<-one).result) + string((<-two).result)
				if results != "12" && results != "21" {
					t.Errorf("got %s, want both answers", results)
				}
				synctest.Wait()
				switch {
				case tc.noise == "" && len(noise) != 0:
					t.Errorf("noise = %+v, want none", noise)
				case tc.noise != "" && (len(noise) != 1 || noise[0].Reason[:min(len(noise[0].Reason), len(tc.noise))] != tc.noise):
					t.Errorf("noise = %+v, want one: %s", noise, tc.noise)
				}
			})
		})
	}
}

// A large result is one piece of memory, and its neighbours are not touched.
func TestLargeResults(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{})
		want := `{"content":[{"type":"text","text":"` + strings.Repeat("line\\n", 1<<20) + `"}]}`
		for range 2 {
			done := begin(t.Context(), c, "x", "")
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", p.recv().ID, want))
			r := <-done
			r.want(t, want)
			if cap(r.result) != len(r.result) {
				t.Errorf("the result can grow over what follows it in its line")
			}
		}
	})
}

// On any valid object both ends give the id that a full reading gives, and on
// any bytes neither panics.
func FuzzSalvage(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"result":{"id":8,"a":[1,{"id":9}]}}`))
	f.Add([]byte(`{"result":{"id":8,"t":"\"id\":1,\\"},"jsonrpc":"2.0","id":"x\"y\\"}`))
	f.Add([]byte(` { "id" : -1.5e3 , "method" : "x" } `))
	f.Add([]byte(`{"id":true,"a":{"b":"}"}}`))
	f.Add([]byte(`{"\\":"\\\\","id":null}`))
	f.Add([]byte(`{"id":1`))
	f.Fuzz(func(t *testing.T, data []byte) {
		head, tail := fromHead(data), fromTail(data)
		var id []byte
		ids, methods, escaped := 0, 0, false
		err := rawjson.Object(data, func(key, value []byte) error {
			switch string(key) {
			case "id":
				id, ids = value, ids+1
			case "method":
				methods++
			}
			return nil
		})
		escaped = strings.Contains(string(data), `\u`)
		if err != nil || ids > 1 || escaped {
			return
		}
		for name, got := range map[string]clue{"head": head, "tail": tail} {
			if string(got.id) != string(id) || got.method != (methods > 0) {
				t.Errorf("%s of %q: id %q, method %v; want %q, %v", name, data, got.id, got.method, id, methods > 0)
			}
		}
	})
}
