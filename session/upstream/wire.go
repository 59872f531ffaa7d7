package upstream

import (
	"context"
	"encoding/json"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A wire is a connected session over one transport.
type wire interface {
	// request sends one request and returns the raw result. A server's error
	// is a *jsonrpc.Error.
	request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	// modern reports whether the session speaks 2026-07-28 or later.
	modern() bool
	// lost is closed when the connection has ended by itself.
	lost() <-chan struct{}
	// failure says why it ended.
	failure() *protocol.ServerFailure
	// stop ends the connection, bounded by StopTime. It is called once.
	stop()
}
