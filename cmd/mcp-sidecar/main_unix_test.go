//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/client"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// serverPID returns the process of the server of thread t-1.
func serverPID(t *testing.T, c *client.Client) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	var r protocol.ServerStatusListResult
	if err := c.Call(ctx, "mcpServerStatus/list", map[string]any{"threadId": "t-1"}, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Data) != 1 || r.Data[0].PID == 0 {
		t.Fatalf("status: %+v", r.Data)
	}
	return int(r.Data[0].PID)
}

// gone waits until a process has ended; a zombie has.
func gone(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(bound)
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil && syscall.Kill(pid, 0) != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still there", pid)
		}
		time.Sleep(5 * time.Millisecond) // a real process, in real time
	}
}

// SIGTERM answers what runs, within bounds, ends with code 0, and leaves no
// server behind.
func TestSIGTERMAnswersAndEnds(t *testing.T) {
	c := sidecar(t, client.Options{})
	open(t, c, protocol.InitializeParams{})
	pid := serverPID(t, c)
	p, err := c.GoRaw("mcpServer/tool/call", call("sleep", `{"ms":200}`))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	if _, err := c.CallRaw(ctx, "thread/list", nil); err != nil { // the call before it was read
		t.Fatal(err)
	}
	if err := syscall.Kill(c.PID(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var raw json.RawMessage
	if err := p.Wait(ctx, &raw); err != nil {
		t.Errorf("the call that ran: %v", err)
	}
	if code := ended(t, c); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	gone(t, pid)
}

// No server outlives a sidecar that is killed.
func TestSIGKILLLeavesNoServer(t *testing.T) {
	c := sidecar(t, client.Options{})
	open(t, c, protocol.InitializeParams{})
	pid := serverPID(t, c)
	if err := syscall.Kill(c.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ended(t, c)
	gone(t, pid)
}

// An editor in another container names a process that is none here. It is
// served all the same.
func TestEditorProcessUnseen(t *testing.T) {
	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	c := sidecar(t, client.Options{})
	pid := int64(ended.Process.Pid)
	open(t, c, protocol.InitializeParams{ProcessID: &pid})
	if pid := serverPID(t, c); pid == 0 {
		t.Error("no server was started")
	}
}

// When the process that initialize named has ended, so does the sidecar, even
// if somebody else holds its stdin.
func TestEditorProcessGone(t *testing.T) {
	editor := exec.Command("sleep", "60")
	if err := editor.Start(); err != nil {
		t.Skipf("no sleep: %v", err)
	}
	reaped := make(chan struct{})
	go func() { _ = editor.Wait(); close(reaped) }()
	c := sidecar(t, client.Options{})
	pid := int64(editor.Process.Pid)
	open(t, c, protocol.InitializeParams{ProcessID: &pid})
	server := serverPID(t, c)
	if err := editor.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-reaped
	if code := ended(t, c); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	gone(t, server)
}
