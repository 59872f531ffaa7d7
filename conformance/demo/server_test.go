package demo

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connect returns a session with a server, whose questions are answered with
// answer.
func connect(t *testing.T, over mcp.Transport, answer *mcp.ElicitResult, progress func(float64)) *mcp.ClientSession {
	t.Helper()
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) { return answer, nil },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			if progress != nil {
				progress(r.Params.Progress)
			}
		},
	})
	s, err := c.Connect(t.Context(), over, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// overStdio serves notes on pipes.
func overStdio(t *testing.T) mcp.Transport {
	toServer, w := io.Pipe()
	r, out := io.Pipe()
	done := make(chan error, 1)
	go func() { // ends when the session is closed
		done <- ServeStdio(context.Background(), toServer, out)
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = w.Close()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(bound):
			t.Error("the server does not end with its input")
		}
	})
	return &mcp.IOTransport{Reader: r, Writer: w}
}

func overHTTP(t *testing.T) mcp.Transport {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	url, done, err := ServeHTTP(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		select {
		case <-done:
		case <-time.After(bound):
			t.Error("the server does not end with its context")
		}
	})
	return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{}}
}

func said(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) (string, bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return r.Content[0].(*mcp.TextContent).Text, r.IsError
}

func TestNotes(t *testing.T) {
	reports := make(chan float64, maxCount)
	s := connect(t, overStdio(t), nil, func(p float64) { reports <- p })
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
		isError   bool
	}{
		{"search_notes", map[string]any{"query": "BICYCLE"}, "spare key", false},
		{"search_notes", map[string]any{"query": "zebra"}, `{"notes":[]}`, false},
		{"add_note", map[string]any{"text": "A zebra."}, "Note 4 is written.", false},
		{"search_notes", map[string]any{"query": "zebra"}, "A zebra.", false},
		{"add_note", map[string]any{"text": ""}, "needs a text", true},
		{"add_note", map[string]any{"text": strings.Repeat("x", maxNoteText+1)}, "at most", true},
		{"count_slowly", map[string]any{"to": 1}, "Counted to 1.", false},
		{"count_slowly", map[string]any{"to": maxCount + 1}, "must be", true},
	} {
		if got, isError := said(t, s, c.tool, c.arguments); isError != c.isError || !strings.Contains(got, c.want) {
			t.Errorf("%s %v: got %q, error %v, want %q, error %v", c.tool, c.arguments, got, isError, c.want, c.isError)
		}
	}
	all, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "notes://all"})
	if err != nil || !strings.Contains(all.Contents[0].Text, "A zebra.") {
		t.Errorf("the resource is %v, %v", all, err)
	}
	prompt, err := s.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "tidy", Arguments: map[string]string{"topic": "keys"}})
	if err != nil || !strings.Contains(prompt.Messages[0].Content.(*mcp.TextContent).Text, "about keys") {
		t.Errorf("the prompt is %v, %v", prompt, err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-reports
		cancel()
	}()
	params := &mcp.CallToolParams{Name: "count_slowly", Arguments: map[string]any{"to": maxCount}}
	params.SetProgressToken("p")
	if _, err := s.CallTool(ctx, params); !errors.Is(err, context.Canceled) {
		t.Errorf("the slow call ended with %v", err)
	}
}

func TestTown(t *testing.T) {
	yes := &mcp.ElicitResult{Action: "accept", Content: map[string]any{"people": 3, "time": "18:00"}}
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		answer    *mcp.ElicitResult
		want      string
		isError   bool
	}{
		{"time_zones", map[string]any{"city": "kath"}, nil, "Kathmandu: UTC+5:45", false},
		{"time_zones", nil, nil, "Berlin: UTC+1\nHelsinki", false},
		{"time_zones", map[string]any{"city": "Atlantis"}, nil, "no city", true},
		{"book_table", map[string]any{"restaurant": "R"}, yes, "Booked: R, 3 people, 18:00.", false},
		{"book_table", map[string]any{"restaurant": "R"}, &mcp.ElicitResult{Action: "decline"}, "Nothing is booked", false},
		{"create_calendar_event", map[string]any{"title": "E", "start": "2026-06-04T19:30"}, nil, "In the calendar: E, 2026-06-04T19:30.", false},
		{"create_calendar_event", map[string]any{"title": "E", "start": "tonight"}, nil, "needs a title", true},
	} {
		s := connect(t, overHTTP(t), c.answer, nil)
		if v := s.InitializeResult().ProtocolVersion; v != townVersion {
			t.Errorf("revision %s, want %s", v, townVersion)
		}
		if got, isError := said(t, s, c.tool, c.arguments); isError != c.isError || !strings.Contains(got, c.want) {
			t.Errorf("%s %v: got %q, error %v, want %q, error %v", c.tool, c.arguments, got, isError, c.want, c.isError)
		}
	}
}

func TestAnAddressThatIsTaken(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	url, done, err := ServeHTTP(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	if _, _, err := ServeHTTP(ctx, addr); err == nil {
		t.Error("no error")
	}
	cancel()
	<-done
}
