package toolcall

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// For every length, head and tail are the longest parts of the decoded text
// that fit and are cut between characters.
func TestTextHeadAndTail(t *testing.T) {
	for _, quoted := range []string{
		`"plain"`, `""`, `"é日😀x"`, `"\u00e9\u65e5\ud83d\ude00x\n\\\"\/"`, `"a\ud83d\ud83d\ude00\ude00b"`, ` "\u0000\u0000" `, `"\\\\u0041"`,
	} {
		for _, lead := range []string{"", "é: "} {
			inner, ok := rawjson.String([]byte(quoted))
			if !ok {
				t.Fatal(quoted)
			}
			want := lead + inner
			x := stringText(lead, []byte(quoted))
			if x.size != int64(len(want)) || x.whole() != want {
				t.Errorf("%s: %d bytes %q, want %q", quoted, x.size, x.whole(), want)
			}
			headsAndTails(t, x, want)
		}
		headsAndTails(t, jsonText([]byte(strings.TrimSpace(quoted))), strings.TrimSpace(quoted))
	}
}

func headsAndTails(t *testing.T, x text, whole string) {
	t.Helper()
	for n := range len(whole) + 3 {
		head, tail := whole, whole
		if n < len(whole) {
			end, start := n, len(whole)-n
			for !utf8.RuneStart(whole[end]) {
				end--
			}
			for start < len(whole) && !utf8.RuneStart(whole[start]) {
				start++
			}
			head, tail = whole[:end], whole[start:]
		}
		if got := x.head(int64(n)); got != head {
			t.Errorf("%q: head of %d is %q, want %q", whole, n, got, head)
		}
		if got := x.tail(int64(n)); got != tail {
			t.Errorf("%q: tail of %d is %q, want %q", whole, n, got, tail)
		}
	}
}
