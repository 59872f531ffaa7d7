//go:build unix

package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// Calls that are alone are written by their callers. When the server stops
// reading they give up like others, and what it reads later are whole lines in
// the order of the calls.
func TestDirectWritesKeepOrder(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out, server := io.Pipe()
	defer server.Close()
	c := New(out, w, Options{})
	if c.raw == nil {
		t.Fatal("a pipe of ours is not taken for one")
	}
	params := []byte(`{"pad":"` + strings.Repeat("x", 3000) + `"}`)
	const calls = 60 // far more than a pipe holds
	for range calls {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		if _, err := c.Call(ctx, "tools/call", params); err == nil {
			t.Fatal("a call was answered by nobody")
		}
		cancel()
	}
	go c.Close()
	type message struct {
		ID     int64
		Method string
	}
	var last int64
	seen := 0
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if len(line) > 0 {
				var m message
				if json.Unmarshal(line, &m) == nil {
					t.Errorf("a line without its end: %.80s", line)
				}
			}
			break
		}
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("a broken line: %v: %.80s", err, line)
		}
		if m.Method == "tools/call" {
			seen++
			if m.ID <= last {
				t.Errorf("id %d after %d", m.ID, last)
			}
			last = m.ID
		}
	}
	if seen == 0 || seen >= calls {
		t.Errorf("%d of %d calls went out: the pipe was never full", seen, calls)
	}
}
