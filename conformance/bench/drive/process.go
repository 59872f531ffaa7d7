package drive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/lines"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
)

// endTime is how long a process may take to end when its input has.
const endTime = 5 * time.Second

// oneWrite is the size up to which a request goes out in one write.
const oneWrite = 64 << 10

// A Process is a target that speaks lines of JSON-RPC on stdio.
type Process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *lines.Reader
	stderr bytes.Buffer
	last   int64 // id
	line   []byte
	// Request makes the method and params of a call of a tool.
	Request func(tool string, arguments json.RawMessage) (method string, params any)
}

// Start starts a process in a folder with nothing but env around it.
func Start(argv, env []string, dir string) (*Process, error) {
	p := &Process{cmd: exec.Command(argv[0], argv[1:]...)}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr = env, dir, &p.stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, lines.NewReader(out)
	return p, p.cmd.Start()
}

// PID implements Target.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Close implements Target.
func (p *Process) Close() {
	_ = p.in.Close()
	kill := time.AfterFunc(endTime, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	for { // what it still says must not keep it
		if _, err := p.out.Next(); err != nil {
			break
		}
	}
	_ = p.cmd.Wait() // however it ended
}

// Call sends a request and reads its result into result.
func (p *Process) Call(method string, params, result any) error {
	tail, err := tailOf(method, params)
	if err != nil {
		return err
	}
	if err := p.send(tail); err != nil {
		return err
	}
	line, _, err := p.reply()
	if err != nil {
		return err
	}
	var reply struct {
		Result, Error json.RawMessage
	}
	if err := json.Unmarshal(line, &reply); err != nil {
		return err
	}
	if reply.Error != nil || result == nil {
		if reply.Error != nil {
			return fmt.Errorf("drive: %s: %s", method, reply.Error)
		}
		return nil
	}
	return json.Unmarshal(reply.Result, result)
}

// Notify sends a notification without params.
func (p *Process) Notify(method string) error {
	_, err := fmt.Fprintf(p.in, "{\"jsonrpc\":\"2.0\",\"method\":%q}\n", method)
	return err
}

// Run implements Target.
func (p *Process) Run(l Load) (Sample, error) {
	method, params := p.Request(l.Tool, l.Arguments)
	tail, err := tailOf(method, params)
	if err != nil {
		return Sample{}, err
	}
	first := p.last + 1
	var sentAt []time.Time
	w := startWatch(l, p.PID())
	send := func() error {
		sentAt = append(sentAt, time.Now())
		return p.send(tail)
	}
	for range l.InFlight {
		if err := send(); err != nil {
			return Sample{}, err
		}
	}
	for got := 0; got < len(sentAt); got++ {
		line, id, err := p.reply()
		if err != nil {
			return Sample{}, err
		}
		if id < first || id > p.last || !succeeded(line) {
			return Sample{}, errReply(line)
		}
		w.took(time.Since(sentAt[id-first]))
		if w.more(len(sentAt)) {
			if err := send(); err != nil {
				return Sample{}, err
			}
		}
	}
	return w.sample(), nil
}

// tailOf is a request's line from behind its id.
func tailOf(method string, params any) ([]byte, error) {
	b := rawjson.AppendString([]byte(`,"method":`), method)
	b, err := rawjson.Append(append(b, `,"params":`...), params)
	return append(b, "}\n"...), err
}

func (p *Process) send(tail []byte) error {
	p.last++
	b := strconv.AppendInt(append(p.line[:0], `{"jsonrpc":"2.0","id":`...), p.last, 10)
	if len(tail) <= oneWrite {
		b = append(b, tail...)
		tail = nil
	}
	p.line = b
	_, err := p.in.Write(b)
	if err == nil && tail != nil {
		_, err = p.in.Write(tail)
	}
	if err != nil {
		return p.gone(err)
	}
	return nil
}

// reply returns the next line that is a reply, and its id.
func (p *Process) reply() ([]byte, int64, error) {
	for {
		line, err := p.out.Next()
		if err != nil {
			return nil, 0, p.gone(err)
		}
		if id, ok := replyID(line); ok {
			return line, id, nil
		}
	}
}

func (p *Process) gone(err error) error {
	_ = p.cmd.Process.Signal(os.Kill)
	_ = p.cmd.Wait() // so that all of stderr is there
	return fmt.Errorf("drive: %s: %w\n%s", p.cmd.Path, err, p.stderr.Bytes())
}

var (
	version = []byte(`"jsonrpc":"2.0",`)
	idKey   = []byte(`"id":`)
)

// replyID returns the id of a reply: of a line that begins with a whole number
// as its id, with or without a version before it, and goes on with anything but
// a method.
func replyID(line []byte) (int64, bool) {
	rest, ok := bytes.CutPrefix(line, []byte{'{'})
	if !ok {
		return 0, false
	}
	rest = bytes.TrimPrefix(rest, version)
	if rest, ok = bytes.CutPrefix(rest, idKey); !ok {
		return 0, false
	}
	i, id := 0, int64(0)
	for i < len(rest) && '0' <= rest[i] && rest[i] <= '9' {
		id = 10*id + int64(rest[i]-'0')
		i++
	}
	return id, i > 0 && !bytes.HasPrefix(rest[i:], []byte(`,"method"`))
}

// succeeded reports whether a reply is the result of a tool that did its work.
func succeeded(line []byte) bool {
	const head = 200
	start := line[:min(len(line), head)]
	return bytes.Contains(start, []byte(`"result":`)) && !bytes.Contains(start, []byte(`"isError":true`)) &&
		!bytes.Contains(start, []byte(`"status":"failed"`)) && !bytes.Contains(start, []byte(`"status":"declined"`))
}
