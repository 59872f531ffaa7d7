package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/rs/zerolog"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

// pagedWire answers the request for each cursor from a table; "first" is the
// request without one. What is not there is an error.
type pagedWire struct {
	wire
	pages map[string]string
	new   bool
	asked []string
}

func (w *pagedWire) modern() bool { return w.new }

func (w *pagedWire) request(_ context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
	var p struct{ Cursor *string }
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, err
	}
	at := "first"
	if p.Cursor != nil {
		at = *p.Cursor
	}
	w.asked = append(w.asked, at)
	if answer, ok := w.pages[at]; ok {
		return json.RawMessage(answer), nil
	}
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no such cursor"}
}

// A list ends where its bounds or its server say; what was read is kept.
func TestPages(t *testing.T) {
	const both, old, modern = 0, 1, 2
	for name, tc := range map[string]struct {
		era    int
		pages  map[string]string
		items  string // joined with blanks
		asked  string
		breach string
		fails  string
	}{
		"one page":              {pages: map[string]string{"first": `{"tools":[{},null,3]}`}, items: `{} null 3`, asked: "first"},
		"null for a list":       {pages: map[string]string{"first": `{"tools":null}`}, asked: "first"},
		"null for a cursor":     {pages: map[string]string{"first": `{"tools":[1],"nextCursor":null}`}, items: "1", asked: "first"},
		"two pages":             {pages: map[string]string{"first": `{"tools":[1],"nextCursor":"c\u0001"}`, "c\x01": `{"tools":[2]}`}, items: "1 2", asked: "first c\x01"},
		"an odd cursor":         {pages: map[string]string{"first": `{"tools":[1],"nextCursor":5}`}, items: "1", asked: "first", breach: "a cursor that is no string"},
		"a long cursor":         {pages: map[string]string{"first": `{"tools":[1],"nextCursor":"` + strings.Repeat("x", MaxCursor+1) + `"}`}, items: "1", asked: "first", breach: "a cursor over 65536 bytes"},
		"a repeated cursor":     {pages: map[string]string{"first": `{"tools":[1],"nextCursor":"a"}`, "a": `{"tools":[2],"nextCursor":"a"}`}, items: "1 2", asked: "first a", breach: "a repeated cursor"},
		"a page that fails":     {pages: map[string]string{"first": `{"tools":[1],"nextCursor":"a"}`}, items: "1", asked: "first a", breach: "page 2 failed"},
		"a page that is broken": {pages: map[string]string{"first": `{"tools":[1],"nextCursor":"a"}`, "a": `[]`}, items: "1", asked: "first a", breach: "page 2 is broken"},

		"an empty cursor with a page":      {pages: map[string]string{"first": `{"tools":[1],"nextCursor":""}`, "": `{"tools":[2]}`}, items: "1 2", asked: "first "},
		"an empty cursor for the end":      {pages: map[string]string{"first": `{"tools":[1],"nextCursor":""}`, "": `{"tools":[1],"nextCursor":""}`}, items: "1", asked: "first "},
		"an empty cursor that is refused":  {era: old, pages: map[string]string{"first": `{"tools":[1],"nextCursor":""}`}, items: "1", asked: "first "},
		"an empty cursor that is not met":  {era: modern, pages: map[string]string{"first": `{"tools":[1],"nextCursor":""}`}, items: "1", asked: "first ", breach: "page 2 failed"},
		"an empty cursor again and again":  {pages: map[string]string{"first": `{"tools":[1],"nextCursor":""}`, "": `{"tools":[2],"nextCursor":""}`}, items: "1 2", asked: "first ", breach: "a repeated cursor"},
		"an empty cursor on a later page":  {pages: map[string]string{"first": `{"tools":[1],"nextCursor":"a"}`, "a": `{"tools":[2],"nextCursor":""}`, "": `{"tools":[2],"nextCursor":""}`}, items: "1 2", asked: "first a "},
		"an empty page, an empty cursor":   {pages: map[string]string{"first": `{"tools":[],"nextCursor":""}`, "": `{"tools":[],"nextCursor":""}`}, asked: "first "},
		"an empty cursor and another list": {pages: map[string]string{"first": `{"tools":[1],"nextCursor":""}`, "": `{"tools":[1],"nextCursor":"b"}`, "b": `{"tools":[3]}`}, items: "1 1 3", asked: "first  b"},

		"an object for a list": {pages: map[string]string{"first": `{"tools":{}}`}, asked: "first", fails: `tools/list: "tools" is no array`},
		"no list":              {pages: map[string]string{"first": `{"nextCursor":"c"}`}, asked: "first", fails: `tools/list: the result has no "tools"`},
		"no object":            {pages: map[string]string{"first": `[]`}, asked: "first", fails: "tools/list: the result is no object"},
		"an error":             {asked: "first", fails: "no such cursor"},
	} {
		for _, era := range []int{old, modern} {
			if tc.era != both && tc.era != era {
				continue
			}
			w := &pagedWire{pages: tc.pages, new: era == modern}
			items, breach, err := pages(t.Context(), w, "tools/list", "tools")
			var got []string
			for _, item := range items {
				got = append(got, string(item))
			}
			fails := ""
			if err != nil {
				fails = err.Error()
			}
			if s := strings.Join(got, " "); s != tc.items || breach != tc.breach || fails != tc.fails {
				t.Errorf("%s, era %d: items %q, breach %q, error %q; want %q, %q, %q", name, era, s, breach, fails, tc.items, tc.breach, tc.fails)
			}
			if s := strings.Join(w.asked, " "); s != tc.asked {
				t.Errorf("%s, era %d: asked for %q, want %q", name, era, s, tc.asked)
			}
		}
	}
}

// refusingWire answers every request with an error.
type refusingWire struct {
	wire
	code int64
}

func (w refusingWire) request(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, &jsonrpc.Error{Code: w.code, Message: "no"}
}

// A server that announces tools and does not know the method has none; any
// other error is not taken for an empty list.
func TestToolsUnknown(t *testing.T) {
	log := zerolog.Nop()
	c := &Client{server: &config.Server{Name: "s"}, log: &log}
	catalog, err := c.tools(t.Context(), refusingWire{code: jsonrpc.CodeMethodNotFound})
	if err != nil || len(catalog.Tools) != 0 || catalog.Truncated {
		t.Errorf("got %+v, %v; want an empty catalogue", catalog, err)
	}
	var rpc *jsonrpc.Error
	if catalog, err := c.tools(t.Context(), refusingWire{code: jsonrpc.CodeInternalError}); !errors.As(err, &rpc) {
		t.Errorf("got %+v, %v; want the error", catalog, err)
	}
}

// saysWire gives one answer to everything.
type saysWire struct {
	wire
	answer string
	err    error
}

func (saysWire) modern() bool          { return false }
func (saysWire) lost() <-chan struct{} { return nil }
func (w saysWire) request(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage(w.answer), w.err
}

// What a server does not know to list it has none of; a result that is no
// object never reaches an editor, and any other error does.
func TestRequest(t *testing.T) {
	log := zerolog.Nop()
	unknown := &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "no"}
	for _, tc := range []struct {
		method string
		says   saysWire
		want   string
		kind   protocol.Kind
	}{
		{"resources/list", saysWire{err: unknown}, `{"resources":[]}`, ""},
		{"resources/templates/list", saysWire{err: unknown}, `{"resourceTemplates":[]}`, ""},
		{"prompts/list", saysWire{err: unknown}, `{"prompts":[]}`, ""},
		{"prompts/get", saysWire{err: unknown}, "", protocol.KindUpstreamError},
		{"prompts/list", saysWire{err: &jsonrpc.Error{Code: jsonrpc.CodeInternalError}}, "", protocol.KindUpstreamError},
		{"prompts/get", saysWire{answer: `{"messages":[1.0]}`}, `{"messages":[1.0]}`, ""},
		{"prompts/get", saysWire{answer: `null`}, "", protocol.KindProtocolError},
		{"prompts/list", saysWire{answer: `[]`}, "", protocol.KindProtocolError},
	} {
		c := &Client{server: &config.Server{Name: "s"}, log: &log, wire: tc.says}
		got, err := c.Request(t.Context(), nil, tc.method, nil)
		var kind protocol.Kind
		var e *protocol.Error
		if errors.As(err, &e) {
			kind = e.Data.Kind
		}
		if string(got) != tc.want || kind != tc.kind {
			t.Errorf("%s: got %s, %v; want %s, kind %q", tc.method, got, err, tc.want, tc.kind)
		}
	}
}
