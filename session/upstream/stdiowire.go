package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/process"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/stdio"
)

// exitPatience is how long an exit is waited for after the pipes have closed,
// to tell how the server ended.
const exitPatience = 500 * time.Millisecond

// stdioWire is a session with a child process.
type stdioWire struct {
	client  *Client
	child   Child
	conn    *stdio.Conn
	session *mcp.ClientSession
	meta    []byte // for every request, in the modern era
}

// startError is a start that failed after the process had been started.
type startError struct {
	failure *protocol.ServerFailure
	stderr  []string
	onProbe bool // the server ended itself before it answered anything
	late    bool // it refused the old greeting after the newer one had timed out
	err     error
}

func (e *startError) Error() string { return e.err.Error() }
func (e *startError) Unwrap() error { return e.err }

// dialStdio starts the process and greets it. A server that ends itself on the
// newer greeting is started once more and greeted in the old way, which is
// remembered. One that was slow to answer the newer greeting and refuses the
// old one is started once more, too, and given all the time that is left.
func (c *Client) dialStdio(ctx context.Context, at *stage) (wire, *mcp.ClientSession, error) {
	version := c.host.greeting(c.identity)
	w, err := c.dialOnce(ctx, at, version, ProbeTimeout)
	var early *startError
	if errors.As(err, &early) && version == "" && c.server.ProtocolVersion == "" && ctx.Err() == nil {
		switch {
		case early.onProbe:
			*at = stageSpawn
			c.stopping.Wait()
			if w, err = c.dialOnce(ctx, at, legacyVersion, ProbeTimeout); err == nil {
				c.host.learn(c.identity, legacyVersion)
			}
		case early.late:
			*at = stageSpawn
			c.stopping.Wait()
			w, err = c.dialOnce(ctx, at, version, c.server.StartupTimeout)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return w, w.session, nil
}

func (c *Client) dialOnce(ctx context.Context, at *stage, version string, probe time.Duration) (*stdioWire, error) {
	s := c.server.Stdio
	child, err := c.host.spawner.Spawn(ctx, process.Spec{Command: s.Command, Args: s.Args, Dir: s.Cwd, Env: s.Env, Redact: c.redact})
	if err != nil {
		return nil, err
	}
	*at = stageHandshake
	began := time.Now()
	var from origins
	w := &stdioWire{client: c, child: child}
	w.conn = stdio.New(child.Stdout(), child.Stdin(), stdio.Options{
		MaxLine:      MaxMessage,
		ProbeTimeout: probe,
		OnNoise:      c.noisy,
		OnNotification: func(method string, params json.RawMessage) bool {
			return c.notification(method, params)
		},
		OnServerRequest: func(method string, params json.RawMessage) string {
			return from.note(method, params, c.calls.candidates, false)
		},
	})
	w.session, err = c.greet(ctx, c.client(&from), stdio.Transport{Conn: w.conn}, version)
	if err == nil {
		r := w.session.InitializeResult()
		if r != nil && r.ProtocolVersion >= modernVersion {
			w.meta, err = c.eraMeta(r.ProtocolVersion)
		}
	}
	if err != nil {
		// The SDK tells what became of its request; the connection knows why.
		ended := w.conn.Err()
		failure := w.early(err, ended)
		c.stopBeside(w)
		return nil, &startError{failure: failure, stderr: child.StderrTail(StderrLines), onProbe: errors.Is(ended, stdio.ErrExitedDuringProbe),
			late: refusedMethod(err) && time.Since(began) >= probe, err: err}
	}
	return w, nil
}

// refusedMethod reports whether a server said that it does not know a method.
func refusedMethod(err error) bool {
	var rpc *jsonrpc.Error
	return errors.As(err, &rpc) && rpc.Code == jsonrpc.CodeMethodNotFound
}

// redact takes the entry's secrets out of a line of stderr.
func (c *Client) redact(line string) string {
	for _, secret := range c.server.Secrets() {
		line = strings.ReplaceAll(line, secret, "***")
	}
	return line
}

// noisy notes a line on stdout that is no message. The first one is told.
func (c *Client) noisy(n stdio.Noise) {
	text := c.redact(oneLine(n.Head))
	c.mu.Lock()
	first := c.noise == ""
	if first {
		c.noise = fmt.Sprintf("%q", text)
	}
	c.mu.Unlock()
	if first {
		c.owner.Warn(protocol.ServerName(c.server.Name), protocol.KindServerStdoutNoise,
			fmt.Sprintf("server %q writes to stdout what is no MCP message; such lines are skipped. The first: %q", c.server.Name, text))
	}
}

// early says why the handshake did not succeed. ended is why the connection
// did, nil if it is open. What the server answered is told, not that it ended
// when it was hung up on.
func (w *stdioWire) early(err, ended error) *protocol.ServerFailure {
	var closed *stdio.ClosedError
	if errors.As(ended, &closed) && closed.Cause != nil {
		return w.failure()
	}
	// The connection is open, or the SDK closed it because of err.
	f := describe(err)
	f.StderrTail = w.child.StderrTail(StderrLines)
	w.client.mu.Lock()
	if noise := w.client.noise; noise != "" && f.Kind == protocol.KindProtocolError {
		f.Error += "; the first line on its stdout that is no MCP message: " + noise
	}
	w.client.mu.Unlock()
	return f
}

func (w *stdioWire) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	params, err := withMeta(params, w.meta)
	if err != nil {
		return nil, err
	}
	return w.conn.Call(ctx, method, params)
}

func (w *stdioWire) modern() bool          { return w.meta != nil }
func (w *stdioWire) lost() <-chan struct{} { return w.conn.Done() }

func (w *stdioWire) failure() *protocol.ServerFailure {
	f := &protocol.ServerFailure{Kind: protocol.KindExited}
	t := time.NewTimer(exitPatience)
	defer t.Stop()
	select {
	case <-w.child.Exited():
	case <-t.C:
	}
	f.StderrTail = w.child.StderrTail(StderrLines)
	exit, ended := w.child.Exit()
	if ended {
		f.Error = "the process ended: " + exit.String()
		if exit.Signal == "" {
			code := int64(exit.Code)
			f.ExitCode = &code
		}
	} else {
		f.Kind, f.Error = protocol.KindServerFailed, "the server closed its stdout, and its process goes on"
	}
	if len(f.StderrTail) > 0 {
		f.Error += "; its last line on stderr: " + oneLine(f.StderrTail[len(f.StderrTail)-1])
	}
	w.client.mu.Lock()
	if noise := w.client.noise; noise != "" {
		f.Hint = "the first line on its stdout that is no MCP message: " + noise
	}
	w.client.mu.Unlock()
	return f
}

func (w *stdioWire) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), StopTime)
	defer cancel()
	var both sync.WaitGroup
	// The pipes first, so that the child sees EOF; the SDK's own close waits
	// for its handlers, which end with the connection.
	_ = w.conn.Close()
	if w.session != nil {
		both.Go(func() { _ = w.session.Close() })
	}
	if _, err := w.child.Stop(ctx); err != nil {
		w.client.log.Error().Str("error", err.Error()).Msg("stopping a server")
	}
	both.Wait()
}
