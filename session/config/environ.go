package config

import (
	"maps"
	"slices"
	"strings"
)

// Environ turns the form of os.Environ into the map of Sources.Env. The last
// of two equal names wins; Windows' hidden "=C:" entries are left out.
func Environ(list []string) map[string]string {
	env := make(map[string]string, len(list))
	for _, kv := range list {
		if k, v, ok := strings.Cut(kv, "="); ok && k != "" {
			env[k] = v
		}
	}
	return env
}

// environment is a set of variables under the rules of one system: names
// differ by case everywhere but on Windows.
type environment struct {
	fold bool
	vars map[string]variable // by folded name
}

type variable struct{ name, value string }

func newEnvironment(goos string, vars map[string]string) environment {
	e := environment{fold: goos == "windows", vars: make(map[string]variable, len(vars))}
	for _, k := range slices.Sorted(maps.Keys(vars)) { // in order, so that case-only twins fold alike each time
		e.set(k, vars[k])
	}
	return e
}

func (e environment) key(name string) string {
	if e.fold {
		return strings.ToUpper(name)
	}
	return name
}

func (e environment) lookup(name string) (value string, set bool) {
	v, set := e.vars[e.key(name)]
	return v.value, set
}

func (e environment) set(name, value string) { e.vars[e.key(name)] = variable{name, value} }

// list gives K=V, sorted by name.
func (e environment) list() []string {
	out := make([]string, 0, len(e.vars))
	for _, k := range slices.Sorted(maps.Keys(e.vars)) {
		out = append(out, e.vars[k].name+"="+e.vars[k].value)
	}
	return out
}

// coreUnix, coreShared and coreWindows are the variables that a child gets
// with env_inherit = "core" (spec 4). LC_* and XDG_* come in by prefix.
var (
	coreUnix   = []string{"HOME", "LOGNAME", "PATH", "SHELL", "USER", "LANG", "TERM", "TMPDIR", "TZ"}
	coreShared = []string{ // upper and lower case both, since programs disagree
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "FTP_PROXY",
		"NPM_CONFIG_PROXY", "NPM_CONFIG_HTTPS_PROXY", "NPM_CONFIG_NOPROXY",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS",
		"GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO", "BUNDLE_SSL_CA_CERT", "NPM_CONFIG_CAFILE", "AWS_CA_BUNDLE", "PIP_CERT", "DENO_CERT",
	}
	coreWindows = []string{
		"PATH", "PATHEXT", "COMSPEC", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "OS",
		"USERNAME", "USERDOMAIN", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "HOME", "COMPUTERNAME",
		"PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "PROGRAMDATA",
		"COMMONPROGRAMFILES", "COMMONPROGRAMFILES(X86)", "COMMONPROGRAMW6432",
		"ALLUSERSPROFILE", "PUBLIC", "LOCALAPPDATA", "APPDATA", "TEMP", "TMP",
		"NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "PSMODULEPATH", "POWERSHELL", "PWSH", "LANG", "TERM", "TZ",
	}
)

// inCore reports whether a variable is in the core set. Windows folds case.
func (e environment) inCore(name string) bool {
	name = e.key(name)
	if strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") {
		return true
	}
	if e.fold {
		return slices.Contains(coreWindows, name) || slices.Contains(coreShared, name)
	}
	if slices.Contains(coreUnix, name) {
		return true
	}
	upper := strings.ToUpper(name)
	return (name == upper || name == strings.ToLower(name)) && slices.Contains(coreShared, upper)
}

// inherited is the part of e that a child gets before env_vars and env.
func (e environment) inherited(how EnvInherit) environment {
	out := environment{fold: e.fold, vars: map[string]variable{}}
	if how == InheritNone {
		return out
	}
	for _, v := range e.vars {
		if how == InheritAll || e.inCore(v.name) {
			out.set(v.name, v.value)
		}
	}
	return out
}
