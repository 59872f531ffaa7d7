package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var testClient = &mcp.Implementation{Name: "test", Version: "1"}

const discovered = `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}` + "\n"

const initialized = `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}` + "\n"

// serve answers what the SDK asks until the connection ends; a method without
// an answer is not answered.
func (p *peer) serve(answers map[string]string) {
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			return
		}
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			p.t.Errorf("peer: %q: %v", line, err)
			return
		}
		if answer := answers[m.Method]; answer != "" && m.ID != nil {
			fmt.Fprintf(p.out, answer, m.ID)
		}
	}
}

// A silent server is greeted in the old way on the same process, in time; its
// late answer to the probe is dropped.
func TestProbeTimesOut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{
			ProbeTimeout: 5 * time.Second,
			OnNoise:      func(n Noise) { t.Errorf("noise: %+v", n) },
		})
		probe := make(chan json.RawMessage, 1)
		go func() {
			m := p.recv()
			if m.Method != methodDiscover {
				t.Errorf("first method = %s", m.Method)
			}
			probe <- m.ID
			p.serve(map[string]string{"initialize": initialized, "tools/list": `{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}` + "\n"})
		}()
		began := time.Now()
		session, err := mcp.NewClient(testClient, nil).Connect(t.Context(), Transport{c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("connected after %v, want the probe's 5s", took)
		}
		if v := session.InitializeResult().ProtocolVersion; v != "2025-11-25" {
			t.Errorf("version = %s", v)
		}
		p.send(fmt.Sprintf(discovered, <-probe))
		if _, err := session.ListTools(t.Context(), nil); err != nil {
			t.Error(err)
		}
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A server that answers the probe is not hurried, nor told twice.
func TestProbeAnswered(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{ProbeTimeout: 5 * time.Second})
		go p.serve(map[string]string{methodDiscover: discovered})
		session, err := mcp.NewClient(testClient, nil).Connect(t.Context(), Transport{c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if v := session.InitializeResult().ProtocolVersion; v != "2026-07-28" {
			t.Errorf("version = %s", v)
		}
		p.out.Close()
		if err := session.Wait(); err != nil {
			t.Errorf("Wait = %v", err)
		}
		if errors.Is(c.Err(), ErrExitedDuringProbe) {
			t.Error("the server had answered the probe")
		}
	})
}

// A server that ends on the probe can be told from one that fails otherwise:
// by Read's error and by Err, with the cause, before and after the timeout.
func TestExitDuringProbe(t *testing.T) {
	exit := errors.New("exit status 1")
	for _, test := range []struct {
		name   string
		first  string        // what it does with the first request
		after  time.Duration // when it ends
		during bool
	}{
		{"at once", "", 0, true},
		{"after the timeout", "", 7 * time.Second, true},
		{"with noise first", "panic: unexpected request\n", time.Second, true},
		{"after an error", `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}` + "\n", 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c, p := newPair(t, Options{ProbeTimeout: 5 * time.Second, ExitCause: func() error { return exit }})
				go func() {
					id := p.recv().ID
					if strings.Contains(test.first, "%s") {
						p.send(fmt.Sprintf(test.first, id))
					} else if test.first != "" {
						p.send(test.first)
					}
					go p.serve(nil)
					time.Sleep(test.after)
					p.out.Close()
				}()
				_, err := mcp.NewClient(testClient, nil).Connect(t.Context(), Transport{c}, nil)
				if err == nil {
					t.Fatal("connected")
				}
				if got := errors.Is(c.Err(), ErrExitedDuringProbe); got != test.during {
					t.Errorf("Err = %v: during the probe %v, want %v", c.Err(), got, test.during)
				}
				if !errors.Is(c.Err(), exit) {
					t.Errorf("Err = %v, want the cause %v", c.Err(), exit)
				}
				if _, err := c.Read(t.Context()); errors.Is(err, ErrExitedDuringProbe) != test.during {
					t.Errorf("Read = %v", err)
				}
			})
		})
	}
}

// A call of the SDK that is given up is told to the server, but for initialize.
func TestSDKCancels(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{OnNoise: func(n Noise) { t.Errorf("noise: %+v", n) }})
		got := make(chan message, 10)
		go func() {
			fmt.Fprintf(p.out, discovered, p.recv().ID)
			for {
				line, err := p.in.ReadString('\n')
				if err != nil {
					close(got)
					return
				}
				var m message
				json.Unmarshal([]byte(line), &m)
				got <- m
			}
		}()
		session, err := mcp.NewClient(testClient, nil).Connect(t.Context(), Transport{c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := session.ListTools(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ListTools = %v", err)
		}
		list, cancelled := <-got, <-got
		if cancelled.Method != methodCancelled || !strings.Contains(string(cancelled.Params), `"requestId":`+string(list.ID)) {
			t.Errorf("got %s %s, want the cancellation of %s", cancelled.Method, cancelled.Params, list.ID)
		}
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}`+"\n", list.ID)) // late
		synctest.Wait()
		if n := len(c.pending); n != 0 {
			t.Errorf("%d requests are pending", n)
		}
	})
	bubble(t, func(t *testing.T) {
		c, p := newPair(t, Options{})
		greeted := make(chan struct{})
		go func() {
			p.recv()
			close(greeted)
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := mcp.NewClient(testClient, nil).Connect(ctx, Transport{c}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}); err == nil {
			t.Fatal("connected")
		}
		<-greeted
		if line, err := p.in.ReadString('\n'); err != io.EOF {
			t.Errorf("after a given-up initialize the server got %q, %v", line, err)
		}
	})
}

// newSDKServer returns a server of the SDK with a few tools.
func newSDKServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "server", Version: "1"}, nil)
	type args struct {
		N int `json:"n"`
	}
	mcp.AddTool(server, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in args) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(in.N)}}}, nil, nil
	})
	mcp.AddTool(server, &mcp.Tool{Name: "ask"}, func(ctx context.Context, req *mcp.CallToolRequest, _ args) (*mcp.CallToolResult, any, error) {
		answer, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "really?", RequestedSchema: map[string]any{"type": "object"}})
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: answer.Action}}}, nil, nil
	})
	return server
}

// connectSDK joins a server of the SDK to a client of the SDK over a Conn.
func connectSDK(t *testing.T, opts Options, client *mcp.Client, version string) (*Conn, *mcp.ClientSession) {
	t.Helper()
	ours, theirs := net.Pipe()
	server, err := newSDKServer().Connect(t.Context(), &mcp.IOTransport{Reader: theirs, Writer: theirs}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := New(ours, ours, opts)
	session, err := client.Connect(t.Context(), Transport{c}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		server.Wait()
	})
	return c, session
}

// The SDK's client and server work over it in both eras, with our own calls
// beside theirs.
func TestWithSDKServer(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				c, session := connectSDK(t, Options{
					ProbeTimeout: time.Second,
					OnNoise:      func(n Noise) { t.Errorf("noise: %+v", n) },
				}, mcp.NewClient(testClient, nil), version)
				if v := session.InitializeResult().ProtocolVersion; v != version {
					t.Fatalf("version = %s", v)
				}
				meta := ""
				if version == "2026-07-28" {
					meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}`
				}
				var group sync.WaitGroup
				for i := range 20 {
					group.Go(func() {
						tools, err := session.ListTools(t.Context(), nil)
						if err != nil || len(tools.Tools) != 2 {
							t.Errorf("ListTools = %v, %v", tools, err)
						}
					})
					group.Go(func() {
						raw, err := c.Call(t.Context(), "tools/call", fmt.Appendf(nil, `{"name":"echo","arguments":{"n":%d}%s}`, i, meta))
						if err != nil || !strings.Contains(string(raw), fmt.Sprintf(`"text":"%d"`, i)) {
							t.Errorf("Call = %s, %v; want %d", raw, err, i)
						}
					})
				}
				group.Wait()
			})
		})
	}
}

// In the old era a server asks by a request of its own; the handler of the SDK
// finds the token of it.
func TestElicitationCarriesTheToken(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var told []string
		var origin any
		client := mcp.NewClient(testClient, &mcp.ClientOptions{
			ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				origin = req.Params.Meta[OriginKey]
				return &mcp.ElicitResult{Action: "decline"}, nil
			},
		})
		c, _ := connectSDK(t, Options{OnServerRequest: func(method string, params json.RawMessage) string {
			told = append(told, method)
			return "raw-1"
		}}, client, "2025-11-25")
		raw, err := c.Call(t.Context(), "tools/call", []byte(`{"name":"ask","arguments":{"n":1}}`))
		if err != nil || !strings.Contains(string(raw), "decline") {
			t.Errorf("Call = %s, %v", raw, err)
		}
		if !slices.Equal(told, []string{"elicitation/create"}) || origin != "raw-1" {
			t.Errorf("told %q, origin %v", told, origin)
		}
	})
}

// Many callers with large params, and cancels among them, never mix on the
// wire; every answer finds its caller.
func TestManyCallers(t *testing.T) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := New(outR, inW, Options{OnNoise: func(n Noise) { t.Errorf("noise: %+v", n) }})
	var server sync.WaitGroup
	server.Go(func() {
		var out sync.Mutex
		lines := bufio.NewReader(inR)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				outW.Close()
				return
			}
			var m struct {
				message
				Params struct {
					N    int
					Fill string
				} `json:"params"`
			}
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Errorf("the server got %.100q: %v", line, err)
				continue
			}
			if m.Method == methodCancelled {
				continue
			}
			server.Go(func() {
				out.Lock()
				defer out.Unlock()
				fmt.Fprintf(outW, `{"jsonrpc":"2.0","id":%s,"result":{"n":%d,"size":%d}}`+"\n", m.ID, m.Params.N, len(m.Params.Fill))
			})
		}
	})
	const callers, rounds, size = 64, 10, 64 << 10
	fill := strings.Repeat("f", size)
	var group sync.WaitGroup
	for caller := range callers {
		group.Go(func() {
			for round := range rounds {
				n := caller*rounds + round
				ctx, cancel := context.WithCancel(t.Context())
				if n%10 == 0 {
					go cancel()
				}
				raw, err := c.Call(ctx, "tools/call", fmt.Appendf(nil, `{"n":%d,"fill":"%s"}`, n, fill))
				cancel()
				if n%10 == 0 && errors.Is(err, context.Canceled) {
					continue
				}
				if want := fmt.Sprintf(`{"n":%d,"size":%d}`, n, size); err != nil || string(raw) != want {
					t.Errorf("Call = %s, %v; want %s", raw, err, want)
				}
			}
		})
	}
	group.Wait()
	c.Close()
	server.Wait()
	<-c.readDone
}
