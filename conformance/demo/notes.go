package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverVersion is what both servers call themselves.
const serverVersion = "1.0.0"

// Limits of the notes server.
const (
	maxNotes    = 1000
	maxNoteText = 4096 // bytes
	maxCount    = 1000
	countPause  = 100 * time.Millisecond
)

// notes is a notebook in memory.
type notes struct {
	mu    sync.Mutex // guards texts
	texts []string
}

// notesServer returns a server over a new notebook.
func notesServer() *mcp.Server {
	n := &notes{texts: []string{
		"Ring the bicycle shop about the rear wheel.",
		"The library closes at seven on Fridays.",
		"Bicycle lock: the spare key is in the blue jar.",
	}}
	s := mcp.NewServer(&mcp.Implementation{Name: "notes", Title: "Notes", Version: serverVersion}, &mcp.ServerOptions{
		Instructions: "A notebook. Search it before you add to it.",
		Capabilities: &mcp.ServerCapabilities{},
	})
	mcp.AddTool(s, &mcp.Tool{
		Name: "search_notes", Description: "Find the notes that contain a text.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, n.search)
	mcp.AddTool(s, &mcp.Tool{
		Name: "add_note", Description: "Write a new note.",
	}, n.add)
	mcp.AddTool(s, &mcp.Tool{
		Name: "count_slowly", Description: "Count up, ten numbers a second, and report each one.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, countSlowly)
	s.AddResource(&mcp.Resource{
		URI: "notes://all", Name: "all", Title: "All notes", MIMEType: "text/plain",
	}, n.all)
	s.AddPrompt(&mcp.Prompt{
		Name: "tidy", Description: "Tidy up the notes about a topic.",
		Arguments: []*mcp.PromptArgument{{Name: "topic", Required: true}},
	}, tidy)
	return s
}

type searchInput struct {
	Query string `json:"query" jsonschema:"what to look for; upper and lower case are the same"`
}

type searchOutput struct {
	Notes []string `json:"notes"`
}

func (n *notes) search(_ context.Context, _ *mcp.CallToolRequest, in searchInput) (*mcp.CallToolResult, searchOutput, error) {
	out := searchOutput{Notes: []string{}}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, text := range n.texts {
		if strings.Contains(strings.ToLower(text), strings.ToLower(in.Query)) {
			out.Notes = append(out.Notes, text)
		}
	}
	return nil, out, nil
}

type addInput struct {
	Text string `json:"text" jsonschema:"the note, at most 4096 bytes"`
}

func (n *notes) add(_ context.Context, _ *mcp.CallToolRequest, in addInput) (*mcp.CallToolResult, any, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case in.Text == "":
		return nil, nil, errors.New("a note needs a text")
	case len(in.Text) > maxNoteText:
		return nil, nil, fmt.Errorf("a note has at most %d bytes", maxNoteText)
	case len(n.texts) == maxNotes:
		return nil, nil, fmt.Errorf("the notebook is full: it holds %d notes", maxNotes)
	}
	n.texts = append(n.texts, in.Text)
	return text(fmt.Sprintf("Note %d is written.", len(n.texts))), nil, nil
}

func (n *notes) all(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
		URI: req.Params.URI, MIMEType: "text/plain", Text: strings.Join(n.texts, "\n"),
	}}}, nil
}

func tidy(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{
		Role:    "user",
		Content: &mcp.TextContent{Text: "Search my notes about " + req.Params.Arguments["topic"] + " and write one note that replaces them."},
	}}}, nil
}

type countInput struct {
	To int `json:"to" jsonschema:"where to stop, at most 1000"`
}

func countSlowly(ctx context.Context, req *mcp.CallToolRequest, in countInput) (*mcp.CallToolResult, any, error) {
	if in.To < 1 || in.To > maxCount {
		return nil, nil, fmt.Errorf("to must be 1 to %d", maxCount)
	}
	tick := time.NewTicker(countPause)
	defer tick.Stop()
	for i := range in.To {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("stopped at %d: %w", i, context.Cause(ctx))
		}
		token := req.Params.GetProgressToken()
		if token == nil {
			continue
		}
		// A client that is gone ends ctx too.
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: float64(i + 1), Total: float64(in.To), Message: fmt.Sprintf("at %d", i+1),
		})
	}
	return text(fmt.Sprintf("Counted to %d.", in.To)), nil, nil
}

func text(s string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}
}
