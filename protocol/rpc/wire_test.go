package rpc

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

func errorWith(id string, code protocol.Code, kind protocol.Kind) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d, … "data":{"kind":"%s","retryable":`, id, code, kind)
}

func invalid(id string) string {
	return errorWith(id, protocol.CodeInvalidRequest, protocol.KindInvalidRequest)
}

// Each hostile line gets exactly one reply, or none where none is due, and the
// connection goes on. (Spec 2; the rows where Codex and the stock library fail.)
func TestHostileLines(t *testing.T) {
	parseError := errorWith("null", protocol.CodeParseError, protocol.KindParseError)
	list := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,` + emptyList + `}` }
	notFound := errorWith("1", protocol.CodeMethodNotFound, protocol.KindMethodNotFound)
	for _, c := range []struct{ name, line, want string }{
		{"garbage", `hello`, parseError},
		{"NUL", "\x00", parseError},
		{"cut off", `{"id":1,"method":"thread/list"`, parseError},
		{"invalid UTF-8", "{\"id\":1,\"method\":\"thread/list\",\"params\":{\"x\":\"\xff\"}}", parseError},
		{"two on a line", `{"id":1,"method":"thread/list"}{"id":2,"method":"thread/list"}`, parseError},
		{"depth bomb", strings.Repeat("[", 100_000), parseError},
		{"deep params", `{"id":1,"method":"thread/list","params":` + strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000) + "}", parseError},
		{"BOM on a later line", "\ufeff" + `{"id":1,"method":"thread/list"}`, parseError},
		{"LSP header", "Content-Length: 20", parseError + ` … "hint":"messages have no headers here`},
		{"batch", `[{"id":1,"method":"thread/list"}]`, invalid("null")},
		{"empty batch", `[]`, invalid("null")},
		{"string", `"thread/list"`, invalid("null")},
		{"number", `42`, invalid("null")},
		{"null", `null`, invalid("null")},
		{"empty object", `{}`, invalid("null")},
		{"null id", `{"id":null,"method":"thread/list"}`, invalid("null")},
		{"fractional id", `{"id":1.5,"method":"thread/list"}`, invalid("null")},
		{"1.0 as id", `{"id":1.0,"method":"thread/list"}`, invalid("null")},
		{"exponent id", `{"id":1e2,"method":"thread/list"}`, invalid("null")},
		{"boolean id", `{"id":true,"method":"thread/list"}`, invalid("null")},
		{"object id", `{"id":{},"method":"thread/list"}`, invalid("null")},
		{"array id", `{"id":[1],"method":"thread/list"}`, invalid("null")},
		{"id over 64 bits", `{"id":9223372036854775808,"method":"thread/list"}`, invalid("null")},
		{"two ids", `{"id":1,"id":2,"method":"thread/list"}`, invalid("null")},
		{"two methods", `{"id":1,"method":"thread/list","method":"thread/list"}`, invalid("1")},
		{"method is a number", `{"id":1,"method":5}`, invalid("1")},
		{"method is null", `{"id":1,"method":null}`, invalid("1")},
		{"request and answer", `{"id":1,"method":"thread/list","result":{}}`, invalid("1")},
		{"neither", `{"id":1}`, invalid("1")},
		{"neither, id a string", `{"id":"x","params":{}}`, invalid(`"x"`)},
		{"result and error", `{"id":1,"result":{},"error":{"code":1,"message":"x"}}`, invalid("1")},
		{"answer without id", `{"result":{}}`, invalid("null")},
		{"result with id null", `{"id":null,"result":{}}`, invalid("null")},
		{"case-folded keys", `{"ID":1,"Method":"thread/list"}`, invalid("null")},
		{"params a string", `{"id":1,"method":"thread/list","params":"x"}`, invalid("1")},
		{"params a number", `{"id":1,"method":"thread/list","params":5}`, invalid("1")},
		{"params an array", `{"id":1,"method":"thread/list","params":[1]}`, errorWith("1", protocol.CodeInvalidParams, protocol.KindInvalidParams) + ` … params must be an object, not an array`},
		{"unknown method", `{"id":1,"method":"no/such"}`, notFound + ` … no method \"no/such\"`},
		{"misspelt method", `{"id":1,"method":"thread/lists"}`, notFound + ` … "hint":"did you mean thread/list?"`},
		{"empty method", `{"id":1,"method":""}`, notFound},
		{"method of the sidecar", `{"id":1,"method":"mcpServer/elicitation/request","params":{}}`, notFound},
		{"unknown $/ request", `{"id":1,"method":"$/whatever"}`, notFound},
		{"notification as request", `{"id":1,"method":"exit"}`, notFound + ` … "hint":"send it without an id"`},
		{"huge method", `{"id":1,"method":"` + strings.Repeat("x", 1<<20) + `"}`, notFound},
		{"method with control characters", `{"id":1,"method":"a\u001b[31m\n"}`, notFound + ` … a?[31m?`},

		{"unknown notification", `{"method":"no/such"}`, ``},
		{"unknown $/ notification", `{"method":"$/setTrace","params":{"value":"off"}}`, ``},
		{"request without id", `{"method":"thread/list"}`, ``},
		{"notification with array", `{"method":"initialized","params":[]}`, ``},
		{"late answer", `{"id":"s-99","result":{}}`, ``},
		{"answer with a number", `{"id":7,"result":{}}`, ``},
		{"error answer of nobody", `{"id":"s-99","error":{"code":1,"message":"x"}}`, ``},
		{"error with id null", `{"id":null,"error":{"code":-32700,"message":"x"}}`, ``},
		{"cancel of nobody", `{"method":"$/cancelRequest","params":{"id":99}}`, ``},
		{"cancel with nonsense", `{"method":"$/cancelRequest","params":{"id":{}}}`, ``},
		{"cancel with nothing", `{"method":"$/cancelRequest"}`, ``},
		{"cancel with array", `{"method":"$/cancelRequest","params":[1]}`, ``},
		{"blank", ``, ``},
		{"white space", " \t\r", ``},

		{"carriage return", `{"id":1,"method":"thread/list"}` + "\r", list("1")},
		{"white space around", ` {"id" : 1 , "method" : "thread/list" } `, list("1")},
		{"with jsonrpc", `{"jsonrpc":"2.0","id":1,"method":"thread/list"}`, list("1")},
		{"other jsonrpc", `{"jsonrpc":"1.0","id":1,"method":"thread/list"}`, list("1")},
		{"unknown members", `{"id":1,"method":"thread/list","trace":{"a":[]},"meta":1}`, list("1")},
		{"unknown params", `{"id":1,"method":"thread/list","params":{"cursor":1,"x":[{}]}}`, list("1")},
		{"null params", `{"id":1,"method":"thread/list","params":null}`, list("1")},
		{"escaped key and method", `{"\u0069d":1,"method":"thread\/list"}`, list("1")},
		{"id last", `{"params":{},"method":"thread/list","id":1}`, list("1")},
		{"negative id", `{"id":-7,"method":"thread/list"}`, list("-7")},
		{"zero id", `{"id":0,"method":"thread/list"}`, list("0")},
		{"least id", `{"id":-9223372036854775808,"method":"thread/list"}`, list("-9223372036854775808")},
		{"greatest id", `{"id":9223372036854775807,"method":"thread/list"}`, list("9223372036854775807")},
		{"empty string id", `{"id":"","method":"thread/list"}`, list(`""`)},
		{"string id with escapes", `{"id":"\u0041<é\/","method":"thread/list"}`, list(`"\u0041<é\/"`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := initialized(t, &fake{}, Options{})
				p.send(c.line)
				if c.want == "" {
					p.want()
				} else {
					p.want(c.want)
				}
				p.alive()
			})
		})
	}
}

// No error message repeats much of what the editor wrote.
func TestErrorsStayShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := strings.Repeat("y", 1<<20)
		p := initialized(t, &fake{}, Options{})
		p.send(`{"id":1,"method":"`+long+`"}`,
			`{"id":2,"method":"thread/start","params":{"sandbox":"`+long+`"}}`,
			`{"id":3,"method":"mcpServer/prompt/get","params":{"threadId":"t","server":"s","name":"n","arguments":{"`+long+`":1}}}`)
		for _, l := range p.got() {
			if len(l) > 700 {
				t.Errorf("%d bytes: %.200s", len(l), l)
			}
		}
	})
}

// A BOM before the first line, and a last line without an end, are accepted,
// however the bytes arrive.
func TestOneByteAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := connected(t, &fake{}, Options{})
		for _, b := range []byte("\ufeff\r\n\n" + initLine + "\r\n" + `{"id":1,"method":"thread/list"}`) {
			p.raw(string([]byte{b}))
		}
		p.want(`"id":"init","result"`)
		p.in.Close()
		p.want(`"id":1,` + emptyList)
		if e := p.ending(0); e.How != EndOfInput || e.ExitCode() != 0 {
			t.Errorf("ended with %+v", e)
		}
	})
}

// A line over the limit is refused once, with its id where that can be known,
// and the next line is served.
func TestLineTooLong(t *testing.T) {
	tooLong := func(id string) string {
		return errorWith(id, protocol.CodeInvalidRequest, protocol.KindLineTooLong)
	}
	fill := strings.Repeat("x", 200_000)
	for _, c := range []struct {
		name, line, want string
		max              int
	}{
		{"id first", `{"id":-5,"method":"thread/list","params":{"x":"` + fill + `"}}`, tooLong("-5"), 100_000},
		{"id last", `{"method":"thread/list","params":{"x":"` + fill + `"},"id":5}`, tooLong("null"), 100_000},
		{"id after white space", ` {"jsonrpc":"2.0", "method":"a", "id":"q\"", "params":"` + fill + `"}`, tooLong(`"q\""`), 100_000},
		{"no JSON", fill, tooLong("null"), 100_000},
		{"bad id", `{"id":1.5,"params":"` + fill + `"}`, tooLong("null"), 100_000},
		{"two ids", `{"id":1,"id":2,"params":"` + fill + `"}`, tooLong("null"), 100_000},
		{"the id itself", `{"id":"` + fill + `"}`, tooLong("null"), 100_000},
		{"number id cut off", `{"id":` + strings.Repeat("1", 200_000), tooLong("null"), 100_000},
		{"id in params only", `{"params":{"id":7,"x":"` + fill + `"}}`, tooLong("null"), 100_000},
		{"limit within one read", `{"id":5,"method":"thread/list","params":{"x":"` + fill[:1000] + `"}}`, tooLong("5"), 500},
		{"just over", strings.Repeat(" ", 70_001), tooLong("null"), 70_000},
		{"just fits", strings.Repeat(" ", 70_000), "", 70_000},
		{"just fits with CR", strings.Repeat(" ", 70_000) + "\r", "", 70_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := initialized(t, &fake{}, Options{MaxLine: c.max})
				p.send(c.line)
				if c.want == "" {
					p.want()
				} else {
					p.want(c.want)
				}
				p.alive()
				p.raw(c.line) // and once more as the last line
				p.in.Close()
				if c.want == "" {
					p.want()
				} else {
					p.want(c.want)
				}
			})
		})
	}
}

// What is raw in the contract keeps its bytes on both ways, in short lines and
// in long ones, on one line.
func TestRawBytesSurvive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, fill := range []string{"", strings.Repeat("<&>", 10), strings.Repeat("é", 50_000), strings.Repeat("z", 3<<20)} {
			odd := `{"z":12345678901234567890, "a":1.0,"h":"<b>&\u003c","s":"\ud800","dup":1,"dup":2,"f":"` + fill + `"}`
			var got string
			f := &fake{call: func(ctx context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
				got = string(p.Arguments)
				return echo(ctx, p)
			}}
			p := initialized(t, f, Options{})
			p.send(callLine("1", odd))
			if l := p.got(); len(l) != 1 || l[0] != `{"jsonrpc":"2.0","id":1,"result":`+odd+`}` {
				t.Errorf("the result came back as %.200q", l)
			}
			if got != odd {
				t.Errorf("the arguments arrived as %.200s", got)
			}
			f.call = func(context.Context, *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
				r := protocol.ServerToolCallResult("{\n  \"a\" : 1.0,\r\n \"b\":\"x y" + fill + "\"}")
				return &r, nil
			}
			p.send(callLine("2", "{}"))
			if l := p.got(); len(l) != 1 || l[0] != `{"jsonrpc":"2.0","id":2,"result":{"a":1.0,"b":"x y`+fill+`"}}` {
				t.Errorf("a pretty result came as %.200q", l)
			}
			f.editor.Notify("item/started", &protocol.ItemStartedNotification{Item: protocol.Item{Arguments: []byte(odd)}})
			p.want(`"arguments":` + odd)
		}
	})
}

// Handlers keep their raw params while later lines are read.
func TestParamsAreNotOverwritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		p := initialized(t, &fake{call: func(ctx context.Context, p *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
			<-release
			return echo(ctx, p)
		}}, Options{})
		var want []string
		for i := range 50 {
			arg := fmt.Sprintf(`{"n":"%d%s"}`, i, strings.Repeat("q", i*100))
			p.send(callLine(fmt.Sprint(i), arg))
			want = append(want, fmt.Sprintf(`"id":%d,"result":%s}`, i, arg))
		}
		close(release)
		p.wantAll(want...)
	})
}
