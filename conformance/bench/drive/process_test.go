package drive

import "testing"

// Replies are told from notifications and requests by how they begin.
func TestReplyID(t *testing.T) {
	for _, test := range []struct {
		line string
		id   int64
		ok   bool
	}{
		{`{"jsonrpc":"2.0","id":17,"result":{}}`, 17, true},
		{`{"id":0,"error":{}}`, 0, true},
		{`{"id":3,"method":"ask","params":{}}`, 3, false},
		{`{"jsonrpc":"2.0","id":"s-1","method":"ask"}`, 0, false},
		{`{"jsonrpc":"2.0","method":"item/started","params":{"id":1}}`, 0, false},
		{`{"method":"x"}`, 0, false},
		{``, 0, false},
	} {
		if id, ok := replyID([]byte(test.line)); ok != test.ok || ok && id != test.id {
			t.Errorf("replyID(%s) = %d, %v; want %d, %v", test.line, id, ok, test.id, test.ok)
		}
	}
}

func TestSucceeded(t *testing.T) {
	for line, want := range map[string]bool{
		`{"id":1,"result":{"content":[]}}`:                                    true,
		`{"id":1,"result":{"callId":"c","status":"completed"}}`:               true,
		`{"id":1,"error":{"code":-32000}}`:                                    false,
		`{"id":1,"result":{"callId":"c","status":"failed","reason":"x"}}`:     false,
		`{"id":1,"result":{"callId":"c","status":"declined","reason":"x"}}`:   false,
		`{"id":1,"result":{"isError":true,"content":[{"type":"text"}]}}`:      false,
		`{"id":1,"result":{"content":[{"type":"text","text":"\"error\":"}]}}`: true,
	} {
		if got := succeeded([]byte(line)); got != want {
			t.Errorf("succeeded(%s) = %v", line, got)
		}
	}
}
