package binding

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
)

// A Server is one server of a thread.
type Server struct {
	Name protocol.ServerName
	// Instructions is the server's own text about its tools.
	Instructions string
	// Catalog is nil while the server has none. Such servers are worth giving:
	// their names take part in telling namespaces apart, so that no name
	// changes when they arrive.
	Catalog *Catalog
	Rules   Rules
}

// Input is what a Binding is made of.
type Input struct {
	// Servers are those of the thread, in any order, with different names; of
	// two with one name the first counts.
	Servers []Server
	// Pending are the servers that are still to come. They are passed on, and
	// have no part in the fingerprint.
	Pending []protocol.PendingServer
	Model   protocol.ModelSettings
}

// bytesPerToken is the estimate of what a specification costs a model.
const bytesPerToken = 4

// Freeze makes the Binding for one step of a model: the only way to one.
//
// A tool that the configuration leaves out, that is over the model's maxTools
// (the last ones by server and raw name) or that could not be read is in
// Omitted. Tools that are left out by the configuration have no part in names;
// hidden ones and those over maxTools have.
func Freeze(in Input) *Binding {
	servers := slices.Clone(in.Servers)
	slices.SortStableFunc(servers, func(a, b Server) int { return cmp.Compare(a.Name, b.Name) })
	servers = slices.CompactFunc(servers, func(a, b Server) bool { return a.Name == b.Name })

	f := freezer{dialect: dialectOf(in.Model), maxTools: in.Model.MaxTools}
	f.binding.Format = f.dialect.format
	f.binding.Tools = []protocol.BoundTool{}
	f.binding.Namespaces = []protocol.Namespace{}
	f.binding.Omitted = []protocol.OmittedTool{}
	f.binding.Pending = append([]protocol.PendingServer{}, in.Pending...)
	slices.SortFunc(f.binding.Pending, func(a, b protocol.PendingServer) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.State, b.State))
	})

	owners := make([]owner, len(servers))
	allowed := make([][]*Tool, len(servers))
	total := 0
	for i := range servers {
		s := &servers[i]
		allowed[i] = f.allowed(s)
		total += len(allowed[i])
		owners[i] = owner{server: s.Name, prefix: !s.Rules.NoPrefix}
		for _, t := range allowed[i] {
			owners[i].tools = append(owners[i].tools, t.Name)
		}
	}
	f.binding.Tools = make([]protocol.BoundTool, 0, total)
	namespaces, toolNames := names(owners, nameLimit(in.Model))
	for i := range servers {
		f.bind(&servers[i], namespaces[i], allowed[i], toolNames[i])
	}
	return f.finish()
}

type freezer struct {
	dialect  dialect
	maxTools int64
	binding  protocol.Binding
	tools    []*Tool // what binding.Tools are made of
}

func (f *freezer) omit(o protocol.OmittedTool) { f.binding.Omitted = append(f.binding.Omitted, o) }

// allowed returns the tools of s that the configuration lets through, by raw
// name, and tells the others.
func (f *freezer) allowed(s *Server) []*Tool {
	if s.Catalog == nil {
		return nil
	}
	for _, o := range s.Catalog.Omitted {
		o.Server = s.Name
		f.omit(o)
	}
	if s.Catalog.Truncated {
		f.omit(protocol.OmittedTool{Server: s.Name, Reason: ReasonTruncated})
	}
	allowed := make([]*Tool, 0, len(s.Catalog.Tools))
	for i := range s.Catalog.Tools {
		t := &s.Catalog.Tools[i]
		if reason := s.Rules.Refuses(t.Name); reason != "" {
			f.omit(protocol.OmittedTool{Server: s.Name, Tool: t.Name, Reason: reason})
			continue
		}
		allowed = append(allowed, t)
	}
	slices.SortFunc(allowed, func(a, b *Tool) int { return cmp.Compare(a.Name, b.Name) })
	return allowed
}

// bind adds the tools of one server under their names.
func (f *freezer) bind(s *Server, namespace string, tools []*Tool, names []string) {
	bound := 0
	for i, t := range tools {
		exposure := s.Rules.exposure(t)
		if exposure == protocol.ExposureDirect {
			if f.maxTools > 0 && f.binding.Totals.Direct >= f.maxTools {
				f.omit(protocol.OmittedTool{Server: s.Name, Tool: t.Name, Reason: ReasonMaxTools})
				continue
			}
			f.binding.Totals.Direct++
		}
		flat := namespace + nameSeparator + names[i]
		spec := f.dialect.spec(t, names[i], flat)
		hints := s.Rules.HintsOf(t)
		outlook := protocol.OutlookAsk
		if s.Rules.Outlook != nil {
			outlook = s.Rules.Outlook(t, hints)
		}
		made := t.derived()
		f.binding.Tools = append(f.binding.Tools, protocol.BoundTool{
			Name:           names[i],
			Namespace:      namespace,
			Flat:           flat,
			Server:         s.Name,
			Tool:           t.Name,
			Exposure:       exposure,
			Spec:           spec.spec,
			Annotations:    hints,
			ParallelSafe:   s.Rules.ParallelSafe(hints),
			Approval:       outlook,
			DefinitionHash: made.hash,
			SchemaBytes:    int64(spec.schemaBytes),
			ApproxTokens:   tokens(len(spec.spec)),
			Changes:        spec.changes,
			UI:             made.ui,
		})
		f.tools = append(f.tools, t)
		bound++
	}
	if bound > 0 {
		f.binding.Namespaces = append(f.binding.Namespaces, protocol.Namespace{
			Name: namespace, Server: s.Name, Instructions: strings.TrimSpace(s.Instructions)})
	}
}

func tokens(bytes int) int64 { return int64(bytes+bytesPerToken-1) / bytesPerToken }

func (f *freezer) finish() *Binding {
	v := f.binding
	slices.SortStableFunc(v.Omitted, func(a, b protocol.OmittedTool) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool))
	})
	v.Specs = f.dialect.list(v.Tools, v.Namespaces)
	v.Totals.Tools = int64(len(v.Tools))
	for i := range v.Tools {
		if v.Tools[i].Exposure == protocol.ExposureDirect {
			v.Totals.SchemaBytes += v.Tools[i].SchemaBytes
		}
	}
	listed := 0
	for _, s := range v.Specs {
		listed += len(s)
	}
	v.Totals.ApproxTokens = tokens(listed)
	v.Fingerprint = fingerprint(&v)
	return newBinding(v, f.tools)
}
