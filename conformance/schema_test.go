package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/mcp-sidecar/mcp-sidecar/schema"
)

// publishedSchemas is the published JSON Schema, cut into one schema a message.
type publishedSchemas struct {
	defs map[string]json.RawMessage
	// messages maps the method of a request or notification of the sidecar,
	// replies that of a request of the editor, to a name in $defs.
	messages, replies map[string]string

	mu       sync.Mutex // guards resolved
	resolved map[string]*jsonschema.Resolved
}

var published = sync.OnceValues(func() (*publishedSchemas, error) {
	text, err := fs.ReadFile(schema.Files(), schema.FileJSONSchema)
	if err != nil {
		return nil, err
	}
	var whole struct {
		Defs map[string]json.RawMessage `json:"$defs"`
	}
	if err := json.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	p := &publishedSchemas{defs: whole.Defs, messages: map[string]string{}, replies: map[string]string{}, resolved: map[string]*jsonschema.Resolved{}}
	for name, def := range whole.Defs {
		var d struct {
			Properties struct {
				Method struct{ Const string }
			}
		}
		// Definitions of another form have no such member.
		if json.Unmarshal(def, &d) != nil || d.Properties.Method.Const == "" {
			continue
		}
		method := d.Properties.Method.Const
		p.messages[method] = name
		if noun, ok := strings.CutSuffix(name, "Request"); ok && whole.Defs[noun+"Response"] != nil {
			p.replies[method] = noun + "Response"
		}
	}
	return p, nil
})

// schema returns the schema of a name in $defs.
func (p *publishedSchemas) schema(name string) (*jsonschema.Resolved, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.resolved[name]; r != nil {
		return r, nil
	}
	// Only what it refers to: resolving all of it for each message takes long.
	text, err := json.Marshal(map[string]any{"$ref": refPrefix + name, "$defs": p.reach(name, map[string]json.RawMessage{})})
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, err
	}
	r, err := s.Resolve(nil)
	if err == nil {
		p.resolved[name] = r
	}
	return r, err
}

const refPrefix = "#/$defs/"

var reference = regexp.MustCompile(`"\$ref":\s*"#/\$defs/([^"]*)"`)

// reach adds a definition and all that it refers to.
func (p *publishedSchemas) reach(name string, into map[string]json.RawMessage) map[string]json.RawMessage {
	if _, done := into[name]; !done {
		into[name] = p.defs[name]
		for _, m := range reference.FindAllSubmatch(p.defs[name], -1) {
			p.reach(string(m[1]), into)
		}
	}
	return into
}

// A checker checks that whatever the sidecar says is as published: members
// that must be there are, and no list is null.
type checker struct {
	schemas *publishedSchemas
	asked   map[string][]string // id -> methods of requests of the editor that are not answered
}

func newChecker(t *testing.T) *checker {
	t.Helper()
	p, err := published()
	if err != nil {
		t.Fatal(err)
	}
	return &checker{schemas: p, asked: map[string][]string{}}
}

// observe checks one line.
func (c *checker) observe(sent bool, line string) error {
	var m struct {
		ID, Error json.RawMessage
		Method    string
	}
	line = strings.TrimPrefix(line, "\ufeff")
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		if sent {
			return nil // a bad line, on purpose
		}
		return fmt.Errorf("the sidecar wrote what is no JSON: %w", err)
	}
	id := idKey(m.ID)
	if sent {
		if m.ID != nil && m.Method != "" {
			c.asked[id] = append(c.asked[id], m.Method)
		}
		return nil
	}
	open := c.asked[id]
	switch {
	case m.Method != "":
		return c.check(c.schemas.messages[m.Method], line)
	case m.Error != nil:
		if len(open) > 0 {
			c.asked[id] = open[:len(open)-1] // which one does not matter for errors
		}
		if !bytes.Contains(m.Error, []byte(`"data":{"kind":`)) { // spec section 2: always
			return fmt.Errorf("an error without data: %.300s", line)
		}
		return c.check("ErrorResponse", line)
	}
	err := fmt.Errorf("nobody asked for %.300s", line)
	for i, method := range open { // several where an id was used twice at once
		if err = c.check(c.schemas.replies[method], line); err == nil {
			c.asked[id] = slices.Delete(open, i, i+1)
			return nil
		}
	}
	return err
}

// idKey is an id as something to look up: how a string is escaped does not
// matter.
func idKey(id json.RawMessage) string {
	if s, ok := rawjson.String(id); ok {
		return "string " + s
	}
	return string(id)
}

// check holds a line against a definition.
func (c *checker) check(name, line string) error {
	if name == "" {
		return fmt.Errorf("the schema does not know %.300s", line)
	}
	r, err := c.schemas.schema(name)
	if err != nil {
		return fmt.Errorf("the schema of %s: %w", name, err)
	}
	var value any
	var big *json.UnmarshalTypeError
	switch err := json.Unmarshal([]byte(line), &value); {
	case errors.As(err, &big): // a number of a server that no float64 holds
		return nil
	case err != nil:
		return err
	}
	if err := r.Validate(value); err != nil {
		return fmt.Errorf("not as published (%s): %w\n%.2000s", name, err, line)
	}
	return nil
}

// A list that is null, a word that is not in the list, a member that is
// missing: the checker finds them.
func TestCheckerFinds(t *testing.T) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"data":null,"nextCursor":null}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"data":[]}}`,
		`{"jsonrpc":"2.0","id":2,"result":{}}`,
		`{"jsonrpc":"2.0","method":"warning","params":{}}`,
		`{"jsonrpc":"2.0","method":"warning","params":{"message":"m","kind":"bad"}}`,
		`{"jsonrpc":"2.0","method":"no/such","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"m"}}`,
		`{"jsonrpc":"2.0","method":"mcpServer/startup/completed","params":{"threadId":"t","ready":null,"failed":[],"cancelled":[]}}`,
	} {
		c := newChecker(t)
		if err := c.observe(true, `{"jsonrpc":"2.0","id":1,"method":"thread/list"}`); err != nil {
			t.Fatal(err)
		}
		if err := c.observe(false, line); err == nil {
			t.Errorf("nothing is wrong with %s", line)
		}
	}
	c := newChecker(t)
	if err := c.observe(true, `{"id":1,"method":"thread/list"}`); err != nil {
		t.Fatal(err)
	}
	if err := c.observe(false, `{"jsonrpc":"2.0","id":1,"result":{"data":[],"nextCursor":null}}`); err != nil {
		t.Error(err)
	}
}
