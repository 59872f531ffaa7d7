package process

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// An outPipe is the read side of a child's stdout. After the end of the child
// it ends too, once a reader has waited in vain: a grandchild may hold the
// other side open for ever, and nobody will answer on it any more.
type outPipe struct {
	file    *os.File
	reading atomic.Bool  // a Read is under way
	count   atomic.Int64 // bytes read
	ended   chan struct{}
	once    sync.Once // closes ended
}

func newOutPipe(file *os.File) *outPipe {
	return &outPipe{file: file, ended: make(chan struct{})}
}

// Read reads what the child wrote. The end of the child, and Close, read as
// io.EOF.
func (p *outPipe) Read(b []byte) (int, error) {
	p.reading.Store(true)
	n, err := p.file.Read(b)
	p.count.Add(int64(n))
	p.reading.Store(false)
	if err != nil {
		p.end()
		if errors.Is(err, os.ErrClosed) {
			err = io.EOF
		}
	}
	return n, err
}

// Close ends a Read under way.
func (p *outPipe) Close() error {
	p.end()
	return p.file.Close()
}

func (p *outPipe) end() { p.once.Do(func() { close(p.ended) }) }

// drain returns when the pipe has ended, when a reader waited ExitGrace for
// nothing, or after exitDrain. It is called when the child is gone, so what a
// busy reader has not taken yet is not lost.
func (p *outPipe) drain() {
	tick := time.NewTicker(ExitGrace)
	defer tick.Stop()
	for range exitDrain / ExitGrace {
		before := p.count.Load()
		select {
		case <-p.ended:
			return
		case <-tick.C:
		}
		if p.reading.Load() && p.count.Load() == before {
			return
		}
	}
}
