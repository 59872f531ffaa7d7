package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// headerTimeout bounds the headers of a request to the town server.
const headerTimeout = 10 * time.Second

// ServeStdio serves notes to one client until in ends or ctx does.
func ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	closer, ok := in.(io.ReadCloser)
	if !ok {
		closer = io.NopCloser(in)
	}
	err := notesServer().Run(ctx, &mcp.IOTransport{Reader: closer, Writer: keepOpen{out}})
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		return fmt.Errorf("demo: serving notes over stdio: %w", err)
	}
	return nil
}

// keepOpen is a writer that others close.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// ServeHTTP serves town at addr, such as "127.0.0.1:0", until ctx ends, and
// returns at once with its address. done is closed when all has ended.
func ServeHTTP(ctx context.Context, addr string) (url string, done <-chan struct{}, err error) {
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("demo: serving town over HTTP: %w", err)
	}
	town := townServer()
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return town }, nil))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout}
	ended := make(chan struct{})
	go func() { // ends with ctx
		defer close(ended)
		stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // streams never end by themselves
		defer stop()
		_ = server.Serve(l) // it says that it was closed
	}()
	return "http://" + l.Addr().String() + "/mcp", ended, nil
}
