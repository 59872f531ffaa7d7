package config

import (
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/secret"
)

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
