package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rpc"
	"github.com/mcp-sidecar/mcp-sidecar/session"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/keep"
	"github.com/mcp-sidecar/mcp-sidecar/session/thread"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/process"
)

const (
	// stopTime bounds the end of all servers, and the answers to requests that
	// were read when a signal came.
	stopTime = 5 * time.Second
)

// resident is what lives as long as the process: the children and the host
// of all connections.
type resident struct {
	procs *process.Supervisor
	host  *upstream.Host
	kept  *keep.Store
	home  string
}

func newProcess(a *app, log zerolog.Logger) *resident {
	self, err := os.Executable()
	if err != nil {
		log.Warn().Err(err).Msg("no reaper: a SIGKILL of the sidecar may leave servers behind")
		self = ""
	}
	procs := process.New(process.Options{Self: self, Warn: func(err error) { log.Warn().Err(err).Msg("child processes") }})
	r := &resident{procs: procs, host: upstream.NewHost("mcp-sidecar", version, upstream.Processes{Supervisor: procs}, nil), home: a.home()}
	r.kept = keep.Open(r.home)
	return r
}

// session returns a session for one editor. gone, if not nil, is called when
// the editor's process has ended.
func (r *resident) session(ctx context.Context, src config.Sources, e protocol.Editor, gone func()) *session.Session {
	log := zerolog.Ctx(ctx)
	return session.New(ctx, session.Options{
		Version: version, Home: r.home, Sources: src, Host: r.host, Approvals: r.kept, Limits: limits(),
		OnProcess: func(pid int) {
			if gone == nil {
				return
			}
			ended := process.WatchPID(ctx, pid)
			select {
			case <-ended:
				// The editor has just spoken: its process is where we can't see
				// it, on the other side of a container. The end of stdin will do.
				log.Warn().Int("processId", pid).Msg("the editor's process is not to be seen from here, and not watched")
				return
			default:
			}
			go func() { // ends with the editor, or with ctx
				if _, open := <-ended; !open && ctx.Err() == nil {
					gone()
				}
			}()
		},
	}, e)
}

// limits are the bounds in force, for the reply to initialize.
func limits() map[string]int64 {
	return map[string]int64{
		"maxLineBytes":         rpc.DefaultMaxLine,
		"maxRequestsInFlight":  rpc.DefaultMaxInFlight,
		"maxQueuedBytes":       rpc.DefaultQueueBytes,
		"maxServerLineBytes":   upstream.MaxMessage,
		"maxListPages":         upstream.MaxPages,
		"maxListItems":         upstream.MaxItems,
		"maxBindingsPerThread": thread.MaxBindings,
	}
}

// end closes a session and then all that is left of the children.
func (r *resident) end(s *session.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	s.Close(ctx)
	if err := r.procs.Shutdown(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "mcp-sidecar: %v\n", err)
	}
}

// serve runs the sidecar on stdio.
func (a *app) serve(ctx context.Context) error {
	src := a.sources()
	if err := a.check(src); err != nil {
		return err
	}
	log, closeLog, err := a.log.open(a.err)
	if err != nil {
		return err
	}
	defer closeLog()
	ctx = log.WithContext(ctx)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	home := newProcess(a, log)
	var s *session.Session
	ending := rpc.Serve(ctx, a.in, a.out, func(e protocol.Editor) protocol.Sidecar {
		s = home.session(ctx, src, e, func() { cancel(fmt.Errorf("its process has ended: %w", rpc.ErrEditorGone)) })
		return s
	}, rpc.Options{Drain: a.drain, StopGrace: stopTime})
	if ending.How == rpc.EditorGone {
		fmt.Fprintf(a.err, "mcp-sidecar: the editor is gone (%v): shutting down\n", ending.Cause)
	}
	home.end(s)
	if code := ending.ExitCode(); code != exitOK {
		return &exitError{code: code}
	}
	return nil
}
