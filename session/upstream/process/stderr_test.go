package process

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCleanLine(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"plain", "plain"},
		{"windows\r", "windows"},
		{"\x1b[1;31mred\x1b[0m text", "red text"},
		{"\x1b]0;title\x07after", "after"},
		{"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"\x1b(Bset \x1b7saved", "set saved"},
		{"10%\r50%\r100%", "100%"},
		{"tab\there", "tab here"},
		{"bell\x07 nul\x00 del\x7f c1\u009b", "bell nul del c1"},
		{"right\u202eleft\u2066x", "rightleftx"},
		{"bad \xff\xfe utf", "bad \ufffd\ufffd utf"},
		{"読取 🎉", "読取 🎉"},
		{"cut \x1b[3", "cut"},
		{"cut \x1b", "cut"},
		{"cut \x1b]0;never ends", "cut"},
		{"", ""},
	} {
		if got := cleanLine([]byte(test.in)); got != test.want {
			t.Errorf("cleanLine(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

func FuzzCleanLine(f *testing.F) {
	f.Add([]byte("\x1b[1;31mred\x1b[0m"))
	f.Add([]byte("\x1b]0;t\x1b\\x\r\xff\u202e"))
	f.Add([]byte("10%\r20%"))
	f.Fuzz(func(t *testing.T, data []byte) {
		line := cleanLine(data)
		if !utf8.ValidString(line) {
			t.Fatalf("%q is not UTF-8", line)
		}
		if strings.ContainsFunc(line, unicode.IsControl) {
			t.Fatalf("%q holds a control character", line)
		}
	})
}

// Lines come out the same however the writes were cut; long ones are bounded.
func TestStderrLog(t *testing.T) {
	long := strings.Repeat("x", StderrLine+10)
	text := "one\n\n  \ntwo\r\n" + long + "\nlast without end"
	want := []string{"one", "two", long[:StderrLine] + "…", "last without end"}
	for _, step := range []int{1, 2, 7, 4096, len(text)} {
		var told []string
		log := stderrLog{onLine: func(line string) { told = append(told, line) }}
		for i := 0; i < len(text); i += step {
			log.write([]byte(text[i:min(i+step, len(text))]))
		}
		if got := log.tail(10); !slices.Equal(got, want) {
			t.Errorf("in steps of %d: %.40q, want %.40q", step, got, want)
		}
		if got := log.tail(2); !slices.Equal(got, want[2:]) {
			t.Errorf("tail(2) = %.40q, want %.40q", got, want[2:])
		}
		if !slices.Equal(told, want[:3]) {
			t.Errorf("in steps of %d told %.40q, want %.40q", step, told, want[:3])
		}
	}
	var log stderrLog
	if got := log.tail(0); len(got) != 0 {
		t.Errorf("tail(0) of nothing = %q", got)
	}
}

func TestStderrLogIsBounded(t *testing.T) {
	var log stderrLog
	for i := range 100_000 {
		log.write(fmt.Appendf(nil, "line %d\n", i))
	}
	tail := log.tail(1 << 20)
	if tail[len(tail)-1] != "line 99999" || len(tail) < 4000 {
		t.Errorf("%d lines, the last %q", len(tail), tail[len(tail)-1])
	}
	if log.bytes > StderrBytes || cap(log.lines) > 1<<15 {
		t.Errorf("holds %d bytes in a list for %d lines", log.bytes, cap(log.lines))
	}
}
