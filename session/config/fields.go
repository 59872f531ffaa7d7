package config

import (
	"math"
	"slices"
	"strings"
	"time"
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
