package demo

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// townVersion is the only revision that the town server speaks: the last in
// which a server asks by a request of its own.
const townVersion = "2025-11-25"

// zones are cities and their offsets from UTC in winter.
var zones = map[string]string{
	"Lisbon": "UTC+0", "Berlin": "UTC+1", "Helsinki": "UTC+2", "Kathmandu": "UTC+5:45", "Tokyo": "UTC+9", "Wellington": "UTC+13",
}

// townServer returns a server that knows a town.
func townServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "town", Title: "Town", Version: serverVersion}, &mcp.ServerOptions{
		Capabilities:              &mcp.ServerCapabilities{},
		SupportedProtocolVersions: []string{townVersion},
	})
	mcp.AddTool(s, &mcp.Tool{
		Name: "time_zones", Description: "The time zones of some cities.",
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
	}, timeZones)
	no := false
	mcp.AddTool(s, &mcp.Tool{
		Name: "book_table", Description: "Book a table at a restaurant. The guest is asked for the details.",
		// It destroys nothing and reaches nobody outside, so nobody has to allow it.
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &no, OpenWorldHint: &no},
	}, bookTable)
	mcp.AddTool(s, &mcp.Tool{
		Name: "create_calendar_event", Description: "Put an event into the calendar of the town.",
		// Others see it: somebody has to allow it.
		Annotations: &mcp.ToolAnnotations{DestructiveHint: &no},
	}, createEvent)
	return s
}

type zonesInput struct {
	City string `json:"city,omitempty" jsonschema:"part of a name; all cities when left out"`
}

func timeZones(_ context.Context, _ *mcp.CallToolRequest, in zonesInput) (*mcp.CallToolResult, any, error) {
	var found []string
	for city, zone := range zones {
		if strings.Contains(strings.ToLower(city), strings.ToLower(in.City)) {
			found = append(found, city+": "+zone)
		}
	}
	if found == nil {
		return nil, nil, fmt.Errorf("no city like %q is known", in.City)
	}
	sort.Strings(found)
	return text(strings.Join(found, "\n")), nil, nil
}

type bookInput struct {
	Restaurant string `json:"restaurant"`
}

// What can be booked.
const (
	minPeople = 1
	maxPeople = 12
)

var tableTimes = []string{"18:00", "19:30", "21:00"}

// bookForm asks for two fields.
var bookForm = map[string]any{
	"type": "object",
	"properties": map[string]any{
		"people": map[string]any{"type": "integer", "title": "How many people", "minimum": minPeople, "maximum": maxPeople},
		"time":   map[string]any{"type": "string", "title": "When", "enum": tableTimes},
	},
	"required": []string{"people", "time"},
}

// bookTable asks the guest and then books. The SDK turns the question into the
// one or the other kind, as the client's protocol has it.
func bookTable(_ context.Context, req *mcp.CallToolRequest, in bookInput) (*mcp.CallToolResult, any, error) {
	const question = "table"
	response, answered := req.Params.InputResponses[question]
	if !answered {
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{question: &mcp.ElicitParams{
			Mode: "form", Message: "A table at " + in.Restaurant + ": for how many, and when?", RequestedSchema: bookForm,
		}}}, nil, nil
	}
	answer, ok := response.(*mcp.ElicitResult)
	if !ok {
		return nil, nil, fmt.Errorf("the answer is none to a form")
	}
	if answer.Action != "accept" {
		return text("Nothing is booked: the guest did not say for how many."), nil, nil
	}
	people, ok := answer.Content["people"].(float64)
	at, hasTime := answer.Content["time"].(string)
	if !ok || !hasTime {
		return nil, nil, fmt.Errorf("the answer has no number of people or no time")
	}
	return text(fmt.Sprintf("Booked: %s, %g people, %s.", in.Restaurant, people, at)), nil, nil
}

type eventInput struct {
	Title string `json:"title"`
	Start string `json:"start" jsonschema:"date and time, such as 2026-06-04T19:30"`
}

func createEvent(_ context.Context, _ *mcp.CallToolRequest, in eventInput) (*mcp.CallToolResult, any, error) {
	if _, err := time.Parse("2006-01-02T15:04", in.Start); err != nil || in.Title == "" {
		return nil, nil, errors.New("an event needs a title, and a start such as 2026-06-04T19:30")
	}
	return text(fmt.Sprintf("In the calendar: %s, %s.", in.Title, in.Start)), nil, nil
}
