package drive

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An SDK is the Go SDK's client in this process, with nothing between it and
// the server. Its CPU is that of this process, in which little else happens.
type SDK struct {
	session *mcp.ClientSession
}

// NewSDK connects to a server: a command, or a URL.
func NewSDK(argv []string, url string) (*SDK, error) {
	var t mcp.Transport = &mcp.StreamableClientTransport{Endpoint: url, DisableStandaloneSSE: true}
	if url == "" {
		t = &mcp.CommandTransport{Command: exec.Command(argv[0], argv[1:]...)}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	session, err := client.Connect(context.Background(), t, nil)
	if err != nil {
		return nil, fmt.Errorf("drive: the SDK's client: %w", err)
	}
	return &SDK{session}, nil
}

// PID implements Target.
func (*SDK) PID() int { return 0 }

// Close implements Target.
func (s *SDK) Close() { _ = s.session.Close() }

// Run implements Target.
func (s *SDK) Run(l Load) (Sample, error) {
	w := startWatch(l, 0)
	var mu sync.Mutex // guards what follows, and w
	var fault error
	sent := 0
	next := func() bool {
		mu.Lock()
		defer mu.Unlock()
		if fault != nil || !w.more(sent) {
			return false
		}
		sent++
		return true
	}
	var callers sync.WaitGroup
	for range l.InFlight {
		callers.Go(func() {
			for next() {
				start := time.Now()
				r, err := s.session.CallTool(context.Background(), &mcp.CallToolParams{Name: l.Tool, Arguments: l.Arguments})
				took := time.Since(start)
				if err == nil && r.IsError {
					err = fmt.Errorf("drive: the tool %s failed", l.Tool)
				}
				mu.Lock()
				if err != nil {
					fault = err
				}
				w.took(took)
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	if fault != nil {
		return Sample{}, fault
	}
	return w.sample(), nil
}
