package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/streamable"
)

// authorized has a person visit the pages that a server refused a request for
// the want of: those of error -32042, or the page that a challenge names. If all
// are accepted, the connection and the tools are made new and the request may
// go out again. Otherwise err is what it ends with, told unless its context has
// ended.
//
// An acceptance says that the person is done: the request goes out at once, and
// does not wait for notifications/elicitation/complete, which many servers never
// send. Error -32042 ended with 2026-07-28, whose servers must not use it; those
// that still do mean the same by it.
func (c *Client) authorized(ctx context.Context, refused, told error) (again bool, err error) {
	pages := c.pagesOf(refused)
	if len(pages) == 0 {
		return false, told
	}
	if !c.offer.URL {
		return false, hinted(told, "the server wants a person to visit a web page, which the editor can't show")
	}
	for _, q := range pages {
		answer, err := c.route(ctx, q, callOf(ctx), true)
		switch {
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case err != nil:
			c.log.Warn().Str("error", c.redact(oneLine(err.Error()))).Msg("a page to visit can't be shown")
			return false, hinted(told, "the server names a page to visit that can't be shown")
		case answer.Action != protocol.AnswerAccept:
			return false, hinted(told, "the server wants a person to visit a web page, which was not accepted")
		}
	}
	if err := c.Refresh(ctx); err != nil {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		// What could not be made new is as it was. The request says best what
		// is wrong with that.
		c.log.Warn().Str("error", c.redact(oneLine(err.Error()))).Msg("refreshing after an authorization")
	}
	return true, nil
}

// hinted returns err with a hint in front of the one that it has.
func hinted(err error, hint string) error {
	e, ok := err.(*protocol.Error)
	if !ok {
		return err
	}
	with := *e
	if with.Data.Hint != "" {
		hint += "; " + with.Data.Hint
	}
	with.Data.Hint = hint
	return &with
}

// pagesOf returns the questions that an error of a request leads to.
func (c *Client) pagesOf(err error) []elicit.Question {
	var rpc *jsonrpc.Error
	var status *streamable.StatusError
	switch {
	case errors.As(err, &rpc) && rpc.Code == mcp.CodeURLElicitationRequired:
		return c.pagesIn(rpc.Data)
	case errors.As(err, &status) && (status.Status == 401 || status.Status == 403):
		return c.pageOf(status)
	}
	return nil
}

// pagesIn reads the data of error -32042. Data that is not as it should be
// leads to no question at all.
func (c *Client) pagesIn(data json.RawMessage) []elicit.Question {
	list := rawjson.Member(data, "elicitations")
	if rawjson.Kind(list) != '[' {
		return nil
	}
	var pages []elicit.Question
	err := rawjson.Array(list, func(i int, value []byte) error {
		if i == MaxPagesAsked {
			return errTooManyPages
		}
		q, err := c.readQuestion(value)
		if err == nil && q.Mode != protocol.QuestionURL {
			err = errNoPage
		}
		pages = append(pages, q)
		return err
	})
	if err != nil {
		c.log.Warn().Str("error", oneLine(err.Error())).Msg("the elicitations of an error can't be read")
		return nil
	}
	return pages
}

var (
	errTooManyPages = fmt.Errorf("more than %d pages", MaxPagesAsked)
	errNoPage       = errors.New("a question that is no page")
)

// maxSaid bounds what a server says in a challenge, in bytes.
const maxSaid = 300

// pageOf makes a question of the first challenge that names a page for people
// (RFC 6749 section 5.2), if any does. It is the sidecar's own question.
func (c *Client) pageOf(e *streamable.StatusError) []elicit.Question {
	challenges, err := oauthex.ParseWWWAuthenticate(e.Challenge)
	if err != nil {
		return nil
	}
	for _, challenge := range challenges {
		var page, said string
		for name, value := range challenge.Params {
			switch strings.ToLower(name) {
			case "error_uri":
				page = value
			case "error_description":
				said = elicit.Clean(c.redact(value), maxSaid)
			}
		}
		if page == "" {
			continue
		}
		name := elicit.Clean(c.server.Name, maxSaid)
		message := fmt.Sprintf("The %s MCP server wants authorization (HTTP %d). Open its page, and accept when you are done.", name, e.Status)
		if said != "" {
			message += "\nThe server says: " + strconv.Quote(said)
		}
		return []elicit.Question{{Server: protocol.ServerName(c.server.Name), Mode: protocol.QuestionURL, Message: message, URL: page}}
	}
	return nil
}

// visits are the web pages that people were sent to and of which the server has
// not said that it is over, oldest first.
type visits struct {
	mu   sync.Mutex
	last int64    // number of the last name made; guarded by mu
	ids  []string // at most MaxVisits; guarded by mu
}

// name makes the name of a visit that the server gave none.
func (v *visits) name() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.last++
	return "mcp-sidecar-" + strconv.FormatInt(v.last, 10)
}

func (v *visits) open(id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.ids, id) {
		v.ids = append(v.ids, id)
	}
	if len(v.ids) > MaxVisits {
		v.ids = v.ids[1:]
	}
}

// forget reports whether there was such a visit.
func (v *visits) forget(id string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	i := slices.Index(v.ids, id)
	if i < 0 {
		return false
	}
	v.ids = slices.Delete(v.ids, i, i+1)
	return true
}

// visitOver takes a notifications/elicitation/complete. It is no answer: a
// question that is still open stays so, since only a person accepts. But what
// the server offers may be more by now. Ids that nobody knows are ignored.
func (c *Client) visitOver(params json.RawMessage) {
	var p struct {
		ID string `json:"elicitationId"`
	}
	if json.Unmarshal(params, &p) == nil && c.visits.forget(p.ID) {
		c.toolsStale()
	}
}
