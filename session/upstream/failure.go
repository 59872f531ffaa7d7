package upstream

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/rs/zerolog"

	"github.com/mcp-sidecar/mcp-sidecar/binding"
	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/process"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/stdio"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/streamable"
)

var emptyCatalog = *binding.ParseCatalog("", nil, false)

// slogOf bridges the SDK's logger to ours.
func slogOf(l *zerolog.Logger) *slog.Logger { return slog.New(zerolog.NewSlogHandler(*l)) }

// clean returns f without the entry's secrets, which a server may have said.
func (c *Client) clean(f *protocol.ServerFailure) *protocol.ServerFailure {
	clean := *f
	clean.Error, clean.Hint = c.redact(f.Error), c.redact(f.Hint)
	return &clean
}

// startFailure says why a start did not succeed. cause is why its time ended,
// if it did.
func (c *Client) startFailure(err error, at stage, cause error) *protocol.ServerFailure {
	if errors.Is(cause, errStartLimit) {
		limit := c.server.StartupTimeout
		f := &protocol.ServerFailure{Kind: protocol.KindTimeout,
			Error: fmt.Sprintf("%s did not finish within %s", at, limit.Round(time.Millisecond)),
			Hint:  fmt.Sprintf("raise startup_timeout_sec under [mcp_servers.%s] if the server needs longer", tomlKey(c.server.Name))}
		c.mu.Lock()
		if c.noise != "" {
			f.Hint += fmt.Sprintf("; its stdout began with a line that is no MCP message: %s", c.noise)
		}
		c.mu.Unlock()
		var s *startError
		var status *streamable.StatusError
		switch {
		case errors.As(err, &s):
			f.StderrTail = s.stderr
		case errors.As(err, &status):
			f.Error += "; the last answer was " + describe(status).Error
		}
		return f
	}
	var started *startError
	if errors.As(err, &started) {
		return started.failure
	}
	return describe(err)
}

// describe turns an error of the lower layers into a failure.
func describe(err error) *protocol.ServerFailure {
	f := &protocol.ServerFailure{Kind: protocol.KindProtocolError, Error: err.Error()}
	var (
		notFound   *process.NotFoundError
		notExec    *process.NotExecutableError
		cwd        *process.CwdMissingError
		argument   *process.UnsafeArgumentError
		status     *streamable.StatusError
		transport  *streamable.TransportError
		redirect   *streamable.RedirectError
		tooLarge   *streamable.ResultTooLargeError
		streamLost *streamable.StreamLostError
		version    *versionError
		rpc        *jsonrpc.Error
		pathErr    *fs.PathError
		helper     *helperError
	)
	switch {
	case errors.As(err, &cwd):
		f.Kind, f.Error = protocol.KindCwdMissing, cwd.Error()
		f.Hint = "create the folder or correct cwd"
	case errors.As(err, &notFound):
		f.Kind, f.Error = protocol.KindCommandNotFound, notFound.Error()
		f.Hint = "write the command's full path, or extend PATH with env or env_vars"
		if len(notFound.FoundElsewhere) > 0 {
			f.Hint = fmt.Sprintf("it was found at %s, which is not on the server's PATH: write that path as the command", strings.Join(notFound.FoundElsewhere, ", "))
		}
	case errors.As(err, &notExec):
		f.Kind, f.Error = protocol.KindNotExecutable, notExec.Error()
		f.Hint = "make the file executable, or name the interpreter as the command"
	case errors.As(err, &argument):
		f.Kind, f.Error = protocol.KindConfigInvalid, argument.Error()
	case errors.As(err, &helper):
		f.Kind, f.Error = protocol.KindConfigInvalid, helper.Error()
		f.Hint = "http_headers_helper must print one JSON object of header names and string values"
	case errors.As(err, &redirect):
		f.Kind, f.Error = protocol.KindHTTPStatus, redirect.Error()
		f.Hint = fmt.Sprintf("if that is the server you mean, set url to %s", redirect.Target)
	case errors.As(err, &status):
		f.Kind, f.Error = protocol.KindHTTPStatus, status.Error()
		switch {
		case status.Status == 401 || status.Status == 403:
			f.Kind = protocol.KindAuthRequired
			f.Hint = "set bearer_token_env_var or http_headers for this server"
		case status.Status == 404 || status.Status == 405:
			f.Hint = "check url: this address does not speak Streamable HTTP"
		case status.RPC != nil:
			f.Kind, f.Error = protocol.KindUpstreamError, answered(status.RPC)
		case status.Status < 300:
			f.Kind = protocol.KindProtocolError
			f.Hint = "check url: what answers there is no MCP server"
		}
	case errors.As(err, &transport):
		f.Kind, f.Error = protocol.KindUnreachable, reach(transport.Err, transport.Addr)
		f.Hint = "start the server, or correct url"
		if errors.As(err, new(tls.RecordHeaderError)) {
			f.Hint = "the server does not speak TLS: let url begin with http://"
		}
	case errors.As(err, &tooLarge):
		f.Kind = protocol.KindResultTooLarge
	case errors.As(err, &streamLost):
		f.Error = streamLost.Error()
	case errors.As(err, &version):
		f.Kind, f.Error = protocol.KindVersionUnsupported, version.Error()
		f.Hint = "correct protocol_version, or leave it out"
	case errors.As(err, &rpc):
		f.Kind, f.Error = protocol.KindUpstreamError, answered(rpc)
	case strings.HasPrefix(err.Error(), "unsupported protocol version"):
		f.Kind, f.Error = protocol.KindVersionUnsupported, "the server answered with an "+err.Error()
	case errors.As(err, &pathErr):
		f.Kind = protocol.KindCommandNotFound
	case errors.Is(err, context.Canceled), errors.Is(err, errClosed):
		f.Kind, f.Error = protocol.KindServerFailed, "the start was cancelled"
	}
	if said, refused := versionRefusal(err); refused {
		f.Kind = protocol.KindVersionUnsupported
		if spoken := revision.FindAllString(said, -1); len(spoken) > 0 && !revision.MatchString(f.Error) {
			f.Error += " (it names " + strings.Join(spoken, ", ") + ")"
		}
	}
	if f.Kind == protocol.KindVersionUnsupported && f.Hint == "" {
		f.Hint = "the sidecar speaks " + strings.Join(protocol.MCPVersions, ", ") + ": update the server"
	}
	f.Error = oneLine(f.Error)
	return f
}

// answered words an error that a server answered with.
func answered(e *jsonrpc.Error) string {
	return fmt.Sprintf("the server answered with error %d: %s", e.Code, oneLine(e.Message))
}

// reach words why an address could not be reached, without the URL, which may
// hold a secret.
func reach(err error, addr string) string {
	var dns *net.DNSError
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	switch {
	case errors.As(err, &dns):
		return fmt.Sprintf("the host of %s is not known", addr)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Sprintf("nothing answers at %s: connection refused", addr)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("%s did not answer in time", addr)
	}
	return fmt.Sprintf("%s: %v", addr, err)
}

// ErrNotRun matches the error of a request that certainly did not reach its
// server because the connection had ended: it may be sent again on another
// one.
var ErrNotRun = errors.New("the request was not run")

// callError turns an error of a request into what an editor is told, or
// returns the cause of ctx when that ended. conn is the connection that it was
// sent on. What the server says comes as it is, but for the entry's secrets:
// some servers repeat in an error the token that they do not take.
func (c *Client) callError(ctx context.Context, conn wire, method string, err error) error {
	err = c.fault(ctx, conn, method, err)
	e, ok := err.(*protocol.Error)
	if !ok {
		return err
	}
	clean := *e
	clean.Message, clean.Data.Hint = c.redact(e.Message), c.redact(e.Data.Hint)
	if u := e.Data.Upstream; u != nil {
		said := protocol.UpstreamError{Code: u.Code, Message: c.redact(u.Message), Data: u.Data}
		if u.Data != nil {
			said.Data, _ = c.redactJSON(u.Data)
		}
		clean.Data.Upstream = &said
	}
	return &clean
}

func (c *Client) fault(ctx context.Context, conn wire, method string, err error) error {
	name := protocol.ServerName(c.server.Name)
	var (
		known    *protocol.Error
		rpc      *jsonrpc.Error
		tooLarge *stdio.ResultTooLargeError
		httpBig  *streamable.ResultTooLargeError
		sent     *streamable.TransportError
		lost     *streamable.StreamLostError
		status   *streamable.StatusError
		redirect *streamable.RedirectError
		closed   *stdio.ClosedError
	)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &redirect):
		f := describe(err)
		return protocol.Errorf(f.Kind, "server %q: %s: %s", name, method, f.Error).WithServer(name).WithHint("%s", f.Hint)
	case errors.As(err, &status) && status.RPC == nil:
		f := describe(err)
		e := protocol.Errorf(f.Kind, "server %q: %s", name, f.Error).WithServer(name)
		if f.Kind != protocol.KindHTTPStatus { // the address is right: the server was greeted there
			e.WithHint("%s", f.Hint)
		}
		if status.RetryAfter > 0 {
			e.Data.RetryAfterMs = status.RetryAfter.Milliseconds()
			e.WithHint("try again after %s", status.RetryAfter.Round(time.Second))
		}
		return e
	case errors.Is(err, streamable.ErrSessionLost), errors.Is(err, errRetired):
		return protocol.Errorf(protocol.KindServerFailed, "server %q no longer knows the session: %w", name, ErrNotRun).
			WithServer(name).WithHint("try again: the sidecar connects anew")
	case errors.As(err, &closed) && !closed.Sent:
		f := c.lostBy(conn)
		return protocol.Errorf(f.Kind, "server %q was lost (%s): %w", name, f.Error, ErrNotRun).WithServer(name).WithHint("%s", f.Hint)
	case errors.As(err, &tooLarge):
		return protocol.Errorf(protocol.KindResultTooLarge, "server %q: %v", name, tooLarge).WithServer(name)
	case errors.As(err, &httpBig):
		return protocol.Errorf(protocol.KindResultTooLarge, "server %q: %v", name, httpBig).WithServer(name)
	case errors.As(err, &rpc):
		e := protocol.Errorf(protocol.KindUpstreamError, "server %q answered %s with error %d: %s", name, method, rpc.Code, oneLine(rpc.Message)).WithServer(name)
		e.Data.Upstream = &protocol.UpstreamError{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data}
		return e
	case errors.As(err, &sent) && !sent.Sent:
		f := describe(err)
		return protocol.Errorf(f.Kind, "server %q: %s", name, f.Error).WithServer(name)
	case errors.As(err, &sent), errors.As(err, &lost):
		return protocol.Errorf(protocol.KindAmbiguousDelivery, "server %q: the connection was lost during the request; it may or may not have taken effect", name).WithServer(name)
	}
	if errors.As(err, &closed) {
		f := c.lostBy(conn)
		return protocol.Errorf(f.Kind, "server %q was lost during the request, which may or may not have taken effect: %s", name, f.Error).
			WithServer(name).WithHint("%s", f.Hint)
	}
	return c.protocolFault("%s: %s", method, oneLine(err.Error()))
}

// lostBy returns why a connection has ended, once its owner has been told: a
// reply that reports it must not come before.
func (c *Client) lostBy(conn wire) *protocol.ServerFailure {
	f := conn.failure()
	ctx, cancel := context.WithTimeout(c.ctx, tellPatience)
	defer cancel()
	_ = c.AwaitLost(ctx) // late, the reply is still right
	return f
}

// tellPatience bounds the wait for an owner to be told.
const tellPatience = time.Second

// protocolFault is a server's breach of the protocol.
func (c *Client) protocolFault(format string, args ...any) error {
	return protocol.Errorf(protocol.KindProtocolError, "server %q: "+format, append([]any{c.server.Name}, args...)...).WithServer(protocol.ServerName(c.server.Name))
}

// oneLine keeps foreign text short, on one line and free of characters that
// deceive.
func oneLine(s string) string { return elicit.Clean(s, maxForeignText) }

// maxForeignText bounds a foreign text in an error, in bytes.
const maxForeignText = 1000

// tomlKey writes a name as a key of TOML.
func tomlKey(name string) string {
	bare := name != ""
	for _, r := range name {
		bare = bare && (r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
	}
	if bare {
		return name
	}
	return fmt.Sprintf("%q", name)
}

// redactJSON is redact for JSON. It reports false, and gives nothing, where
// what is left is none, for the secret was a number or a part of a name.
func (c *Client) redactJSON(raw json.RawMessage) (json.RawMessage, bool) {
	clean := c.redact(string(raw))
	if clean == string(raw) {
		return slices.Clone(raw), true
	}
	if rawjson.Valid([]byte(clean)) != nil {
		return nil, false
	}
	return json.RawMessage(clean), true
}
