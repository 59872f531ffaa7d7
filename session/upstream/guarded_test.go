package upstream

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

// listener is an owner that hears when the tools are others.
type listener struct {
	silent
	mu     sync.Mutex
	warned []string // guarded by mu
	news   int      // guarded by mu
}

func (l *listener) ToolsChanged(protocol.ServerName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.news++
}

func (l *listener) heard() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.news
}

func (l *listener) Warn(_ protocol.ServerName, _ protocol.Kind, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.warned = append(l.warned, text)
}

// guarded is a server whose calls are refused until they are let through, and
// whose list of tools grows with every look. It notes what it is asked.
type guarded struct {
	modern bool
	refuse func(call int) string // what the nth call is answered with, "" lets it through

	mu    sync.Mutex
	asked []string // methods; guarded by mu
	lists int      // guarded by mu
}

func (g *guarded) count(method string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := 0
	for _, m := range g.asked {
		if m == method {
			n++
		}
	}
	return n
}

func (g *guarded) fake() fakeServer {
	return answers(func(method string, _ json.RawMessage) string {
		g.mu.Lock()
		g.asked = append(g.asked, method)
		switch method {
		case "tools/list":
			g.lists++
			defer g.mu.Unlock()
			return fmt.Sprintf(`"result":{"tools":[{"name":"t","description":"%d","inputSchema":{"type":"object"}}]}`, g.lists)
		}
		g.mu.Unlock()
		switch method {
		case "server/discover":
			if g.modern {
				return `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
			}
		case "tools/call", "prompts/get":
			if refusal := g.refuse(g.count(method)); refusal != "" {
				return refusal
			}
			return `"result":{"content":[{"type":"text","text":"in"}]}`
		}
		return ""
	})
}

// guardedClient connects to g.
func guardedClient(t *testing.T, g *guarded, overHTTP bool, offer Questions) (*Client, *listener) {
	t.Helper()
	server := &config.Server{Name: "docs", StartupTimeout: 30 * time.Second}
	if overHTTP {
		server.HTTP = &config.HTTP{URL: "http://s.test/mcp"}
	} else {
		server.Stdio = &config.Stdio{Command: "s"}
	}
	owner := &listener{}
	f := g.fake()
	c := Start(t.Context(), NewHost("test", "1", f, f), server, offer, owner)
	if status, err := c.Await(t.Context()); err != nil || status.State != protocol.ServerConnected {
		t.Fatalf("%+v, %v", status, err)
	}
	return c, owner
}
