// Command mcp-sidecar manages MCP servers for an editor that speaks
// line-delimited JSON-RPC 2.0 with it on stdin and stdout.
//
// Without a sub-command it serves. The sub-commands are for people: call and
// list try a server from a shell, demo plays a whole conversation, run-script
// runs a scripted one, generate-ts and generate-json-schema write the contract
// down.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/session/upstream/process"
)

// Exit codes, spec section 11.
const (
	exitOK         = 0
	exitNoShutdown = 1
	exitFailure    = 1 // of a sub-command
	exitUsage      = 2
	exitConfig     = 3 // --strict
	exitInternal   = 70
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == process.ReaperArg {
		process.ReaperMain(os.Stdin, os.Args[2])
		return
	}
	ignoreSIGPIPE()
	// What is printed by mistake must not get between the protocol's lines.
	stdout := os.Stdout
	os.Stdout = os.Stderr
	boundMemory()
	os.Exit(run(os.Args[1:], os.Stdin, stdout, os.Stderr))
}

// boundMemory bounds what big results leave behind, unless the person has said
// otherwise. Usually a few MiB are in use, and then the default collects so
// often that it takes a third of the CPU; above the limit it collects as often
// as it must.
func boundMemory() {
	const (
		percent   = 200
		softLimit = 48 << 20
	)
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softLimit)
	}
}

// exitError carries the exit code of a sub-command that has said itself what
// is wrong, or whose err is to be printed.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

// run is main without the process around it.
func run(args []string, in io.Reader, out, errOut io.Writer) (code int) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(errOut, "fatal: %v\n%s", r, debug.Stack())
			code = exitInternal
		}
	}()
	ctx, stop := withSignals(context.Background(), errOut)
	defer stop()
	cmd := newRoot(&app{in: in, out: out, err: errOut})
	cmd.SetArgs(args)
	cmd.SetIn(in)
	cmd.SetOut(out)
	cmd.SetErr(errOut)
	err := cmd.ExecuteContext(ctx)
	var exit *exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &exit):
		if exit.err != nil {
			fmt.Fprintf(errOut, "mcp-sidecar: %s\n", elicit.CleanLines(exit.err.Error(), maxShown))
		}
		return exit.code
	}
	fmt.Fprintf(errOut, "mcp-sidecar: %s\n", elicit.CleanLines(err.Error(), maxShown))
	return exitUsage
}

// errSignal is the cause of a context that a signal ended.
type errSignal struct{ sig os.Signal }

func (e errSignal) Error() string { return "signal: " + e.sig.String() }

// withSignals returns a context that the first SIGTERM, SIGINT or SIGHUP ends.
// The second one ends the process at once.
func withSignals(parent context.Context, errOut io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() { // ends with the process, or when stop closes ch
		first, ok := <-ch
		if !ok {
			return
		}
		cancel(errSignal{first})
		if second, ok := <-ch; ok {
			fmt.Fprintf(errOut, "mcp-sidecar: second signal (%v): leaving at once\n", second)
			os.Exit(exitNoShutdown)
		}
	}()
	return ctx, func() {
		signal.Stop(ch)
		close(ch)
		cancel(nil)
	}
}
