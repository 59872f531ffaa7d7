package elicit

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// The ready questions: enough, each one plain question that names the server,
// each tool in one place.
func TestReadySentences(t *testing.T) {
	if len(sentences) < 60 {
		t.Errorf("%d sentences, want at least 60", len(sentences))
	}
	seen := map[readyKey]string{}
	for _, s := range sentences {
		if !strings.HasPrefix(s.text, "Allow {server} to ") || !strings.HasSuffix(s.text, "?") || strings.Count(s.text, "?") != 1 || strings.Count(s.text, "{") != 1 {
			t.Errorf("%q is no plain question that names the server", s.text)
		}
		if text, wrong, _ := checkTemplate(s.text); wrong != "" || text != s.text {
			t.Errorf("%q could not be configured: %s", s.text, wrong)
		}
		servers := strings.Fields(s.servers)
		if len(servers) == 0 {
			servers = []string{""}
		}
		for _, server := range servers {
			if normalServer(server) != server {
				t.Errorf("%q: the server %q is not as it is compared", s.text, server)
			}
			for _, tool := range strings.Split(s.tools, "|") {
				key := readyKey{server, normalName(tool)}
				if key.tool == "" {
					t.Errorf("%q has an empty tool", s.text)
				}
				if other, ok := seen[key]; ok && other != s.text {
					t.Errorf("%v is both %q and %q", key, other, s.text)
				}
				seen[key] = s.text
			}
		}
		params := strings.Fields(s.params)
		slices.Sort(params)
		if len(params) == 0 || len(slices.Compact(params)) != len(strings.Fields(s.params)) {
			t.Errorf("%q: arguments %q", s.text, s.params)
		}
	}
	t.Logf("%d sentences for %d names", len(sentences), len(seen))
}

// Which names have a ready question, and which must not.
func TestFindTemplate(t *testing.T) {
	var all Templates
	for _, c := range []struct{ server, tool, title, want string }{
		{"github", "add_issue_comment", "", "Allow {server} to comment on an issue or a pull request?"},
		{"GitHub", "Add-Issue_Comment", "", "Allow {server} to comment on an issue or a pull request?"},
		{"github-mcp-server", "add_issue_comment", "", "Allow {server} to comment on an issue or a pull request?"},
		{"forgejo", "add_issue_comment", "", "Allow {server} to comment on an issue?"},
		{"x", "createIssue", "", "Allow {server} to open an issue?"},
		{"fs", "write_file", "", "Allow {server} to write a file?"},
		{"google-calendar", "create-event", "", "Allow {server} to put an event into a calendar?"},
		{"github", "comment2", "Add comment to issue or pull request", "Allow {server} to comment on an issue or a pull request?"},
		{"evil", "wipe", "Write File", ""},
		{"mcp", "wipe", "Write File", ""},
		{"evil", "wipe", "Add comment to issue or pull request", ""},
		{"github", "delete_repository", "Add comment to issue or pull request", "Allow {server} to delete a repository?"},
		{"docs", "query", "", ""},
		{"postgres", "query", "", "Allow {server} to run a database query?"},
		{"x", "write_files", "", ""},
		{"x", "not_write_file", "", ""},
		{"x", "wr\u0456te_file", "", ""},
		{"x", "\u212Aill", "", ""},
		{"", "", "", ""},
		{"x", strings.Repeat("-", 1<<20) + "write_file", "", ""},
	} {
		got, ok := all.Find(protocol.ServerName(c.server), protocol.ToolName(c.tool), c.title)
		if got.Text != c.want || ok != (c.want != "") {
			t.Errorf("%.40q %.40q %q is %q, want %q", c.server, c.tool, c.title, got.Text, c.want)
		}
	}
	got, _ := all.Find("github", "merge_pull_request", "")
	if len(got.Params) < 3 || got.Params[0] != "owner" {
		t.Errorf("arguments are %q", got.Params)
	}
	got.Params[0] = "changed"
	if again, _ := all.Find("github", "merge_pull_request", ""); again.Params[0] != "owner" {
		t.Error("a caller changes the ready questions")
	}
}

// Configured sentences win, for one server over for all; an empty one switches
// the ready one off.
func TestConfiguredSentences(t *testing.T) {
	all, problems := NewTemplates(map[string]map[string]string{
		"github": {"create_issue": "May {server} file {args.title} in {args.repo}?", "close_issue": ""},
		"*":      {"create_issue": "An issue?", "write_file": "", "deploy": "Ship it\u202e\n now?", "japan": "実行しますか？"},
		"bad": {"long": strings.Repeat("x", 501) + "?", "no-mark": "Do it.", "unknown": "Use {argument}?", "empty-arg": "Use {args.}?", "open": "Use {server?", "close": "Use server}?",
			"nested": "Use {args.{server}}?", "write_file": "Write {what}?", "silent": " ？ ?"},
	})
	for _, c := range []struct{ server, tool, want string }{
		{"github", "create_issue", `May github file "T" in "r"?`},
		{"GitHub", "create_issue", `An issue (MCP server "GitHub")?`},
		{"other", "create_issue", `An issue (MCP server "other")?`},
		{"github", "close_issue", ""},
		{"other", "close_issue", "Allow other to close an issue?"},
		{"other", "write_file", ""},
		{"other", "deploy", `Ship it now (MCP server "other")?`},
		{"other", "japan", `実行しますか (MCP server "other")？`},
		{"bad", "unknown", ""},
		{"bad", "write_file", ""}, // falls to "*", which switches it off
	} {
		got, ok := all.Find(protocol.ServerName(c.server), protocol.ToolName(c.tool), "")
		if ok != (c.want != "") {
			t.Errorf("%s %s: found %v", c.server, c.tool, ok)
			continue
		}
		if !ok {
			continue
		}
		if m := got.Message(protocol.ServerName(c.server), protocol.ToolName(c.tool), "", json.RawMessage(`{"title":"T","repo":"r"}`)); m != c.want {
			t.Errorf("%s %s says %q, want %q", c.server, c.tool, m, c.want)
		}
	}
	if got, _ := all.Find("github", "create_issue", ""); !slices.Equal(got.Params[:3], []string{"title", "repo", "owner"}) || len(got.Params) != 6 {
		t.Errorf("arguments of a configured sentence: %q", got.Params)
	}
	var got []string
	for _, p := range problems {
		got = append(got, p.Tool+" "+p.Message)
	}
	want := []string{"close has a brace that is no part of a placeholder", "empty-arg has an unknown placeholder", "long is longer than 500 bytes",
		"nested has a brace that is no part of a placeholder", "no-mark does not end with a question mark", "open has a brace that is no part of a placeholder",
		"silent is only a question mark", "unknown has an unknown placeholder", "write_file has an unknown placeholder"}
	if !slices.Equal(got, want) {
		t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(problems) > 0 && !strings.HasPrefix(problems[0].String(), `"bad", "close": has a brace`) {
		t.Errorf("a problem reads %s", problems[0])
	}
}

// Sentences that nothing can come to are told once it is certain: for a server
// that is not configured, a tool that nobody has, an argument that it lacks.
func TestUnmatchedSentences(t *testing.T) {
	all, problems := NewTemplates(map[string]map[string]string{
		"notes": {"add": "Add {args.txt} to {args.text}?", "adds": "Add?", "free": "Do {args.anything}?", "off": ""},
		"nots":  {"add": "Add {args.txt}?", "ad": ""},
		"slow":  {"x": "Go {args.y}?"},
		"*":     {"add": "Add {args.txt}?", "zap": "Zap?"},
	})
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	show := func(list []TemplateProblem) string {
		var b strings.Builder
		for _, p := range list {
			b.WriteString(p.String() + "\n")
		}
		return b.String()
	}
	if got, want := show(all.UnmatchedServers([]protocol.ServerName{"notes", "slow"})), "\"nots\": is no configured server (did you mean \"notes\"?)\n"; got != want {
		t.Errorf("servers:\n%swant\n%s", got, want)
	}
	catalogs := map[protocol.ServerName]map[protocol.ToolName]Arguments{
		"notes": {"add": {Names: []string{"text"}}, "free": {Open: true}}, "slow": nil,
	}
	const ofNotes = "\"notes\", \"add\": names the argument \"txt\", which the tool does not have (did you mean \"{args.text}\"?)\n" +
		"\"notes\", \"adds\": is no tool of the server (did you mean \"add\"?)\n" +
		"\"notes\", \"off\": is no tool of the server (sentences are for raw names; case counts)\n"
	if got := show(all.Unmatched(catalogs)); got != ofNotes {
		t.Errorf("tools:\n%swant\n%s", got, ofNotes)
	}
	catalogs["slow"] = map[protocol.ToolName]Arguments{"x": {Names: []string{"y"}}}
	const ofAll = "\"*\", \"add\": names the argument \"txt\", which the tool does not have (did you mean \"{args.text}\"?)\n" +
		"\"*\", \"zap\": is no tool of any server (sentences are for raw names; case counts)\n"
	if got := show(all.Unmatched(catalogs)); got != ofAll+ofNotes {
		t.Errorf("all is known:\n%swant\n%s", got, ofAll+ofNotes)
	}
	catalogs["slow"]["add"] = Arguments{Names: []string{"txt"}}
	if got := show(all.Unmatched(catalogs)); strings.Contains(got, `"*", "add"`) {
		t.Errorf("another server has the argument:\n%s", got)
	}
}

// A tool without a title goes by its name.
func TestTitleInSentence(t *testing.T) {
	sentence := Template{Text: "Shall {server} do {title}?"}
	for title, want := range map[string]string{"": `Shall a do "wipe"?`, "Wipe it": `Shall a do "Wipe it"?`} {
		if got := sentence.Message("a", "wipe", title, nil); got != want {
			t.Errorf("title %q: %s, want %s", title, got, want)
		}
	}
}

func TestTooManySentences(t *testing.T) {
	many := map[string]string{}
	for i := range maxTemplates + 5 {
		many[strings.Repeat("x", i)] = "Go?"
	}
	all, problems := NewTemplates(map[string]map[string]string{"s": many})
	if len(problems) != 1 || len(all.overrides["s"]) != maxTemplates {
		t.Errorf("%d sentences, problems %v", len(all.overrides["s"]), problems)
	}
}

// Whatever names and arguments are, a message is one short line that names the
// server, with nothing in it that deceives the eye or leaves its quotes.
func TestHostileMessages(t *testing.T) {
	all, problems := NewTemplates(map[string]map[string]string{"*": {
		"x": "Let {server} use {tool}, called {title}, on {args.a}?",
		"y": "Use {args.a}?",
	}})
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	hostile := []string{
		"", "a\u202eb", "a\nb\r\u2028c", strings.Repeat("M", 1<<20), `x" to read? Allow "y`, "x\u201d? Yes", "{server}{args.a}", "\x00\xff\u200b", "？", "github to do nothing? Really",
	}
	for _, h := range hostile {
		arg, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		for _, args := range []string{`{"a":` + string(arg) + `}`, `{"a":[` + string(arg) + `],"a":1,"a":2,"a":3}`, `{"a":`, ``, `null`} {
			for _, tool := range []protocol.ToolName{"x", "y", "write_file"} {
				template, ok := all.Find(protocol.ServerName(h), tool, h)
				if !ok {
					t.Fatalf("no sentence for %s", tool)
				}
				m := template.Message(protocol.ServerName(h), tool, h, json.RawMessage(args))
				if strings.ContainsFunc(m, func(r rune) bool {
					return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u201d'
				}) {
					t.Errorf("unclean: %q", m)
				}
				if len(m) > 1500 || !strings.HasSuffix(m, "?") || strings.Count(m, `"`)%2 != 0 {
					t.Errorf("%d bytes: %q", len(m), m)
				}
				outside := ""
				for i, part := range strings.Split(m, `"`) {
					if i%2 == 0 {
						outside += part
					}
				}
				if strings.Count(outside, "?") != 1 || strings.Contains(outside, "Really") || strings.ContainsAny(outside, "{}") {
					t.Errorf("a text leaves its quotes: %q", m)
				}
			}
		}
	}
	template, _ := all.Find("s", "y", "")
	for args, want := range map[string]string{
		`{"a":"/etc/\u0070asswd"}`:                 `Use "/etc/passwd" (MCP server "s")?`,
		`{"a": {"b" : [1, "\u0072m"]} }`:           `Use "{'b':[1,'rm']}" (MCP server "s")?`,
		`{"a":1,"a":2}`:                            `Use "1" or "2" (MCP server "s")?`,
		`{"a":1,"a":2,"a":3,"a":4}`:                `Use "1" or "2" or … (MCP server "s")?`,
		`{}`:                                       `Use (not given) (MCP server "s")?`,
		`{"a":"` + strings.Repeat("x", 300) + `"}`: `Use "` + strings.Repeat("x", 197) + `…" (MCP server "s")?`,
	} {
		if got := template.Message("s", "y", "", json.RawMessage(args)); got != want {
			t.Errorf("%.60s says %q, want %q", args, got, want)
		}
	}
}
