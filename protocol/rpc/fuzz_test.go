package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// Whatever lines come, the connection lives, each line with something in it
// gets at most one reply, and the request after them is answered.
func FuzzLine(f *testing.F) {
	for _, s := range []string{
		``, `x`, "\ufeff{}", "\ufeff", "{\"id\":1}\r\n\n[]", callLine("1", `{"a":[1.0,"\ud800"]}`), callLine("1", "1") + "\n" + callLine("1", "2"),
		`{"method":"$/cancelRequest","params":{"id":1}}`, `{"id":"s-1","result":{}}`, `{"id":-7,"method":"shutdown"}`, `{"method":"exit"}`,
		`{"id":1,"method":"thread/start","params":{"model":{"format":"gemini"},"approvalPolicy":"never"}}`, `{"id":1.5,"method":"x"}`,
		`{"id":1,"method":"thread/list","params":{"x":"` + strings.Repeat("y", 600) + `"}}`, "\xff", `[{"id":1}]`, `{"id":null,"error":{}}`,
		`{"id":1,"id":1,"method":"a","method":"b"}`, `{"\u0069d":2,"method":"thread\/list"}`, initLine,
		`{"id":3,"method":"initialize","params":{"clientInfo":{"name":"x"},"workspaceFolders":[{"uri":""}]}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const last = `{"id":"the last one","method":"thread/list"}` + "\n"
		for _, before := range []string{"", initLine + "\n"} {
			input := before + string(data) + "\n" + initLine + "\n" + last
			var out bytes.Buffer
			side := &fake{call: echo, start: func(ctx context.Context, p *protocol.ThreadStartParams) (*protocol.ThreadStartResult, error) {
				return nil, nil
			}}
			side.toolCall = func(ctx context.Context, p *protocol.ThreadToolCallParams) (*protocol.ThreadToolCallResult, error) {
				return &protocol.ThreadToolCallResult{Result: p.Arguments}, nil
			}
			side.settings = func(ctx context.Context, p *protocol.ThreadSettingsUpdateParams) (*protocol.ThreadSettingsUpdateResult, error) {
				return nil, nil
			}
			e := Serve(t.Context(), strings.NewReader(input), &out, func(protocol.Editor) protocol.Sidecar { return side }, Options{MaxLine: 500})
			lines := 0
			for _, l := range strings.Split(strings.TrimPrefix(input, "\ufeff"), "\n") {
				if strings.Trim(l, " \t\r") != "" {
					lines++
				}
			}
			replies, answered := 0, 0
			for l := range bytes.Lines(out.Bytes()) {
				if !json.Valid(l) {
					t.Fatalf("not JSON: %q", l)
				}
				replies++
				if bytes.HasPrefix(l, []byte(`{"jsonrpc":"2.0","id":"the last one",`)) {
					answered++
				}
			}
			if replies > lines {
				t.Errorf("%d replies to %d lines:\n%s", replies, lines, out.Bytes())
			}
			switch e.How {
			case EndOfInput:
				if answered != 1 {
					t.Errorf("the last request has %d replies:\n%s", answered, out.Bytes())
				}
			case Exited, ExitedEarly:
			default:
				t.Errorf("ended with %+v", e)
			}
		}
	})
}

// Params are decoded as encoding/json does it, where both accept them.
func FuzzParams(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"threadId":"t","bindingId":"b","name":"n","arguments":{"a":1.0},"timeoutMs":5,"_meta":null}`, `{"threadId":"\u0041","bindingId":"","name":"x","timeoutMs":1e3}`,
		`{"threadId":null}`, `{"threadId":"t","bindingId":"b","name":"n","name":"m","arguments":"x"}`, `{"threadId":"t","bindingId":"b","name":"n","timeoutMs":9223372036854775808}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		var got, want protocol.ThreadToolCallParams
		if decodeParams(bytes.TrimSpace(data), &got) != nil || json.Unmarshal(data, &want) != nil {
			return
		}
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		// encoding/json also takes keys in another case.
		if !bytes.Equal(a, b) && !foldedKeys(data) {
			t.Errorf("decoded %s, want %s", a, b)
		}
	})
}

// foldedKeys reports a key that is a known one but for its case.
func foldedKeys(data []byte) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(data, &m) != nil {
		return false
	}
	for k := range m {
		for _, known := range []string{"threadId", "bindingId", "name", "namespace", "arguments", "callId", "turnId", "timeoutMs", "_meta"} {
			if k != known && strings.EqualFold(k, known) {
				return true
			}
		}
	}
	return false
}
