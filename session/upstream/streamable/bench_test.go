package streamable

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bigServer answers tools/call with a text of n bytes.
func bigServer(t testing.TB, n int, sse, sized bool) *fake {
	f := &fake{t: t, era: era25}
	text := strings.Repeat("a line of text\\n", n/16)
	f.handle("tools/call", func(w http.ResponseWriter, _ *http.Request, s seen) {
		head := `{"jsonrpc":"2.0","id":` + s.id + `,"result":{"content":[{"type":"text","text":"`
		const tail = `"}]}}`
		if sse {
			w.Header().Set("Content-Type", "text/event-stream")
			head = "data: " + head
		} else {
			w.Header().Set("Content-Type", "application/json")
			if sized {
				w.Header().Set("Content-Length", fmt.Sprint(len(head)+len(text)+len(tail)))
			}
		}
		_, _ = io.WriteString(w, head)
		_, _ = io.WriteString(w, text)
		_, _ = io.WriteString(w, tail)
		if sse {
			_, _ = io.WriteString(w, "\n\n")
		}
	})
	return f
}

// A result of 10 MB is held once, and twice while it is gathered: what is
// allocated for it stays under three times its size.
func TestBigResultIsHeldOnce(t *testing.T) {
	const size = 10 << 20
	for _, c := range []struct{ sse, sized bool }{{false, true}, {false, false}, {true, false}} {
		f := bigServer(t, size, c.sse, c.sized)
		s := connectServer(t, f, Options{}, era25, nil)
		get := func() {
			raw, err := callTool(t, s, `{"name":"t"}`, nil)
			if err != nil || len(raw) < size*9/10 {
				t.Fatalf("got %d bytes, %v", len(raw), err)
			}
		}
		get()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		get()
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 3*size {
			t.Errorf("sse=%v sized=%v: %d bytes allocated for a result of %d", c.sse, c.sized, got, size)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	for _, size := range []int{100, 1 << 20, 10 << 20} {
		for _, sse := range []bool{false, true} {
			ts := httptest.NewServer(bigServer(b, size, sse, false))
			client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
			open := func(c *http.Client) *mcp.ClientSession {
				s, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: ts.URL, HTTPClient: c, MaxEventSize: -1},
					&mcp.ClientSessionOptions{ProtocolVersion: era25})
				if err != nil {
					b.Fatal(err)
				}
				return s
			}
			b.Run(fmt.Sprintf("raw/%d/sse=%v", size, sse), func(b *testing.B) {
				s := open(NewClient(Options{}))
				defer s.Close()
				b.ReportAllocs()
				b.SetBytes(int64(size))
				for b.Loop() {
					if _, err := Do(context.Background(), s, "tools/call", json.RawMessage(`{"name":"t"}`), nil); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("sdk/%d/sse=%v", size, sse), func(b *testing.B) {
				s := open(&http.Client{Transport: &http.Transport{}})
				defer s.Close()
				b.ReportAllocs()
				b.SetBytes(int64(size))
				for b.Loop() {
					if _, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: "t"}); err != nil {
						b.Fatal(err)
					}
				}
			})
			ts.CloseClientConnections()
			ts.Close()
		}
	}
}
