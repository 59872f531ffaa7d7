package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A peer is the server's side of a connection, played by the test.
type peer struct {
	t   testing.TB
	in  *bufio.Reader
	out *io.PipeWriter
	inR *io.PipeReader
}

// newPair returns a connection and its peer, and closes both at the end.
func newPair(t testing.TB, opts Options) (*Conn, *peer) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := New(outR, inW, opts)
	p := &peer{t: t, in: bufio.NewReader(inR), out: outW, inR: inR}
	t.Cleanup(func() {
		c.Close()
		outW.Close()
		inR.Close()
		<-c.readDone
	})
	return c, p
}

// send writes bytes as they are.
func (p *peer) send(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.out, text); err != nil {
		p.t.Errorf("peer: writing: %v", err)
	}
}

// line reads one line as it is.
func (p *peer) line() string {
	p.t.Helper()
	line, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Fatalf("peer: reading: %v", err)
	}
	return line
}

// A message is what a peer reads.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

func (p *peer) recv() message {
	p.t.Helper()
	line := p.line()
	var m message
	if err := json.Unmarshal([]byte(line), &m); err != nil || m.JSONRPC != "2.0" {
		p.t.Fatalf("peer: %q is not a message: %v", line, err)
	}
	return m
}

// A reply is what a Call returned.
type reply struct {
	result json.RawMessage
	err    error
}

// begin starts a Call and returns where its reply will be.
func begin(ctx context.Context, c *Conn, method, params string) <-chan reply {
	done := make(chan reply, 1)
	go func() {
		var raw []byte
		if params != "" {
			raw = []byte(params)
		}
		result, err := c.Call(ctx, method, raw)
		done <- reply{result, err}
	}()
	return done
}

func (r reply) want(t testing.TB, result string) {
	t.Helper()
	if r.err != nil || string(r.result) != result {
		t.Errorf("Call = %.100s, %v; want %.100s", r.result, r.err, result)
	}
}

func bubble(t *testing.T, f func(t *testing.T)) { t.Helper(); synctest.Test(t, f) }

// Params and result go through as bytes.
func TestCall(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{})
		done := begin(t.Context(), c, "tools/call", `{"n":12345678901234567890,"f":1.0,"s":"<&>"}`)
		line := p.line()
		var id int64
		if _, err := fmt.Sscanf(line, `{"jsonrpc":"2.0","id":%d,`, &id); err != nil || id < firstID || id > lastID {
			t.Fatalf("request = %q, want our range of ids: %v", line, err)
		}
		if want := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"n":12345678901234567890,"f":1.0,"s":"<&>"}}`+"\n", id); line != want {
			t.Errorf("request = %q, want %q", line, want)
		}
		result := `{"b":1,"a":9007199254740993,"f":1.0,"e":1e400,"s":"<&>\u2028","content":[]}`
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":%s}`+"\n", id, result))
		(<-done).want(t, result)

		done = begin(t.Context(), c, "ping", "")
		m := p.recv()
		if m.Params != nil {
			t.Errorf("params = %s, want none", m.Params)
		}
		p.send(fmt.Sprintf(`{"id":%s,"result":null}`+"\n", m.ID))
		(<-done).want(t, "null")

		done = begin(t.Context(), c, "x", "{\n  \"a\": \"b c\",\r\n \"d\":1}")
		m = p.recv()
		if want := `{"a":"b c","d":1}`; string(m.Params) != want {
			t.Errorf("params = %s, want %s", m.Params, want)
		}
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", m.ID))
		(<-done).want(t, "{}")
	})
}

// However a server echoes an id and frames an answer, it is matched.
func TestAnswersAreMatched(t *testing.T) {
	for _, test := range []struct{ name, format string }{
		{"plain", `{"jsonrpc":"2.0","id":%s,"result":{"ok":true}}` + "\n"},
		{"id last", `{"result":{"ok":true},"jsonrpc":"2.0","id":%s}` + "\n"},
		{"string", `{"jsonrpc":"2.0","id":"%s","result":{"ok":true}}` + "\n"},
		{"float", `{"jsonrpc":"2.0","id":%s.0,"result":{"ok":true}}` + "\n"},
		{"no version", `{"id":%s,"result":{"ok":true}}` + "\n"},
		{"null error", `{"jsonrpc":"2.0","id":%s,"result":{"ok":true},"error":null}` + "\n"},
		{"empty error", `{"jsonrpc":"2.0","id":%s,"result":{"ok":true},"error":""}` + "\n"},
		{"byte order mark", "\ufeff" + `{"jsonrpc":"2.0","id":%s,"result":{"ok":true}}` + "\n"},
		{"CRLF", `{"jsonrpc":"2.0","id":%s,"result":{"ok":true}}` + "\r\n"},
		{"blank lines", "\n \r\n\t\n" + `{"jsonrpc":"2.0","id":%s,"result":{"ok":true}}` + "\n\n"},
		{"spaces", "  " + ` { "jsonrpc" : "2.0" , "id" : %s , "result" : {"ok":true} } ` + " \t\n"},
		{"escaped key", `{"jsonrpc":"2.0","\u0069d":%s,"result":{"ok":true}}` + "\n"},
		{"batch", `[{"jsonrpc":"2.0","id":%s,"result":{"ok":true}}]` + "\n"},
		{"batch with others", `[{"jsonrpc":"2.0","method":"notifications/x"},17,{"jsonrpc":"2.0","id":%s,"result":{"ok":true}}]` + "\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c, p := newPair(t, Options{})
				done := begin(t.Context(), c, "x", "")
				p.send(fmt.Sprintf(test.format, p.recv().ID))
				(<-done).want(t, `{"ok":true}`)
			})
		})
	}
}

// A last answer without its newline counts.
func TestAnswerWithoutNewline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{})
		done := begin(t.Context(), c, "x", "")
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":7}`, p.recv().ID))
		p.out.Close()
		(<-done).want(t, "7")
	})
}

// The server's error comes with its code and its data as bytes.
func TestCallError(t *testing.T) {
	for _, test := range []struct {
		raw     string
		code    int64
		message string
		data    string
	}{
		{`{"code":-32602,"message":"bad","data":{"n":9007199254740993}}`, -32602, "bad", `{"n":9007199254740993}`},
		{`{"code":-32042.0,"message":"url","data":null}`, -32042, "url", ""},
		{`{"code":"-7","message":"text"}`, -7, "text", ""},
		{`{"message":"no code"}`, -32603, "no code", ""},
		{`"just words"`, -32603, "just words", ""},
		{`{"reason":"odd"}`, -32603, "the server sent an error of an unknown shape", `{"reason":"odd"}`},
	} {
		bubble(t, func(t *testing.T) {
			c, p := newPair(t, Options{})
			done := begin(t.Context(), c, "x", "")
			p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", p.recv().ID, test.raw))
			r := <-done
			var wire *jsonrpc.Error
			if !errors.As(r.err, &wire) || wire.Code != test.code || wire.Message != test.message || string(wire.Data) != test.data {
				t.Errorf("%s: error = %#v, want %d %q %s", test.raw, r.err, test.code, test.message, test.data)
			}
		})
	}
}

// What is not a message is told and skipped, and the call that waits meanwhile
// gets its answer.
func TestNoise(t *testing.T) {
	for _, test := range []struct{ line, reason string }{
		{"Server listening on stdio", "not a JSON object"},
		{"2025-07-10 10:49 started", "not a JSON object"},
		{"-----", "not a JSON object"},
		{"42", "not a JSON object"},
		{`"text"`, "not a JSON object"},
		{"null", "not a JSON object"},
		{"[]", "an empty batch"},
		{"[1,", "json:"},
		{"[info] started", "json:"},
		{"[17]", "an element of a batch"},
		{"{not json}", "json:"},
		{`{"level":"info","msg":"a log line"}`, "neither a method nor an id"},
		{`{"id":1,"level":"info"}`, "neither a method, a result nor an error"},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}`, "neither a method nor an id"},
		{`{"jsonrpc":"2.0","id":999,"result":{}}`, "an answer to no request"},
		{`{"jsonrpc":"2.0","id":"server-error","error":{"code":1,"message":"x"}}`, "an answer with an id that is not ours"},
		{`{"jsonrpc":"2.0","id":1.5,"result":{}}`, "an answer with an id that is not ours"},
		{`{"jsonrpc":"2.0","id":{},"result":{}}`, "an answer with an id that is not ours"},
		{`{"jsonrpc":"2.0","method":7}`, "a method that is not a string"},
		{`{"jsonrpc":"2.0","id":[1],"method":"x"}`, "a request with an id that is no id"},
		{"\xff\xfe", "not a JSON object"},
		{"\x00", "not a JSON object"},
		{"[" + strings.Repeat("1,", maxBatch) + "1]", "a batch of too many elements"},
	} {
		t.Run(test.line[:min(len(test.line), 30)], func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				var noise []Noise
				c, p := newPair(t, Options{OnNoise: func(n Noise) { noise = append(noise, n) }})
				done := begin(t.Context(), c, "x", "")
				id := p.recv().ID
				p.send(test.line + "\n")
				p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":1}`+"\n", id))
				(<-done).want(t, "1")
				if len(noise) != 1 || !strings.HasPrefix(noise[0].Reason, test.reason) {
					t.Fatalf("noise = %+v, want one: %s", noise, test.reason)
				}
				if n := noise[0]; len(n.Head) > 3*noiseBytes || test.reason != "an element of a batch" && n.Size != len(test.line) {
					t.Errorf("noise of %d bytes shown as %d, want a size of %d", n.Size, len(n.Head), len(test.line))
				}
			})
		})
	}
}

// Text in another encoding costs its characters, not the answer.
func TestInvalidUTF8(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{})
		done := begin(t.Context(), c, "x", "")
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"text":"Messger`+"\xe4"+`t"}}`+"\n", p.recv().ID))
		(<-done).want(t, `{"text":"Messger`+"\ufffd"+`t"}`)
	})
}

// A second answer is noise and disturbs nothing.
func TestSecondAnswer(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var noise []Noise
		c, p := newPair(t, Options{OnNoise: func(n Noise) { noise = append(noise, n) }})
		done := begin(t.Context(), c, "x", "")
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":1}`+"\n", p.recv().ID)
		p.send(line + line)
		(<-done).want(t, "1")
		synctest.Wait()
		if len(noise) != 1 {
			t.Errorf("noise = %+v, want one", noise)
		}
	})
}

// However the bytes are cut, lines come out whole.
func TestLinesAreWhole(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const text = `"读取 — 🎉"`
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		c := New(iotest.OneByteReader(outR), inW, Options{})
		in := bufio.NewReader(inR)
		defer outW.Close()
		defer c.Close()
		done := begin(t.Context(), c, "x", "")
		line, _ := in.ReadString('\n')
		var m message
		json.Unmarshal([]byte(line), &m)
		fmt.Fprintf(outW, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, text)
		(<-done).want(t, text)
	})
}

// Lines that end at the edges of buffers, each followed by a short one, arrive
// one by one and in order.
func TestLinesAtEdges(t *testing.T) {
	var sizes []int
	for _, edge := range []int{4096, chunkSize, 2 * chunkSize, 3 * chunkSize} {
		for d := -2; d <= 2; d++ {
			sizes = append(sizes, edge+d)
		}
	}
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{OnNoise: func(n Noise) { t.Errorf("noise: %+v", n) }})
		for _, size := range sizes {
			long := begin(t.Context(), c, "x", "")
			id := p.recv().ID
			short := begin(t.Context(), c, "x", "")
			other := p.recv().ID
			head, tail := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":"`, id), `"}`+"\n"
			fill := strings.Repeat("a", size-len(head)-len(tail))
			p.send(head + fill + tail + fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":2}`+"\n", other))
			(<-long).want(t, `"`+fill+`"`)
			(<-short).want(t, "2")
		}
	})
}

// A call given up is told to the server; its late answer is no noise.
func TestCancel(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var noise []Noise
		c, p := newPair(t, Options{OnNoise: func(n Noise) { noise = append(noise, n) }})
		cause := errors.New("the person pressed Escape")
		ctx, cancel := context.WithCancelCause(t.Context())
		done := begin(ctx, c, "tools/call", "")
		id := p.recv().ID
		cancel(cause)
		if r := <-done; r.err != cause {
			t.Errorf("Call = %v, want its context's cause", r.err)
		}
		m := p.recv()
		want := fmt.Sprintf(`{"requestId":%s,"reason":"the person pressed Escape"}`, id)
		if m.Method != "notifications/cancelled" || m.ID != nil || string(m.Params) != want {
			t.Errorf("got %s %s, want notifications/cancelled %s", m.Method, m.Params, want)
		}
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":1}`+"\n", id))
		done = begin(t.Context(), c, "x", "")
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":2}`+"\n", p.recv().ID))
		(<-done).want(t, "2")
		if len(noise) != 0 {
			t.Errorf("noise = %+v", noise)
		}
	})
}

// initialize is never cancelled.
func TestInitializeIsNotCancelled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		done := begin(ctx, c, "initialize", "{}")
		p.recv()
		if r := <-done; !errors.Is(r.err, context.DeadlineExceeded) {
			t.Errorf("Call = %v", r.err)
		}
		begin(t.Context(), c, "next", "")
		if m := p.recv(); m.Method != "next" {
			t.Errorf("got %s, want next", m.Method)
		}
	})
}

// Nor is the SDK's, which would say so.
func TestInitializeOfTheSDKIsNotCancelled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{})
		write := func(id float64, method, params string) {
			t.Helper()
			msg := &jsonrpc.Request{Method: method, Params: json.RawMessage(params)}
			if id > 0 {
				msg.ID, _ = jsonrpc.MakeID(id)
			}
			if err := c.Write(t.Context(), msg); err != nil {
				t.Fatal(err)
			}
		}
		for _, step := range []struct {
			method    string
			cancelled bool
		}{{"initialize", false}, {"tools/list", true}} {
			write(1, step.method, "{}")
			p.recv()
			write(0, methodCancelled, `{"requestId":1}`)
			write(0, "next", "{}")
			if m := p.recv(); (m.Method == methodCancelled) != step.cancelled {
				t.Errorf("after giving up %s the server got %s", step.method, m.Method)
			}
			if step.cancelled {
				p.recv()
			}
		}
	})
}

// Whether a frame has gone out is known however often it is asked.
func TestFrameDrop(t *testing.T) {
	var f frame
	for range 2 {
		if !f.drop() {
			t.Error("a queued frame is not dropped")
		}
	}
	f.state.Store(frameStarted)
	if f.drop() {
		t.Error("a frame is dropped while it is written")
	}
}

// A server that does not read its stdin blocks no caller beyond its context;
// what had not gone out is never sent; and Close returns.
func TestServerDoesNotRead(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{})
		var waiting []<-chan reply
		for range queueFrames + 50 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			// Too long to be put together with others.
			waiting = append(waiting, begin(ctx, c, "tools/call", `{"a":"`+strings.Repeat("x", maxTogether)+`"}`))
		}
		for _, done := range waiting {
			if r := <-done; !errors.Is(r.err, context.DeadlineExceeded) {
				t.Fatalf("Call = %v", r.err)
			}
		}
		// The one that was being written is finished, and cancelled.
		first := p.recv()
		if m := p.recv(); m.Method != "notifications/cancelled" || !strings.Contains(string(m.Params), string(first.ID)) {
			t.Errorf("got %s %s, want the first call's cancellation", m.Method, m.Params)
		}
		done := begin(t.Context(), c, "last", "")
		if m := p.recv(); m.Method != "last" {
			t.Errorf("got %s, want last", m.Method)
		}
		stuck := begin(t.Context(), c, "stuck", "") // being written when we close
		synctest.Wait()
		c.Close()
		for i, done := range []<-chan reply{done, stuck} {
			var closed *ClosedError
			if r := <-done; !errors.As(r.err, &closed) || !closed.Sent {
				t.Errorf("call %d: %#v, want a ClosedError of a call that was sent", i, r.err)
			}
		}
	})
}

// Close is idempotent, fails what is pending and refuses what comes after.
func TestClose(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{})
		done := begin(t.Context(), c, "x", "")
		p.recv()
		if c.Err() != nil {
			t.Errorf("Err = %v before the end", c.Err())
		}
		for range 3 {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
		var closed *ClosedError
		if r := <-done; !errors.As(r.err, &closed) || closed.Cause != nil || closed.Pending != 1 || !closed.Sent {
			t.Errorf("Call = %#v, want a ClosedError without a cause", r.err)
		}
		if _, err := p.in.ReadByte(); err != io.EOF {
			t.Errorf("the server's stdin: %v, want EOF", err)
		}
		p.send("last words\n") // read and dropped: no broken pipe
		_, err := c.Call(t.Context(), "x", nil)
		if !errors.As(err, &closed) || closed.Sent {
			t.Errorf("Call after Close = %#v", err)
		}
		if err := c.Write(t.Context(), &jsonrpc.Request{Method: "x"}); !errors.Is(err, mcp.ErrConnectionClosed) {
			t.Errorf("Write after Close = %v", err)
		}
		if _, err := c.Read(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("Read after Close = %v, want what matches io.EOF", err)
		}
		<-c.Done()
	})
}

// The end of the server's output fails what is pending with the best cause.
func TestEndOfOutput(t *testing.T) {
	exit := errors.New("exit status 3")
	for _, test := range []struct {
		name string
		opts Options
		tell func(c *Conn)
		want error
	}{
		{"nobody knows", Options{}, nil, io.EOF},
		{"told before", Options{ExitCause: func() error { panic("asked") }}, func(c *Conn) { c.SetCause(exit) }, exit},
		{"asked", Options{ExitCause: func() error { return exit }}, nil, exit},
		{"asked in vain", Options{ExitCause: func() error { return nil }}, nil, io.EOF},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c, p := newPair(t, test.opts)
				var waiting []<-chan reply
				for range 3 {
					waiting = append(waiting, begin(t.Context(), c, "x", ""))
					p.recv()
				}
				if test.tell != nil {
					test.tell(c)
				}
				p.out.Close()
				for _, done := range waiting {
					var closed *ClosedError
					r := <-done
					if !errors.As(r.err, &closed) || !errors.Is(r.err, test.want) || closed.Pending != 3 || !closed.Sent {
						t.Errorf("Call = %#v, want %v with 3 pending", r.err, test.want)
					}
					if errors.Is(r.err, ErrExitedDuringProbe) {
						t.Error("there was no probe")
					}
				}
				if !strings.Contains(c.Err().Error(), "3 unanswered") {
					t.Errorf("Err = %v", c.Err())
				}
			})
		})
	}
}

func TestCloseWithCause(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{})
		done := begin(t.Context(), c, "x", "")
		p.recv()
		cause := errors.New("removed from the config")
		c.CloseWithCause(cause)
		c.CloseWithCause(errors.New("another"))
		if r := <-done; !errors.Is(r.err, cause) {
			t.Errorf("Call = %v, want %v", r.err, cause)
		}
	})
}

// A broken pipe ends the connection, after what the server still says was read.
func TestBrokenPipe(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{})
		answered := begin(t.Context(), c, "x", "")
		id := p.recv().ID
		p.inR.Close()
		broken := begin(t.Context(), c, "y", "")
		synctest.Wait()
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":1}`+"\n", id))
		(<-answered).want(t, "1")
		if r := <-broken; !errors.Is(r.err, io.ErrClosedPipe) {
			t.Errorf("Call = %v, want the pipe's error", r.err)
		}
	})
}
