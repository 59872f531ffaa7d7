package config

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// base is a small, whole set of sources.
func base() Sources {
	return Sources{
		GOOS:            "linux",
		UserFile:        "/home/u/config.toml",
		Env:             map[string]string{"HOME": "/home/u", "PATH": "/usr/bin:/bin", "KEY": "k-value-1", "EMPTY": "", "SECRET_X": "1"},
		Cwd:             "/thread",
		WorkspaceFolder: "/ws",
		UserHome:        "/home/u",
	}
}

func mustLoad(t *testing.T, src Sources, file string) *Config {
	t.Helper()
	cfg, err := load(src, []byte(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func server(t *testing.T, cfg *Config, name string) *Server {
	t.Helper()
	s, ok := cfg.Server(name)
	if !ok {
		t.Fatalf("no server %q among %d", name, len(cfg.Servers))
	}
	return s
}

// sound loads one file in which nothing may be wrong, and returns server s.
func sound(t *testing.T, file string) *Server {
	t.Helper()
	cfg := mustLoad(t, base(), file)
	for _, p := range cfg.Problems {
		t.Errorf("unexpected problem: %v", p)
	}
	s := server(t, cfg, "s")
	for _, p := range s.Invalid {
		t.Errorf("unexpectedly invalid: %v", p)
	}
	if t.Failed() {
		t.FailNow()
	}
	return s
}

func lines(problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		b.WriteString(p.Error() + "\n")
	}
	return b.String()
}

// Without any source there are the documented defaults and no servers.
func TestDefaults(t *testing.T) {
	cfg, err := Load(Sources{})
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Servers) != 0 || len(cfg.Problems) != 0 {
		t.Errorf("servers %v, problems %v", cfg.Servers, cfg.Problems)
	}
	if string(cfg.ApprovalPolicy) != `"on-request"` || cfg.OptionalStartupGrace != time.Second || cfg.IdleTimeout != 900*time.Second ||
		!cfg.ToolNamePrefix || cfg.DirectToolsTokenBudget != 10_000 || cfg.OAuthCredentialsStore != StoreAuto || cfg.OAuthCallbackPort != 0 {
		t.Errorf("defaults are %+v", cfg)
	}
	s := sound(t, "[mcp_servers.s]\ncommand='x'\n")
	if !s.Enabled || s.Required || s.StartupTimeout != 30*time.Second || s.ToolTimeout != 300*time.Second || s.EnabledTools != nil ||
		s.DefaultApproval != ApprovalAuto || s.SupportsParallel || s.InputSchemaMaxBytes != 5000 || s.StartupReadiness != ReadyConnection ||
		s.Isolation != IsolationShared || s.EnvInherit != InheritCore || s.Exposure != ExposureAuto || s.Restart != RestartOnFailure ||
		!s.ToolNamePrefix || s.ProtocolVersion != "" || s.OmitToolsFrom != nil {
		t.Errorf("server defaults are wrong: %#v", *s)
	}
	if s.Transport != TransportStdio || s.HTTP != nil || s.Stdio.Cwd != "/thread" || len(s.Stdio.Args) != 0 {
		t.Errorf("stdio is %v in %q", s.Stdio, s.Stdio.Cwd)
	}
}

// Every key of spec 4 is read into its field.
func TestEveryField(t *testing.T) {
	cfg := mustLoad(t, base(), `
approval_policy = { granular = { mcp_elicitations = false, rules = true } }
direct_tools_token_budget = 0
idle_timeout_sec = 0
mcp_oauth_callback_port = 8123
mcp_oauth_callback_url = "http://localhost:8123/cb"
mcp_oauth_credentials_store = "file"
mcp_optional_startup_grace_ms = 0
tool_name_prefix = false
[mcp_servers.a]
command = "run"
args = ["-v", 3, true]
env = { A = "x", PORT = 8080, DEBUG = true }
env_vars = ["KEY", { name = "SECRET_X", source = "local" }]
cwd = "sub/../other"
enabled = false
required = true
startup_timeout_ms = 1500
tool_timeout_sec = 2.5
enabled_tools = ["t1"]
disabled_tools = ["t2"]
default_tools_approval_mode = "writes"
supports_parallel_tool_calls = true
tool_input_schema_max_bytes = 1
startup_readiness = "catalog"
omit_tools_from = ["deferred", "code_mode"]
isolation = "thread"
protocol_version = "2025-06-18"
env_inherit = "none"
exposure = "hidden"
restart = "never"
tool_name_prefix = true
[mcp_servers.a.tools."rm -rf"]
approval_mode = "prompt"
output_token_limit = 77
enabled = true
timeout_sec = 4
annotations = { readOnlyHint = true, destructiveHint = false, idempotentHint = true, openWorldHint = false, title = "T" }
[mcp_servers.b]
url = "https://h/mcp"
bearer_token_env_var = "KEY"
http_headers = { X-A = "1" }
env_http_headers = { X-B = "SECRET_X" }
http_headers_helper = "helper --now"
scopes = ["s2", "s1"]
oauth_resource = "https://h/"
oauth = { client_id = "cid", client_secret_env_var = "KEY", callback_port = 9, callback_url = "http://127.0.0.1:9/" }
`)
	if len(cfg.Problems) != 0 {
		t.Fatalf("problems:\n%s", lines(cfg.Problems))
	}
	if got := string(cfg.ApprovalPolicy); got != `{"granular":{"mcp_elicitations":false,"request_permissions":false,"rules":true,"sandbox_approval":false,"skill_approval":false}}` {
		t.Errorf("approval policy %s", got)
	}
	if cfg.DirectToolsTokenBudget != 0 || cfg.IdleTimeout != 0 || cfg.OAuthCallbackPort != 8123 || cfg.OAuthCallbackURL != "http://localhost:8123/cb" ||
		cfg.OAuthCredentialsStore != StoreFile || cfg.OptionalStartupGrace != 0 || cfg.ToolNamePrefix {
		t.Errorf("top level: %+v", cfg)
	}
	a := server(t, cfg, "a")
	if len(a.Invalid) > 0 {
		t.Fatalf("a: %s", lines(a.Invalid))
	}
	if a.Enabled || !a.Required || a.StartupTimeout != 1500*time.Millisecond || a.ToolTimeout != 2500*time.Millisecond ||
		!slices.Equal(a.EnabledTools, []string{"t1"}) || !slices.Equal(a.DisabledTools, []string{"t2"}) || a.DefaultApproval != ApprovalWrites ||
		!a.SupportsParallel || a.InputSchemaMaxBytes != 1 || a.StartupReadiness != ReadyCatalog ||
		!slices.Equal(a.OmitToolsFrom, []Surface{SurfaceDeferred, SurfaceCodeMode}) || a.Isolation != IsolationThread ||
		a.ProtocolVersion != "2025-06-18" || a.EnvInherit != InheritNone || a.Exposure != ExposureHidden || a.Restart != RestartNever || !a.ToolNamePrefix {
		t.Errorf("a is %#v", *a)
	}
	if a.Stdio.Command != "run" || !slices.Equal(a.Stdio.Args, []string{"-v", "3", "true"}) || a.Stdio.Cwd != "/thread/other" ||
		!slices.Equal(a.Stdio.Env, []string{"A=x", "DEBUG=true", "KEY=k-value-1", "PORT=8080", "SECRET_X=1"}) {
		t.Errorf("a.Stdio: %v, cwd %q, env %q", a.Stdio, a.Stdio.Cwd, a.Stdio.Env)
	}
	rule := a.Tools["rm -rf"]
	if rule.ApprovalMode != ApprovalPrompt || rule.OutputTokenLimit != 77 || !*rule.Enabled || *rule.Timeout != 4*time.Second ||
		!*rule.Annotations.ReadOnly || *rule.Annotations.Destructive || !*rule.Annotations.Idempotent || *rule.Annotations.OpenWorld || *rule.Annotations.Title != "T" {
		t.Errorf("rule %+v", rule)
	}
	if a.Approval("rm -rf") != ApprovalPrompt || a.Approval("x") != ApprovalWrites || a.CallTimeout("rm -rf") != 4*time.Second || a.CallTimeout("x") != a.ToolTimeout {
		t.Error("a tool's own rule does not win, or does where there is none")
	}
	b := server(t, cfg, "b")
	if len(b.Invalid) > 0 {
		t.Fatalf("b: %s", lines(b.Invalid))
	}
	h := b.HTTP
	if b.Transport != TransportHTTP || b.Stdio != nil || h.URL != "https://h/mcp" || h.BearerTokenEnvVar != "KEY" || h.Bearer.Reveal() != "k-value-1" ||
		h.Headers.Get("x-a") != "1" || h.Headers.Get("X-B") != "1" || h.HeadersHelper != "helper --now" || !slices.Equal(h.Scopes, []string{"s2", "s1"}) ||
		h.OAuthResource != "https://h/" || h.OAuth.ClientID != "cid" || h.OAuth.ClientSecret.Reveal() != "k-value-1" || h.OAuth.CallbackPort != 9 ||
		h.OAuth.CallbackURL != "http://127.0.0.1:9/" || b.ToolNamePrefix {
		t.Errorf("b.HTTP is %v, headers %v", h, h.Headers)
	}
}

// Later layers win key by key, and each key says where it came from.
func TestLayers(t *testing.T) {
	src := base()
	src.Overrides = []string{`mcp_servers.a.env.B=two`, `mcp_servers.a.enabled=false`, `mcp_servers."x.y".command=z`, `tool_name_prefix=false`}
	src.Initialize = json.RawMessage(`{"mcp_servers":{"a":{"enabled":true,"args":["i"],"cwd":null}},"idle_timeout_sec":5}`)
	src.Thread = json.RawMessage(`{"mcp_servers":{"t":{"url":"http://t/"}},"mcp_servers.a.tool_timeout_sec":7,"idle_timeout_sec":6}`)
	cfg := mustLoad(t, src, "idle_timeout_sec = 4\n[mcp_servers.a]\ncommand='c'\nargs=['u','v']\ncwd='/c'\nenv={A='1',B='1'}\n")
	if len(cfg.Problems) > 0 {
		t.Fatalf("%s", lines(cfg.Problems))
	}
	a := server(t, cfg, "a")
	if !a.Enabled || !slices.Equal(a.Stdio.Args, []string{"i"}) || a.Stdio.Cwd != "/c" || a.ToolTimeout != 7*time.Second {
		t.Errorf("a: enabled %v args %q cwd %q timeout %v", a.Enabled, a.Stdio.Args, a.Stdio.Cwd, a.ToolTimeout)
	}
	if !slices.Contains(a.Stdio.Env, "A=1") || !slices.Contains(a.Stdio.Env, "B=two") {
		t.Errorf("env %q", a.Stdio.Env)
	}
	if cfg.IdleTimeout != 6*time.Second || cfg.ToolNamePrefix {
		t.Errorf("idle %v prefix %v", cfg.IdleTimeout, cfg.ToolNamePrefix)
	}
	want := map[string]Origin{
		"idle_timeout_sec":               {Layer: LayerThread},
		"tool_name_prefix":               {Layer: LayerFlags},
		"approval_policy":                {Layer: LayerDefaults},
		"mcp_servers.a.command":          {Layer: LayerUser, Path: src.UserFile, Line: 3, Column: 1},
		"mcp_servers.a.args":             {Layer: LayerInitialize},
		"mcp_servers.a.env.A":            {Layer: LayerUser, Path: src.UserFile, Line: 6, Column: 6},
		"mcp_servers.a.env.B":            {Layer: LayerFlags},
		"mcp_servers.a.enabled":          {Layer: LayerInitialize},
		"mcp_servers.a.required":         {Layer: LayerDefaults},
		"mcp_servers.\"x.y\".command":    {Layer: LayerFlags},
		"mcp_servers.t.url":              {Layer: LayerThread},
		"mcp_servers.a.tool_timeout_sec": {Layer: LayerThread},
	}
	got := cfg.Origins()
	for k, o := range want {
		if got[k] != o {
			t.Errorf("origin of %s is %+v, want %+v", k, got[k], o)
		}
	}
	if a.Origin != (Origin{Layer: LayerUser, Path: src.UserFile, Line: 2, Column: 14}) || len(a.Shadowed) != 0 {
		t.Errorf("a comes from %+v, shadows %+v", a.Origin, a.Shadowed)
	}
}

// A server written again in a higher layer names what it shadows.
func TestShadowed(t *testing.T) {
	src := base()
	src.Overrides = []string{"mcp_servers.a.enabled=true"}
	src.Thread = json.RawMessage(`{"mcp_servers":{"a":{"command":"new"}}}`)
	a := server(t, mustLoad(t, src, "[mcp_servers.a]\ncommand='old'\n"), "a")
	want := []Origin{{Layer: LayerFlags}, {Layer: LayerUser, Path: src.UserFile, Line: 1, Column: 14}}
	if a.Origin.Layer != LayerThread || !slices.Equal(a.Shadowed, want) {
		t.Errorf("origin %+v, shadowed %+v", a.Origin, a.Shadowed)
	}
}

// -c takes TOML values, and strings without quotes; a dot in quotes does not
// split a key.
func TestOverrides(t *testing.T) {
	for _, c := range []struct {
		in, path string
		want     any
	}{
		{`a=1`, "a", int64(1)},
		{`a = true`, "a", true},
		{`a=1.5`, "a", 1.5},
		{`a="x y"`, "a", "x y"},
		{`a='x'`, "a", "x"},
		{`a=plain words`, "a", "plain words"},
		{`a=http://h/?x=1&y=2#f`, "a", "http://h/?x=1&y=2#f"},
		{`a=`, "a", ""},
		{`a=[broken`, "a", "[broken"},
		{"a=1\nb=2", "a", "1\nb=2"},
		{"a=1\n[b]", "a", "1\n[b]"},
		{`mcp_servers."my.server".env."A.B"=v`, `mcp_servers."my.server".env."A.B"`, "v"},
		{`mcp_servers.'x=y'.url=u`, `mcp_servers."x=y".url`, "u"},
		{` a . b = c `, "a.b", "c"},
		{`a=` + strings.Repeat("[", 1000), "a", strings.Repeat("[", 1000)},
	} {
		path, v, err := parseOverride(c.in)
		if err != nil || formatKey(path) != c.path || v != c.want {
			t.Errorf("%q: %s = %#v, %v; want %s = %#v", c.in, formatKey(path), v, err, c.path, c.want)
		}
	}
	if _, v, err := parseOverride(`a=["x", 2]`); err != nil || len(v.([]any)) != 2 {
		t.Errorf("array: %v %v", v, err)
	}
	if _, v, err := parseOverride(`a={ b = 1 }`); err != nil || v.(map[string]any)["b"] != int64(1) {
		t.Errorf("inline table: %v %v", v, err)
	}
	for _, bad := range []string{"", "sekret", "=sekret", "a.=sekret", ".a=sekret", "my server.x=sekret", `"a=sekret`, "a..b=sekret"} {
		src := base()
		src.Overrides = []string{"tool_name_prefix=true", bad}
		_, err := load(src, nil, nil)
		if err == nil || !strings.Contains(err.Error(), "number 2") || strings.Contains(err.Error(), "sekret") {
			t.Errorf("-c %q: %v", bad, err)
		}
	}
}

// JSON layers keep integers exact and speak the TOML keys.
func TestJSONLayers(t *testing.T) {
	src := base()
	src.Thread = json.RawMessage(`{"mcp_servers":{"s":{"command":"x","args":[9007199254740993],"env":{"N":9223372036854775807}}}}`)
	s := server(t, mustLoad(t, src, ""), "s")
	if len(s.Invalid) > 0 || s.Stdio.Args[0] != "9007199254740993" || !slices.Contains(s.Stdio.Env, "N=9223372036854775807") {
		t.Errorf("args %v env %v invalid %v", s.Stdio, s.Stdio, s.Invalid)
	}
	for raw, want := range map[string]string{
		`[]`:                "must be an object, not an array",
		`"x"`:               "must be an object, not a string",
		`{"a":1} {`:         "followed by more text",
		`{"a"`:              "not valid JSON",
		`{"mcpServers":{}}`: "write mcp_servers",
		`{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`: "nested too deeply",
		`{"mcp_optional_startup_grace_ms":1.0}`:                             "whole number of milliseconds",
		`{"mcp_optional_startup_grace_ms":99999999999999999999}`:            "out of range",
	} {
		src := base()
		src.Initialize = json.RawMessage(raw)
		cfg := mustLoad(t, src, "[mcp_servers.s]\ncommand='x'\n")
		if got := lines(cfg.Problems); !strings.Contains(got, want) || !strings.Contains(got, "initialize.config") {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
		if !server(t, cfg, "s").Startable() {
			t.Errorf("%s: the file's server is lost", raw)
		}
	}
	for _, raw := range []string{"", "null", " {} "} {
		src := base()
		src.Initialize = json.RawMessage(raw)
		if cfg := mustLoad(t, src, ""); len(cfg.Problems) > 0 {
			t.Errorf("%q: %s", raw, lines(cfg.Problems))
		}
	}
	// camelCase is not accepted.
	src.Thread = json.RawMessage(`{"mcp_servers":{"s":{"command":"x","enabledTools":[]}}}`)
	cfg := mustLoad(t, src, "")
	if s := server(t, cfg, "s"); s.EnabledTools != nil || !strings.Contains(lines(cfg.Problems), `did you mean "enabled_tools"?`) {
		t.Errorf("%v %s", s.EnabledTools, lines(cfg.Problems))
	}
}

// A file that does not parse costs its layer and says where; nothing of its
// values is quoted.
func TestUnparsableFile(t *testing.T) {
	utf16 := string([]byte{0xff, 0xfe, '[', 0, 'a', 0})
	for _, c := range []struct {
		file         string
		line, column int
		want         string
	}{
		{"a = 1\nb = \n", 2, 0, "is not valid TOML"},
		{"[mcp_servers.a]\ncommand='x'\n[mcp_servers.a]\ncommand='y'\n", 3, 0, "already been defined"},
		{"[mcp_servers.a]\ncommand='x'\ncommand='y'\n", 3, 1, "already been defined"},
		{"x = \"C:\\Users\\sekret\"\n", 1, 0, "backslash"},
		{"x = 'sekret\n", 1, 0, "newline"},
		{"x = sekret\n", 1, 5, "expected value"},
		{"x = 'a' sekret\n", 1, 8, "newline, comment, or EOF"},
		{"x = 99999999999999999999\n", 1, 5, "out of range"},
		{"x = 2020-13-45\n", 1, 5, "invalid datetime"},
		{"é = 1\n", 1, 1, "is not valid TOML"},
		{"ok = 1\nx = \"é\" ?\n", 2, 8, "is not valid TOML"},
		{utf16, 1, 1, "UTF-16"},
		{"[\x00a\x00]\x00", 1, 1, "UTF-16"},
		{"a = 1\nb = \"\xff\"\n", 2, 6, "not UTF-8"},
		{"a=" + strings.Repeat("[", 1_000_000), 1, 0, "nested"},
		{strings.Repeat("a.", 500_000), 1, 0, "nested"},
		{"[mcp_servers.a]\ncommand='x'\nargs = [ 'a'\n", 3, 0, "is not valid TOML"},
	} {
		src := base()
		src.Overrides = []string{"mcp_servers.other.command=x"}
		cfg := mustLoad(t, src, c.file)
		name := c.file[:min(len(c.file), 50)]
		if len(cfg.Problems) != 1 {
			t.Errorf("%q: %d problems %s", name, len(cfg.Problems), lines(cfg.Problems))
			continue
		}
		p := cfg.Problems[0]
		if p.Line != c.line || p.Column < 1 || c.column > 0 && p.Column != c.column || p.Path != src.UserFile || p.Layer != LayerUser {
			t.Errorf("%q: at %+v, want %d:%d", name, p.Origin, c.line, c.column)
		}
		if !strings.Contains(p.Error(), c.want) || strings.Contains(p.Error(), "sekret") {
			t.Errorf("%q: %v; want %q and no value", name, p, c.want)
		}
		if !server(t, cfg, "other").Startable() {
			t.Errorf("%q: another layer's server is lost", name)
		}
	}
}

// A mark at the beginning and Windows line ends are fine, and do not shift
// positions.
func TestByteOrderMarkAndCRLF(t *testing.T) {
	cfg := mustLoad(t, base(), byteOrderMark+"wrong = 1\r\n[mcp_servers.s]\r\ncommand = 'x'\r\n\r\nargs = 3\r\n")
	if p := cfg.Problems[0]; p.Line != 1 || p.Column != 1 {
		t.Errorf("first key at %d:%d", p.Line, p.Column)
	}
	if p := server(t, cfg, "s").Invalid[0]; p.Line != 5 || p.Column != 1 {
		t.Errorf("args at %d:%d", p.Line, p.Column)
	}
}

// A missing file is empty, unless it was asked for.
func TestUserFile(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none.toml")
	if cfg, err := Load(Sources{UserFile: missing}); err != nil || len(cfg.Problems) > 0 {
		t.Errorf("missing: %v %v", cfg, err)
	}
	if _, err := Load(Sources{UserFile: missing, Explicit: true}); err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("missing and explicit: %v", err)
	}
	if _, err := Load(Sources{Explicit: true}); err == nil {
		t.Error("explicit without a name: no error")
	}
	if cfg, err := Load(Sources{UserFile: dir}); err != nil || len(cfg.Problems) != 1 {
		t.Errorf("a folder: %v %v", cfg, err)
	}
	if _, err := Load(Sources{UserFile: dir, Explicit: true}); err == nil {
		t.Error("an explicit folder: no error")
	}
	big := filepath.Join(dir, "big.toml")
	if err := os.WriteFile(big, []byte(strings.Repeat("#", maxFile+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if cfg, err := Load(Sources{UserFile: big}); err != nil || len(cfg.Problems) != 1 || !strings.Contains(cfg.Problems[0].Message, "larger") {
		t.Errorf("a large file: %v %v", cfg, err)
	}
	good := filepath.Join(dir, "good.toml")
	if err := os.WriteFile(good, []byte("[mcp_servers.s]\ncommand='x'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(Sources{UserFile: good, Explicit: true})
	if err != nil || server(t, cfg, "s").Origin.Path != good {
		t.Errorf("%v", err)
	}
}

// What is wrong with an entry is said at its key, with what to do; the other
// entry of the file is as if nothing had happened.
func TestInvalidEntries(t *testing.T) {
	for _, c := range []struct {
		body string // below [mcp_servers.bad], from line 4
		line int
		key  string // after mcp_servers.bad
		want string
	}{
		{"", 3, "", "neither command nor url"},
		{"serverUrl='http://h'", 3, "", "write url instead of serverUrl"},
		{"command='x'\nurl='http://h'", 5, "", "both command and url"},
		{"command=''", 4, ".command", "must not be empty"},
		{"command=['npx','-y']", 4, ".command", "the rest as args"},
		{"command=3", 4, ".command", "must be a string, not an integer"},
		{"url=' '", 4, ".url", "must not be empty"},
		{"url='not a url'", 4, ".url", "must begin with http"},
		{"url='ws://h/'", 4, ".url", "only Streamable HTTP"},
		{"url='http://'", 4, ".url", "must name a host"},
		{"url='http://h:sekret'", 4, ".url", "valid URL"},
		{"url='http://h'\nbearer_token='sekret'", 5, ".bearer_token", "bearer_token_env_var"},
		{"url='http://h'\nargs=['sekret']", 5, ".args", "only for servers with command"},
		{"url='http://h'\nenv={A='sekret'}", 5, ".env", "http_headers"},
		{"command='x'\nhttp_headers={A='sekret'}", 5, ".http_headers", "only for servers with url"},
		{"command='x'\noauth={client_id='c'}", 5, ".oauth", "only for servers with url"},
		{"command='x'\nargs='-y sekret'", 5, ".args", "one string for each argument"},
		{"command='x'\nargs=['a', 1.5]", 5, ".args", "element 2 must be a string, not a number with a fraction (write it in quotes)"},
		{"command='x'\nenv={V=1.10}", 5, ".env.V", "write it in quotes"},
		{"command='x'\nenv='A=sekret'", 5, ".env", "must be a table of strings"},
		{"command='x'\nenv={'sekret=x'='1'}", 5, ".env", "cannot hold ="},
		{"command='x'\nenv_vars='KEY'", 5, ".env_vars", `write ["NAME"]`},
		{"command='x'\nenv_vars=['KEY=sekret']", 5, ".env_vars", "name without a value"},
		{"command='x'\nenv_vars=[{name='KEY',source='remote'}]", 5, ".env_vars", "remote executor"},
		{"command='x'\nenv_vars=[{name='KEY',source='sekret'}]", 5, ".env_vars", "local or remote"},
		{"command='x'\nenv_vars=[{source='local'}]", 5, ".env_vars", "needs a name"},
		{"command='x'\nenv_vars=[7]", 5, ".env_vars", "a name or a table"},
		{"command='x'\nstartup_timeout_sec='abc'", 5, ".startup_timeout_sec", "without quotes"},
		{"command='x'\nstartup_timeout_sec=-1", 5, ".startup_timeout_sec", "negative"},
		{"command='x'\ntool_timeout_sec=inf", 5, ".tool_timeout_sec", "finite"},
		{"command='x'\ntool_timeout_sec=nan", 5, ".tool_timeout_sec", "finite"},
		{"command='x'\ntool_timeout_sec=1e300", 5, ".tool_timeout_sec", "at most"},
		{"command='x'\nenabled='yes'", 5, ".enabled", "true or false"},
		{"command='x'\nenabled_tools='a'", 5, ".enabled_tools", "array of strings"},
		{"command='x'\ndefault_tools_approval_mode='sekret'", 5, ".default_tools_approval_mode", "auto, prompt, writes, approve"},
		{"command='x'\nisolation='x'", 5, ".isolation", "shared, thread"},
		{"command='x'\nenv_inherit='x'", 5, ".env_inherit", "core, all, none"},
		{"command='x'\nexposure='x'", 5, ".exposure", "auto, direct, deferred, hidden"},
		{"command='x'\nrestart='x'", 5, ".restart", "on-failure, never"},
		{"command='x'\nprotocol_version='2020-01-01'", 5, ".protocol_version", "2025-11-25"},
		{"command='x'\nstartup_readiness=1", 5, ".startup_readiness", "connection, catalog"},
		{"command='x'\nomit_tools_from=['sekret']", 5, ".omit_tools_from", "code_mode, deferred, direct"},
		{"command='x'\ntool_input_schema_max_bytes=0", 5, ".tool_input_schema_max_bytes", "at least 1"},
		{"command='x'\ntools=['a']", 5, ".tools", "write enabled_tools"},
		{"command='x'\ntools.approval_mode='auto'", 5, ".tools.approval_mode", "belongs to one tool"},
		{"command='x'\ntools.a.output_token_limit=0", 5, ".tools.a.output_token_limit", "at least 1"},
		{"command='x'\ntools.a.approval_mode='no'", 5, ".tools.a.approval_mode", "auto, prompt"},
		{"command='x'\ntools.a.annotations.readOnlyHint=1", 5, ".tools.a.annotations.readOnlyHint", "true or false"},
		{"url='http://h'\nbearer_token_env_var='NOT_SET'", 5, ".bearer_token_env_var", "NOT_SET is not set"},
		{"url='http://h'\nbearer_token_env_var='EMPTY'", 5, ".bearer_token_env_var", "EMPTY is empty"},
		{"url='http://h'\nbearer_token_env_var='ghp_sekretsekret'", 5, ".bearer_token_env_var", "looks like a token"},
		{"url='http://h'\nbearer_token_env_var='$KEY'", 5, ".bearer_token_env_var", "without $"},
		{"url='http://h'\nhttp_headers={'Bearer sekret'='x'}", 5, ".http_headers", "special characters"},
		{"url='http://h'\nhttp_headers={A=\"sekret\\n\"}", 5, ".http_headers.A", "newline"},
		{"url='http://h'\nhttp_headers={X-A='1',x-a='2'}", 5, ".http_headers.x-a", "twice"},
		{"url='http://h'\nhttp_headers_helper=''", 5, ".http_headers_helper", "must not be empty"},
		{"url='http://h'\noauth={client_secret='sekret'}", 5, ".oauth.client_secret", "client_secret_env_var"},
		{"url='http://h'\noauth={client_secret_env_var='KEY'}", 5, ".oauth.client_secret_env_var", "needs client_id"},
		{"url='http://h'\noauth={client_id='c',callback_port=70000}", 5, ".oauth.callback_port", "at most 65535"},
		{"command='${env:NOT_SET}'", 4, ".command", "NOT_SET is not set"},
		{"command='x'\nargs=['${input:token}']", 5, ".args", "${input:token}"},
		{"command='x'\nargs=['${env:}']", 5, ".args", "without a usable variable name"},
		{"command='x'\nargs=['${env:KEY']", 5, ".args", "not closed"},
		{"command='x'\nenv={A=\"\\u0000\"}", 5, ".env.A", "zero byte"},
	} {
		file := "[mcp_servers.good]\ncommand='fine'\n[mcp_servers.bad]\n" + c.body + "\n"
		cfg := mustLoad(t, base(), file)
		if g := server(t, cfg, "good"); !g.Startable() || g.Stdio.Command != "fine" {
			t.Errorf("%q: the good server is lost: %v", c.body, g.Invalid)
		}
		bad := server(t, cfg, "bad")
		if bad.Startable() || bad.Stdio != nil || bad.HTTP != nil {
			t.Errorf("%q: can be started", c.body)
			continue
		}
		p := bad.Invalid[0]
		if p.Line != c.line || p.Column < 1 || p.Path != "/home/u/config.toml" || p.Key != "mcp_servers.bad"+c.key || !strings.Contains(p.Error(), c.want) {
			t.Errorf("%q:\n got %v\nwant line %d, key %s, %q", c.body, p, c.line, c.key, c.want)
		}
		if len(bad.Invalid) != 1 {
			t.Errorf("%q: more than one complaint: %s", c.body, lines(bad.Invalid))
		}
		if all := lines(bad.Invalid) + lines(cfg.Problems); strings.Contains(all, "sekret") {
			t.Errorf("%q: a value is quoted: %s", c.body, all)
		}
	}
}

// Things that are odd but usable are warnings at their place.
func TestWarnings(t *testing.T) {
	for _, c := range []struct {
		body string // from line 1
		line int
		key  string
		want string
	}{
		{"mcp_server={}", 1, "mcp_server", "write mcp_servers"},
		{"comand='x'", 1, "comand", `did you mean "command", in a [mcp_servers.<name>] table?`},
		{"aproval_policy='never'", 1, "aproval_policy", `did you mean "approval_policy"?`},
		{"zzzzzz=1", 1, "zzzzzz", "unknown key"},
		{"enabled=true", 1, "enabled", "[mcp_servers.<name>]"},
		{"approval_policy='maybe'", 1, "approval_policy", "one of untrusted, on-failure, on-request, never"},
		{"approval_policy={}", 1, "approval_policy", "granular"},
		{"approval_policy={granular={rules=1}}", 1, "approval_policy", "granular.rules must be true or false"},
		{"approval_policy={granular={mcp_elicitations=true,mcp_elicitation=true}}", 1, "approval_policy.granular.mcp_elicitation", `did you mean "mcp_elicitations"?`},
		{"approval_policy={granular={}}", 1, "approval_policy.granular", "true is assumed"},
		{"mcp_optional_startup_grace_ms='x'", 1, "mcp_optional_startup_grace_ms", "the value is ignored"},
		{"mcp_oauth_callback_port=65536", 1, "mcp_oauth_callback_port", "at most"},
		{"mcp_oauth_credentials_store='x'", 1, "mcp_oauth_credentials_store", "auto, keyring, file"},
		{"idle_timeout_sec=900000", 1, "idle_timeout_sec", "seconds"},
		{"mcp_servers='x'", 1, "mcp_servers", "must be a table of servers, not a string"},
		{"[[mcp_servers]]\ncommand='x'", 1, "mcp_servers", "not an array"},
		{"[mcp_servers.s]\ncommand='x'\ntype='stdio'", 3, "mcp_servers.s.type", "command means stdio"},
		{"[mcp_servers.s]\nurl='http://h'\nheaders={A='sekret'}", 3, "mcp_servers.s.headers", "write http_headers"},
		{"[mcp_servers.s]\ncommand='x'\ntimeout=5", 3, "mcp_servers.s.timeout", "tool_timeout_sec"},
		{"[mcp_servers.s]\ncommand='x'\ndisabled=true", 3, "mcp_servers.s.disabled", "enabled = false"},
		{"[mcp_servers.s]\ncommand='x'\ntrust=true", 3, "mcp_servers.s.trust", "default_tools_approval_mode"},
		{"[mcp_servers.s]\ncommand='x'\nautoApprove=[]", 3, "mcp_servers.s.autoApprove", "approval_mode"},
		{"[mcp_servers.s]\ncommand='x'\nstartup_timeout=5", 3, "mcp_servers.s.startup_timeout", `did you mean "startup_timeout_sec"?`},
		{"[mcp_servers.s]\ncommand='x'\nenabled-tools=[]", 3, "mcp_servers.s.enabled-tools", `did you mean "enabled_tools"?`},
		{"[mcp_servers.s]\ncommand='x'\nbearerTokenEnvVar='X'", 3, "mcp_servers.s.bearerTokenEnvVar", `did you mean "bearer_token_env_var"?`},
		{"[mcp_servers.s]\ncommand='x'\nidle_timeout_sec=1", 3, "mcp_servers.s.idle_timeout_sec", "top level"},
		{"[mcp_servers.s]\ncommand='x'\n[mcp_servers.s.tools.t]\naproval_mode='auto'", 4, "mcp_servers.s.tools.t.aproval_mode", `did you mean "approval_mode"?`},
		{"[mcp_servers.s]\ncommand='x'\n[mcp_servers.s.tools.t]\nenabled_tools=[]", 4, "mcp_servers.s.tools.t.enabled_tools", "above this table"},
		{"[mcp_servers.s]\ncommand='x'\n[mcp_servers.s.tools.t.annotations]\nreadOnly=true", 4, "mcp_servers.s.tools.t.annotations.readOnly", "readOnlyHint"},
		{"[mcp_servers.s]\nurl='http://h'\n[mcp_servers.s.oauth]\nclientId='c'", 4, "mcp_servers.s.oauth.clientId", `did you mean "client_id"?`},
		{"[mcp_servers.s]\ncommand='x'\n[mcp_servers.s.env]\nrequired=true", 4, "mcp_servers.s.env.required", "above this table"},
		{"[mcp_servers.s]\ncommand='x'\nenv_vars=['NOT_SET']", 3, "mcp_servers.s.env_vars", "NOT_SET is not set"},
		{"[mcp_servers.s]\ncommand='x'\nenv_vars=[{name='KEY',sorce='local'}]", 3, "mcp_servers.s.env_vars.sorce", `did you mean "source"?`},
		{"[mcp_servers.s]\ncommand='x'\nscopes=['a']", 3, "mcp_servers.s.scopes", "no effect"},
		{"[mcp_servers.s]\ncommand='x'\nauth='chatgpt'", 3, "mcp_servers.s.auth", "Codex"},
		{"[mcp_servers.s]\nurl='http://h'\nenv_http_headers={A='NOT_SET'}", 3, "mcp_servers.s.env_http_headers.A", "left out"},
		{"[mcp_servers.s]\nurl='http://h'\nenv_http_headers={A='EMPTY'}", 3, "mcp_servers.s.env_http_headers.A", "left out"},
		{"[mcp_servers.s]\ncommand='~/bin/x'", 2, "mcp_servers.s.command", "${userHome}"},
		{"[mcp_servers.s]\ncommand='x'\ncwd='$HOME/x'", 3, "mcp_servers.s.cwd", "passed on as it is"},
		{"[mcp_servers.s]\ncommand='x'\nargs=['${KEY}']", 3, "mcp_servers.s.args", "passed on as it is"},
		{"[mcp_servers.s]\nurl='http://h'\nhttp_headers={A='Bearer $SEKRET'}", 3, "mcp_servers.s.http_headers.A", "passed on as it is"},
		{"[mcp_servers.s]\ncommand='x'\nstartup_timeout_sec=0", 3, "mcp_servers.s.startup_timeout_sec", "no time"},
	} {
		cfg := mustLoad(t, base(), c.body+"\n")
		if len(cfg.Problems) != 1 {
			t.Errorf("%q: %d problems\n%s", c.body, len(cfg.Problems), lines(cfg.Problems))
			continue
		}
		p := cfg.Problems[0]
		if p.Line != c.line || p.Column < 1 || p.Key != c.key || !strings.Contains(p.Error(), c.want) || strings.Contains(strings.ToLower(p.Error()), "sekret") {
			t.Errorf("%q:\n got %v\nwant line %d, key %s, %q", c.body, p, c.line, c.key, c.want)
		}
		if want := map[bool]string{true: "s"}[strings.HasPrefix(c.key, "mcp_servers.s.")]; p.Server != want {
			t.Errorf("%q: about server %q, want %q", c.body, p.Server, want)
		}
		for _, s := range cfg.Servers {
			if !s.Startable() {
				t.Errorf("%q: a warning costs the server: %s", c.body, lines(s.Invalid))
			}
		}
	}
}

// A file shared with Codex gives no warnings for Codex's own keys.
func TestCodexFile(t *testing.T) {
	sound(t, `
model = "gpt-5"
sandbox_mode = "workspace-write"
[features]
tool_search = true
[projects."/x"]
trust_level = "trusted"
[mcp_servers.s]
name = "display"
auth = "oauth"
environment_id = "local"
command = "x"
`)
}

// Names may be anything that TOML can write.
func TestServerNames(t *testing.T) {
	cfg := mustLoad(t, base(), `
[mcp_servers."a.b"]
command = "1"
[mcp_servers."with space"]
command = "2"
[mcp_servers."日本"]
command = "3"
[mcp_servers.Docs]
command = "4"
[mcp_servers.docs]
command = "5"
[mcp_servers.""]
command = "6"
`)
	var names []string
	for _, s := range cfg.Servers {
		names = append(names, s.Name)
		if s.Name != "" && !s.Startable() {
			t.Errorf("%q: %s", s.Name, lines(s.Invalid))
		}
	}
	if !slices.Equal(names, []string{"", "Docs", "a.b", "docs", "with space", "日本"}) {
		t.Errorf("names %q", names)
	}
	if server(t, cfg, "").Startable() {
		t.Error("a server without a name can be started")
	}
}

// References expand in every string of an entry, once, and nowhere else.
func TestExpansion(t *testing.T) {
	x := expander{env: newEnvironment("linux", map[string]string{"A": "va", "E": "", "R": "${env:A}"}), workspace: "/ws", home: "/h"}
	for in, want := range map[string]string{
		"":                          "",
		"${env:A}":                  "va",
		"x${env:A}y${env:A}":        "xvayva",
		"${env:A:-d}":               "va",
		"${env:N:-d}":               "d",
		"${env:E:-d}":               "d",
		"${env:E}":                  "",
		"${env:N:-}":                "",
		"${env:N:-a:-b}":            "a:-b",
		"${env:R}":                  "${env:A}",
		"${workspaceFolder}/src":    "/ws/src",
		"${userHome}":               "/h",
		"$A ${A} ~ %A% $(A) ${b:A}": "$A ${A} ~ %A% $(A) ${b:A}",
		"${":                        "${",
		"$${env:A}":                 "$va",
		"${foo":                     "${foo",
	} {
		if got, wrong, _ := x.expand(in); got != want || wrong != "" {
			t.Errorf("expand(%q) = %q, %q; want %q", in, got, wrong, want)
		}
	}
	for in, want := range map[string]string{
		"${env:NOPE}":         "environment variable NOPE is not set",
		"a ${env:NOPE} b":     "environment variable NOPE is not set",
		"${env:a b\n}":        "without a usable variable name",
		"${env:ghp_12345678}": "environment variable *** is not set",
		"${input:tok}":        "uses ${input:tok}",
		"${env:A":             "not closed",
	} {
		if _, wrong, hint := x.expand(in); !strings.Contains(wrong, want) || hint == "" {
			t.Errorf("expand(%q): %q (%q), want %q", in, wrong, hint, want)
		}
	}
	src := base()
	src.WorkspaceFolder, src.UserHome = "", ""
	cfg := mustLoad(t, src, "[mcp_servers.a]\ncommand='${workspaceFolder}/x'\n[mcp_servers.b]\ncommand='${userHome}/x'\n")
	for _, s := range cfg.Servers {
		if s.Startable() || s.Invalid[0].Hint == "" {
			t.Errorf("%s: %v", s.Name, s.Invalid)
		}
	}
}

// Expansion reaches each place that holds a string.
func TestExpansionEverywhere(t *testing.T) {
	cfg := mustLoad(t, base(), `
[mcp_servers.a]
command = "${env:KEY}"
args = ["--x=${env:KEY}"]
cwd = "${workspaceFolder}/${env:KEY}"
env = { A = "${env:KEY}" }
enabled_tools = ["${env:KEY}"]
isolation = "${env:NO_SUCH:-thread}"
[mcp_servers.b]
url = "http://${env:NO_SUCH:-host}/${env:KEY}"
http_headers = { A = "Bearer ${env:KEY}" }
`)
	a, b := server(t, cfg, "a"), server(t, cfg, "b")
	if len(a.Invalid)+len(b.Invalid)+len(cfg.Problems) > 0 {
		t.Fatal(lines(a.Invalid), lines(b.Invalid), lines(cfg.Problems))
	}
	if a.Stdio.Command != "k-value-1" || a.Stdio.Args[0] != "--x=k-value-1" || a.Stdio.Cwd != "/ws/k-value-1" || !slices.Contains(a.Stdio.Env, "A=k-value-1") ||
		a.EnabledTools[0] != "k-value-1" || a.Isolation != IsolationThread || b.HTTP.URL != "http://host/k-value-1" || b.HTTP.Headers.Get("A") != "Bearer k-value-1" {
		t.Errorf("a %#v\nb %v", a.Stdio.Env, b.HTTP.Headers)
	}
}

// The child's environment: the documented set, then env_vars, then env.
func TestChildEnvironment(t *testing.T) {
	unix := map[string]string{
		"HOME": "h", "LOGNAME": "l", "PATH": "p", "SHELL": "s", "USER": "u", "LANG": "C", "LC_ALL": "C", "LC_TIME": "C", "TERM": "t", "TMPDIR": "d", "TZ": "z",
		"XDG_RUNTIME_DIR": "x", "HTTP_PROXY": "1", "https_proxy": "2", "NO_PROXY": "3", "all_proxy": "4", "SSL_CERT_FILE": "5", "NODE_EXTRA_CA_CERTS": "6", "npm_config_cafile": "7",
		"Http_Proxy": "no", "SECRET_X": "no", "SSH_AUTH_SOCK": "no", "Path": "no", "LD_PRELOAD": "no", "AWS_SECRET_ACCESS_KEY": "no",
	}
	core := []string{
		"HOME=h", "HTTP_PROXY=1", "LANG=C", "LC_ALL=C", "LC_TIME=C", "LOGNAME=l", "NODE_EXTRA_CA_CERTS=6", "NO_PROXY=3", "PATH=p", "SHELL=s",
		"SSL_CERT_FILE=5", "TERM=t", "TMPDIR=d", "TZ=z", "USER=u", "XDG_RUNTIME_DIR=x", "all_proxy=4", "https_proxy=2", "npm_config_cafile=7",
	}
	windows := map[string]string{"Path": "p", "SystemRoot": "r", "ComSpec": "c", "PATHEXT": ".EXE", "ProgramFiles(x86)": "x", "http_proxy": "1", "Secret": "no", "SHELL": "no"}
	with := func(list []string, more ...string) []string {
		out := append(slices.Clone(list), more...)
		slices.Sort(out)
		return out
	}
	for _, c := range []struct {
		name, goos, body string
		env              map[string]string
		want             []string
	}{
		{"core", "linux", "", unix, core},
		{"env_vars", "linux", "env_vars=['SECRET_X','NOPE']", unix, with(core, "SECRET_X=no")},
		{"env wins over env_vars and core", "linux", "env_vars=['SECRET_X']\nenv={SECRET_X='mine',TERM='dumb'}", unix,
			with(slices.DeleteFunc(slices.Clone(core), func(s string) bool { return s == "TERM=t" }), "SECRET_X=mine", "TERM=dumb")},
		{"none", "linux", "env_inherit='none'\nenv_vars=['PATH']\nenv={A='1'}", unix, []string{"A=1", "PATH=p"}},
		{"all", "linux", "env_inherit='all'", map[string]string{"A": "1", "B": "2"}, []string{"A=1", "B=2"}},
		{"windows core", "windows", "", windows, []string{"ComSpec=c", "http_proxy=1", "Path=p", "PATHEXT=.EXE", "ProgramFiles(x86)=x", "SystemRoot=r"}},
		{"windows names fold", "windows", "env={PATH='mine'}\nenv_vars=['SECRET']", windows,
			[]string{"ComSpec=c", "http_proxy=1", "PATH=mine", "PATHEXT=.EXE", "ProgramFiles(x86)=x", "SECRET=no", "SystemRoot=r"}},
	} {
		src := base()
		src.GOOS, src.Env = c.goos, c.env
		s := server(t, mustLoad(t, src, "[mcp_servers.s]\ncommand='x'\n"+c.body+"\n"), "s")
		if len(s.Invalid) > 0 {
			t.Errorf("%s: %s", c.name, lines(s.Invalid))
			continue
		}
		if !slices.Equal(s.Stdio.Env, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, s.Stdio.Env, c.want)
		}
	}
}

func TestResolve(t *testing.T) {
	for _, c := range []struct{ goos, base, in, want string }{
		{"linux", "/b", "", "/b"},
		{"linux", "/b", "x/../y", "/b/y"},
		{"linux", "/b", "/x/", "/x"},
		{"linux", "", "x", "x"},
		{"linux", "/b", `C:\x`, `/b/C:\x`},
		{"windows", `C:\b`, "", `C:\b`},
		{"windows", `C:\b`, `x\..\y`, `C:\b\y`},
		{"windows", `C:\b`, "x/y", `C:\b\x\y`},
		{"windows", `C:\b`, `D:\x/y`, `D:\x\y`},
		{"windows", `C:\b`, `\x`, `C:\x`},
		{"windows", `C:\b`, `\\host\share\x\..\y`, `\\host\share\y`},
		{"windows", `C:\b`, `\\?\C:\x\.`, `\\?\C:\x\.`},
	} {
		if got := resolve(c.goos, c.base, c.in); got != c.want {
			t.Errorf("resolve(%s, %q, %q) = %q, want %q", c.goos, c.base, c.in, got, c.want)
		}
	}
	src := base()
	src.GOOS, src.Cwd = "windows", `C:\b`
	if s := server(t, mustLoad(t, src, "[mcp_servers.s]\ncommand='x'\ncwd='D:x'\n"), "s"); s.Startable() {
		t.Error("a drive-relative cwd is taken")
	}
}

func TestDefaultUserFile(t *testing.T) {
	for _, c := range []struct {
		goos string
		env  map[string]string
		want string
	}{
		{"linux", map[string]string{"HOME": "/h"}, "/h/.config/mcp-sidecar/config.toml"},
		{"linux", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/x/mcp-sidecar/config.toml"},
		{"linux", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "rel"}, "/h/.config/mcp-sidecar/config.toml"},
		{"linux", map[string]string{"HOME": "/h", "MCP_SIDECAR_HOME": "/m"}, "/m/config.toml"},
		{"linux", nil, ""},
		{"darwin", map[string]string{"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "/h/Library/Application Support/mcp-sidecar/config.toml"},
		{"windows", map[string]string{"AppData": `C:\A`}, `C:\A\mcp-sidecar\config.toml`},
	} {
		if got := DefaultUserFile(c.goos, c.env); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.goos, c.env, got, c.want)
		}
	}
}

func TestEnviron(t *testing.T) {
	got := Environ([]string{"A=1", "B=x=y", "=C:=C:\\x", "bare", "A=2", "E="})
	if len(got) != 3 || got["A"] != "2" || got["B"] != "x=y" || got["E"] != "" {
		t.Errorf("%q", got)
	}
}

// A policy comes out in the words of the wire.
func TestPolicyWords(t *testing.T) {
	for in, want := range map[string]string{"untrusted": "untrusted", "on-failure": "on-request", "on-request": "on-request", "never": "never"} {
		cfg := mustLoad(t, base(), "approval_policy='"+in+"'\n")
		if got := string(cfg.ApprovalPolicy); got != `"`+want+`"` || len(cfg.Problems) > 0 {
			t.Errorf("%s: %s, %s", in, got, lines(cfg.Problems))
		}
	}
}

// Names of variables are not taken for tokens, nor tokens for names.
func TestLooksLikeToken(t *testing.T) {
	for _, name := range []string{"PATH", "ASIA_REGION_1", "hf_token", "npm_config_cafile", "secret_name_of_the_thing", "MY_VERY_LONG_VARIABLE_NAME_2", "ProgramFiles(x86)", "@scope/server-docs", "docs"} {
		if looksLikeToken(name) {
			t.Errorf("%s is taken for a token", name)
		}
	}
	for _, token := range []string{"ghp_abcd1234", "sk-abc123", "AKIAIOSFODNN7EXAMPLE", "hf_abcdefghijklmnopqrst", "eyJhbGciOi", "a8Fk29dkLs02kdPq83nvLq0x", "0123456789abcdef0123456789abcdef"} {
		if !looksLikeToken(token) {
			t.Errorf("%s is not taken for a token", token)
		}
	}
}

// env_vars may be an array of tables, in brackets or under a header.
func TestEnvVarTables(t *testing.T) {
	s := sound(t, "[mcp_servers.s]\ncommand='x'\nenv_inherit='none'\n[[mcp_servers.s.env_vars]]\nname='KEY'\n[[mcp_servers.s.env_vars]]\nname='SECRET_X'\nsource='local'\n")
	if !slices.Equal(s.Stdio.Env, []string{"KEY=k-value-1", "SECRET_X=1"}) {
		t.Errorf("%q", s.Stdio.Env)
	}
}

func TestNearest(t *testing.T) {
	for in, want := range map[string]string{
		"comand": "command", "Command": "command", "arg": "args", "enviroment": "", "evn": "env", "startupTimeoutSec": "startup_timeout_sec",
		"tool_timeout": "tool_timeout_sec", "enabled_tool": "enabled_tools", "requird": "required", "xyzzy": "", "": "", strings.Repeat("a", 1000): "",
		"bearer_token_env": "bearer_token_env_var", "isolate": "isolation",
	} {
		if got := nearest(in, serverNames()); got != want {
			t.Errorf("nearest(%.20q) = %q, want %q", in, got, want)
		}
	}
}

// The layers have the same words on the wire, low to high.
func TestLayerWords(t *testing.T) {
	var words []string
	for _, l := range layerOrder {
		words = append(words, string(l))
	}
	if want := protocol.ConfigLayerName("").Values(); !slices.Equal(words, want) {
		t.Errorf("layers %q, on the wire %q", words, want)
	}
}
