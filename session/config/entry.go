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

// text expands one string of the entry. It reports false after recording what
// is wrong.
func (e *entry) text(at Origin, sub []string, s string, u use) (string, bool) {
	out, wrong, hint := e.l.expand.expand(s)
	if wrong != "" {
		e.fail(at, sub, wrong, hint)
		return "", false
	}
	if strings.ContainsRune(out, 0) {
		e.fail(at, sub, "holds a zero byte", "")
		return "", false
	}
	// Look at what was written, without what was expanded: a password may well
	// look like a variable.
	if left := withoutReferences(s); unexpanded(left, u) {
		e.warn(at, sub, "looks like a variable, but is passed on as it is", "write ${env:NAME}, ${workspaceFolder} or ${userHome}; nothing else is expanded")
	}
	return out, true
}

// withoutReferences removes the references that expand.
func withoutReferences(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, after, closed := strings.Cut(rest, "}")
		if !closed || !isReference(rest) {
			b.WriteString("${" + rest)
			return b.String()
		}
		s = after
	}
}

// str reads a string that must not be empty.
func (e *entry) str(n *node, sub []string, u use) (string, bool) {
	s, wrong := asString(n)
	if wrong != "" {
		e.fail(n.at, sub, wrong, "")
		return "", false
	}
	s, ok := e.text(n.at, sub, s, u)
	if ok && strings.TrimSpace(s) == "" {
		e.fail(n.at, sub, "must not be empty", "")
		return "", false
	}
	return s, ok
}

func (e *entry) boolean(n *node, sub []string) (bool, bool) {
	b, wrong := asBool(n)
	if wrong != "" {
		hint := ""
		if _, isString := n.value.(string); isString {
			hint = "write it without quotes"
		}
		e.fail(n.at, sub, wrong, hint)
	}
	return b, wrong == ""
}

func (e *entry) integer(n *node, sub []string, low, high int) (int, bool) {
	i, wrong := asInt(n, low, high)
	if wrong != "" {
		e.fail(n.at, sub, wrong, "")
	}
	return i, wrong == ""
}

func (e *entry) word(n *node, sub []string, words []string) (string, bool) {
	if s, isString := n.value.(string); isString {
		expanded, ok := e.text(n.at, sub, s, useOther)
		if !ok {
			return "", false
		}
		n = &node{value: expanded, at: n.at}
	}
	s, wrong := asWord(n, words)
	if wrong != "" {
		e.fail(n.at, sub, wrong, "")
	}
	return s, wrong == ""
}

// seconds reads a limit. usual is the longest that nobody would wonder about;
// a longer one was probably meant in milliseconds.
func (e *entry) seconds(n *node, sub []string, usual time.Duration) (time.Duration, bool) {
	d, wrong := asSeconds(n)
	if wrong != "" {
		hint := ""
		if _, isString := n.value.(string); isString {
			hint = "write a number without quotes, in seconds"
		}
		e.fail(n.at, sub, wrong, hint)
		return 0, false
	}
	e.oddLimit(n, sub, d, usual)
	return d, true
}

func (e *entry) oddLimit(n *node, sub []string, d, usual time.Duration) {
	switch {
	case d == 0:
		e.warn(n.at, sub, "leaves no time at all", "remove the key for the default")
	case d < time.Second:
		e.warn(n.at, sub, "is less than a second", "_sec is in seconds, _ms in milliseconds")
	case d > usual:
		e.warn(n.at, sub, "is more than "+usual.String(), "_sec is in seconds, _ms in milliseconds")
	}
}

// strings reads an array of strings. The result is not nil.
func (e *entry) strings(n *node, sub []string, u use) ([]string, bool) {
	list, isArray := n.value.([]any)
	if !isArray {
		hint := ""
		if _, isString := n.value.(string); isString {
			hint = `put it in brackets: ["…"]`
			if sub[len(sub)-1] == "args" {
				hint = `write one string for each argument: ["-y", "package"]`
			}
		}
		e.fail(n.at, sub, wantKind(n, "an array of strings"), hint)
		return nil, false
	}
	out, ok := make([]string, 0, len(list)), true
	for i, v := range list {
		s, isText := spelled(v)
		if !isText {
			e.fail(n.at, sub, ordinal(i)+" must be a string, not "+kindOf(v), quoteHint(v))
			ok = false
			continue
		}
		s, good := e.text(n.at, sub, s, u)
		ok = ok && good
		out = append(out, s)
	}
	return out, ok
}

func ordinal(i int) string { return "element " + itoa(i+1) }

// stringMap reads a table of strings. badKey says what is wrong with a key, or
// "". A bad key is not quoted, since somebody wrote something else than a name
// there; the line tells which one it is.
func (e *entry) stringMap(n *node, sub []string, u use, badKey func(string) string) (map[string]string, bool) {
	if !n.isTable() {
		e.fail(n.at, sub, wantKind(n, "a table of strings"), `write { NAME = "value" }`)
		return nil, false
	}
	out, ok := map[string]string{}, true
	for _, k := range n.keys() {
		c, path := n.table[k], child(sub, k)
		if wrong := badKey(k); wrong != "" {
			e.fail(c.at, sub, wrong, "")
			ok = false
			continue
		}
		swallowed := e.l.isField(k) && sub[0] == "env"
		hint := ""
		if swallowed {
			hint = k + " is a key of the server: write it above this table, under " + header(e.s.Name)
		}
		s, isText := spelled(c.value)
		if !isText {
			if hint == "" {
				hint = quoteHint(c.value)
			}
			e.fail(c.at, path, wantKind(c, "a string"), hint)
			ok = false
			continue
		}
		if swallowed {
			e.warn(c.at, path, "becomes a variable of the child", hint)
		}
		s, good := e.text(c.at, path, s, u)
		ok = ok && good
		out[k] = s
	}
	return out, ok
}

// variableName reads the name of an environment variable. A name that looks
// like a token is the usual slip, and must not be repeated.
func (e *entry) variableName(at Origin, sub []string, name string) bool {
	switch {
	case looksLikeToken(name):
		e.fail(at, sub, "must be the name of an environment variable, and this looks like a token itself", "put the token into a variable and write the variable's name")
	case !plainName(name):
		e.fail(at, sub, "must be the name of an environment variable", "write the name alone, without $ or quotes")
	default:
		return true
	}
	return false
}

// unknownIn warns of the keys of a nested table that are not known.
func (e *entry) unknownIn(n *node, sub, known []string) {
	for _, k := range n.keys() {
		if !slices.Contains(known, k) {
			e.warn(n.table[k].at, child(sub, k), "unknown key", hintNested(k, known, e.s.Name))
		}
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

// shellMarks stand around a word of a command line and are not part of it.
const shellMarks = "\"'`;&|()"

// collectSecrets lists what Server.Secrets promises.
func (e *entry) collectSecrets() []string {
	found := map[string]bool{}
	add := func(s string) {
		if len(s) >= minSecret {
			found[s] = true
		}
	}
	for _, v := range e.env {
		add(v)
	}
	for _, name := range e.envVars {
		v, _ := e.l.env.lookup(name)
		add(v)
	}
	for name, values := range e.http.Headers {
		for _, v := range values {
			add(v)
			// A header's scheme is no secret, its credentials alone are.
			if scheme, rest, ok := strings.Cut(v, " "); ok && strings.EqualFold(name, "Authorization") && scheme != "" {
				add(rest)
			}
		}
	}
	for _, kv := range e.stdio.Env { // inherited proxies bring a password along
		if _, v, _ := strings.Cut(kv, "="); strings.Contains(v, "://") && strings.Contains(v, "@") {
			for _, s := range urlSecrets(v) {
				add(s)
			}
		}
	}
	add(e.http.Bearer.Reveal())
	add(e.http.OAuth.ClientSecret.Reveal())
	for _, s := range urlSecrets(e.http.URL) {
		add(s)
	}
	argument := func(arg, masked string) {
		switch name, value, ok := strings.Cut(arg, "="); {
		case masked == arg:
		case strings.Contains(arg, "://"):
			for _, s := range urlSecrets(arg) {
				add(s)
			}
		case ok && masked == name+"="+Mask:
			add(value)
			add(strings.Trim(value, shellMarks))
		default:
			add(arg)
		}
	}
	for i, masked := range maskArgs(e.stdio.Args) {
		arg := e.stdio.Args[i]
		argument(arg, masked)
		if words := strings.Fields(arg); masked != arg && len(words) > 1 {
			// A command line for a shell: what the server gets, and may repeat,
			// is the word without what the shell takes away.
			for _, word := range words {
				word = strings.Trim(word, shellMarks)
				argument(word, maskWord(word))
			}
		}
	}
	out := slices.Collect(maps.Keys(found))
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return out
}
