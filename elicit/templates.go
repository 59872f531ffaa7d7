package elicit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// Limits of ready questions.
const (
	maxTemplates     = 500 // configured sentences
	maxTemplateText  = 500 // bytes of one
	maxTemplateParam = 200 // bytes of one argument within it
)

// anyServer is the name under which sentences for all servers are configured.
const anyServer = "*"

// A Template is a ready question for a tool.
type Template struct {
	// Text has the placeholders {server}, {tool}, {title} and {args.NAME}.
	Text string
	// Params are the names of the arguments that are worth showing first.
	Params []string
}

// A TemplateProblem is something wrong with a configured sentence.
type TemplateProblem struct {
	// Server and Tool are as configured; without a Tool it is about all of the
	// server's, and without either about all.
	Server, Tool  string
	Message, Hint string
}

// String writes the problem on one line: server, tool: what (hint).
func (p TemplateProblem) String() string {
	s := p.Message
	if p.Server != "" && p.Tool == "" {
		s = fmt.Sprintf("%q: %s", p.Server, p.Message)
	} else if p.Tool != "" {
		s = fmt.Sprintf("%q, %q: %s", p.Server, p.Tool, p.Message)
	}
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// Templates are ready questions: those of this package, and configured ones
// before them. The zero Templates have the former alone. They don't change.
type Templates struct {
	// overrides are by server and tool; an empty Text means that there is no
	// ready question.
	overrides map[string]map[string]Template
}

// NewTemplates returns the ready questions with the configured ones: by
// server, or "*" for every server, and by raw tool name. Those of a server win
// over those of every server, and both over the ready ones. An empty sentence
// switches the ready one off. A sentence that can't be used is a problem, and
// as if it were not there.
func NewTemplates(overrides map[string]map[string]string) (Templates, []TemplateProblem) {
	t := Templates{overrides: map[string]map[string]Template{}}
	var problems []TemplateProblem
	count := 0
	for _, server := range slices.Sorted(maps.Keys(overrides)) {
		for _, tool := range slices.Sorted(maps.Keys(overrides[server])) {
			if count++; count > maxTemplates {
				problems = append(problems, TemplateProblem{Message: fmt.Sprintf("there are more than %d sentences", maxTemplates), Hint: "those beyond are ignored"})
				return t, problems
			}
			text, message, hint := checkTemplate(overrides[server][tool])
			if message != "" {
				problems = append(problems, TemplateProblem{Server: server, Tool: tool, Message: message, Hint: hint})
				continue
			}
			if t.overrides[server] == nil {
				t.overrides[server] = map[string]Template{}
			}
			t.overrides[server][tool] = Template{Text: text, Params: templateParams(text)}
		}
	}
	return t, problems
}

// questionMarks may end a sentence: those of most scripts.
const questionMarks = "?？؟"

// checkTemplate returns a configured sentence as it is used, or why it can't be.
func checkTemplate(s string) (text, message, hint string) {
	if len(s) > maxTemplateText {
		return "", fmt.Sprintf("is longer than %d bytes", maxTemplateText), "shorten it"
	}
	text = Clean(s, maxTemplateText)
	if text == "" {
		return "", "", ""
	}
	if last, _ := utf8.DecodeLastRuneInString(text); !strings.ContainsRune(questionMarks, last) {
		return "", "does not end with a question mark", "write it as a question"
	}
	if strings.Trim(text, questionMarks+" ") == "" {
		return "", "is only a question mark", `write what is asked, or "" for the general sentence`
	}
	for piece, rest := "", text; rest != ""; {
		var name string
		var ok bool
		if piece, name, rest, ok = nextPlaceholder(rest); strings.ContainsAny(piece, "{}") || ok && strings.Contains(name, "{") {
			return "", "has a brace that is no part of a placeholder", "the placeholders are {server}, {tool}, {title} and {args.NAME}"
		}
		if ok && !knownPlaceholder(name) {
			return "", "has an unknown placeholder", "the placeholders are {server}, {tool}, {title} and {args.NAME}"
		}
	}
	return text, "", ""
}

// nextPlaceholder cuts text at its first placeholder.
func nextPlaceholder(text string) (before, name, after string, ok bool) {
	before, rest, ok := strings.Cut(text, "{")
	if !ok {
		return text, "", "", false
	}
	if name, after, ok = strings.Cut(rest, "}"); !ok {
		return text, "", "", false
	}
	return before, name, after, true
}

const argsPlaceholder = "args."

func knownPlaceholder(name string) bool {
	arg, ok := strings.CutPrefix(name, argsPlaceholder)
	return name == "server" || name == "tool" || name == "title" || ok && arg != ""
}

func templateParams(text string) (params []string) {
	for ok := true; ok; {
		var name string
		if _, name, text, ok = nextPlaceholder(text); ok {
			if arg, isArg := strings.CutPrefix(name, argsPlaceholder); isArg && !slices.Contains(params, arg) {
				params = append(params, arg)
			}
		}
	}
	return params
}

// Find returns the ready question for a tool. Configured ones are found by raw
// names; this package's by names without regard to ASCII case, dashes,
// underscores and blanks, and those for one kind of server by the title, too.
// A title never chooses among those for any server: a server could call
// anything "Write file".
func (t Templates) Find(server protocol.ServerName, tool protocol.ToolName, title string) (Template, bool) {
	ready, isReady := findReady(string(server), string(tool), title)
	for _, name := range []string{string(server), anyServer} {
		if own, ok := t.overrides[name][string(tool)]; ok {
			if own.Text == "" {
				return Template{}, false
			}
			for _, p := range ready.Params {
				if !slices.Contains(own.Params, p) {
					own.Params = append(slices.Clip(own.Params), p)
				}
			}
			return own, true
		}
	}
	return ready, isReady
}

// A readyKey is a normal server name ("" for any) and a normal tool name or
// title.
type readyKey struct{ server, tool string }

// readyTemplates is sentences by key, made when first needed.
var readyTemplates = sync.OnceValue(func() map[readyKey]Template {
	out := map[readyKey]Template{}
	for _, s := range sentences {
		template := Template{Text: s.text, Params: strings.Fields(s.params)}
		servers := strings.Fields(s.servers)
		if len(servers) == 0 {
			servers = []string{""}
		}
		for _, server := range servers {
			for _, tool := range strings.Split(s.tools, "|") {
				out[readyKey{server, normalName(tool)}] = template
			}
		}
	}
	return out
})

func findReady(server, tool, title string) (Template, bool) {
	kind, name := normalServer(server), normalName(tool)
	keys := []readyKey{{"", name}}
	if kind != "" {
		keys = []readyKey{{kind, name}, {"", name}, {kind, normalName(title)}}
	}
	for _, key := range keys {
		if template, ok := readyTemplates()[key]; ok {
			template.Params = slices.Clone(template.Params)
			return template, true
		}
	}
	return Template{}, false
}

// maxNormalName bounds the names that are compared; longer ones have no ready
// question.
const maxNormalName = 128

// normalName drops what spelling conventions add to a name: ASCII case,
// dashes, underscores and blanks. Other characters stay and so never match.
func normalName(name string) string {
	if len(name) > maxNormalName {
		return ""
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '-' || r == '_' || r == ' ':
			return -1
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, name)
}

// normalServer is normalName without the words mcp and server.
func normalServer(name string) string {
	if len(name) > maxNormalName {
		return ""
	}
	words := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' })
	words = slices.DeleteFunc(words, func(w string) bool { return normalName(w) == "mcp" || normalName(w) == "server" })
	return normalName(strings.Join(words, ""))
}

// Message returns the question: one line that names the server and ends with a
// question mark. Names and arguments are cleaned, cut and, where they could be
// taken for words of the sentence, quoted. An argument that is given twice
// stands there twice.
func (t Template) Message(server protocol.ServerName, tool protocol.ToolName, title string, arguments json.RawMessage) string {
	var b strings.Builder
	named := false
	for rest, ok := t.Text, true; ok; {
		var piece, name string
		piece, name, rest, ok = nextPlaceholder(rest)
		b.WriteString(piece)
		switch {
		case !ok:
		case name == "server":
			named = true
			b.WriteString(nameInText(string(server)))
		case name == "tool":
			b.WriteString(nameInText(string(tool)))
		case name == "title":
			if title == "" {
				title = string(tool)
			}
			b.WriteString(quoted(title, maxTemplateParam))
		default:
			b.WriteString(argumentInText(arguments, strings.TrimPrefix(name, argsPlaceholder)))
		}
	}
	out := b.String()
	if !named {
		_, n := utf8.DecodeLastRuneInString(out)
		out = out[:len(out)-n] + " (MCP server " + quoted(string(server), maxName) + ")" + out[len(out)-n:]
	}
	return out
}

// nameInText returns a name as a word of a sentence: bare where it looks like
// a name, else quoted.
func nameInText(name string) string {
	bare := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
	if name != "" && bare == "" && len(name) <= maxTemplateParam {
		return name
	}
	return quoted(name, maxTemplateParam)
}

// quoted returns a text that is not ours in quotes, which it can't close.
func quoted(s string, max int) string {
	return `"` + strings.Map(func(r rune) rune {
		switch r {
		case '"', '“', '”', '„', '‟', '«', '»', '＂':
			return '\''
		}
		return r
	}, Clean(s, max)) + `"`
}

func argumentInText(arguments json.RawMessage, name string) string {
	var shown []string
	_ = rawjson.Object(arguments, func(key, value []byte) error {
		if string(key) != name || len(shown) > 2 {
			return nil
		}
		text, isString := rawjson.String(value)
		if !isString {
			text = string(compact(value))
		}
		if shown = append(shown, quoted(text, maxTemplateParam)); len(shown) > 2 {
			shown[2] = ellipsis
		}
		return nil
	})
	if len(shown) == 0 {
		return "(not given)"
	}
	return strings.Join(shown, " or ")
}
