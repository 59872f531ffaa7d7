package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"runtime"
	"time"
)

// Bounds of http_headers_helper.
const (
	helperTime  = 10 * time.Second
	helperBytes = 64 << 10
)

// helperError says why http_headers_helper gave no headers, without anything
// that it printed.
type helperError struct{ text string }

func (e *helperError) Error() string { return "http_headers_helper: " + e.text }

// runHelper runs a shell command that prints a JSON object of headers, in the
// sidecar's own environment and folder. It runs once for each connection.
func runHelper(ctx context.Context, command string) (map[string]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, helperTime, &helperError{fmt.Sprintf("it did not end within %s", helperTime)})
	defer cancel()
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd.exe", "/c"
	}
	cmd := exec.CommandContext(ctx, shell, flag, command)
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe
	out := &bounded{most: helperBytes}
	cmd.Stdout = out
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &helperError{err.Error()} // the exit status; stderr may hold anything
	case out.over:
		return nil, &helperError{fmt.Sprintf("it printed more than %d bytes", helperBytes)}
	}
	var raw map[string]string
	if err := json.Unmarshal(bytes.TrimSpace(out.text.Bytes()), &raw); err != nil {
		return nil, &helperError{"what it printed is no JSON object of strings"}
	}
	header := make(map[string]string, len(raw))
	for name, value := range raw {
		header[http.CanonicalHeaderKey(name)] = value
	}
	return header, nil
}

// bounded is a buffer that drops what comes after its bound, so that the
// writer goes on.
type bounded struct {
	text bytes.Buffer // not embedded: its ReadFrom would take the bound away
	most int
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.most - b.text.Len(); len(p) > room {
		b.over = true
		b.text.Write(p[:max(room, 0)])
		return len(p), nil
	}
	return b.text.Write(p)
}
