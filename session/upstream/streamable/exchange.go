package streamable

import (
	"context"
	"encoding/json"
	"sync"
	"time"
)

// An Exchange is the raw side of one call of the SDK: what goes out and what
// came back. It is made for one call and put into its context with
// [WithExchange], or handed to [Do].
//
// The call writes the fields until it has returned. When its context ended
// early the stream may still be writing: call Seal first, as Do does.
type Exchange struct {
	// Params, if set, is the JSON object sent as the params of the request
	// instead of the SDK's. The members that the SDK put into _meta are added
	// where Params has none of that name; protocolVersion is always the SDK's,
	// as the header must say the same. All other bytes are sent as they are.
	Params json.RawMessage

	// Result is the result as it came, on one line if it came on several.
	Result json.RawMessage
	// Error is the JSON-RPC error object as it came.
	Error json.RawMessage
	// Status is the HTTP status of the answer; 0 if there was none.
	Status int
	// RetryAfter is the answer's Retry-After; 0 if absent.
	RetryAfter time.Duration
	// Challenge is what a 401 or 403 asked for: see StatusError.Challenge.
	Challenge []string
	// SessionLost says that the server no longer knows the session.
	SessionLost bool
	// Sent is false if no byte of the request can have reached the server.
	Sent bool
	// Err is the failure of the exchange itself, never a JSON-RPC error alone.
	Err error

	// mu guards sealed and, until it is set, all fields but Params.
	mu     sync.Mutex
	sealed bool
}

// Seal ends all writing to x. What came later than this is dropped.
func (x *Exchange) Seal() {
	x.mu.Lock()
	x.sealed = true
	x.mu.Unlock()
}

// note lets write change x, unless x is nil or sealed.
func (x *Exchange) note(write func(*Exchange)) {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.sealed {
		write(x)
	}
}

// exchangeKey is the context key of the *Exchange.
type exchangeKey struct{}

// WithExchange returns a context for one SDK call whose raw side is x.
func WithExchange(ctx context.Context, x *Exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// ExchangeFrom returns the Exchange of the call that ctx belongs to, or nil:
// a hook that gets nil was called for a stream that belongs to no call.
func ExchangeFrom(ctx context.Context) *Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*Exchange)
	return x
}

// unattributed returns ctx without its Exchange.
func unattributed(ctx context.Context) context.Context {
	if ExchangeFrom(ctx) == nil {
		return ctx
	}
	return WithExchange(ctx, nil)
}
