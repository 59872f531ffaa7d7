package config

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// The defaults of an entry (spec 4).
const (
	defaultStartupTimeout = 30 * time.Second
	defaultToolTimeout    = 300 * time.Second
	defaultSchemaMaxBytes = 5000
)

// An entry is one server while it is being read.
type entry struct {
	l    *loader
	s    *Server
	root *node

	http  HTTP
	stdio Stdio

	envVars    []string          // names, in order
	env        map[string]string // literal, expanded
	cwd        string
	envHeaders []envHeader
}

type envHeader struct{ header, variable string }

// readServers reads all entries of the merged tree.
func (l *loader) readServers(c *Config, layers []*node) {
	servers := c.root.table[serversKey]
	if servers == nil {
		return
	}
	for _, name := range servers.keys() {
		c.Servers = append(c.Servers, l.readServer(c, name, servers.table[name], layers))
	}
}

func (l *loader) readServer(c *Config, name string, root *node, layers []*node) Server {
	e := &entry{l: l, root: root, env: map[string]string{}, s: &Server{
		Name:    name,
		Enabled: true, StartupTimeout: defaultStartupTimeout, ToolTimeout: defaultToolTimeout,
		DefaultApproval: ApprovalAuto, InputSchemaMaxBytes: defaultSchemaMaxBytes,
		StartupReadiness: ReadyConnection, Isolation: IsolationShared, EnvInherit: InheritCore,
		Exposure: ExposureAuto, Restart: RestartOnFailure, ToolNamePrefix: c.ToolNamePrefix,
		Origin: root.at,
	}}
	e.origins(layers)
	if name == "" {
		e.fail(root.at, nil, "the server has an empty name", "")
	}
	if !root.isTable() {
		e.fail(root.at, nil, wantKind(root, "a table"), "write "+header(name)+" and its keys below it")
	} else {
		e.s.Declared = declared(root)
		e.read()
	}
	slices.SortStableFunc(e.s.Invalid, compareProblems)
	e.finish()
	return *e.s
}

// origins finds where the entry is defined and what it shadows.
func (e *entry) origins(layers []*node) {
	var all []Origin // high to low
	defined := -1
	for _, layer := range slices.Backward(layers) {
		servers := layer.table[serversKey]
		if servers == nil || servers.table[e.s.Name] == nil {
			continue
		}
		n := servers.table[e.s.Name]
		if defined < 0 && (n.table["command"] != nil || n.table["url"] != nil) {
			defined = len(all)
		}
		all = append(all, n.at)
	}
	if len(all) == 0 {
		return
	}
	defined = max(defined, 0)
	e.s.Origin, e.s.Shadowed = all[defined], slices.Clone(all[defined+1:])
}

func (e *entry) path(sub ...string) []string {
	return append([]string{serversKey, e.s.Name}, sub...)
}

// fail records what keeps the entry from starting.
func (e *entry) fail(at Origin, sub []string, msg, hint string) {
	e.s.Invalid = append(e.s.Invalid, Problem{Origin: at, Server: e.s.Name, Key: shownKey(e.path(sub...)), Message: msg, Hint: hint})
}

// warn records what does not.
func (e *entry) warn(at Origin, sub []string, msg, hint string) {
	e.l.problems = append(e.l.problems, Problem{Origin: at, Server: e.s.Name, Key: shownKey(e.path(sub...)), Message: msg, Hint: hint})
}

func (e *entry) read() {
	e.transport()
	for _, f := range e.l.fields {
		n := e.root.table[f.name]
		if n == nil {
			continue
		}
		if f.on != "" && e.s.Transport != "" && f.on != e.s.Transport {
			e.wrongTransport(f, n)
			continue
		}
		f.read(e, n)
	}
	for _, key := range e.root.keys() {
		if !e.l.isField(key) {
			e.unknown(key, e.root.table[key])
		}
	}
	switch e.s.Transport {
	case TransportStdio:
		e.finishStdio()
	case TransportHTTP:
		e.finishHTTP()
	}
}

// transport decides what the entry is. There is no type key: command means
// stdio, url means Streamable HTTP.
func (e *entry) transport() {
	command, url := e.root.table["command"], e.root.table["url"]
	switch {
	case command != nil && url != nil:
		msg := "has both command and url, so it is not clear which to use"
		if command.at.Layer != url.at.Layer {
			msg += "; command comes from " + command.at.String() + ", url from " + url.at.String()
		}
		e.fail(url.at, nil, msg, "keep command for a program, url for a remote server")
	case command != nil:
		e.s.Transport = TransportStdio
	case url != nil:
		e.s.Transport = TransportHTTP
	default:
		hint := "write command for a program, or url for a remote server"
		for _, key := range e.root.keys() {
			switch h := foreignServer[key]; h {
			case "write url", "write command":
				hint = h + " instead of " + key
			}
		}
		e.fail(e.root.at, nil, "has neither command nor url", hint)
	}
}

func (e *entry) wrongTransport(f serverField, n *node) {
	if f.name == "scopes" {
		// Codex takes it without a word, and it can do no harm.
		e.warn(n.at, []string{f.name}, "has no effect on a server with command", "remove it, or write url instead of command")
		return
	}
	if e.s.Transport == TransportStdio {
		hint := "remove it, or write url instead of command"
		if f.name == "http_headers" || f.name == "env_http_headers" {
			hint = "a program takes settings from env or args"
		}
		e.fail(n.at, []string{f.name}, "is only for servers with url, and this one has command", hint)
		return
	}
	hint := "remove it, or write command instead of url"
	if f.name == "env" || f.name == "env_vars" {
		hint = "a remote server gets values in http_headers or env_http_headers"
	}
	e.fail(n.at, []string{f.name}, "is only for servers with command, and this one has url", hint)
}

func (e *entry) unknown(key string, n *node) {
	if key == "bearer_token" {
		e.fail(n.at, []string{key}, "a token must not be written into the configuration",
			"set an environment variable and write its name: bearer_token_env_var")
		return
	}
	if words, ok := codexServer[key]; ok {
		s, isString := n.value.(string)
		if !isString || words != nil && !slices.Contains(words, s) {
			e.warn(n.at, []string{key}, "is a key of Codex that has no effect here", "")
		}
		return
	}
	e.warn(n.at, []string{key}, "unknown key", hintServer(key))
	if !n.isTable() {
		return
	}
	// Settings in a table that nobody reads are lost settings; say so for each
	// that has a place of its own.
	for _, k := range n.keys() {
		name := k
		if !e.l.isField(k) {
			hint, ok := foreignServer[k]
			if !ok {
				continue
			}
			if name, ok = strings.CutPrefix(hint, "write "); !ok || strings.ContainsAny(name, " ,") {
				continue
			}
		}
		e.warn(n.table[k].at, []string{key, k}, "unknown key", `did you mean "`+name+`" in `+header(e.s.Name)+"?")
	}
}

func (e *entry) finishStdio() {
	env := e.l.env.inherited(e.s.EnvInherit)
	for _, name := range e.envVars {
		if v, set := e.l.env.lookup(name); set {
			env.set(name, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.env)) {
		env.set(name, e.env[name])
	}
	e.stdio.Env = env.list()
	if e.stdio.Args == nil {
		e.stdio.Args = []string{}
	}
	e.stdio.Cwd = resolve(e.l.src.GOOS, e.l.src.Cwd, e.cwd)
}

func (e *entry) finishHTTP() {
	for _, h := range e.envHeaders {
		at := e.root.table["env_http_headers"].at
		if n := e.root.table["env_http_headers"].table[h.header]; n != nil {
			at = n.at
		}
		sub := []string{"env_http_headers", h.header}
		v, set := e.l.env.lookup(h.variable)
		switch {
		case !set:
			e.warn(at, sub, "environment variable "+h.variable+" is not set", "the header is left out")
		case v == "":
			e.warn(at, sub, "environment variable "+h.variable+" is empty", "the header is left out")
		case !validHeaderValue(v):
			e.warn(at, sub, "environment variable "+h.variable+" holds characters that a header cannot", "the header is left out")
		default:
			e.setHeader(h.header, v)
		}
	}
}

// finish closes the entry: it gets its endpoint only when nothing is wrong.
func (e *entry) finish() {
	if len(e.s.Invalid) == 0 {
		switch e.s.Transport {
		case TransportStdio:
			e.s.Stdio = &e.stdio
		case TransportHTTP:
			e.s.HTTP = &e.http
		}
	}
	e.s.secrets = e.collectSecrets()
	e.s.digest = digest(e.s)
}
