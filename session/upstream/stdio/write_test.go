package stdio

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// A gatedPipe shows each write and lets it end when it is told to.
type gatedPipe struct {
	writes chan string
	next   chan struct{}
}

func (p *gatedPipe) Write(b []byte) (int, error) {
	p.writes <- string(b)
	<-p.next
	return len(b), nil
}

func (p *gatedPipe) Close() error { return nil }

// What was queued while a write was under way goes out in order, small
// messages together and whole, large ones by themselves; what was given up
// meanwhile does not.
func TestWritesTogether(t *testing.T) {
	bubble(t, func(t *testing.T) {
		silent, end := io.Pipe()
		pipe := &gatedPipe{writes: make(chan string), next: make(chan struct{})}
		c := New(silent, pipe, Options{})
		defer func() {
			end.Close()
			close(pipe.next)
			c.Close()
		}()
		call := func(ctx context.Context, method string, size int) {
			go c.Call(ctx, method, []byte(`"`+strings.Repeat("x", size)+`"`))
			synctest.Wait()
		}
		call(t.Context(), "first", 1)
		got := [][]string{methodsOf(<-pipe.writes)}
		given, up := context.WithCancel(t.Context())
		call(t.Context(), "a", 1)
		call(given, "given-up", 1)
		call(t.Context(), "b", maxTogether/2)
		call(t.Context(), "c", maxTogether/2)
		call(t.Context(), "large", 2*maxTogether)
		call(t.Context(), "d", 1)
		call(t.Context(), "e", 1)
		up()
		synctest.Wait()
		for range 4 {
			pipe.next <- struct{}{}
			got = append(got, methodsOf(<-pipe.writes))
		}
		want := [][]string{{"first"}, {"a", "b"}, {"c"}, {"large"}, {"d", "e"}}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("the writes hold %q, want %q", got, want)
		}
	})
}

// methodsOf returns the methods of the requests in a write, which must be
// whole lines.
func methodsOf(write string) (methods []string) {
	for line := range strings.Lines(write) {
		_, rest, _ := strings.Cut(line, `"method":"`)
		method, _, _ := strings.Cut(rest, `"`)
		if !strings.HasSuffix(line, "}\n") {
			method += " cut off"
		}
		methods = append(methods, method)
	}
	return methods
}
