package binding

import (
	"fmt"
	"testing"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// BenchmarkFreeze freezes 40 servers of 50 tools, those of the captured
// catalogues in turn.
func BenchmarkFreeze(b *testing.B) {
	servers := manyServers(b, 40, 50)
	for _, format := range formats {
		b.Run(string(format), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				frozen := Freeze(Input{Servers: servers, Model: protocol.ModelSettings{Format: format}})
				if len(frozen.Tools()) != 40*50 {
					b.Fatal(len(frozen.Tools()))
				}
			}
		})
	}
}

func BenchmarkParseCatalog(b *testing.B) {
	server := manyServers(b, 1, 50)[0]
	items := rawList()
	size := 0
	for _, t := range server.Catalog.Tools {
		items = append(items, t.Raw)
		size += len(t.Raw)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		ParseCatalog("s", items, false)
	}
}

func manyServers(tb testing.TB, servers, tools int) []Server {
	var all []Tool
	for _, s := range captured(tb)[1:] {
		all = append(all, s.Catalog.Tools...)
	}
	var many []Server
	next := 0
	for i := range servers {
		items := rawList()
		for range tools {
			o, _ := parseObject(all[next%len(all)].Raw)
			items = append(items, o.with("name", fmt.Appendf(nil, `"tool_%d"`, next)).bytes())
			next++
		}
		name := protocol.ServerName(fmt.Sprintf("server_%d", i))
		many = append(many, Server{Name: name, Instructions: "Use them.", Catalog: ParseCatalog(name, items, false)})
	}
	return many
}
