package real

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

const everything protocol.ServerName = "everything"

// The reference server over a pipe: all of everyTransport, and then nothing of
// it is left.
func TestEverythingStdio(t *testing.T) {
	needServers(t)
	config, file := recorded(t, "everything")
	e := open(t, map[string]any{string(everything): config})
	everyTransport(t, e, false)
	e.close()
	sent, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	cancelWasSent(t, sent)
}

// The same server over Streamable HTTP. At the end its session is ended.
func TestEverythingHTTP(t *testing.T) {
	needServers(t)
	address, sent := serveHTTP(t)
	e := open(t, map[string]any{string(everything): map[string]any{"url": address, "startup_timeout_sec": bound.Seconds()}})
	everyTransport(t, e, true)
	e.close()
	all := sent()
	cancelWasSent(t, all)
	if !bytes.Contains(all, []byte("DELETE /mcp\n")) {
		t.Error("the session was not ended")
	}
}

// serveHTTP starts the server behind a proxy that notes what it is sent: a line
// with verb and path, and the body on the next.
func serveHTTP(t *testing.T) (address string, sent func() []byte) {
	t.Helper()
	// The port is free now; should another take it before the server does, the
	// server ends and says so.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	cmd := exec.Command(nodePath, script(t, "everything"), "streamableHttp")
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan struct{})
	var said []string // to be read after ended
	go func() {       // ends with the server
		defer close(ended)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			said = append(said, lines.Text())
			if strings.Contains(lines.Text(), fmt.Sprintf("listening on port %d", port)) {
				close(ready)
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		_ = cmd.Wait()
	})
	select {
	case <-ready:
	case <-ended:
		t.Fatalf("the server ended: %q", said)
	case <-within(t).Done():
		t.Fatal("the server is not ready")
	}

	var mu sync.Mutex
	var log []byte
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)})
		},
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		mu.Lock()
		log = fmt.Appendf(log, "%s %s\n%s\n", r.Method, r.URL.Path, body)
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL + "/mcp", func() []byte {
		mu.Lock()
		defer mu.Unlock()
		return bytes.Clone(log)
	}
}

// slowID is the call that everyTransport cancels.
const slowID = "slow-one"

// cancelWasSent checks that a server was told of the call that was cancelled,
// by the id that its request had.
func cancelWasSent(t *testing.T, sent []byte) {
	t.Helper()
	var call, cancelled string
	for line := range bytes.Lines(sent) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				RequestID json.RawMessage
				Meta      struct{ CallID string } `json:"_meta"`
			}
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		switch {
		case m.Method == "tools/call" && m.Params.Meta.CallID == slowID:
			call = string(m.ID)
		case m.Method == "notifications/cancelled":
			cancelled += string(m.Params.RequestID) + " "
		}
	}
	if call == "" || cancelled != call+" " {
		t.Errorf("the call to cancel had id %q; cancelled: %q", call, cancelled)
	}
}

// everyTransport tries what must not depend on the transport. certain says that
// a question of the server can be linked to its call.
func everyTransport(t *testing.T, e *editor, certain bool) {
	sub := func(name string, f func(b protocol.Binding)) {
		t.Run(name, func(t *testing.T) {
			was := e.t
			defer func() { e.t = was }()
			e.t = t
			f(e.freeze(`{"format":"anthropic"}`))
		})
	}
	sub("Status", func(protocol.Binding) {
		s := e.status()[0]
		if s.RuntimeStatus != protocol.ServerConnected || s.Era != "2025-11-25" || s.ServerInfo == nil || s.ServerInfo.Name != "mcp-servers/everything" ||
			len(s.Resources) == 0 || len(s.ResourceTemplates) == 0 || len(s.Tools) < 10 || s.Instructions == "" {
			e.t.Errorf("the server is described as %s, era %s, %+v, %d tools, %d resources, %d templates", s.RuntimeStatus, s.Era, s.ServerInfo,
				len(s.Tools), len(s.Resources), len(s.ResourceTemplates))
		}
	})
	sub("Call", e.simpleCalls)
	sub("Image", e.images)
	sub("Elicit", func(b protocol.Binding) { e.elicit(b, certain) })
	sub("Progress", e.progress)
	sub("Cancel", e.cancel)
	sub("Resources", func(protocol.Binding) { e.resources() })
	sub("Prompts", func(protocol.Binding) { e.prompts() })
	if asked := e.approved(); len(asked) != 0 {
		t.Errorf("approvals were asked for %v, which only read", asked)
	}
}

func (e *editor) simpleCalls(b protocol.Binding) {
	if got := text(e.tool(b, everything, "echo", `{"message":"Grüße <&> \u0041"}`)); !strings.HasSuffix(got, "Output:\nEcho: Grüße <&> A") {
		e.t.Errorf("echo says %q", got)
	}
	if got := text(e.tool(b, everything, "get-sum", `{"a":2,"b":40}`)); !strings.HasSuffix(got, "The sum of 2 and 40 is 42.") {
		e.t.Errorf("get-sum says %q", got)
	}
	r := e.tool(b, everything, "get-structured-content", `{"location":"Chicago"}`)
	result := decode[struct {
		StructuredContent struct {
			Temperature float64
			Conditions  string
		}
	}](e.t, r.Result)
	if result.StructuredContent.Temperature != 36 || strings.Count(text(r), "Light rain / drizzle") != 1 {
		e.t.Errorf("get-structured-content gives %s and says %q", r.Result, text(r))
	}
	r = e.tool(b, everything, "get-resource-links", `{"count":2}`)
	if got := text(r); !strings.Contains(got, "demo://resource/dynamic/blob/1") || !strings.Contains(got, "demo://resource/dynamic/text/2") ||
		strings.Contains(got, `"resource_link"`) {
		e.t.Errorf("get-resource-links says %q", got)
	}
	// What the server refuses the model reads; the editor sees no error.
	if r := e.end(e.begin(b, everything, "get-sum", `{"a":"x"}`, "")); r.Status == protocol.CallCompleted && r.Reason == "" || !strings.Contains(text(r), "a") {
		e.t.Errorf("bad arguments: %s, %s: %s", r.Status, r.Reason, text(r))
	}
}

// images: a model that takes images gets them; another is told of them.
func (e *editor) images(b protocol.Binding) {
	for _, takes := range []bool{true, false} {
		e.do("thread/settings/update", protocol.ThreadSettingsUpdateParams{
			ThreadID: e.thread, Model: protocol.ModelParam(fmt.Sprintf(`{"format":"anthropic","imageInput":%v}`, takes)),
		}, nil)
		r := e.tool(b, everything, "get-tiny-image", `{}`)
		images := 0
		for _, i := range r.Output.Items {
			if i.Type == protocol.OutputImage {
				images++
				if i.MIMEType != "image/png" || !strings.HasPrefix(i.Data, "iVBORw0KGgo") {
					e.t.Errorf("an image of type %q, %.20s…", i.MIMEType, i.Data)
				}
			}
		}
		leftOut := strings.Contains(text(r), "image/png")
		if takes != (images == 1) || takes == leftOut || !strings.Contains(text(r), "The image above is the MCP logo.") {
			e.t.Errorf("imageInput %v: %d images and %q", takes, images, text(r))
		}
		if !bytes.Contains(r.Result, []byte(`"iVBORw0KGgo`)) {
			e.t.Error("the raw result has no image")
		}
	}
}

// elicit: a question of the server reaches the editor with all of its fields,
// and the answer the server.
func (e *editor) elicit(b protocol.Binding, certain bool) {
	var asked protocol.ElicitationRequestParams
	answer := func(a protocol.ElicitationRequestResult) {
		e.onQuestion(func(_ context.Context, q protocol.ElicitationRequestParams) (protocol.ElicitationRequestResult, error) {
			asked = q
			return a, nil
		})
	}
	defer e.onQuestion(nil)

	answer(protocol.ElicitationRequestResult{Action: protocol.AnswerAccept, Content: json.RawMessage(`{"name":"Ada"}`)})
	r := e.end(e.begin(b, everything, "trigger-elicitation-request", `{}`, "asking"))
	form := decode[struct {
		Properties map[string]json.RawMessage
		Required   []string
	}](e.t, asked.RequestedSchema)
	if len(form.Properties) != 13 || fmt.Sprint(form.Required) != "[name]" {
		e.t.Errorf("the form has %d fields, required are %v", len(form.Properties), form.Required)
	}
	if asked.ThreadID != e.thread || asked.ServerName != everything || asked.CallID != "asking" || asked.Certain != certain || asked.Mode != protocol.QuestionForm ||
		asked.Message != "Please provide inputs for the following fields:" {
		e.t.Errorf("the question is %+v", asked)
	}
	for _, want := range []string{"- Name: Ada", "- Favorite Integer: 42", `"action": "accept"`, `"titledMultipleSelectEnum"`} {
		if !strings.Contains(text(r), want) {
			e.t.Errorf("accepted: no %q in %q", want, text(r))
		}
	}

	answer(protocol.ElicitationRequestResult{Action: protocol.AnswerDecline})
	if r := e.tool(b, everything, "trigger-elicitation-request", `{}`); !strings.Contains(text(r), "User declined") {
		e.t.Errorf("declined: %q", text(r))
	}
}

// progress: reports come in their order, before the end of the call.
func (e *editor) progress(b protocol.Binding) {
	r := e.end(e.begin(b, everything, "trigger-long-running-operation", `{"duration":1,"steps":3}`, "steps"))
	if !strings.Contains(text(r), "Long running operation completed") {
		e.t.Errorf("%s: %q", r.Status, text(r))
	}
	var got []string
	for _, n := range e.of("steps") {
		line := n.method
		if n.method == protocol.ItemProgress.Name {
			p := decode[protocol.ItemProgressNotification](e.t, n.params)
			line = fmt.Sprintf("%v/%v", p.Progress, *p.Total)
		}
		got = append(got, line)
	}
	if fmt.Sprint(got) != "[item/started 1/3 2/3 3/3 item/completed]" {
		e.t.Errorf("heard %v", got)
	}
}

// cancel: a call that would run for half a minute ends at once, and the server
// goes on with others.
func (e *editor) cancel(b protocol.Binding) {
	p := e.begin(b, everything, "trigger-long-running-operation", `{"duration":30,"steps":300}`, slowID)
	e.await(protocol.ItemProgress.Name, slowID) // the server is at it
	if err := p.Cancel(); err != nil {
		e.t.Fatal(err)
	}
	r := e.end(p)
	if r.Status != protocol.CallCancelled || r.Reason != protocol.ReasonCancelled {
		e.t.Errorf("the call ended %s, %s: %s", r.Status, r.Reason, text(r))
	}
	heard := e.of(slowID) // item/completed comes before the reply
	last := heard[len(heard)-1]
	if last.method != protocol.ItemCompleted.Name {
		e.t.Errorf("the last that was heard is %s", last.method)
	}
	for _, n := range heard {
		if n.method == protocol.ItemProgress.Name {
			if p := decode[protocol.ItemProgressNotification](e.t, n.params); p.Progress == 300 {
				e.t.Error("the call was over before it was cancelled")
			}
		}
	}
	e.tool(b, everything, "echo", `{"message":"still here"}`)
}

func (e *editor) resources() {
	var list protocol.ListResourcesResult
	e.do("mcpServer/resource/list", protocol.ResourceListParams{ThreadID: e.thread, Server: everything}, &list)
	if len(list.Resources) == 0 {
		e.t.Fatal("no resources")
	}
	uri := decode[struct{ URI string }](e.t, list.Resources[0]).URI
	for uri, member := range map[string]string{uri: "text", "demo://resource/dynamic/text/2": "text", "demo://resource/dynamic/blob/1": "blob"} {
		var read protocol.ReadResourceResult
		e.do("mcpServer/resource/read", protocol.ResourceReadParams{ThreadID: e.thread, Server: everything, URI: uri}, &read)
		if len(read.Contents) != 1 {
			e.t.Fatalf("%s has %d contents", uri, len(read.Contents))
		}
		content := decode[map[string]any](e.t, read.Contents[0])
		if s, _ := content[member].(string); s == "" || content["uri"] != uri {
			e.t.Errorf("%s is read as %.200s", uri, read.Contents[0])
		}
	}
	var templates protocol.ListResourceTemplatesResult
	e.do("mcpServer/resource/templates/list", protocol.ResourceTemplatesListParams{ThreadID: e.thread, Server: everything}, &templates)
	if len(templates.ResourceTemplates) != 2 {
		e.t.Errorf("%d templates", len(templates.ResourceTemplates))
	}
	failure := e.Call(within(e.t), "mcpServer/resource/read", protocol.ResourceReadParams{ThreadID: e.thread, Server: everything, URI: "demo://nothing"}, nil)
	if failure == nil || !strings.Contains(failure.Error(), string(protocol.KindUpstreamError)) {
		e.t.Errorf("a resource that is not there: %v", failure)
	}
}

func (e *editor) prompts() {
	var list protocol.ListPromptsResult
	e.do("mcpServer/prompt/list", protocol.PromptListParams{ThreadID: e.thread, Server: everything}, &list)
	if len(list.Prompts) < 3 {
		e.t.Errorf("%d prompts", len(list.Prompts))
	}
	var got protocol.GetPromptResult
	e.do("mcpServer/prompt/get", protocol.PromptGetParams{ThreadID: e.thread, Server: everything, Name: "args-prompt",
		Arguments: map[string]string{"city": "Ulm", "state": "BW"}}, &got)
	if len(got.Messages) != 1 || !bytes.Contains(got.Messages[0], []byte("What's weather in Ulm, BW?")) {
		e.t.Errorf("the prompt is %s", got.Messages)
	}
}
