package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// legacyVersion is the newest revision that is agreed on by initialize.
const legacyVersion = "2025-11-25"

// modernVersion is the first revision without sessions.
const modernVersion = "2026-07-28"

var errStartLimit = errors.New("the start-up limit was reached")

// capSandboxState is an experimental capability of Codex's: a server that has it
// gets a member of the same name in the _meta of calls.
const capSandboxState = "codex/sandbox-state-meta"

// stage is how far a start has come, for the text of a time-out.
type stage string

const (
	stageSpawn     stage = "starting the process"
	stageHandshake stage = "the handshake"
	stageList      stage = "listing the tools"
)

// connect reaches the server, greets it and lists its tools, all within its
// start-up limit. The status it returns has everything but the state.
func (c *Client) connect() (wire, Status, *protocol.ServerFailure) {
	status := c.Status()
	at := stageSpawn
	var place func()
	if c.server.Stdio != nil {
		release, err := c.host.place(c.ctx)
		if err != nil {
			return nil, status, c.startFailure(err, at, nil)
		}
		place = release
		defer place()
	}
	ctx, cancel := context.WithTimeoutCause(c.ctx, c.server.StartupTimeout, errStartLimit)
	defer cancel()

	for try := 0; ; try++ {
		conn, err := c.attempt(ctx, &status, &at, place)
		if err == nil {
			return conn, status, nil
		}
		wait, again := retryAfter(ctx, err, try)
		if !again {
			return nil, status, c.startFailure(err, at, context.Cause(ctx))
		}
		c.log.Info().Str("error", c.redact(oneLine(err.Error()))).Dur("wait", wait).Msg("the server is not there yet: trying again")
		select {
		case <-time.After(wait):
			c.stopping.Wait()
		case <-ctx.Done():
			return nil, status, c.startFailure(err, at, context.Cause(ctx))
		}
	}
}

// attempt reaches the server and lists its tools, once. place is called when a
// process has come up, if it is not nil.
func (c *Client) attempt(ctx context.Context, status *Status, at *stage, place func()) (wire, error) {
	conn, session, err := c.dial(ctx, at)
	if err != nil {
		return nil, err
	}
	if place != nil {
		place()
	}
	*at = stageList
	c.describe(status, conn, session)
	status.Catalog = &emptyCatalog
	if offers(status.Capabilities, "tools") {
		if status.Catalog, err = c.tools(ctx, conn); err != nil {
			// Before the connection is stopped: that changes the reason.
			select {
			case <-conn.lost():
				failure := conn.failure()
				err = &startError{failure: failure, stderr: failure.StderrTail, err: err}
			default:
			}
			c.stopBeside(conn)
			return nil, err
		}
	}
	return conn, nil
}

// dial greets the server. One that refuses the newest revision of the older
// era is greeted once more with one that it speaks, which is remembered.
func (c *Client) dial(ctx context.Context, at *stage) (wire, *mcp.ClientSession, error) {
	dial := c.dialStdio
	if c.server.HTTP != nil {
		dial = c.dialHTTP
	}
	conn, session, err := dial(ctx, at)
	older := olderVersion(err)
	if older == "" || older == c.host.greeting(c.identity) || c.server.ProtocolVersion != "" || ctx.Err() != nil {
		return conn, session, err
	}
	c.log.Info().Str("version", older).Msg("the server refused the protocol version: greeting it with an older one")
	before := c.host.greeting(c.identity)
	c.host.learn(c.identity, older)
	c.stopping.Wait()
	conn, session, err = dial(ctx, at)
	if err != nil {
		c.host.learn(c.identity, before)
	}
	return conn, session, err
}

// retryAfter says whether and when a start is tried again: a server that is not
// up yet, or busy, may be there soon. A wait beyond the start-up limit is none.
func retryAfter(ctx context.Context, err error, try int) (time.Duration, bool) {
	after, passing := passing(err)
	if !passing || try == len(startRetries) || ctx.Err() != nil {
		return 0, false
	}
	wait := max(startRetries[try], after)
	limit, ok := ctx.Deadline()
	return wait, !ok || time.Until(limit) > wait
}

// describe fills in what a server said of itself in the handshake.
func (c *Client) describe(status *Status, conn wire, session *mcp.ClientSession) {
	if s, ok := conn.(*stdioWire); ok {
		status.PID = int64(s.child.PID())
	}
	r := session.InitializeResult()
	if r == nil {
		return
	}
	status.Era = r.ProtocolVersion
	status.Instructions = r.Instructions
	if r.ServerInfo != nil {
		status.Info = &protocol.ServerInfo{Name: r.ServerInfo.Name, Title: r.ServerInfo.Title, Version: r.ServerInfo.Version}
	}
	if r.Capabilities != nil {
		if raw, err := json.Marshal(r.Capabilities); err == nil {
			status.Capabilities = raw
		}
		_, status.SandboxState = r.Capabilities.Experimental[capSandboxState]
	}
}

// client returns the SDK's client for one attempt to connect.
func (c *Client) client(o *origins) *mcp.Client {
	caps := &mcp.ClientCapabilities{}
	if c.offer.Form || c.offer.URL {
		caps.Elicitation = &mcp.ElicitationCapabilities{}
		if c.offer.Form {
			caps.Elicitation.Form = &mcp.FormElicitationCapabilities{}
		}
		if c.offer.URL {
			caps.Elicitation.URL = &mcp.URLElicitationCapabilities{}
		}
	}
	quiet := zerolog.Nop() // the SDK logs what the transports have told already
	client := mcp.NewClient(&mcp.Implementation{Name: c.host.name, Version: c.host.version}, &mcp.ClientOptions{
		Capabilities:   caps,
		Logger:         slogOf(&quiet),
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}, // ours: see rounds
		// Handlers make the SDK subscribe; the transports take the
		// notification before it, in order.
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {},
	})
	client.AddReceivingMiddleware(c.answering(o))
	return client
}

// greet runs the SDK's handshake.
func (c *Client) greet(ctx context.Context, client *mcp.Client, t mcp.Transport, version string) (*mcp.ClientSession, error) {
	switch {
	case c.server.ProtocolVersion != "":
		version = c.server.ProtocolVersion
	case version == "":
		version = c.host.greeting(c.identity)
	}
	// The session outlives the start: its handlers run on values of the
	// client's life.
	session, err := client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return nil, err
	}
	if v := session.InitializeResult(); v != nil && c.server.ProtocolVersion != "" && v.ProtocolVersion != c.server.ProtocolVersion {
		_ = session.Close()
		return nil, &versionError{fmt.Sprintf("it speaks %s, and the configuration asks for %s", v.ProtocolVersion, c.server.ProtocolVersion)}
	}
	return session, nil
}

type versionError struct{ text string }

func (e *versionError) Error() string { return e.text }

// notification takes what the sidecar handles itself, in the order of the
// stream.
func (c *Client) notification(method string, params json.RawMessage) (handled bool) {
	defer c.fence("taking "+method, func() { handled = true })
	switch method {
	case "notifications/progress":
		c.calls.progress(params)
	case "notifications/tools/list_changed":
		c.toolsStale()
	case "notifications/elicitation/complete":
		c.visitOver(params)
	default:
		return false
	}
	return true
}

// eraMeta returns the members that 2026-07-28 wants in the _meta of every
// request, without braces.
func (c *Client) eraMeta(version string) ([]byte, error) {
	caps := map[string]any{}
	if c.offer.Form || c.offer.URL {
		modes := map[string]any{}
		if c.offer.Form {
			modes["form"] = struct{}{}
		}
		if c.offer.URL {
			modes["url"] = struct{}{}
		}
		caps["elicitation"] = modes
	}
	raw, err := rawjson.Marshal(map[string]any{
		mcp.MetaKeyProtocolVersion:    version,
		mcp.MetaKeyClientInfo:         map[string]string{"name": c.host.name, "version": c.host.version},
		mcp.MetaKeyClientCapabilities: caps,
	})
	if err != nil {
		return nil, err
	}
	return raw[1 : len(raw)-1], nil
}
