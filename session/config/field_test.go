package config

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/secret"
)

// The tests of this file are reports from users of other programs, by the
// number under which the project keeps them. What they ask of this package is
// tested here; where the rest is another package's, the comment says so.

// Twins for a report: two threads, one file.
func loadBoth(t *testing.T, file, a, b string) (*Config, *Config) {
	t.Helper()
	src := base()
	src.Thread = json.RawMessage(a)
	one := mustLoad(t, src, file)
	src.Thread = json.RawMessage(b)
	return one, mustLoad(t, src, file)
}

// An empty value blanks a variable, and arguments that begin with $ are left
// alone.
func TestO016EmptyValueAndDollar(t *testing.T) {
	src := base()
	src.Env["TERM"] = "outside"
	cfg := mustLoad(t, src, "[mcp_servers.s]\ncommand='x'\nargs=['$PATH-like','$$','a$b']\nenv={TERM=''}\n")
	s := server(t, cfg, "s")
	if !slices.Contains(s.Stdio.Env, "TERM=") || slices.Contains(s.Stdio.Env, "TERM=outside") {
		t.Errorf("env %q", s.Stdio.Env)
	}
	if !slices.Equal(s.Stdio.Args, []string{"$PATH-like", "$$", "a$b"}) {
		t.Errorf("args %q", s.Stdio.Args)
	}
}

// A complaint about a header holds neither its name, when that is none, nor
// its value.
func TestO017NoValueInMessages(t *testing.T) {
	cfg := mustLoad(t, base(), "[mcp_servers.s]\nurl='http://h'\nhttp_headers={'Bearer sekret-5'='x', 'A'=\"sekret-6\\n\"}\n")
	s := server(t, cfg, "s")
	if len(s.Invalid) != 1 || s.Invalid[0].Line != 3 || strings.Contains(lines(s.Invalid)+lines(cfg.Problems), "sekret") {
		t.Errorf("%s", lines(s.Invalid))
	}
	cfg = mustLoad(t, base(), "[mcp_servers.s]\nurl='http://h'\nhttp_headers={'A'=\"sekret-6\\n\"}\n")
	if s := server(t, cfg, "s"); len(s.Invalid) != 1 || s.Invalid[0].Key != "mcp_servers.s.http_headers.A" || strings.Contains(lines(s.Invalid), "sekret") {
		t.Errorf("%s", lines(s.Invalid))
	}
}

// One function answers for the filters, so that listing and calling agree.
// That both ask it is the binding's to prove (also O035).
func TestO018DeniedToolIsNotAllowed(t *testing.T) {
	s := sound(t, "[mcp_servers.s]\ncommand='x'\ndisabled_tools=['rm']\n[mcp_servers.s.tools.mv]\nenabled=false\n")
	if s.Allows("rm") || s.Allows("mv") || !s.Allows("ls") {
		t.Error("the filters do not hold")
	}
}

// Units stand in the names; the alias works; a conflict or an absurd value is
// a warning.
func TestO019Units(t *testing.T) {
	for body, want := range map[string]struct {
		limit time.Duration
		warn  string
	}{
		"startup_timeout_sec=0.3":                              {300 * time.Millisecond, "less than a second"},
		"startup_timeout_ms=30000":                             {30 * time.Second, ""},
		"startup_timeout_sec=30000":                            {30000 * time.Second, "_sec is in seconds"},
		"startup_timeout_sec=5\nstartup_timeout_ms=30000":      {5 * time.Second, "wins"},
		"startup_timeout_sec=30\nstartup_timeout_ms=30000":     {30 * time.Second, ""},
		"startup_timeout_ms=300":                               {300 * time.Millisecond, "less than a second"},
		"startup_timeout_sec=45\ntool_timeout_sec=300":         {45 * time.Second, ""},
		"startup_timeout_sec=45\ntool_timeout_sec=300000":      {45 * time.Second, "_sec is in seconds"},
		"startup_timeout_sec=45\ntools.a.timeout_sec=86400000": {45 * time.Second, "_sec is in seconds"},
	} {
		cfg := mustLoad(t, base(), "[mcp_servers.s]\ncommand='x'\n"+body+"\n")
		s := server(t, cfg, "s")
		if got := lines(cfg.Problems); s.StartupTimeout != want.limit || len(s.Invalid) > 0 || want.warn == "" && got != "" || !strings.Contains(got, want.warn) {
			t.Errorf("%q: %v, %q, want %v, %q", body, s.StartupTimeout, got, want.limit, want.warn)
		}
	}
}

// A tool that both lists name is denied.
func TestO020DenyWins(t *testing.T) {
	s := sound(t, "[mcp_servers.s]\ncommand='x'\nenabled_tools=['x','y']\ndisabled_tools=['x']\n[mcp_servers.s.tools.x]\nenabled=true\n")
	if s.Allows("x") || !s.Allows("y") || s.Allows("z") {
		t.Error("deny does not win, or allow does not hold")
	}
}

// A list where a string belongs marks its own server, with key, line and the
// usual reason.
func TestO021BadTableCostsOneServer(t *testing.T) {
	cfg := mustLoad(t, base(), "[mcp_servers.p]\ncommand='x'\n[mcp_servers.p.env]\nenv_vars = [\"KEY\"]\n[mcp_servers.q]\ncommand='y'\n")
	p := server(t, cfg, "p")
	if len(p.Invalid) != 1 || p.Invalid[0].Key != "mcp_servers.p.env.env_vars" || p.Invalid[0].Line != 4 || !strings.Contains(p.Invalid[0].Hint, "above this table") {
		t.Errorf("%s", lines(p.Invalid))
	}
	if !server(t, cfg, "q").Startable() {
		t.Error("q does not start")
	}
}

// Without cwd a child starts in the thread's folder, and two threads' servers
// are two connections. (A missing folder is found by the launcher: cwdMissing.)
func TestO022DefaultFolderIsTheThreads(t *testing.T) {
	src := base()
	var ids []string
	for _, cwd := range []string{"/p1", "/p2"} {
		src.Cwd = cwd
		s := server(t, mustLoad(t, src, "[mcp_servers.s]\ncommand='x'\n"), "s")
		if s.Stdio.Cwd != cwd {
			t.Errorf("cwd %q, want %q", s.Stdio.Cwd, cwd)
		}
		ids = append(ids, s.Identity())
	}
	if ids[0] == ids[1] {
		t.Error("two folders share an identity")
	}
}

// Loading changes nothing in the process's own environment, nor in the map
// that it is given.
func TestO023ProcessEnvironmentStays(t *testing.T) {
	before := os.Environ()
	src := base()
	file := "[mcp_servers.s]\ncommand='x'\nenv={THREAD_SECRET='1',PATH='/other'}\n"
	mustLoad(t, src, file)
	if !slices.Equal(before, os.Environ()) || src.Env["PATH"] != "/usr/bin:/bin" || len(src.Env) != len(base().Env) {
		t.Error("an environment changed")
	}
}

// An empty allow list is none, an absent one all; filters are no part of a
// connection's identity.
func TestO024EmptyAllowList(t *testing.T) {
	all := sound(t, "[mcp_servers.s]\ncommand='x'\n")
	none := sound(t, "[mcp_servers.s]\ncommand='x'\nenabled_tools=[]\n")
	deny := sound(t, "[mcp_servers.s]\ncommand='x'\ndisabled_tools=['a','b']\n")
	if none.EnabledTools == nil || none.Allows("a") || !all.Allows("a") || deny.Allows("a") || deny.Allows("b") || !none.Startable() {
		t.Error("the lists are read wrongly")
	}
	if all.Identity() != none.Identity() || all.Identity() != deny.Identity() {
		t.Error("a filter changes the identity")
	}
	src := base()
	src.Thread = json.RawMessage(`{"mcp_servers":{"s":{"enabled_tools":[]}}}`)
	if s := server(t, mustLoad(t, src, "[mcp_servers.s]\ncommand='x'\nenabled_tools=['a']\n"), "s"); s.Allows("a") {
		t.Error("an empty list from a client is lost")
	}
}

// References expand in headers; an unset one names itself and nothing is sent.
func TestO025HeadersExpand(t *testing.T) {
	s := sound(t, "[mcp_servers.s]\nurl='http://h'\nhttp_headers={X-Key='${env:KEY}'}\n")
	if s.HTTP.Headers.Get("X-Key") != "k-value-1" {
		t.Errorf("headers %v", s.HTTP.Headers)
	}
	cfg := mustLoad(t, base(), "[mcp_servers.s]\nurl='http://h'\nhttp_headers={X-Key='${env:NOPE}'}\n")
	if s := server(t, cfg, "s"); s.HTTP != nil || !strings.Contains(lines(s.Invalid), "NOPE") {
		t.Errorf("%v: %s", s.HTTP, lines(s.Invalid))
	}
	cfg = mustLoad(t, base(), "[mcp_servers.s]\nurl='http://h'\nhttp_headers={X-Key='${KEY}'}\n")
	if !strings.Contains(lines(cfg.Problems), "${env:NAME}") {
		t.Errorf("other products' form passes without a word: %s", lines(cfg.Problems))
	}
}

// Proxy and certificate settings reach children. A proxy's password is among
// what is masked in logs once the entry declares it.
func TestO027ProxyAndCertificates(t *testing.T) {
	src := base()
	want := []string{"HTTP_PROXY=http://u:pw-sekret@p", "NO_PROXY=x", "SSL_CERT_FILE=/c", "NODE_EXTRA_CA_CERTS=/n"}
	for _, kv := range want {
		k, v, _ := strings.Cut(kv, "=")
		src.Env[k] = v
	}
	s := server(t, mustLoad(t, src, "[mcp_servers.s]\ncommand='x'\n"), "s")
	for _, kv := range want {
		if !slices.Contains(s.Stdio.Env, kv) {
			t.Errorf("%s is missing from %q", kv, s.Stdio.Env)
		}
	}
	if !slices.Contains(s.Secrets(), "pw-sekret") {
		t.Errorf("the proxy's password is not among the %d secrets", len(s.Secrets()))
	}
}

// Headers in a table that nobody reads are reported, with the place they
// belong.
func TestO028HeadersInTheWrongTable(t *testing.T) {
	cfg := mustLoad(t, base(), "[mcp_servers.x]\nurl='http://h'\n[mcp_servers.x.transport]\nheaders = { A = 'sekret' }\n")
	got := lines(cfg.Problems)
	if len(cfg.Problems) != 2 || !strings.Contains(got, ":4:1: mcp_servers.x.transport.headers: unknown key (did you mean \"http_headers\" in [mcp_servers.x]?)") || strings.Contains(got, "sekret") {
		t.Errorf("%s", got)
	}
}

// Another key of the same file changes no identity, expanded values and all.
func TestO030UnrelatedChange(t *testing.T) {
	one := sound(t, "[mcp_servers.s]\nurl='http://h/${env:KEY}'\n")
	two := sound(t, "idle_timeout_sec=3\n[mcp_servers.s]\nurl='http://h/${env:KEY}'\n[mcp_servers.t]\ncommand='x'\n")
	written := sound(t, "[mcp_servers.s]\nurl='http://h/k-value-1'\n")
	if one.Identity() != two.Identity() || one.Identity() != written.Identity() {
		t.Error("identities differ")
	}
}

// A key that is not known is a warning with file, line and key; the known ones
// are used.
func TestO032UnknownKeyIsAWarning(t *testing.T) {
	cfg := mustLoad(t, base(), "[mcp_servers.a]\ncommand='x'\ncwd='sub'\nnote='hi'\n")
	s := server(t, cfg, "a")
	if !s.Startable() || s.Stdio.Cwd != "/thread/sub" || len(cfg.Problems) != 1 || cfg.Problems[0].Error() != "/home/u/config.toml:4:1: mcp_servers.a.note: unknown key" {
		t.Errorf("%v %q\n%s", s.Startable(), s.Stdio.Cwd, lines(cfg.Problems))
	}
}

// A default written out is the default.
func TestO033DefaultsWrittenOut(t *testing.T) {
	one := sound(t, "[mcp_servers.s]\ncommand='x'\n")
	two := sound(t, "[mcp_servers.s]\ncommand='x'\nargs=[]\nenv={}\nenv_vars=[]\nstartup_timeout_sec=30\ntool_timeout_sec=300.0\nenabled=true\nisolation='shared'\nenv_inherit='core'\ncwd='/thread'\nrestart='on-failure'\n")
	if one.Identity() != two.Identity() {
		t.Error("identities differ")
	}
}

// What one thread brings along is in no other thread's configuration.
func TestO034ThreadServersStayInTheirThread(t *testing.T) {
	a, b := loadBoth(t, "",
		`{"mcp_servers":{"pa":{"url":"http://a","http_headers":{"T":"token-a"}}}}`,
		`{"mcp_servers":{"pb":{"url":"http://b"}}}`)
	if _, ok := a.Server("pb"); ok || len(a.Servers) != 1 || len(b.Servers) != 1 {
		t.Error("threads see each other's servers")
	}
}

// A disabled entry is listed and cannot be started, whoever asks.
// (Write errors belong to the package that writes.)
func TestO036DisabledIsNotStartable(t *testing.T) {
	s := sound(t, "[mcp_servers.s]\ncommand='x'\nenabled=false\n")
	if s.Startable() {
		t.Error("a disabled server can be started")
	}
}

// "$TOKEN" is passed on, and a warning says that it is, without naming it.
func TestO038DollarIsAWarning(t *testing.T) {
	cfg := mustLoad(t, base(), "[mcp_servers.s]\ncommand='x'\nenv={PASSWORD='$BOT_PASSWORD'}\n")
	s := server(t, cfg, "s")
	if !slices.Contains(s.Stdio.Env, "PASSWORD=$BOT_PASSWORD") || len(cfg.Problems) != 1 || !strings.Contains(cfg.Problems[0].Hint, "${env:NAME}") ||
		cfg.Problems[0].Key != "mcp_servers.s.env.PASSWORD" || strings.Contains(lines(cfg.Problems), "BOT_PASSWORD") {
		t.Errorf("%q\n%s", s.Stdio.Env, lines(cfg.Problems))
	}
	// A password that came from a variable is not looked at.
	src := base()
	src.Env["KEY"] = "$SEKRET"
	if cfg := mustLoad(t, src, "[mcp_servers.s]\ncommand='x'\nenv={PASSWORD='${env:KEY}'}\n"); len(cfg.Problems) > 0 {
		t.Errorf("%s", lines(cfg.Problems))
	}
}

// Loading again reads variables again, and the identity tells the difference.
// (That a connection does so on a 401 is the transport's; also O026, O029.)
func TestO040ValuesAreReadAgain(t *testing.T) {
	src := base()
	file := "[mcp_servers.s]\nurl='http://h'\nhttp_headers={A='${env:KEY}'}\n"
	one := server(t, mustLoad(t, src, file), "s")
	src.Env["KEY"] = "k-value-2"
	two := server(t, mustLoad(t, src, file), "s")
	if two.HTTP.Headers.Get("A") != "k-value-2" || one.HTTP.Headers.Get("A") != "k-value-1" || one.Identity() == two.Identity() {
		t.Error("the header is stale, or its change unseen")
	}
}

// An env table adds to the base set and opens nothing else.
func TestO041EnvDoesNotOpenTheRest(t *testing.T) {
	with := sound(t, "[mcp_servers.s]\ncommand='x'\nenv={A='1'}\n").Stdio.Env
	without := sound(t, "[mcp_servers.s]\ncommand='x'\n").Stdio.Env
	named := sound(t, "[mcp_servers.s]\ncommand='x'\nenv_vars=['SECRET_X']\n").Stdio.Env
	if !slices.Equal(slices.DeleteFunc(slices.Clone(with), func(s string) bool { return s == "A=1" }), without) {
		t.Errorf("%q and %q", with, without)
	}
	if slices.Contains(with, "SECRET_X=1") || !slices.Contains(named, "SECRET_X=1") {
		t.Errorf("%q and %q", with, named)
	}
}

// Disabling a server for one thread leaves it, and the shared process's
// identity, to the other.
func TestO043DisabledForOneThread(t *testing.T) {
	a, b := loadBoth(t, "[mcp_servers.s]\ncommand='x'\n", `{"mcp_servers":{"s":{"enabled":false}}}`, "")
	sa, sb := server(t, a, "s"), server(t, b, "s")
	if sa.Startable() || !sb.Startable() || sa.Identity() != sb.Identity() {
		t.Error("threads disturb each other")
	}
}

// What a server may repeat on stderr is known, longest first.
func TestO245SecretsOfAServer(t *testing.T) {
	s := sound(t, `[mcp_servers.s]
command='x'
args=['--api-key','sekret-1','--token=sekret-2','https://u:sekret-3@h/?q=sekret-4','--verbose']
env={A='sekret-5-long',B='1',C='${env:KEY}'}
`)
	got := s.Secrets()
	for _, want := range []string{"sekret-1", "sekret-2", "sekret-3", "sekret-4", "sekret-5-long", "k-value-1"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not known as a secret", want)
		}
	}
	if slices.Contains(got, "1") || slices.Contains(got, "--verbose") {
		t.Errorf("too much is a secret: %q", got)
	}
	if !slices.IsSortedFunc(got, func(a, b string) int { return len(b) - len(a) }) {
		t.Errorf("not longest first: %q", got)
	}
	line := sound(t, `[mcp_servers.s]
command='sh'
args=['-c',"exec serve --token='sekret-6' --verbose; X_API_KEY=sekret-7 run"]
`).Secrets()
	for _, want := range []string{"sekret-6", "sekret-7"} {
		if !slices.Contains(line, want) {
			t.Errorf("%s in a command line is not known as a secret: %q", want, line)
		}
	}
	if slices.Contains(line, "--verbose") || slices.Contains(line, "serve") {
		t.Errorf("too much is a secret: %q", line)
	}
	h := sound(t, "[mcp_servers.s]\nurl='http://u:sekret-1@h/?k=sekret-2'\nbearer_token_env_var='KEY'\nhttp_headers={Authorization='Bearer sekret-3'}\n").Secrets()
	for _, want := range []string{"sekret-1", "sekret-2", "sekret-3", "Bearer sekret-3", "k-value-1"} {
		if !slices.Contains(h, want) {
			t.Errorf("%s is not known as a secret", want)
		}
	}
}

// Numbers and booleans in env become their text.
func TestO246EnvTypes(t *testing.T) {
	s := sound(t, "[mcp_servers.s]\ncommand='x'\nenv={PORT=8080,DEBUG=true,BIG=9223372036854775807}\n")
	for _, want := range []string{"PORT=8080", "DEBUG=true", "BIG=9223372036854775807"} {
		if !slices.Contains(s.Stdio.Env, want) {
			t.Errorf("%s is not in %q", want, s.Stdio.Env)
		}
	}
}

// However a server is printed or logged, its values are not in it.
func TestO248NothingPrints(t *testing.T) {
	cfg := mustLoad(t, base(), `
[mcp_servers.a]
command='x'
args=['--token=sekret-4']
env={DIFY_KEY='sekret-1'}
[mcp_servers.b]
url='http://u:sekret-5@h/?k=sekret-3'
http_headers={x-custom='sekret-2'}
bearer_token_env_var='KEY'
`)
	type holder struct{ secret secret.Value } // fmt cannot call methods on an unexported field
	var out strings.Builder
	for i := range cfg.Servers {
		s := &cfg.Servers[i]
		if !s.Startable() {
			t.Fatal(lines(s.Invalid))
		}
		values := []any{*s, s, cfg.Servers, s.String()}
		if s.Stdio != nil {
			values = append(values, *s.Stdio, s.Stdio, []Stdio{*s.Stdio})
		}
		if s.HTTP != nil {
			values = append(values, *s.HTTP, s.HTTP, s.HTTP.Bearer, &s.HTTP.Bearer, holder{secret: s.HTTP.Bearer}, s.HTTP.SafeURL())
		}
		for _, v := range values {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
				fmt.Fprintf(&out, verb+"\n", v)
			}
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			out.Write(raw)
		}
	}
	if got := out.String(); strings.Contains(got, "sekret") || strings.Contains(got, "k-value-1") || strings.Contains(got, fmt.Sprintf("%x", "k-value-1")) {
		t.Errorf("a value is printed:\n%s", got)
	}
	if s := server(t, cfg, "b").HTTP.Bearer; s.Reveal() != "k-value-1" || s.Empty() || !(secret.Value{}).Empty() || (secret.Value{}).Reveal() != "" {
		t.Error("a secret does not hold its value")
	}
}
