package fast

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The SDK takes the server for a real one, in both eras and over HTTP.
func TestServerSpeaksMCP(t *testing.T) {
	for _, test := range []struct {
		name    string
		server  *Server
		http    bool
		version string
	}{
		{"with sessions", &Server{}, false, "2025-11-25"},
		{"without", &Server{Modern: true}, false, "2026-07-28"},
		{"http", &Server{}, true, "2025-11-25"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var transport mcp.Transport
			if test.http {
				web := httptest.NewServer(test.server)
				defer web.Close()
				transport = &mcp.StreamableClientTransport{Endpoint: web.URL, DisableStandaloneSSE: true}
			} else {
				fromUs, toServer := io.Pipe()
				fromServer, toUs := io.Pipe()
				ended := make(chan error, 1)
				go func() { ended <- test.server.Serve(fromUs, toUs) }()
				defer func() {
					_ = toServer.Close()
					if err := <-ended; err != nil {
						t.Error(err)
					}
				}()
				transport = &mcp.IOTransport{Reader: fromServer, Writer: toServer}
			}
			session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := session.InitializeResult().ProtocolVersion; got != test.version {
				t.Errorf("it speaks %s, want %s", got, test.version)
			}
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil || len(tools.Tools) != 3 {
				t.Errorf("ListTools = %+v, %v", tools, err)
			}
			for _, call := range []struct {
				tool string
				args map[string]any
				want string
			}{
				{Echo, map[string]any{"message": "a \"b\" <c>"}, "a \"b\" <c>"},
				{Big, map[string]any{"bytes": 1000}, Text(1000)},
				{Sink, map[string]any{"x": "yz"}, "10"},
			} {
				r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: call.tool, Arguments: call.args})
				if err != nil {
					t.Errorf("%s: %v", call.tool, err)
					continue
				}
				if text, ok := r.Content[0].(*mcp.TextContent); !ok || text.Text != call.want {
					t.Errorf("%s gives %+v, want %q", call.tool, r.Content[0], call.want)
				}
			}
			if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "other"}); err == nil || !strings.Contains(err.Error(), "unknown") {
				t.Errorf("an unknown tool: %v", err)
			}
			_ = session.Close()
		})
	}
}
