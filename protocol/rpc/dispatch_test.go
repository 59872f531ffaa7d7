package rpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// The order of a conversation: initialize first and once; nothing by itself
// before its reply; nothing new after shutdown.
func TestPhases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fail := true
		f := &fake{}
		f.initialize = func(context.Context, *protocol.InitializeParams) (*protocol.InitializeResult, error) {
			f.editor.Notify("configWarning", &protocol.ConfigWarningNotification{Summary: "one"})
			if fail {
				return nil, protocol.Errorf(protocol.KindConfigInvalid, "bad config")
			}
			return &protocol.InitializeResult{}, nil
		}
		p := connected(t, f, Options{})
		f.editor.Notify("warning", &protocol.WarningNotification{Message: "early"})
		go f.editor.Call(t.Context(), "mcpServer/elicitation/request", nil, nil, nil)
		notInitialized := func(id string) string {
			return errorWith(id, protocol.CodeInvalidRequest, protocol.KindNotInitialized)
		}
		p.send(`{"id":1,"method":"thread/list"}`, `{"id":2,"method":"no/such"}`, `{"id":3,"method":"shutdown"}`, `{"method":"initialized"}`, `x`)
		p.want(notInitialized("1"), notInitialized("2"), notInitialized("3"), errorWith("null", protocol.CodeParseError, protocol.KindParseError))
		p.send(initLine, `{"id":4,"method":"thread/list"}`)
		p.want(errorWith(`"init"`, protocol.CodeFailed, protocol.KindConfigInvalid), notInitialized("4"))
		fail = false
		p.send(initLine)
		p.want(`"id":"init","result":{`, `"early"`, `"id":"s-1","method":"mcpServer/elicitation/request","params":{}}`, `"one"`, `"one"`)
		p.send(initLine)
		p.want(errorWith(`"init"`, protocol.CodeInvalidRequest, protocol.KindAlreadyInitialized))
		p.send(`{"id":5,"method":"shutdown"}`)
		p.want(`{"jsonrpc":"2.0","id":5,"result":null}`)
		p.send(`{"id":6,"method":"thread/list"}`, `{"id":7,"method":"initialize"}`, `{"id":8,"method":"shutdown"}`)
		var refused []string
		for _, id := range []string{"6", "7", "8"} {
			refused = append(refused, errorWith(id, protocol.CodeInvalidRequest, protocol.KindShuttingDown))
		}
		p.want(refused...)
	})
}

// What an editor opted out of is not sent.
func TestOptOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		f.initialize = func(context.Context, *protocol.InitializeParams) (*protocol.InitializeResult, error) {
			f.editor.Notify("warning", nil)
			f.editor.Notify("configWarning", nil)
			return &protocol.InitializeResult{}, nil
		}
		p := connected(t, f, Options{})
		p.send(`{"id":1,"method":"initialize","params":{"clientInfo":{"name":"t"},"capabilities":{"optOutNotificationMethods":["warning"]}}}`)
		p.want(`"id":1,"result"`, `"method":"configWarning","params":{}`)
	})
}

// Params that do not fit are refused with the place, the type that is expected
// and the words that are known.
func TestInvalidParams(t *testing.T) {
	for _, c := range []struct{ method, params, pointer, message string }{
		{"thread/read", `{}`, "/threadId", "is missing"},
		{"thread/read", ``, "/threadId", "is missing"},
		{"thread/read", `{"threadId":null}`, "/threadId", "must be a string, not null"},
		{"thread/read", `{"threadId":5}`, "/threadId", "must be a string, not a number"},
		{"thread/read", `{"ThreadId":"t"}`, "/threadId", "is missing"},
		{"thread/start", `{"cwd":{}}`, "/cwd", "must be a string, not an object"},
		{"thread/start", `{"workspaceRoots":"x"}`, "/workspaceRoots", "must be an array, not a string"},
		{"thread/start", `{"workspaceRoots":["a",false]}`, "/workspaceRoots/1", "must be a string, not a boolean"},
		{"thread/start", `{"sandbox":"read-only","sandbox":"danger-full-access"}`, "/sandbox", "is there twice"},
		{"thread/start", `{"ephemeral":"yes"}`, "/ephemeral", "must be a boolean, not a string"},
		{"thread/start", `{"waitForServersMs":"5"}`, "/waitForServersMs", "must be an integer, not a string"},
		{"thread/start", `{"waitForServersMs":1.5}`, "/waitForServersMs", "must be an integer"},
		{"thread/start", `{"waitForServersMs":99999999999999999999}`, "/waitForServersMs", "must be an integer"},
		{"thread/start", `{"sandbox":"off"}`, "/sandbox", `\"off\" is none of read-only, workspace-write, danger-full-access`},
		{"thread/start", `{"servers":{"include":[1]}}`, "/servers/include/0", "must be a string"},
		{"thread/start", `{"approvalPolicy":"sometimes"}`, "/approvalPolicy", "is none of untrusted, on-failure, on-request, never"},
		{"thread/start", `{"approvalPolicy":5}`, "/approvalPolicy", "must be a string or an object, not a number"},
		{"thread/start", `{"approvalPolicy":{}}`, "/approvalPolicy/granular", "is missing"},
		{"thread/start", `{"model":{"format":"x"}}`, "/model/format", "is none of openai-responses"},
		{"mcpServer/prompt/get", `{"threadId":"t","server":"s","name":"n","arguments":{"a/~b":1}}`, "/arguments/a~1~0b", "must be a string"},
		{"initialize", `{}`, "/clientInfo", "is missing"},
		{"initialize", `{"clientInfo":{}}`, "/clientInfo/name", "is missing"},
		{"initialize", `{"clientInfo":{"name":"x"},"workspaceFolders":[{"uri":"a"},{}]}`, "/workspaceFolders/1/uri", "is missing"},
		{"initialize", `{"clientInfo":{"name":"x"},"capabilities":{"mcp":{"elicitation":{"form":1}}}}`, "/capabilities/mcp/elicitation/form", "must be a boolean"},
	} {
		t.Run(c.method+c.params, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := connected(t, &fake{}, Options{})
				if c.method != "initialize" {
					p.send(initLine)
					p.got()
				}
				line := `{"id":1,"method":"` + c.method + `"}`
				if c.params != "" {
					line = `{"id":1,"method":"` + c.method + `","params":` + c.params + `}`
				}
				p.send(line)
				p.want(errorWith("1", protocol.CodeInvalidParams, protocol.KindInvalidParams) + ` … "message":"params: ` + c.pointer + `: … ` + c.message + ` … "pointer":"` + c.pointer + `"`)
			})
		})
	}
}

// Params that fit arrive; null stands for an absent optional; floats that are
// integers are integers; raw members keep null.
func TestParamsArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got *protocol.ThreadStartParams
		p := initialized(t, &fake{start: func(_ context.Context, p *protocol.ThreadStartParams) (*protocol.ThreadStartResult, error) {
			got = p
			return nil, nil
		}}, Options{})
		p.send(`{"id":1,"method":"thread/start","params":{"cwd":"/\u00e9","workspaceRoots":[],"approvalPolicy":{"granular":{"mcp_elicitations":true,"rules":true,"sandbox_approval":false} },` +
			`"sandbox":null,"servers":null,"config":null,"model":"gpt","waitForServersMs":3e4,"ephemeral":false,"Cwd":"other"}}`)
		p.want(`"id":1,"result":null`)
		if got.Cwd != "/é" || got.WorkspaceRoots == nil || string(got.ApprovalPolicy) != `{"granular":{"mcp_elicitations":true,"rules":true,"sandbox_approval":false} }` ||
			got.Sandbox != "" || got.Servers != nil || string(got.Config) != "null" || string(got.Model) != `"gpt"` || got.WaitForServersMs != 30000 || got.Ephemeral {
			t.Errorf("got %+v", got)
		}
	})
}

// An id in flight can't be used twice; a number and a string are two ids; a
// finished one is free again.
func TestDuplicateID(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := initialized(t, &fake{call: block}, Options{})
		p.send(callLine("1", "{}"), callLine(`"1"`, "{}"), callLine(`"a"`, "{}"))
		p.want()
		duplicate := func(id string) string {
			return errorWith(id, protocol.CodeInvalidRequest, protocol.KindDuplicateID)
		}
		p.send(callLine("0", "{}"))
		p.want()
		p.send(callLine("-0", "{}"))
		p.want(duplicate("-0"))
		p.send(callLine("1", "{}"), callLine(`"\u0031"`, "{}"), `{"id":"a","method":"thread/list"}`, `{"id":"b","method":"thread/list"}`)
		p.want(duplicate("1"), duplicate(`"\u0031"`), duplicate(`"a"`), `"id":"b","result"`)
		p.send(`{"method":"$/cancelRequest","params":{"id":1}}`)
		p.want(errorWith("1", protocol.CodeCancelled, protocol.KindCancelled))
		p.send(`{"id":1,"method":"thread/list"}`)
		p.want(`"id":1,"result"`)
	})
}

// $/cancelRequest ends the one request that it names, with -32800 unless there
// is a result nevertheless.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{call: block}
		p := initialized(t, f, Options{})
		p.send(callLine("1", "{}"), callLine(`"1"`, "{}"), callLine("-2", "{}"))
		p.send(`{"method":"$/cancelRequest","params":{"id":"1"}}`, `{"method":"$/cancelRequest","params":{"id":"1"}}`)
		p.want(errorWith(`"1"`, protocol.CodeCancelled, protocol.KindCancelled))
		p.send(`{"method":"$/cancelRequest","params":{"id":-2}}`)
		p.want(errorWith("-2", protocol.CodeCancelled, protocol.KindCancelled))
		f.call = func(ctx context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
			<-ctx.Done()
			return echo(ctx, p)
		}
		p.send(callLine("3", `{"a":1}`), `{"method":"$/cancelRequest","params":{"id":3}}`)
		p.want(`"id":3,"result":{"a":1}`)
		f.call = func(ctx context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
			<-ctx.Done()
			return nil, errors.New("it broke off")
		}
		p.send(callLine("4", `{}`), `{"method":"$/cancelRequest","params":{"id":4}}`)
		p.want(errorWith("4", protocol.CodeCancelled, protocol.KindCancelled))
		p.send(`{"method":"$/cancelRequest","params":{"id":1}}`)
		p.want(errorWith("1", protocol.CodeCancelled, protocol.KindCancelled))
	})
}

// Five thousand requests, each with its cancel right behind it: each is
// answered once.
func TestCancelRaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 5000
		p := initialized(t, &fake{call: block}, Options{MaxInFlight: n})
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s\n{\"method\":\"$/cancelRequest\",\"params\":{\"id\":%d}}\n", callLine(fmt.Sprint(i), "{}"), i)
		}
		p.raw(b.String())
		seen := map[string]bool{}
		for _, l := range p.got() {
			id, rest, _ := strings.Cut(strings.TrimPrefix(l, `{"jsonrpc":"2.0","id":`), ",")
			if seen[id] || !strings.Contains(rest, `"code":-32800`) {
				t.Fatalf("unexpected %s", l)
			}
			seen[id] = true
		}
		if len(seen) != n {
			t.Errorf("%d of %d were answered", len(seen), n)
		}
	})
}

// Two thousand pipelined calls: two thousand replies. Those over the bound are
// refused with a time to retry; none is lost.
func TestPipelinedCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, bound = 2000, 100
		release := make(chan struct{})
		p := initialized(t, &fake{call: func(ctx context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
			<-release
			return echo(ctx, p)
		}}, Options{MaxInFlight: bound})
		var b strings.Builder
		for i := range n {
			b.WriteString(callLine(fmt.Sprint(i), "{}") + "\n")
		}
		b.WriteString(`{"id":"list","method":"thread/list"}` + "\n") // in order: no slot needed
		p.raw(b.String())
		replies := p.got()
		for _, l := range replies[:len(replies)-1] {
			if !strings.Contains(l, `"code":-32001`) || !strings.Contains(l, `"kind":"overloaded","retryable":true,"retryAfterMs":500`) {
				t.Fatalf("unexpected %s", l)
			}
		}
		if l := replies[len(replies)-1]; !strings.Contains(l, `"id":"list",`+emptyList) {
			t.Errorf("the last is %s", l)
		}
		if n := p.counters.InFlight.Load(); n != bound {
			t.Errorf("%d are in flight", n)
		}
		close(release)
		more := p.got()
		if len(replies)-1 != n-bound || len(more) != bound || p.counters.Refused.Load() != n-bound {
			t.Errorf("%d refused, %d answered, %d counted", len(replies)-1, len(more), p.counters.Refused.Load())
		}
		p.send(callLine("1", "{}"))
		p.want(`"id":1,"result":{}`)
		if n := p.counters.InFlight.Load(); n != 0 {
			t.Errorf("%d are in flight", n)
		}
	})
}

// Replies to requests that run on the reader keep the order of the requests.
func TestInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		p := initialized(t, &fake{list: func(context.Context, *protocol.ThreadListParams) (*protocol.ThreadListResult, error) {
			n++
			cursor := fmt.Sprint(n)
			return &protocol.ThreadListResult{NextCursor: &cursor}, nil
		}}, Options{})
		var b strings.Builder
		var want []string
		for i := 1; i <= 200; i++ {
			fmt.Fprintf(&b, `{"id":%d,"method":"thread/list"}`+"\n", i)
			want = append(want, fmt.Sprintf(`"id":%d,"result":{"data":null,"nextCursor":"%d"}`, i, i))
		}
		p.raw(b.String())
		p.want(want...)
	})
}

// What a handler says about one thing arrives in the order in which it was
// said, before the reply.
func TestNotificationsComeBeforeTheReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		f.call = func(ctx context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
			protocol.ItemStarted.Send(f.editor, &protocol.ItemStartedNotification{})
			protocol.ItemProgress.Send(f.editor, &protocol.ItemProgressNotification{ItemID: "i"})
			protocol.ItemCompleted.Send(f.editor, &protocol.ItemCompletedNotification{Item: protocol.Item{ID: "i"}})
			return echo(ctx, p)
		}
		p := initialized(t, f, Options{})
		p.send(callLine("1", "{}"))
		p.want(`"method":"item/started"`, `"method":"item/mcpToolCall/progress"`, `"method":"item/completed"`, `"id":1,"result"`)
	})
}

// Any error of a handler becomes a reply. Only what is meant for the editor is
// told; the rest is in the log, under the id that the editor has.
func TestHandlerErrors(t *testing.T) {
	secret := errors.New("token hunter2 refused")
	for _, c := range []struct {
		name   string
		err    error
		want   string
		logged bool
	}{
		{"protocol error", protocol.Errorf(protocol.KindUnknownThread, "no thread %q", "x").WithHint("start one"), errorWith("1", protocol.CodeInvalidParams, protocol.KindUnknownThread) + ` … "message":"no thread \"x\"" … "hint":"start one"`, false},
		{"wrapped", fmt.Errorf("hunter2: %w", protocol.Errorf(protocol.KindExited, "gone")), errorWith("1", protocol.CodeFailed, protocol.KindExited) + `true … "message":"gone"`, false},
		{"kind without code", protocol.Errorf(protocol.KindClientUnsupported, "no"), errorWith("1", protocol.CodeFailed, protocol.KindClientUnsupported), false},
		{"deadline", fmt.Errorf("hunter2: %w", context.DeadlineExceeded), errorWith("1", protocol.CodeFailed, protocol.KindTimeout), false},
		{"cancelled elsewhere", context.Canceled, errorWith("1", protocol.CodeCancelled, protocol.KindCancelled), false},
		{"any other", fmt.Errorf("calling: %w", secret), errorWith("1", protocol.CodeInternalError, protocol.KindInternal) + ` … "message":"internal error c- … "crashId":"c-`, true},
		{"internal without id", protocol.Errorf(protocol.KindInternal, "hunter2"), errorWith("1", protocol.CodeInternalError, protocol.KindInternal) + ` … "crashId":"c-`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := initialized(t, &fake{call: func(context.Context, *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
					return nil, c.err
				}}, Options{})
				p.send(callLine("1", "{}"))
				lines := p.got()
				p.lines = lines
				p.want(c.want)
				if strings.Contains(lines[0], "hunter2") {
					t.Errorf("the text was not withheld: %s", lines[0])
				}
				log := p.log.String()
				if c.logged != strings.Contains(log, "hunter2") {
					t.Errorf("logged=%v: %s", !c.logged, log)
				}
				if c.logged {
					_, id, _ := strings.Cut(lines[0], `"crashId":"`)
					id, _, _ = strings.Cut(id, `"`)
					if id == "" || !strings.Contains(log, `"crashId":"`+id+`"`) {
						t.Errorf("the log does not have %s: %s", id, log)
					}
				}
			})
		})
	}
}

// A panic is a reply with the id of its stack in the log, on the reader as on
// a goroutine, and the process lives.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := initialized(t, &fake{
			list: func(context.Context, *protocol.ThreadListParams) (*protocol.ThreadListResult, error) { panic("boom 1") },
			call: func(context.Context, *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
				panic(errors.New("boom 2"))
			},
		}, Options{})
		internal := errorWith("1", protocol.CodeInternalError, protocol.KindInternal) + ` … "crashId":"c-`
		p.send(`{"id":1,"method":"thread/list"}`)
		p.want(internal)
		p.send(callLine("1", "{}"))
		p.want(internal)
		p.send(`{"id":1,"method":"config/read"}`) // the fake has no such method
		p.want(internal)
		for _, want := range []string{"boom 1", "boom 2", "dispatch_test.go", "panic in a handler"} {
			if !strings.Contains(p.log.String(), want) {
				t.Errorf("the log has no %q: %s", want, p.log.String())
			}
		}
		p.send(`{"id":1,"method":"shutdown"}`)
		p.want(`"id":1,"result":null`)
	})
}

// A deadline of the connection's own context values reaches handlers: the
// logger, but not the cancellation.
func TestHandlerContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var err error
		p := initialized(t, &fake{call: func(ctx context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
			time.Sleep(time.Second)
			err = ctx.Err()
			return echo(ctx, p)
		}}, Options{})
		p.send(callLine("1", "{}"))
		synctest.Wait()
		p.stop(errors.New("signal"))
		time.Sleep(2 * time.Second)
		p.want(`"id":1,"result"`)
		if err != nil {
			t.Errorf("the handler's context ended with the signal: %v", err)
		}
		if e := p.ending(0); e.How != Stopped || e.Cause.Error() != "signal" {
			t.Errorf("ended with %+v", e)
		}
	})
}
