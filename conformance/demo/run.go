package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/client"
)

// Limits of a demo.
const (
	// playTime bounds the whole conversation when nobody has to think.
	playTime = time.Minute
	// endTime bounds the end of the sidecar.
	endTime = 10 * time.Second
)

// Options say what plays, and for whom.
type Options struct {
	// Sidecar is the program to show, and Self the one that serves notes when
	// it is started with the argument demo-server.
	Sidecar, Self string
	// Out takes the show; Stderr what the sidecar writes to stderr.
	Out, Stderr io.Writer
	// Interactive lets the person at In answer the questions. Echo shows what
	// In gives, for one that is no terminal.
	Interactive bool
	In          io.Reader
	Echo        bool
	// Color uses the escape sequences of a terminal, Full shows long lines
	// whole.
	Color, Full bool
}

// Run plays the demo. It fails when anything is not as it says.
func Run(ctx context.Context, o Options) (err error) {
	s := &screen{out: o.Out, color: o.Color, full: o.Full}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !o.Interactive {
		var done context.CancelFunc
		ctx, done = context.WithTimeoutCause(ctx, playTime, fmt.Errorf("demo: not done after %s", playTime))
		defer done()
	}

	home, err := os.MkdirTemp("", "mcp-sidecar-demo-")
	if err != nil {
		return fmt.Errorf("demo: making a folder for the sidecar: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	town, townEnded, err := ServeHTTP(ctx, "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { cancel(); <-townEnded }()

	file, err := newConfigFile(home, o.Self, town)
	if err != nil {
		return err
	}

	p := &play{screen: s, home: home, file: file, permits: newPermits(), progress: make(chan struct{}, maxCount)}
	p.witness.person = played{s}
	if o.Interactive {
		p.witness.person = newAsked(s, o.In, o.Echo)
	}
	// Not ctx: its end must let the sidecar end its servers.
	life, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	p.client, err = client.Start(life, client.Options{
		Path: o.Sidecar, Env: append(withoutOwn(os.Environ()), homeVariable+"="+home), Dir: home, Stderr: o.Stderr,
		Trace: s.line, Request: p.witness.request, Notification: p.heard,
	})
	if err != nil {
		return err
	}
	if err := p.steps(ctx); err != nil {
		p.abandon(ctx)
		return fmt.Errorf("demo: step %d: %w", s.step, err)
	}
	return p.end(ctx)
}

const homeVariable = "MCP_SIDECAR_HOME"

// withoutOwn leaves out what would bring the person's own configuration in.
func withoutOwn(env []string) []string {
	var out []string
	for _, kv := range env {
		if name, _, _ := strings.Cut(kv, "="); !strings.EqualFold(name, homeVariable) {
			out = append(out, kv)
		}
	}
	return out
}
