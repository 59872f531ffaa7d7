package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/mcp-sidecar/mcp-sidecar/binding"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/streamable"
)

// tools lists a server's tools, page by page. A breach of a bound keeps what
// was read and marks the catalogue truncated; a bad tool costs itself only.
func (c *Client) tools(ctx context.Context, conn wire) (*binding.Catalog, error) {
	name := protocol.ServerName(c.server.Name)
	items, breach, err := pages(ctx, conn, "tools/list", "tools")
	var refused *jsonrpc.Error
	switch {
	case errors.As(err, &refused) && refused.Code == jsonrpc.CodeMethodNotFound:
		// It says that it has tools, and means nothing by it.
		c.log.Warn().Str("error", c.redact(oneLine(refused.Message))).Msg("the server does not know tools/list")
		return &emptyCatalog, nil
	case err != nil:
		return nil, err
	}
	if breach != "" {
		c.owner.Warn(name, protocol.KindCatalogTruncated, fmt.Sprintf("server %q: its list of tools was cut: %s; %d tools were kept", name, breach, len(items)))
	}
	items, unfit := headed(conn, items)
	catalog := binding.ParseCatalog(name, items, breach != "")
	for _, o := range unfit {
		o.Server = name
		catalog.Omitted = append(catalog.Omitted, o)
	}
	return catalog, nil
}

// sameTools reports whether two catalogues hold the same bytes.
func sameTools(a, b *binding.Catalog) bool {
	return a.Truncated == b.Truncated && slices.Equal(a.Omitted, b.Omitted) &&
		slices.EqualFunc(a.Tools, b.Tools, func(x, y binding.Tool) bool { return bytes.Equal(x.Raw, y.Raw) })
}

// headed leaves out the tools whose header annotations are invalid: over HTTP
// a client of 2026-07-28 must not offer them.
func headed(conn wire, items []json.RawMessage) (fit []json.RawMessage, unfit []protocol.OmittedTool) {
	if h, ok := conn.(*httpWire); !ok || !h.modern() {
		return items, nil
	}
	for _, item := range items {
		tool, err := binding.ParseTool(item)
		if err == nil {
			if err := streamable.CheckParamHeaders(tool.InputSchema); err != nil {
				unfit = append(unfit, protocol.OmittedTool{Tool: tool.Name, Reason: err.Error(), Path: "/inputSchema"})
				continue
			}
		}
		fit = append(fit, item)
	}
	return fit, unfit
}

// Inventory lists a server's resources and resource templates, within the
// bounds of a list. What the server does not offer is empty.
func (c *Client) Inventory(ctx context.Context) (resources, templates []json.RawMessage, err error) {
	conn, gone := c.live()
	if gone != nil {
		return nil, nil, gone
	}
	if !offers(c.Status().Capabilities, "resources") {
		return nil, nil, nil
	}
	resources, _, err = pages(ctx, conn, "resources/list", "resources")
	if err != nil {
		return nil, nil, c.callError(ctx, conn, "resources/list", err)
	}
	templates, _, err = pages(ctx, conn, "resources/templates/list", "resourceTemplates")
	if err != nil {
		// Many servers with resources do not know templates.
		templates = nil
	}
	return resources, templates, nil
}

// offers reports whether a server's capabilities name a feature.
func offers(capabilities json.RawMessage, feature string) bool {
	var found bool
	_ = rawjson.Object(capabilities, func(key, value []byte) error {
		found = found || string(key) == feature && rawjson.Kind(value) != 'n'
		return nil
	})
	return found
}

// pages collects a paged list. breach says in words which bound was broken; the
// items up to there are returned. An error on a later page is a breach too: a
// list that breaks off is better than none.
//
// An empty cursor is a cursor like any other since 2026-07-28. Before, many
// servers sent one where they meant the end: those repeat the page for it, or
// refuse it, and then the list was whole.
func pages(ctx context.Context, conn wire, method, member string) (items []json.RawMessage, breach string, err error) {
	seen := map[string]bool{}
	params := json.RawMessage("{}")
	var last page
	for number := 1; ; number++ {
		result, err := conn.request(ctx, method, params)
		doubtful := number > 1 && last.cursor == ""
		if err != nil {
			switch {
			case number == 1 || ctx.Err() != nil:
				return nil, "", err
			case doubtful && !conn.modern():
				return items, "", nil
			}
			return items, fmt.Sprintf("page %d failed", number), nil
		}
		next, err := readPage(result, member)
		switch {
		case err != nil && number == 1:
			return nil, "", fmt.Errorf("%s: %w", method, err)
		case err != nil:
			return items, fmt.Sprintf("page %d is broken", number), nil
		case doubtful && next.more && next.cursor == "" && bytes.Equal(next.list, last.list):
			return items, "", nil
		}
		items = append(items, next.items...)
		switch {
		case len(items) > MaxItems:
			return items[:MaxItems:MaxItems], fmt.Sprintf("more than %d entries", MaxItems), nil
		case next.odd:
			return items, "a cursor that is no string", nil
		case !next.more:
			return items, "", nil
		case len(next.cursor) > MaxCursor:
			return items, fmt.Sprintf("a cursor over %d bytes", MaxCursor), nil
		case seen[next.cursor]:
			return items, "a repeated cursor", nil
		case number == MaxPages:
			return items, fmt.Sprintf("more than %d pages", MaxPages), nil
		}
		seen[next.cursor] = true
		params = append(rawjson.AppendString([]byte(`{"cursor":`), next.cursor), '}')
		last = next
	}
}

// A page is one answer of a paged list.
type page struct {
	list   []byte // the array as it came; null where the server has nothing
	items  []json.RawMessage
	cursor string
	more   bool // there is a cursor, which may be empty
	odd    bool // there is one, and it is no string
}

// readPage takes one answer apart.
func readPage(result json.RawMessage, member string) (p page, err error) {
	if rawjson.Kind(result) != '{' {
		return p, fmt.Errorf("the result is no object")
	}
	err = rawjson.Object(result, func(key, value []byte) error {
		switch string(key) {
		case member:
			p.list = value
		case "nextCursor":
			p.cursor, p.more, p.odd = "", false, false
			switch rawjson.Kind(value) {
			case 'n':
			case '"':
				p.cursor, _ = rawjson.String(value)
				p.more = true
			default:
				p.odd = true
			}
		}
		return nil
	})
	if err != nil {
		return p, err
	}
	if p.list == nil {
		return p, fmt.Errorf("the result has no %q", member)
	}
	switch rawjson.Kind(p.list) {
	case 'n': // some servers write null for an empty list
	case '[':
		err = rawjson.Array(p.list, func(_ int, value []byte) error {
			p.items = append(p.items, bytes.Clone(value))
			return nil
		})
	default:
		return p, fmt.Errorf("%q is no array", member)
	}
	return p, err
}
