package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
)

// A scripted stdio server of a real sidecar is a real process, but a hollow
// one: it passes its stdin to the runner over a loopback socket and does with
// its stdout, its stderr and itself what the runner says. So the same code
// plays the server in a bubble and for a process.

// greeting is what a hollow process says first.
type greeting struct {
	Token string   `json:"token"`
	Args  []string `json:"args"`
}

// An order is what the runner says to a hollow process. Exactly one member is
// there.
type order struct {
	Out   []byte  `json:"out,omitempty"` // to stdout, whole lines
	Err   *string `json:"err,omitempty"` // a line to stderr
	Close bool    `json:"close,omitempty"`
	Exit  *int    `json:"exit,omitempty"`
}

// ScriptedServerMain is the main function of a hollow process: a program that
// [RunProcess] starts calls it with the arguments that follow those of
// ProcessOptions.Relay, and ends with the code that it returns.
//
// Its goroutine that reads in ends with in, or with the process.
func ScriptedServerMain(args []string, in io.Reader, out, errOut io.Writer) int {
	const failed = 70
	if len(args) < 2 {
		fmt.Fprintln(errOut, "scripted server: want an address and a token")
		return failed
	}
	conn, err := net.Dial("tcp", args[0])
	if err != nil {
		fmt.Fprintf(errOut, "scripted server: %v\n", err)
		return failed
	}
	defer conn.Close()
	if err := json.NewEncoder(conn).Encode(greeting{Token: args[1], Args: args[2:]}); err != nil {
		fmt.Fprintf(errOut, "scripted server: %v\n", err)
		return failed
	}
	go func() {
		_, _ = io.Copy(conn, in) // whatever ends it, the runner sees the end
		if half, ok := conn.(*net.TCPConn); ok {
			_ = half.CloseWrite()
		}
	}()
	orders := json.NewDecoder(conn)
	for {
		var o order
		if err := orders.Decode(&o); err != nil {
			return failed // the runner is gone
		}
		switch {
		case o.Exit != nil:
			return *o.Exit
		case o.Close:
			if c, ok := out.(io.Closer); ok {
				_ = c.Close()
			}
		case o.Err != nil:
			fmt.Fprintln(errOut, *o.Err)
		default:
			_, _ = out.Write(o.Out) // a sidecar that is gone is no matter
		}
	}
}

// A relay is the runner's end: it plays servers for hollow processes.
//
// Goroutines: one accepts, and ends with the listener; one for each process,
// which ends with its connection; those of its run.
type relay struct {
	listener net.Listener
	token    string
	find     func(args []string) (*server, error)
	ctx      context.Context
	all      sync.WaitGroup
}

func (r *relay) serve() {
	defer r.all.Wait()
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.all.Go(func() {
			if err := r.play(conn); err != nil {
				text := "scripted server: " + err.Error()
				one := 1
				orders := json.NewEncoder(conn)
				_ = orders.Encode(order{Err: &text})
				_ = orders.Encode(order{Exit: &one})
			}
			_ = conn.Close()
		})
	}
}

// play plays the server of one process until it ends.
func (r *relay) play(conn net.Conn) error {
	stop := context.AfterFunc(r.ctx, func() { conn.Close() })
	defer stop()
	in := bufio.NewReaderSize(conn, 1<<16)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var hello greeting
	if err := json.Unmarshal(line, &hello); err != nil || hello.Token != r.token {
		return errors.New("not one of ours")
	}
	server, err := r.find(hello.Args)
	if err != nil {
		return err
	}
	var mu sync.Mutex // guards orders: output, stderr and the end come from several goroutines
	orders := json.NewEncoder(conn)
	say := func(o order) {
		mu.Lock()
		defer mu.Unlock()
		_ = orders.Encode(o) // a process that is gone is no matter
	}
	run := server.run(r.ctx, in, func(line []byte) {
		if line == nil {
			say(order{Close: true})
			return
		}
		say(order{Out: append(bytes.Clone(line), '\n')})
	}, func(line []byte) {
		text := string(line)
		say(order{Err: &text})
	}, func(code int) { say(order{Exit: &code}) })
	<-run.done
	// The process ends by itself now, and with it the connection.
	_, _ = io.Copy(io.Discard, in)
	return nil
}
