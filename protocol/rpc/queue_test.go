package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// An editor that writes and never reads is gone once the limit is queued and
// it has read nothing for a second. Until then nothing blocks and memory is
// bounded, whatever it floods with.
func TestEditorThatNeverReads(t *testing.T) {
	for name, line := range map[string]string{
		"requests":  `{"id":1,"method":"thread/list"}`,
		"bad lines": `x`,
		"refusals":  `{"id":1,"method":"no/such"}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const limit = 1 << 20
				p := connectMute(t, &fake{}, Options{QueueBytes: limit})
				flood := []byte(initLine + "\n" + strings.Repeat(line+"\n", 10_000))
				for {
					if _, err := p.in.Write(flood); err != nil {
						break
					}
				}
				e := p.ending(time.Minute)
				if e.How != EditorGone || !errors.Is(e.Cause, errUnread) {
					t.Errorf("ended with %+v", e)
				}
				if high := p.counters.QueueHigh.Load(); high < limit || high > hardFactor*limit+1000 {
					t.Errorf("%d bytes were queued", high)
				}
			})
		})
	}
}

// A notification flood ends the same way, a second after the limit.
func TestNotificationsUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		p := connectMute(t, f, Options{QueueBytes: 1 << 20})
		p.send(initLine)
		for range 12 {
			f.editor.Notify("warning", &protocol.WarningNotification{Message: strings.Repeat("x", 100_000)})
		}
		if !p.running() {
			t.Fatal("gone at once")
		}
		began := time.Now()
		e := p.ending(time.Minute)
		if took := time.Since(began); e.How != EditorGone || took != stallGrace {
			t.Errorf("ended with %+v after %v", e, took)
		}
	})
}

// A burst over the limit does not end an editor that reads, however slowly,
// and all of it arrives.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		p := connectMute(t, f, Options{QueueBytes: 1 << 20})
		p.send(initLine)
		for i := range 15 {
			f.editor.Notify("warning", &protocol.WarningNotification{Message: fmt.Sprint(i) + strings.Repeat("x", 100_000)})
		}
		got := 0
		buf := make([]byte, 50_000)
		for got < 15*100_000 {
			n, err := p.out.Read(buf)
			if err != nil {
				t.Fatalf("after %d bytes: %v", got, err)
			}
			got += n
			time.Sleep(stallGrace / 10)
		}
		go p.read()
		if !p.running() {
			t.Errorf("ended with %+v", <-p.ended)
		}
	})
}

// One message may be over the limit.
func TestOneBigMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := initialized(t, &fake{call: echo}, Options{QueueBytes: 1000})
		big := `{"x":"` + strings.Repeat("y", 1<<20) + `"}`
		p.send(callLine("1", big))
		p.want(`"id":1,"result":` + big)
	})
}

// A countingWriter counts writes.
type countingWriter struct {
	gate   chan struct{}
	writes int
	sizes  []int
	bytes  strings.Builder
}

func (w *countingWriter) Write(p []byte) (int, error) {
	<-w.gate
	w.writes++
	w.sizes = append(w.sizes, len(p))
	return w.bytes.Write(p)
}

// Small messages are put together, big pieces go in parts of their own, and
// the order and the bytes stay.
func TestWritesAreCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &countingWriter{gate: make(chan struct{})}
		q := newQueue(w, 1<<30, new(Counters))
		q.release()
		go q.run()
		var want strings.Builder
		push := func(parts ...string) {
			var b [][]byte
			for _, p := range parts {
				b = append(b, []byte(p))
				want.WriteString(p)
			}
			q.send(b, "")
		}
		push("first\n")
		synctest.Wait() // the writer is stuck with it
		for i := range 1000 {
			push(fmt.Sprintf("message %d\n", i))
		}
		push("head", strings.Repeat("B", 3*bigWrite+5), "tail\n")
		push("last\n")
		close(w.gate)
		q.close()
		<-q.done
		if w.bytes.String() != want.String() {
			t.Error("the bytes changed")
		}
		// The first; the thousand with the head; the big one in four; the rest.
		if w.writes != 7 || w.sizes[2] != bigWrite {
			t.Errorf("%d writes of %v", w.writes, w.sizes)
		}
	})
}

// Progress of one item is sent at most ten times a second, the latest of it,
// and never after item/completed. Other items and other notifications are not
// held up, and none of those is lost.
func TestProgressIsCoalesced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		p := initialized(t, f, Options{})
		progress := func(item protocol.CallID, n int) {
			protocol.ItemProgress.Send(f.editor, &protocol.ItemProgressNotification{ItemID: item, Progress: float64(n)})
		}
		progress("a", 1)
		synctest.Wait()
		progress("b", 1)
		for i := 2; i <= 1000; i++ {
			progress("a", i)
		}
		f.editor.Notify("warning", &protocol.WarningNotification{Message: "between"})
		p.want(`"itemId":"a","message":"","progress":1}`, `"itemId":"b" … "progress":1}`, "between")
		time.Sleep(progressInterval)
		p.want(`"itemId":"a","message":"","progress":1000}`)
		time.Sleep(progressInterval)
		progress("a", 1001)
		p.want(`"progress":1001}`)
		progress("a", 1002)
		progress("b", 2)
		protocol.ItemCompleted.Send(f.editor, &protocol.ItemCompletedNotification{Item: protocol.Item{ID: "a"}})
		p.want(`"itemId":"b" … "progress":2}`, `"method":"item/completed"`)
		time.Sleep(time.Second)
		p.want()
		// 2 … 999 were replaced, 1002 came to nothing.
		if n := p.counters.Coalesced.Load(); n != 999 {
			t.Errorf("%d coalesced", n)
		}
		if n := len(f.editor.(*editor).queue.slow); n != 0 {
			t.Errorf("%d throttles are left", n)
		}
		count := 0
		for range 500 {
			progress("c", count)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		for _, l := range p.got() {
			if !strings.Contains(l, `"itemId":"c"`) {
				t.Errorf("unexpected %s", l)
			}
			count++
		}
		if count < 49 || count > 51 {
			t.Errorf("%d in five seconds", count)
		}
	})
}

// Progress that an editor does not read is replaced in the queue, and what is
// held back is written at the end.
func TestProgressOfSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		p := connectMute(t, f, Options{})
		p.send(initLine)
		synctest.Wait()
		for i := range 9_950 { // not at the end of an interval
			protocol.ItemProgress.Send(f.editor, &protocol.ItemProgressNotification{ItemID: "a", Progress: float64(i)})
			time.Sleep(time.Millisecond)
		}
		go p.read()
		synctest.Wait()
		protocol.ItemProgress.Send(f.editor, &protocol.ItemProgressNotification{ItemID: "a", Progress: -1})
		p.want(`"id":"init"`, `"progress":9949`)
		p.in.Close()
		p.ending(time.Minute)
		p.want(`"progress":-1`)
		if n := p.counters.Coalesced.Load(); n != 9949 {
			t.Errorf("%d coalesced", n)
		}
	})
}

// When the editor reads slowly at the end, Serve waits for it within the
// drain.
func TestSlowReaderAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		big := `"` + strings.Repeat("y", 1<<20) + `"`
		p := connectMute(t, &fake{call: func(context.Context, *protocol.ServerToolCallParams) (*protocol.ServerToolCallResult, error) {
			r := protocol.ServerToolCallResult(big)
			return &r, nil
		}}, Options{})
		p.send(initLine, callLine("1", "{}"))
		p.in.Close()
		time.Sleep(20 * time.Second)
		if !p.running() {
			t.Fatalf("Serve did not wait: %+v", <-p.ended)
		}
		all, err := io.ReadAll(p.out)
		if err != nil || !strings.HasSuffix(string(all), `{"jsonrpc":"2.0","id":1,"result":`+big+"}\n") {
			t.Errorf("%d bytes, %v", len(all), err)
		}
		if e := p.ending(0); e.How != EndOfInput {
			t.Errorf("ended with %+v", e)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		p := connectMute(t, &fake{}, Options{})
		p.send(initLine)
		p.in.Close()
		if e := p.ending(time.Minute); e.How != EditorGone || !errors.Is(e.Cause, errUnread) {
			t.Errorf("ended with %+v", e)
		}
	})
}
