package rpc

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// collect reads all lines of r.
func collect(r io.Reader, max int) (lines []string, tooLong int, err error) {
	l := newLineReader(r, max)
	for {
		n, err := l.next()
		if err != nil {
			return lines, tooLong, err
		}
		if n.tooLong {
			tooLong++
			continue
		}
		lines = append(lines, string(n.text))
	}
}

// Lines come out whole, whatever their length and however the bytes come in.
func TestLineReader(t *testing.T) {
	var want []string
	for _, n := range []int{0, 1, 100, readSize - 2, readSize - 1, readSize, readSize + 1, 2*readSize - 1, 2 * readSize, 2*readSize + 1, 0, chunkSize, 3*chunkSize + 17, 5} {
		want = append(want, strings.Repeat("a", n/2)+strings.Repeat("b", n-n/2))
	}
	text := strings.Join(want, "\n")
	for name, r := range map[string]io.Reader{
		"at once":       strings.NewReader(text),
		"halves":        iotest.HalfReader(strings.NewReader(text)),
		"data with EOF": iotest.DataErrReader(strings.NewReader(text)),
		"ending":        strings.NewReader(text + "\n"),
	} {
		if got, _, err := collect(r, 1<<30); !slices.Equal(got, want) || err != io.EOF {
			t.Errorf("%s: %d lines, %v, want %d", name, len(got), err, len(want))
		}
	}
	if got, n, err := collect(strings.NewReader(text), readSize); len(got) != 8 || n != 6 || err != io.EOF {
		t.Errorf("with a limit: %d lines, %d too long, %v", len(got), n, err)
	}
}

// A line that is skipped is not held.
func TestTooLongIsNotHeld(t *testing.T) {
	const size = 256 << 20
	r := io.MultiReader(io.LimitReader(repeat('x'), size), strings.NewReader("\nnext"))
	l := newLineReader(r, 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := l.next()
	runtime.ReadMemStats(&after)
	if !n.tooLong || len(n.text) > readSize || err != nil {
		t.Errorf("got %d bytes, tooLong=%v, %v", len(n.text), n.tooLong, err)
	}
	if total := after.TotalAlloc - before.TotalAlloc; total > 8<<20 {
		t.Errorf("%d bytes were allocated to skip a line", total)
	}
	if n, err = l.next(); string(n.text) != "next" || err != nil {
		t.Errorf("then came %q, %v", n.text, err)
	}
}

type repeat byte

func (c repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(c)
	}
	return len(p), nil
}

// A reader that returns nothing for ever, or fails, ends the lines.
func TestBrokenReader(t *testing.T) {
	if _, _, err := collect(iotest.ErrReader(nil), 10); err != io.ErrNoProgress {
		t.Errorf("a reader that returns nothing: %v", err)
	}
	broken := errors.New("broken")
	got, _, err := collect(io.MultiReader(bytes.NewReader([]byte("a\nb")), iotest.ErrReader(broken)), 10)
	if !slices.Equal(got, []string{"a", "b"}) || err != broken {
		t.Errorf("got %q, %v", got, err)
	}
}
