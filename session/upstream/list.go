package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcp-sidecar/mcp-sidecar/binding"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/streamable"
)

// tools lists a server's tools, page by page. A breach of a bound keeps what
// was read and marks the catalogue truncated; a bad tool costs itself only.
func (c *Client) tools(ctx context.Context, conn wire) (*binding.Catalog, error) {
	items, breach, err := pages(ctx, conn, "tools/list", "tools")
	if err != nil {
		return nil, err
	}
	name := protocol.ServerName(c.server.Name)
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
func pages(ctx context.Context, conn wire, method, member string) (items []json.RawMessage, breach string, err error) {
	seen := map[string]bool{}
	params := json.RawMessage("{}")
	for page := 1; ; page++ {
		result, err := conn.request(ctx, method, params)
		if err != nil {
			if page == 1 || ctx.Err() != nil {
				return nil, "", err
			}
			return items, fmt.Sprintf("page %d failed", page), nil
		}
		cursor, more, found, err := readPage(result, member, &items)
		switch {
		case err != nil && page == 1:
			return nil, "", fmt.Errorf("%s: %w", method, err)
		case err != nil:
			return items, fmt.Sprintf("page %d is broken", page), nil
		case !found && page == 1:
			return nil, "", fmt.Errorf("%s: the result has no %q", method, member)
		}
		switch {
		case len(items) > MaxItems:
			return items[:MaxItems:MaxItems], fmt.Sprintf("more than %d entries", MaxItems), nil
		case !more:
			return items, "", nil
		case len(cursor) > MaxCursor:
			return items, fmt.Sprintf("a cursor over %d bytes", MaxCursor), nil
		case seen[cursor]:
			return items, "a repeated cursor", nil
		case page == MaxPages:
			return items, fmt.Sprintf("more than %d pages", MaxPages), nil
		}
		seen[cursor] = true
		params = append(rawjson.AppendString([]byte(`{"cursor":`), cursor), '}')
	}
}

// readPage appends one page's items and returns its next cursor. An empty
// cursor ends the list: servers that send one mean it so.
func readPage(result json.RawMessage, member string, items *[]json.RawMessage) (cursor string, more, found bool, err error) {
	if rawjson.Kind(result) != '{' {
		return "", false, false, fmt.Errorf("the result is no object")
	}
	var list []byte
	err = rawjson.Object(result, func(key, value []byte) error {
		switch string(key) {
		case member:
			list, found = value, true
		case "nextCursor":
			cursor, _ = rawjson.String(value)
			more = cursor != ""
		}
		return nil
	})
	if err != nil || !found {
		return cursor, more, found, err
	}
	switch rawjson.Kind(list) {
	case 'n': // some servers write null for an empty list
	case '[':
		err = rawjson.Array(list, func(_ int, value []byte) error {
			*items = append(*items, bytes.Clone(value))
			return nil
		})
	default:
		return "", false, true, fmt.Errorf("%q is no array", member)
	}
	return cursor, more, true, err
}
