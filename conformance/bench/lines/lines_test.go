package lines

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Lines come whole, in order and with their line feed, whatever their length
// and however they arrive.
func TestNext(t *testing.T) {
	want := []string{"\n", "a\n", strings.Repeat("b", bufferSize-1) + "\n", strings.Repeat("c", bufferSize) + "\n",
		strings.Repeat("d", 3*bufferSize+7) + "\n", "e\n"}
	text := strings.Join(want, "")
	for name, in := range map[string]io.Reader{
		"at once": strings.NewReader(text), "by halves": iotest.HalfReader(strings.NewReader(text)),
	} {
		r := NewReader(in)
		for i, w := range want {
			if got, err := r.Next(); err != nil || string(got) != w {
				t.Errorf("%s: line %d has %d bytes, %v; want %d", name, i, len(got), err, len(w))
			}
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("%s: after the last line: %v, want EOF", name, err)
		}
	}
}
