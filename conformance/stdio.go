package conformance

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"sync"
	"time"
)

// A run is one life of a scripted stdio server, without a process of its own.
//
// Goroutines: a reader, which ends with its input or when the run does; a
// writer, which ends with the run; one for each request, see peer.
type run struct {
	peer *peer
	// out takes a line to stdout, err one to stderr; nil closes stdout.
	out, err func(line []byte)
	ended    func(code int)

	lines chan []byte   // to the writer; nil closes stdout
	done  chan struct{} // closed when the run has ended
	once  sync.Once
}

// queuedLines is room for what a server writes faster than it is read.
const queuedLines = 4096

// run begins a life. in is the server's stdin; out is called by one goroutine at
// a time, errOut by any; ended is called once.
func (s *server) run(ctx context.Context, in io.Reader, out, errOut func(line []byte), ended func(code int)) *run {
	r := &run{out: out, err: errOut, ended: ended, lines: make(chan []byte, queuedLines), done: make(chan struct{})}
	r.peer = s.connect(ctx)
	r.peer.exit = r.exit
	r.peer.write = func(line string) { r.send([]byte(line)) }
	r.peer.stderr = func(line string) { r.err([]byte(line)) }
	r.peer.closeStdout = func() { r.send(nil) }
	r.peer.news = r.send
	go r.write()
	go r.read(in)
	return r
}

// send queues a line for stdout.
func (r *run) send(line []byte) {
	select {
	case r.lines <- line:
	case <-r.done:
	}
}

func (r *run) write() {
	for {
		select {
		case line := <-r.lines:
			r.out(line)
		case <-r.done:
			return
		}
	}
}

// exit ends the run. What was sent before is written first.
func (r *run) exit(code int) {
	r.once.Do(func() {
		for {
			select {
			case line := <-r.lines:
				r.out(line)
				continue
			default:
			}
			break
		}
		close(r.done)
		r.peer.leave()
		r.ended(code)
	})
}

func (r *run) read(in io.Reader) {
	start := r.peer.start
	if !sleep(r.peer.ctx, time.Duration(start.Delay)) {
		return
	}
	for _, line := range start.Stderr {
		r.err([]byte(line))
	}
	for _, line := range start.Stdout {
		if raw, err := unescape(line); err == nil {
			r.send(raw)
		}
	}
	if start.Exit != nil {
		r.exit(*start.Exit)
		return
	}
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			r.peer.receive(line, r.send, func() {})
		}
		if err != nil {
			r.exit(0) // as a good server does when its stdin ends
			return
		}
	}
}
