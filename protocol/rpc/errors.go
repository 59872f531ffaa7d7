package rpc

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"runtime/debug"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/rs/zerolog"
)

var (
	// ErrEditorGone is what a question to the editor ends with when no answer
	// can come any more: input has ended, or the editor does not read. A
	// context given to Serve that is cancelled with it as its cause says that
	// the editor's process is gone.
	ErrEditorGone = errors.New("the editor is gone")
	// ErrMethodNotFound matches the error of a question whose method the
	// editor does not know. The error is a *protocol.Error of kind
	// clientUnsupported.
	ErrMethodNotFound = errors.New("the editor does not know the method")

	errCancelled = errors.New("cancelled by the editor")
	errEnding    = errors.New("the sidecar is ending")
)

// crashIDBytes is the length of a crash id before it is hex.
const crashIDBytes = 4

func crashID() string {
	b := make([]byte, crashIDBytes)
	rand.Read(b) // never fails
	return "c-" + hex.EncodeToString(b)
}

// wireError is what the editor is told about err, the failure of a request
// with the given method and context. What is no protocol.Error is logged and
// its text withheld.
func wireError(ctx context.Context, method string, err error) *protocol.Error {
	cause := context.Cause(ctx)
	if errors.Is(cause, errCancelled) {
		return protocol.Errorf(protocol.KindCancelled, "cancelled")
	}
	var e *protocol.Error
	switch {
	case errors.As(err, &e):
		if e.Data.Kind != protocol.KindInternal || e.Data.CrashID != "" {
			return e
		}
	case cause != nil || errors.Is(err, ErrEditorGone):
		return protocol.Errorf(protocol.KindShuttingDown, "the sidecar is ending")
	case errors.Is(err, context.DeadlineExceeded):
		return protocol.Errorf(protocol.KindTimeout, "the time limit ran out")
	case errors.Is(err, context.Canceled):
		return protocol.Errorf(protocol.KindCancelled, "cancelled")
	}
	id := crashID()
	zerolog.Ctx(ctx).Error().Str("method", method).Str("crashId", id).Err(err).Msg("internal error")
	return internalError(id)
}

// panicError is the same for a panic, whose stack goes to the log.
func panicError(ctx context.Context, method string, p any) *protocol.Error {
	id := crashID()
	zerolog.Ctx(ctx).Error().Str("method", method).Str("crashId", id).
		Str("panic", panicText(p)).Str("stack", string(debug.Stack())).Msg("panic in a handler")
	return internalError(id)
}

func panicText(p any) string {
	switch p := p.(type) {
	case error:
		return p.Error()
	case string:
		return p
	}
	return "a value that is neither error nor string"
}

func internalError(id string) *protocol.Error {
	e := protocol.Errorf(protocol.KindInternal, "internal error %s", id).WithHint("the log has the details under this id")
	e.Data.CrashID = id
	return e
}
