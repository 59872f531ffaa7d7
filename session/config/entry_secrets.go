package config

import (
	"maps"
	"net/url"
	"slices"
	"strings"
)

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
