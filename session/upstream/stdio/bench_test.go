package stdio

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// benchServer answers over real pipes: server/discover as the SDK likes it, and
// anything else with result. It does as little as it can.
func benchServer(b *testing.B, result string) (io.ReadCloser, io.WriteCloser) {
	inR, inW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	go func() { // ends when the client closes its side
		defer outW.Close()
		in := bufio.NewReaderSize(inR, 64<<10)
		var out []byte
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			out = append(out[:0], `{"jsonrpc":"2.0","id":`...)
			if i := bytes.Index(line, []byte(`"id":`)); i >= 0 {
				rest := line[i+len(`"id":`):]
				out = append(out, rest[:bytes.IndexAny(rest, ",}")]...)
			} else {
				continue
			}
			out = append(out, `,"result":`...)
			if bytes.Contains(line, []byte(methodDiscover)) {
				out = append(out, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`...)
			} else {
				out = append(out, result...)
			}
			outW.Write(append(out, "}\n"...))
		}
	}()
	b.Cleanup(func() {
		inW.Close()
		outR.Close()
	})
	return outR, inW
}

func benchResult(size int) string {
	return `{"resultType":"complete","content":[{"type":"text","text":"` + strings.Repeat(`some text with \"quotes\" \n`, size/27) + `"}]}`
}

var benchSizes = []struct {
	name string
	size int
}{{"small", 27}, {"1MB", 1 << 20}, {"10MB", 10 << 20}}

const benchParams = `{"name":"t","arguments":{"n":1}}`

// BenchmarkCall puts three ways of one call beside each other: the pipes alone,
// our Call, and CallTool of the SDK over its own transport, which decodes.
func BenchmarkCall(b *testing.B) {
	for _, size := range benchSizes {
		result := benchResult(size.size)
		b.Run(size.name+"/pipe", func(b *testing.B) {
			r, w := benchServer(b, result)
			in := bufio.NewReaderSize(r, 64<<10)
			b.SetBytes(int64(len(result)))
			for b.Loop() {
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`+"\n", benchParams)
				for {
					_, err := in.ReadSlice('\n')
					if err == nil {
						break
					}
					if err != bufio.ErrBufferFull {
						b.Fatal(err)
					}
				}
			}
		})
		b.Run(size.name+"/conn", func(b *testing.B) {
			r, w := benchServer(b, result)
			c := New(r, w, Options{})
			defer c.Close()
			b.SetBytes(int64(len(result)))
			b.ReportAllocs()
			for b.Loop() {
				raw, err := c.Call(b.Context(), "tools/call", []byte(benchParams))
				if err != nil || len(raw) != len(result) {
					b.Fatal(len(raw), err)
				}
			}
		})
		b.Run(size.name+"/sdk", func(b *testing.B) {
			r, w := benchServer(b, result)
			session, err := mcp.NewClient(testClient, nil).Connect(b.Context(), &mcp.IOTransport{Reader: r, Writer: w}, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer session.Close()
			b.SetBytes(int64(len(result)))
			b.ReportAllocs()
			for b.Loop() {
				res, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "t", Arguments: map[string]any{"n": 1}})
				if err != nil || len(res.Content) != 1 {
					b.Fatal(err)
				}
			}
		})
	}
}
