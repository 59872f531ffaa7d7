package config

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/secret"
)

// A serverField is one key of an entry.
type serverField struct {
	name string
	on   Transport // "" is both
	def  any       // what config/read shows when it is not given, nil for nothing
	read func(e *entry, n *node)
	show func(n *node) any
}

// The words that the keys take.
var (
	approvalWords   = []string{string(ApprovalAuto), string(ApprovalPrompt), string(ApprovalWrites), string(ApprovalApprove)}
	readinessWords  = []string{string(ReadyConnection), string(ReadyCatalog)}
	isolationWords  = []string{string(IsolationShared), string(IsolationThread)}
	inheritWords    = []string{string(InheritCore), string(InheritAll), string(InheritNone)}
	exposureWords   = []string{string(ExposureAuto), string(ExposureDirect), string(ExposureDeferred), string(ExposureHidden)}
	restartWords    = []string{string(RestartOnFailure), string(RestartNever)}
	surfaceWords    = []string{string(SurfaceCodeMode), string(SurfaceDeferred), string(SurfaceDirect)}
	protocolWords   = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
	toolKeys        = []string{"annotations", "approval_mode", "enabled", "output_token_limit", "timeout_sec"}
	annotationKeys  = []string{"destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint", "title"}
	oauthKeys       = []string{"callback_port", "callback_url", "client_id", "client_secret_env_var"}
	envVarKeys      = []string{"name", "source"}
	codexOAuthExtra = []string{"authorization_server_issuer"}
)

// Longer limits than these were probably meant in milliseconds.
const (
	usualStartup = time.Hour
	usualCall    = 24 * time.Hour
)

func wordField[T ~string](name string, def T, words []string, set func(*Server, T)) serverField {
	f := serverField{name: name, show: showWord(words), read: func(e *entry, n *node) {
		if s, ok := e.word(n, []string{name}, words); ok {
			set(e.s, T(s))
		}
	}}
	if def != "" {
		f.def = string(def)
	}
	return f
}

func boolField(name string, def any, set func(*Server, bool)) serverField {
	return serverField{name: name, def: def, show: maskAll, read: func(e *entry, n *node) {
		if b, ok := e.boolean(n, []string{name}); ok {
			set(e.s, b)
		}
	}}
}

func listField(name string, on Transport, set func(*entry, []string)) serverField {
	return serverField{name: name, on: on, show: showList, read: func(e *entry, n *node) {
		if list, ok := e.strings(n, []string{name}, useOther); ok {
			set(e, list)
		}
	}}
}

// serverFields is the only list of the keys of an entry. It is a function, as
// the readers in it look into it for hints.
func serverFields() []serverField {
	return []serverField{
		{name: "command", on: TransportStdio, show: showArg, read: (*entry).readCommand},
		{name: "args", on: TransportStdio, def: []any{}, show: showArgs, read: func(e *entry, n *node) {
			e.stdio.Args, _ = e.strings(n, []string{"args"}, useArg)
		}},
		{name: "env", on: TransportStdio, show: showSecretMap("env"), read: func(e *entry, n *node) {
			if m, ok := e.stringMap(n, []string{"env"}, useValue, badEnvName); ok {
				e.env = m
			}
		}},
		{name: "env_vars", on: TransportStdio, show: showEnvVars, read: (*entry).readEnvVars},
		{name: "cwd", on: TransportStdio, show: showArg, read: (*entry).readCwd},
		wordField("env_inherit", InheritCore, inheritWords, func(s *Server, w EnvInherit) { s.EnvInherit = w }).only(TransportStdio),

		{name: "url", on: TransportHTTP, show: showURL, read: (*entry).readURL},
		{name: "http_headers", on: TransportHTTP, show: showSecretMap("http_headers"), read: (*entry).readHeaders},
		{name: "env_http_headers", on: TransportHTTP, show: showNameMap, read: (*entry).readEnvHeaders},
		{name: "http_headers_helper", on: TransportHTTP, show: showMasked, read: func(e *entry, n *node) {
			e.http.HeadersHelper, _ = e.str(n, []string{"http_headers_helper"}, useOther)
		}},
		{name: "bearer_token_env_var", on: TransportHTTP, show: showVariable, read: (*entry).readBearer},
		listField("scopes", TransportHTTP, func(e *entry, list []string) { e.http.Scopes = list }),
		{name: "oauth_resource", on: TransportHTTP, show: showURL, read: func(e *entry, n *node) {
			e.http.OAuthResource, _ = e.str(n, []string{"oauth_resource"}, useValue)
		}},
		{name: "oauth", on: TransportHTTP, show: showOAuth, read: (*entry).readOAuth},

		boolField("enabled", true, func(s *Server, b bool) { s.Enabled = b }),
		boolField("required", false, func(s *Server, b bool) { s.Required = b }),
		{name: "startup_timeout_sec", def: int64(defaultStartupTimeout / time.Second), show: maskAll, read: func(e *entry, n *node) {
			if d, ok := e.seconds(n, []string{"startup_timeout_sec"}, usualStartup); ok {
				e.s.StartupTimeout = d
			}
		}},
		{name: "startup_timeout_ms", show: maskAll, read: (*entry).readStartupMillis},
		{name: "tool_timeout_sec", def: int64(defaultToolTimeout / time.Second), show: maskAll, read: func(e *entry, n *node) {
			if d, ok := e.seconds(n, []string{"tool_timeout_sec"}, usualCall); ok {
				e.s.ToolTimeout = d
			}
		}},
		wordField("startup_readiness", ReadyConnection, readinessWords, func(s *Server, w Readiness) { s.StartupReadiness = w }),
		wordField("restart", RestartOnFailure, restartWords, func(s *Server, w Restart) { s.Restart = w }),
		wordField("isolation", IsolationShared, isolationWords, func(s *Server, w Isolation) { s.Isolation = w }),
		wordField("protocol_version", "", protocolWords, func(s *Server, w string) { s.ProtocolVersion = w }),

		listField("enabled_tools", "", func(e *entry, list []string) { e.s.EnabledTools = list }),
		listField("disabled_tools", "", func(e *entry, list []string) { e.s.DisabledTools = list }),
		wordField("default_tools_approval_mode", ApprovalAuto, approvalWords, func(s *Server, w ApprovalMode) { s.DefaultApproval = w }),
		{name: "tools", show: showTools, read: (*entry).readTools},
		boolField("supports_parallel_tool_calls", false, func(s *Server, b bool) { s.SupportsParallel = b }),
		{name: "tool_input_schema_max_bytes", def: int64(defaultSchemaMaxBytes), show: maskAll, read: func(e *entry, n *node) {
			if i, ok := e.integer(n, []string{"tool_input_schema_max_bytes"}, 1, math.MaxInt32); ok {
				e.s.InputSchemaMaxBytes = i
			}
		}},
		wordField("exposure", ExposureAuto, exposureWords, func(s *Server, w Exposure) { s.Exposure = w }),
		{name: "omit_tools_from", show: showList, read: (*entry).readOmit},
		boolField("tool_name_prefix", nil, func(s *Server, b bool) { s.ToolNamePrefix = b }),
	}
}

func (f serverField) only(on Transport) serverField {
	f.on = on
	return f
}

// serverNames lists the keys of an entry.
func serverNames() []string {
	fields := serverFields()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

func (e *entry) readCommand(n *node) {
	sub := []string{"command"}
	if _, isArray := n.value.([]any); isArray {
		e.fail(n.at, sub, wantKind(n, "a string"), "write the program as command, the rest as args")
		return
	}
	e.stdio.Command, _ = e.str(n, sub, usePath)
}

func (e *entry) readCwd(n *node) {
	sub := []string{"cwd"}
	cwd, ok := e.str(n, sub, usePath)
	switch {
	case !ok:
	case driveRelative(e.l.src.GOOS, cwd):
		e.fail(n.at, sub, "is relative to a drive's current folder", `write the whole path, such as C:\folder`)
	default:
		e.cwd = cwd
	}
}

// readEnvVars reads names, or {name, source} tables.
func (e *entry) readEnvVars(n *node) {
	sub := []string{"env_vars"}
	list, isArray := n.value.([]any)
	if !isArray {
		hint := `write ["NAME"]`
		if n.isTable() {
			hint = "env_vars names variables to pass on; values go into env"
		}
		e.fail(n.at, sub, wantKind(n, "an array of names"), hint)
		return
	}
	for i, v := range list {
		name, isText := v.(string)
		if m, isTable := v.(map[string]any); isTable {
			if name, isText = m["name"].(string); !isText {
				e.fail(n.at, sub, ordinal(i)+" needs a name, a string", `write { name = "NAME" }`)
				continue
			}
			if !e.envVarSource(n, sub, i, m) {
				continue
			}
		} else if !isText {
			e.fail(n.at, sub, ordinal(i)+" must be a name or a table with a name, not "+kindOf(v), "")
			continue
		}
		name, ok := e.text(n.at, sub, name, useOther)
		if !ok {
			continue
		}
		if strings.ContainsRune(name, '=') {
			e.fail(n.at, sub, ordinal(i)+" must be a name without a value", "names go into env_vars, values into env")
			continue
		}
		if !e.variableName(n.at, sub, name) {
			continue
		}
		if _, set := e.l.env.lookup(name); !set {
			e.warn(n.at, sub, "environment variable "+name+" is not set, so nothing is passed on", "")
		}
		e.envVars = append(e.envVars, name)
	}
}

func (e *entry) envVarSource(n *node, sub []string, i int, m map[string]any) bool {
	for k := range m {
		if !slices.Contains(envVarKeys, k) {
			e.warn(n.at, child(sub, k), "unknown key", suggest(k, envVarKeys))
		}
	}
	switch source, given := m["source"]; {
	case !given, source == "local":
		return true
	case source == "remote":
		e.fail(n.at, sub, ordinal(i)+`: source "remote" needs a remote executor, and servers run on this machine`, `remove source, or write "local"`)
	default:
		e.fail(n.at, sub, ordinal(i)+": source must be local or remote", "")
	}
	return false
}

func (e *entry) readURL(n *node) {
	sub := []string{"url"}
	s, ok := e.str(n, sub, useValue)
	if !ok {
		return
	}
	if wrong := checkURL(s, ""); wrong != "" {
		hint := "write the whole address, such as https://example.com/mcp"
		if low := strings.ToLower(s); strings.HasPrefix(low, "ws") || strings.HasPrefix(low, "sse") {
			hint = "only Streamable HTTP is spoken; ask the server's author for its http address"
		}
		e.fail(n.at, sub, wrong, hint)
		return
	}
	e.http.URL = s
}

// checkURL takes the two results of a reader and goes on checking.
func checkURL(s, wrong string) string {
	if wrong != "" {
		return wrong
	}
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return "must be a valid URL"
	case u.Scheme != "http" && u.Scheme != "https":
		return "must begin with http:// or https://"
	case u.Hostname() == "":
		return "must name a host"
	}
	return ""
}

func (e *entry) readHeaders(n *node) {
	sub := []string{"http_headers"}
	m, ok := e.stringMap(n, sub, useValue, badHeaderName)
	if !ok {
		return
	}
	if !e.sameHeaders(n, sub) {
		return
	}
	for k, v := range m {
		if !validHeaderValue(v) {
			e.fail(n.table[k].at, child(sub, k), "holds characters that a header cannot, such as a newline", "")
			continue
		}
		e.setHeader(k, v)
	}
}

func (e *entry) setHeader(k, v string) {
	if e.http.Headers == nil {
		e.http.Headers = http.Header{}
	}
	e.http.Headers.Set(k, v)
}

// sameHeaders refuses two names that are one header.
func (e *entry) sameHeaders(n *node, sub []string) bool {
	seen := map[string]bool{}
	for _, k := range n.keys() {
		canonical := http.CanonicalHeaderKey(k)
		if seen[canonical] {
			e.fail(n.table[k].at, child(sub, k), "the same header is written twice; case makes no difference", "")
			return false
		}
		seen[canonical] = true
	}
	return true
}

// readEnvHeaders reads names only; finishHTTP looks the values up, so that
// they win over http_headers.
func (e *entry) readEnvHeaders(n *node) {
	sub := []string{"env_http_headers"}
	m, ok := e.stringMap(n, sub, useOther, badHeaderName)
	if !ok || !e.sameHeaders(n, sub) {
		return
	}
	for _, k := range n.keys() {
		if e.variableName(n.table[k].at, child(sub, k), m[k]) {
			e.envHeaders = append(e.envHeaders, envHeader{k, m[k]})
		}
	}
}

func (e *entry) readBearer(n *node) {
	sub := []string{"bearer_token_env_var"}
	name, ok := e.str(n, sub, useOther)
	if !ok || !e.variableName(n.at, sub, name) {
		return
	}
	e.http.BearerTokenEnvVar = name
	e.http.Bearer = e.secretVariable(n, sub, name)
}

// secretVariable looks up a variable that the entry cannot do without.
func (e *entry) secretVariable(n *node, sub []string, name string) secret.Value {
	v, set := e.l.env.lookup(name)
	switch {
	case !set:
		e.fail(n.at, sub, "environment variable "+name+" is not set", "set it where the editor starts, or remove "+sub[len(sub)-1])
	case strings.TrimSpace(v) == "":
		e.fail(n.at, sub, "environment variable "+name+" is empty", "set it where the editor starts, or remove "+sub[len(sub)-1])
	case !validHeaderValue(v):
		e.fail(n.at, sub, "environment variable "+name+" holds characters that a header cannot, such as a newline", "")
	default:
		return secret.New(v)
	}
	return secret.Value{}
}

func (e *entry) readOAuth(n *node) {
	sub := []string{"oauth"}
	if !n.isTable() {
		e.fail(n.at, sub, wantKind(n, "a table"), "write client_id and the like below [mcp_servers.<name>.oauth]")
		return
	}
	out := &e.http.OAuth
	for _, k := range n.keys() {
		c, path := n.table[k], child(sub, k)
		switch k {
		case "client_id":
			out.ClientID, _ = e.str(c, path, useOther)
		case "client_secret_env_var":
			name, ok := e.str(c, path, useOther)
			if ok && e.variableName(c.at, path, name) {
				out.ClientSecretEnvVar = name
				out.ClientSecret = e.secretVariable(c, path, name)
			}
		case "callback_port":
			out.CallbackPort, _ = e.integer(c, path, 0, math.MaxUint16)
		case "callback_url":
			s, ok := e.str(c, path, useOther)
			if wrong := checkURL(s, ""); ok && wrong != "" {
				e.fail(c.at, path, wrong, "")
			}
			out.CallbackURL = s
		case "client_secret":
			e.fail(c.at, path, "a secret must not be written into the configuration", "set an environment variable and write its name: client_secret_env_var")
		default:
			if slices.Contains(codexOAuthExtra, k) {
				e.warn(c.at, path, "is a key of Codex that has no effect here", "")
				continue
			}
			e.warn(c.at, path, "unknown key", hintNested(k, oauthKeys, e.s.Name))
		}
	}
	if n.table["client_secret_env_var"] != nil && n.table["client_id"] == nil {
		e.fail(n.table["client_secret_env_var"].at, child(sub, "client_secret_env_var"), "needs client_id beside it", "")
	}
}

// readStartupMillis reads the alias. The key in seconds wins.
func (e *entry) readStartupMillis(n *node) {
	sub := []string{"startup_timeout_ms"}
	d, wrong := asMillis(n)
	if wrong != "" {
		e.fail(n.at, sub, wrong, "")
		return
	}
	if sec := e.root.table["startup_timeout_sec"]; sec != nil {
		if other, bad := asSeconds(sec); bad == "" && other != d {
			e.warn(n.at, sub, "differs from startup_timeout_sec, which wins", "remove one of the two")
		}
		return
	}
	e.oddLimit(n, sub, d, usualStartup)
	e.s.StartupTimeout = d
}

func (e *entry) readTools(n *node) {
	sub := []string{"tools"}
	if !n.isTable() {
		hint := "write approval_mode and the like below [mcp_servers.<name>.tools.<tool>]"
		if _, isArray := n.value.([]any); isArray {
			hint = "to choose tools, write enabled_tools"
		}
		e.fail(n.at, sub, wantKind(n, "a table of tools"), hint)
		return
	}
	e.s.Tools = make(map[string]ToolRule, len(n.table))
	for _, tool := range n.keys() {
		c, path := n.table[tool], child(sub, tool)
		if !c.isTable() {
			hint := "write [" + formatKey(e.path(path...)) + "] and its keys below it"
			if slices.Contains(toolKeys, tool) {
				hint = "it belongs to one tool: [mcp_servers.<name>.tools.<tool>]"
			}
			e.fail(c.at, path, wantKind(c, "a table"), hint)
			continue
		}
		e.s.Tools[tool] = e.readTool(c, path)
	}
}

func (e *entry) readTool(n *node, sub []string) (rule ToolRule) {
	e.unknownIn(n, sub, toolKeys)
	if c := n.table["approval_mode"]; c != nil {
		mode, _ := e.word(c, child(sub, "approval_mode"), approvalWords)
		rule.ApprovalMode = ApprovalMode(mode)
	}
	if c := n.table["enabled"]; c != nil {
		if b, ok := e.boolean(c, child(sub, "enabled")); ok {
			rule.Enabled = &b
		}
	}
	if c := n.table["output_token_limit"]; c != nil {
		rule.OutputTokenLimit, _ = e.integer(c, child(sub, "output_token_limit"), 1, math.MaxInt32)
	}
	if c := n.table["timeout_sec"]; c != nil {
		if d, ok := e.seconds(c, child(sub, "timeout_sec"), usualCall); ok {
			rule.Timeout = &d
		}
	}
	if c := n.table["annotations"]; c != nil {
		rule.Annotations = e.readAnnotations(c, child(sub, "annotations"))
	}
	return rule
}

func (e *entry) readAnnotations(n *node, sub []string) (a Annotations) {
	if !n.isTable() {
		e.fail(n.at, sub, wantKind(n, "a table"), "write { readOnlyHint = true }")
		return a
	}
	e.unknownIn(n, sub, annotationKeys)
	for key, hint := range map[string]**bool{
		"readOnlyHint": &a.ReadOnly, "destructiveHint": &a.Destructive, "idempotentHint": &a.Idempotent, "openWorldHint": &a.OpenWorld,
	} {
		if c := n.table[key]; c != nil {
			if b, ok := e.boolean(c, child(sub, key)); ok {
				*hint = &b
			}
		}
	}
	if c := n.table["title"]; c != nil {
		if s, ok := e.str(c, child(sub, "title"), useOther); ok {
			a.Title = &s
		}
	}
	return a
}

func (e *entry) readOmit(n *node) {
	sub := []string{"omit_tools_from"}
	list, ok := e.strings(n, sub, useOther)
	if !ok {
		return
	}
	e.s.OmitToolsFrom = []Surface{}
	for i, s := range list {
		if !slices.Contains(surfaceWords, s) {
			e.fail(n.at, sub, ordinal(i)+" must be one of "+strings.Join(surfaceWords, ", "), "")
			continue
		}
		e.s.OmitToolsFrom = append(e.s.OmitToolsFrom, Surface(s))
	}
}

// badEnvName says what is wrong with the name of a variable, or "".
func badEnvName(name string) string {
	switch {
	case name == "":
		return "a variable has an empty name"
	case strings.ContainsAny(name, "=\x00"):
		return "the name of a variable cannot hold = or a zero byte"
	}
	return ""
}

// badHeaderName says what is wrong with the name of a header, or "" (RFC 9110,
// 5.1: a token).
func badHeaderName(name string) string {
	if name == "" {
		return "a header has an empty name"
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !isBare(c) && !strings.ContainsRune("!#$%&'*+.^`|~", rune(c)) {
			return "the name of a header cannot hold blanks or special characters"
		}
	}
	return ""
}

// validHeaderValue reports whether a value can be sent (RFC 9110, 5.5).
func validHeaderValue(v string) bool {
	for i := 0; i < len(v); i++ {
		if c := v[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

func itoa(i int) string { return strconv.Itoa(i) }

// urlSecrets lists the password (or the user, where that stands alone) and the
// query values of a URL, as written and decoded.
func urlSecrets(s string) (out []string) {
	u, err := url.Parse(s)
	if err != nil {
		return nil
	}
	if u.User != nil {
		if password, ok := u.User.Password(); ok {
			out = append(out, password, u.User.String())
		} else {
			out = append(out, u.User.Username(), u.User.String())
		}
	}
	for _, values := range u.Query() {
		for _, v := range values {
			out = append(out, v, url.QueryEscape(v))
		}
	}
	for seg := range strings.SplitSeq(u.Path, "/") {
		if looksLikeToken(seg) {
			out = append(out, seg)
		}
	}
	return out
}
