package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// A drawn entry: its keys, each with its TOML value and its JSON value.
type drawn struct {
	keys map[string]any
}

func drawEntry(t *rapid.T) drawn {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\"'\\ é.$#=\t")), 1, 6, -1)
	d := drawn{map[string]any{"command": "c" + text.Draw(t, "command")}}
	if rapid.Bool().Draw(t, "args") {
		d.keys["args"] = toAny(rapid.SliceOfN(text, 0, 3).Draw(t, "argv"))
	}
	if rapid.Bool().Draw(t, "env") {
		m := map[string]any{}
		for _, k := range rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z_]{1,4}`), 0, 3, rapid.ID).Draw(t, "names") {
			m[k] = text.Draw(t, "value")
		}
		d.keys["env"] = m
	}
	if rapid.Bool().Draw(t, "cwd") {
		d.keys["cwd"] = "/d/" + text.Draw(t, "dir")
	}
	return d
}

func toAny(list []string) []any {
	out := []any{}
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

// write renders the entry as TOML in one of many equal ways.
func (d drawn) write(t *rapid.T) string {
	comment := rapid.SampledFrom([]string{"", " # x = 1", "  ", "\r"})
	var b strings.Builder
	keys := rapid.Permutation(sortedKeys(d.keys)).Draw(t, "order")
	inline := rapid.Bool().Draw(t, "inline")
	dotted := !inline && rapid.Bool().Draw(t, "dotted")
	prefix, sep := "", comment.Draw(t, "c")+"\n"
	switch {
	case inline:
		b.WriteString("mcp_servers.s = {")
		sep = ", "
	case dotted:
		prefix = `mcp_servers . "s".`
	default:
		b.WriteString("[mcp_servers.'s']" + sep)
	}
	for i, k := range keys {
		if inline && i > 0 {
			b.WriteString(sep)
		}
		fmt.Fprintf(&b, "%s%s =  %s", prefix, k, tomlValue(t, d.keys[k]))
		if !inline {
			b.WriteString(sep)
		}
	}
	if inline {
		b.WriteString("}")
	}
	return b.String() + "\n"
}

func tomlValue(t *rapid.T, v any) string {
	switch v := v.(type) {
	case string:
		if !strings.ContainsAny(v, "'\t") && rapid.Bool().Draw(t, "literal") {
			return "'" + v + "'"
		}
		return `"` + formatKeyPart("'" + v)[2:] // the quote forces the quoted form
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, tomlValue(t, x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, k := range rapid.Permutation(sortedKeys(v)).Draw(t, "env order") {
			parts = append(parts, k+"="+tomlValue(t, v[k]))
		}
		return "{ " + strings.Join(parts, ",  ") + " }"
	}
	panic("unreachable")
}

// The identity of a server does not depend on order, spelling, layout, layer,
// comments, on defaults written out, or on what belongs to a thread's view.
func TestIdentityIgnoresForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawEntry(t)
		load1 := func(src Sources, file string) string {
			cfg, err := load(src, []byte(file), nil)
			if err != nil {
				t.Fatal(err)
			}
			s, ok := cfg.Server("s")
			if !ok || !s.Startable() {
				t.Fatalf("not startable: %v\n%s\n%v", s, file, cfg.Problems)
			}
			return s.Identity()
		}
		one, two := load1(base(), d.write(t)), load1(base(), d.write(t))
		raw, err := json.Marshal(map[string]any{"mcp_servers": map[string]any{"s": d.keys}})
		if err != nil {
			t.Fatal(err)
		}
		src := base()
		src.Thread = raw
		src.Overrides = []string{"mcp_servers.s.enabled_tools=['x']", "mcp_servers.s.tool_timeout_sec=1", "mcp_servers.s.default_tools_approval_mode=prompt",
			"mcp_servers.s.startup_timeout_sec=30", "mcp_servers.s.isolation=shared", "mcp_servers.s.exposure=direct", "mcp_servers.s.env_inherit=core"}
		if three := load1(src, ""); one != two || one != three {
			t.Fatalf("identities differ: %s %s %s", one, two, three)
		}
	})
}

// Each part of a connection's identity changes it.
func TestIdentityParts(t *testing.T) {
	seen := map[string]string{}
	for _, body := range []string{
		"command='x'", "command='y'", "command='x'\nargs=['a']", "command='x'\nargs=['a','b']", "command='x'\nargs=['ab']", "command='x'\nargs=['ab','c']", "command='x'\nargs=['a','bc']", "command='x'\nargs=['']",
		"command='x'\nenv={A='1'}", "command='x'\nenv={A='2'}", "command='x'\nenv={B='1'}", "command='x'\nenv_inherit='none'", "command='x'\nenv_vars=['KEY']",
		"command='x'\ncwd='/a'", "command='x'\nisolation='thread'", "command='x'\nprotocol_version='2025-06-18'",
		"url='http://x'", "url='http://y'", "url='http://x'\nhttp_headers={A='1'}", "url='http://x'\nhttp_headers={A='2'}", "url='http://x'\nhttp_headers={B='1'}",
		"url='http://x'\nbearer_token_env_var='KEY'", "url='http://x'\nbearer_token_env_var='SECRET_X'", "url='http://x'\nhttp_headers_helper='h'",
		"url='http://x'\nscopes=['a']", "url='http://x'\nscopes=['a','b']", "url='http://x'\noauth_resource='http://r'", "url='http://x'\noauth={client_id='c'}",
		"command=''",
	} {
		id := server(t, mustLoad(t, base(), "[mcp_servers.s]\n"+body+"\n"), "s").Identity()
		if other, ok := seen[id]; ok {
			t.Errorf("same identity for\n%s\nand\n%s", body, other)
		}
		seen[id] = body
	}
}

// The version of a configuration changes with any value, masked ones too, and
// not with layout.
func TestVersion(t *testing.T) {
	one := mustLoad(t, base(), "[mcp_servers.s]\ncommand='x'\nenv={A='1'}\n").Version()
	for body, same := range map[string]bool{
		"[mcp_servers.s] # c\nenv.A='1'\ncommand=\"x\"\n":               true,
		"[mcp_servers.s]\ncommand='x'\nenv={A='2'}\n":                   false,
		"[mcp_servers.s]\ncommand='x'\nenv={A='1'}\nenabled_tools=[]\n": false,
		"idle_timeout_sec=1\n[mcp_servers.s]\ncommand='x'\nenv={A='1'}": false,
	} {
		if got := mustLoad(t, base(), body).Version(); (got == one) != same {
			t.Errorf("%q: same version is %v, want %v", body, got == one, same)
		}
	}
}

// FuzzLoad: whatever is in the file, the options and the JSON layers, Load
// does not panic, every problem says something, nothing broken can be started,
// and a server in a layer of its own survives.
func FuzzLoad(f *testing.F) {
	for _, s := range [][3]string{
		{"", "", ""},
		{"[mcp_servers.a]\ncommand='x'\nargs=[1,true,2.5]\nenv={A=1}\n[mcp_servers.a.tools.t]\napproval_mode='auto'", "mcp_servers.a.url=http://h", `{"mcp_servers":{"b":{"url":"http://h/${env:KEY}"}}}`},
		{"mcp_servers=1", "mcp_servers.a=2", `{"mcp_servers":[]}`},
		{"[[mcp_servers.a.env_vars]]\nname='KEY'\nsource='remote'", "a.b='c", `{"mcp_servers.a.command":"x","mcp_servers":null}`},
		{"[mcp_servers.keep]\nurl=1", "mcp_servers.\"\".command=x", `{"approval_policy":{"granular":{"rules":true}}}`},
		{"approval_policy={granular=1}\n[mcp_servers.h]\nurl='http://u:p@h:1/?q#f'\nhttp_headers={'a b'='c'}\noauth={client_id=1}", "=", `[`},
		{"[mcp_servers.a]\ncommand='${env:X:-${userHome}}'\nstartup_timeout_sec=nan\ncwd='C:x'", "mcp_servers.a.cwd=\\x", `{"a":1e999,"mcp_servers":{"a":{"tool_timeout_sec":1e308}}}`},
		{"[[approval_rules]]\ntool=1\n[[approval_rules]]\n[approval_templates.a]\nt=''", "approval_rules=[{a=[{}]},1]", `{"approval_rules":[null,{"tool":null}],"approval_templates":{"a":null,"b":{"c":{}}}}`},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, file, override, object string) {
		for _, goos := range []string{"linux", "windows"} {
			src := base()
			src.GOOS = goos
			src.Overrides = []string{override}
			src.Initialize = json.RawMessage(object)
			src.Thread = json.RawMessage(`{"mcp_servers":{"zz-own":{"command":"fine"}}}`)
			cfg, err := load(src, []byte(file), nil)
			if err != nil {
				src.Overrides = nil
				if cfg, err = load(src, []byte(file), nil); err != nil {
					t.Fatalf("without -c nothing can fail: %v", err)
				}
			}
			all := slices.Clone(cfg.Problems)
			for _, r := range cfg.ApprovalRules {
				if !slices.Contains(actionWords, string(r.Action)) || !slices.Contains(scopeWords, string(r.AppliesTo)) || r.Origin.Layer == "" {
					t.Fatalf("a rule without a word or a place: %+v", r)
				}
			}
			for i := range cfg.Servers {
				s := &cfg.Servers[i]
				all = append(all, s.Invalid...)
				if s.Startable() != (s.Enabled && (s.Stdio != nil || s.HTTP != nil)) || s.Stdio != nil && s.HTTP != nil {
					t.Fatalf("%v: startable %v, stdio %v, http %v", s, s.Startable(), s.Stdio, s.HTTP)
				}
				if s.Identity() == "" || s.Origin.Layer == "" {
					t.Fatalf("%v: identity %q, origin %+v", s, s.Identity(), s.Origin)
				}
			}
			for _, p := range all {
				if p.Message == "" || p.Layer == "" || (p.Line == 0) != (p.Column == 0) {
					t.Fatalf("a problem without words or place: %#v", p)
				}
			}
			if !json.Valid(cfg.Effective()) || len(cfg.Origins()) == 0 {
				t.Fatalf("effective is not JSON: %s", cfg.Effective())
			}
			if !strings.Contains(file+override+object, "zz-own") && !strings.Contains(file+override+object, `\`) {
				if s, ok := cfg.Server("zz-own"); !ok || !s.Startable() || s.Stdio.Command != "fine" {
					t.Fatalf("an entry of its own layer is lost: %v", s)
				}
			}
		}
	})
}

// One bad entry never changes another of the same file.
func TestOneBadEntryCostsOneServer(t *testing.T) {
	bodies := []string{"", "command=1", "command='x'\nurl='y'", "args=[[[]]]", "url='::'", "command='${env:NOPE}'", "command='x'\nenv={A=[1]}", "tools=1", "nonsense={a={b=1}}"}
	rapid.Check(t, func(t *rapid.T) {
		good := "[mcp_servers.good]\n" + "command='c'\nargs=['a']\n"
		bad := "[mcp_servers.bad]\n" + rapid.SampledFrom(bodies).Draw(t, "body") + "\n"
		file := good + bad
		if rapid.Bool().Draw(t, "before") {
			file = bad + good
		}
		alone, err := load(base(), []byte(good), nil)
		if err != nil {
			t.Fatal(err)
		}
		both, err := load(base(), []byte(file), nil)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := alone.Server("good")
		b, ok := both.Server("good")
		c, listed := both.Server("bad")
		if !ok || !b.Startable() || a.Identity() != b.Identity() {
			t.Fatalf("the good one changed: %v", b)
		}
		if !listed || len(c.Invalid) == 0 {
			t.Fatalf("the bad one is not listed as bad: %v", c)
		}
	})
}
