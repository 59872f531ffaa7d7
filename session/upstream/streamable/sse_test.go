package streamable

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// render writes events as text to compare.
func render(evs []event) string {
	var b strings.Builder
	for _, ev := range evs {
		fmt.Fprintf(&b, "[%s|%s|%s", ev.name, ev.id, ev.data)
		if ev.hasRetry {
			fmt.Fprintf(&b, "|retry %v", ev.retry)
		}
		if ev.tooLarge {
			b.WriteString("|too large")
		}
		if ev.partial {
			b.WriteString("|partial")
		}
		b.WriteString("]")
	}
	return b.String()
}

func readEvents(r io.Reader, limit int64) ([]event, error) {
	e := newEventReader(r, limit)
	var out []event
	for {
		ev, err := e.next()
		if err != nil {
			return out, err
		}
		out = append(out, ev)
	}
}

// Events are read as the standard says, however the bytes are cut.
func TestEvents(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"\n\n\r\n\r", ""},
		{"data: a\n\n", "[||a]"},
		{"data:a\n\ndata:  b\n\n", "[||a][|| b]"},
		{"data: a\ndata: b\ndata\ndata:\n\n", "[||a\nb\n\n]"},
		{"data: a\r\n\r\ndata: b\r\rdata: c\n\n", "[||a][||b][||c]"},
		{"\ufeffdata: a\n\n", "[||a]"},
		{"\xef\xbbdata: a\n\ndata: b\n\n", "[||b]"},
		{": comment\ndata: a\n: more\n\n", "[||a]"},
		{"junk\njunk: x\ndata: a\n\n", "[||a]"},
		{"data\n\n", "[||]"},
		{"id: 1\nevent: message\ndata: a\nretry: 250\n\n", "[message|1|a|retry 250ms]"},
		{"id: 7\n\ndata: a\n\n", "[|7|][||a]"},
		{"id: \x00\ndata: a\n\n", "[||a]"},
		{"retry: -1\nretry: x\ndata: a\n\n", "[||a]"},
		{"retry: 4000000000\n\nretry: 2000000000\n\n", "[|||retry 5m0s]"},
		{"id: " + strings.Repeat("x", maxFieldValue+1) + "\ndata: a\n\n", "[||a]"},
		{strings.Repeat("y", 1<<17) + ": x\ndata: a\n\n", "[||a]"},
		{"data: a", "[||a|partial]"},
		{"data: a\n", "[||a|partial]"},
		{"id: 3\ndata: {\"tru", "[|3|{\"tru|partial]"},
		{"data: 0123456789\n\ndata: 01234567890\n\ndata: a\n\n", "[||0123456789][|||too large][||a]"},
		{"data: 01234567890\ndata: b\nid: 4\n\ndata: a\n\n", "[|||too large][||a]"},
		{"data: 01234\ndata: 56789\ndata: b\n\ndata: a\n\n", "[|||too large][||a]"},
		{"data: 01234567890", "[|||too large]"},
	} {
		for name, r := range map[string]io.Reader{
			"whole":  strings.NewReader(c.in),
			"bytes":  iotest.OneByteReader(strings.NewReader(c.in)),
			"halves": iotest.HalfReader(strings.NewReader(c.in)),
		} {
			evs, err := readEvents(r, 10)
			if got := render(evs); got != c.want || err != io.EOF {
				t.Errorf("%.60q (%s)\n got %q, %v\nwant %q", c.in, name, got, err, c.want)
			}
		}
	}
}

// An event is returned as soon as it is complete, and one that is too large as
// soon as it is so.
func TestEventsAtOnce(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"data: a\n\n", "[||a]"},
		{"data: a\r\n\r\n", "[||a]"},
		{"data: a\r\r", "[||a]"},
		{"data: 01234567890", "[|||too large]"},
	} {
		r, w := io.Pipe()
		e := newEventReader(r, 10)
		got := make(chan string, 1)
		go func() { // ends with the event
			ev, _ := e.next()
			got <- render([]event{ev})
		}()
		go func() { _, _ = io.WriteString(w, c.in) }() // ends with the pipe
		if g := receive(t, got, "the event"); g != c.want {
			t.Errorf("%q: got %s, want %s", c.in, g, c.want)
		}
		_ = r.Close()
	}
}

// An error of the stream is returned after what came before it.
func TestEventsError(t *testing.T) {
	broken := errors.New("broken")
	evs, err := readEvents(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), 10)
	if got, want := render(evs), "[||a][||b|partial]"; got != want || err != broken {
		t.Errorf("got %s, %v; want %s, %v", got, err, want, broken)
	}
}

// Any bytes are survived, cut anyhow, and an event after them is delivered.
func FuzzSSE(f *testing.F) {
	for _, s := range []string{
		"", "data: a\n\n", "data: a\r\n\r", "\ufeff: x\n\ndata", "id: 1\nretry: 9\n\n", "event: e\ndata: x\ndata: y\n\n",
		"no colon\n\n", "data: " + strings.Repeat("z", 100), "\r\n\r\n\xef\xbb", "data:\x00\xff\n", ":\n", "id\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, junk []byte) {
		in := append(bytes.Clone(junk), "\n\ndata: {\"ok\":1}\n\n"...)
		evs, err := readEvents(bytes.NewReader(in), 64)
		if err != io.EOF || len(evs) == 0 || string(evs[len(evs)-1].data) != `{"ok":1}` || evs[len(evs)-1].partial {
			t.Fatalf("after %q: %s, %v", junk, render(evs), err)
		}
		cut, _ := readEvents(iotest.OneByteReader(bytes.NewReader(in)), 64)
		if render(cut) != render(evs) {
			t.Fatalf("cut into bytes: %s, whole: %s", render(cut), render(evs))
		}
		for _, ev := range evs {
			if len(ev.data) > 64 || ev.retry < 0 || ev.retry > 5*time.Minute {
				t.Fatalf("out of bounds: %+v", ev)
			}
		}
	})
}
