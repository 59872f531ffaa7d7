package rpc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A round trip over real pipes: a request with arguments of the given size,
// whose result is the arguments. peak-x is the most that the heap grew, in
// sizes of the message; it counts garbage, so it depends on the collector.
func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{200, 1 << 20, 10 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			inR, inW, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			outR, outW, err := os.Pipe()
			if err != nil {
				b.Fatal(err)
			}
			done := make(chan Ending, 1)
			go func() {
				done <- Serve(b.Context(), inR, outW, func(protocol.Editor) protocol.Sidecar { return &fake{call: echo} }, Options{})
			}()
			replies := bufio.NewReaderSize(outR, 1<<16)
			skip := func() {
				for {
					if _, err := replies.ReadSlice('\n'); err == nil {
						return
					} else if err != bufio.ErrBufferFull {
						b.Fatal(err)
					}
				}
			}
			io.WriteString(inW, initLine+"\n")
			skip()
			line := callLine("1", `{"x":"`+strings.Repeat("y", max(0, size-110))+`"}`) + "\n"
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			peak := watchHeap(b)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				go io.WriteString(inW, line)
				skip()
			}
			b.StopTimer()
			if size >= 1<<20 {
				b.ReportMetric((float64(peak())-float64(before.HeapAlloc))/float64(size), "peak-x")
			}
			inW.Close()
			<-done
		})
	}
}

// watchHeap samples the heap until the returned function is called.
func watchHeap(b *testing.B) func() uint64 {
	var most atomic.Uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), m.HeapAlloc))
			}
		}
	}()
	return func() uint64 { close(stop); <-stopped; return most.Load() }
}

// Many requests in a row, none waited for.
func BenchmarkPipelined(b *testing.B) {
	in, w := io.Pipe()
	r, out := io.Pipe()
	done := make(chan Ending, 1)
	go func() {
		done <- Serve(b.Context(), in, out, func(protocol.Editor) protocol.Sidecar { return &fake{call: echo} }, Options{MaxInFlight: 1 << 30, QueueBytes: 1 << 40})
	}()
	go io.Copy(io.Discard, r)
	line := []byte(strings.Replace(callLine("1", `{"path":"/home/me/project/main.go","limit":100}`), `"id":1,`, ``, 1) + "\n")
	io.WriteString(w, initLine+"\n")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.Write(append([]byte(fmt.Sprintf(`{"id":%d,`, i)), line[1:]...))
	}
	w.Close()
	<-done
}
