package config

import (
	"encoding/json"
	"fmt"
	"testing"
)

// An approval is kept in the file that defines the server, and offered only
// where what is written there would count.
func TestApprovalPlace(t *testing.T) {
	file := "[mcp_servers.docs]\ncommand = 'x'\n[mcp_servers.docs.tools.plain]\nenabled = true\n" +
		"[mcp_servers.docs.tools.auto]\napproval_mode = 'auto'\n[mcp_servers.docs.tools.done]\napproval_mode = 'approve'\n" +
		"[mcp_servers.half]\nenabled = true\n"
	src := Sources{
		UserFile: "/home/me/config.toml", Overrides: []string{`mcp_servers.docs.tools.flag.approval_mode="auto"`, `mcp_servers.docs.tools.yes.approval_mode="approve"`},
		Initialize: json.RawMessage(`{"mcp_servers":{"half":{"command":"y"}}}`),
		Thread:     json.RawMessage(`{"mcp_servers":{"mine":{"command":"z"},"docs":{"enabled":true}}}`),
	}
	c, err := load(src, []byte(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		server, tool string
		ok           bool
		approvedIn   string
	}{
		{"docs", "plain", true, ""},
		{"docs", "no such", true, ""},
		{"docs", "auto", true, ""},
		{"docs", "done", true, "/home/me/config.toml"},
		{"docs", "flag", false, ""},  // -c would win over what is written
		{"docs", "yes", false, ""},   // approved, but in no file
		{"half", "plain", false, ""}, // the command is not the file's
		{"mine", "plain", false, ""},
		{"none", "plain", false, ""},
	} {
		place, ok := c.ApprovalPlace(x.server, x.tool)
		if ok != x.ok || c.ApprovedIn(x.server, x.tool) != x.approvedIn {
			t.Errorf("%s %s: %v, approved in %q; want %v, %q", x.server, x.tool, ok, c.ApprovedIn(x.server, x.tool), x.ok, x.approvedIn)
		}
		if want := fmt.Sprintf("{/home/me/config.toml [mcp_servers %s tools %s approval_mode]}", x.server, x.tool); ok && fmt.Sprint(place) != want {
			t.Errorf("%s %s: %v, want %s", x.server, x.tool, place, want)
		}
	}
}

// O070, O079: an entry is another server when what it says of itself changes,
// and not for its format, its filters, or where it is used.
func TestDeclared(t *testing.T) {
	declared := func(file, cwd string, env map[string]string) string {
		t.Helper()
		c, err := load(Sources{UserFile: "/config.toml", Cwd: cwd, Env: env}, []byte(file), nil)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := c.Server("a")
		if !ok || s.Declared == "" {
			t.Fatalf("no digest of %s", file)
		}
		return s.Declared
	}
	base := "[mcp_servers.a]\ncommand = 'x'\nargs = ['1', '2']\nenv = { K = '${env:V:-d}', L = 'l' }\n"
	want := declared(base, "/w", map[string]string{"V": "1", "PATH": "/bin"})
	for name, same := range map[string]string{
		"format":     "# c\nmcp_servers.a.env.L = \"l\"\nmcp_servers.a.env.K='${env:V:-d}'\nmcp_servers.a.args=[ \"1\" , # one\n \"2\" ]\nmcp_servers.a.command=\"x\"\n",
		"filters":    base + "enabled_tools = ['t']\ntool_timeout_sec = 3\n[mcp_servers.a.tools.t]\napproval_mode = 'approve'\n",
		"the others": base + "[mcp_servers.b]\nurl = 'http://h'\n",
	} {
		if got := declared(same, "/elsewhere", map[string]string{"V": "2", "PATH": "/usr/bin"}); got != want {
			t.Errorf("%s makes another server of it", name)
		}
	}
	for name, other := range map[string]string{
		"command":   "[mcp_servers.a]\ncommand = 'y'\nargs = ['1', '2']\nenv = { K = '${env:V:-d}', L = 'l' }\n",
		"arguments": "[mcp_servers.a]\ncommand = 'x'\nargs = ['1', '3']\nenv = { K = '${env:V:-d}', L = 'l' }\n",
		"their cut": "[mcp_servers.a]\ncommand = 'x'\nargs = ['1,2']\nenv = { K = '${env:V:-d}', L = 'l' }\n",
		"env":       "[mcp_servers.a]\ncommand = 'x'\nargs = ['1', '2']\nenv = { K = '${env:W:-d}', L = 'l' }\n",
		"names":     "[mcp_servers.a]\ncommand = 'x'\nargs = ['1', '2']\nenv = { K = 'l', L = '${env:V:-d}' }\n",
		"cwd":       base + "cwd = '/'\n",
		"url":       "[mcp_servers.a]\nurl = 'http://h'\n",
		"headers":   "[mcp_servers.a]\nurl = 'http://h'\nhttp_headers = { A = 'b' }\n",
	} {
		if declared(other, "/w", map[string]string{"V": "1", "PATH": "/bin"}) == want {
			t.Errorf("another %s is taken for the same server", name)
		}
	}
}
