package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/drive"
	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/fast"
	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/figures"
	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/usage"
)

// A testCase is one thing that is measured, of several targets.
type testCase struct {
	name    string
	targets []string
	measure func(*setup, plan, testCase) ([]figures.Row, error)

	// Of the cases that put a load on targets:
	era     string // "" is over HTTP
	load    drive.Load
	text    int // the size of the text that the arguments have, if not 0
	figures []figure
}

// A figure is a number of a case.
type figure struct {
	what string
	aim  figures.Aim
	of   func(drive.Sample) float64 // nil: the target's peak memory, at the end
}

var (
	everybody = []string{ours, plain, sdk, codex}
	overHTTP  = []string{ours, sdk, codex}
	asModel   = []string{byLLM, plain, sdk}
	asSDK     = []string{ours, plain, sdk}
)

// aimed returns f with an aim relative to the relay.
func (f figure) aimed(factor float64) figure {
	f.aim = figures.Aim{Factor: factor, Of: plain}
	return f
}

var (
	p50     = figure{what: "us, p50", of: func(s drive.Sample) float64 { return s.P50 }}
	p99     = figure{what: "us, p99", of: func(s drive.Sample) float64 { return s.P99 }}
	perCall = figure{what: "us each", of: func(s drive.Sample) float64 { return s.PerCall }}
	cpu     = figure{what: "us of CPU", of: func(s drive.Sample) float64 { return s.CPU }}
	millis  = figure{what: "ms, p50", of: func(s drive.Sample) float64 { return s.P50 / 1e3 }}
	cpuMs   = figure{what: "ms of CPU", of: func(s drive.Sample) float64 { return s.CPU / 1e3 }}
	peak    = figure{what: "MiB at peak"}
)

// The aims. A call costs at most twice the relay's time alone and four times
// its CPU among many; what is big costs little more than the relay.
const (
	aimLatency = 2
	aimCPU     = 4
	aimBig     = 2
	aimPeak    = 80 // MiB
	aimStart   = 10 // ms
	aimBinary  = 20 // MB
)

const (
	mb    = 1_000_000
	bigMB = 10
	many  = 64
)

// cases are all that is measured, in the order of the table.
func cases() []testCase {
	return []testCase{
		calls("call, 1 in flight", everybody, eraLegacy, 1, p50.aimed(aimLatency), p99, cpu),
		calls("call, 8 in flight", everybody, eraLegacy, 8, perCall, cpu),
		calls("call, 64 in flight", everybody, eraLegacy, many, perCall, cpu.aimed(aimCPU), peak),
		calls("model's call, 1 in flight", asModel, eraLegacy, 1, p50.aimed(aimLatency), cpu),
		calls("model's call, 64 in flight", asModel, eraLegacy, many, perCall, cpu.aimed(aimCPU)),
		calls("call, 2026-07-28, 1 in flight", asSDK, eraModern, 1, p50.aimed(aimLatency), cpu),
		calls("call, 2026-07-28, 64 in flight", asSDK, eraModern, many, perCall, cpu.aimed(aimCPU)),
		result("result of 1 MB", everybody, eraLegacy, 1, millis.aimed(aimBig), cpuMs, peak),
		result("result of 10 MB", everybody, eraLegacy, bigMB, millis.aimed(aimBig), cpuMs, peak.most(aimPeak)),
		result("model's result of 10 MB", asModel, eraLegacy, bigMB, millis.aimed(aimBig), cpuMs, peak.most(aimPeak)),
		argument("argument of 1 MB", everybody, 1, millis, cpuMs, peak),
		argument("argument of 10 MB", everybody, bigMB, millis, cpuMs, peak),
		calls("call over HTTP, 1 in flight", overHTTP, "", 1, p50, p99, cpu),
		calls("call over HTTP, 64 in flight", overHTTP, "", many, perCall, cpu),
		result("result of 10 MB over HTTP", overHTTP, "", bigMB, millis, cpuMs, peak),
		{name: "start", targets: everybody, measure: measureStart},
		{name: "binary", targets: everybody, measure: measureBinary},
	}
}

func (f figure) most(n float64) figure {
	f.aim = figures.Aim{Most: n}
	return f
}

func calls(name string, targets []string, era string, inFlight int, fs ...figure) testCase {
	return testCase{name: name, targets: targets, measure: measureLoad, era: era, figures: fs,
		load: drive.Load{Tool: fast.Echo, Arguments: json.RawMessage(`{"message":"hello"}`), InFlight: inFlight, Calls: inFlight}}
}

func result(name string, targets []string, era string, megabytes int, fs ...figure) testCase {
	return testCase{name: name, targets: targets, measure: measureLoad, era: era, figures: fs,
		load: drive.Load{Tool: fast.Big, Arguments: json.RawMessage(fmt.Sprintf(`{"bytes":%d}`, megabytes*mb)), InFlight: 1, Calls: 2}}
}

func argument(name string, targets []string, megabytes int, fs ...figure) testCase {
	return testCase{name: name, targets: targets, measure: measureLoad, era: eraLegacy, figures: fs,
		text: megabytes * mb, load: drive.Load{Tool: fast.Sink, InFlight: 1, Calls: 2}}
}

// measureLoad puts the load on targets of the case's own, in turns.
func measureLoad(s *setup, p plan, c testCase) ([]figures.Row, error) {
	if c.text > 0 {
		c.load.Arguments, _ = json.Marshal(map[string]string{"text": fast.Text(c.text)}) // a string has JSON
	}
	// The SDK runs in this process. With what the last case left behind it would
	// have a large heap and hardly ever collect.
	runtime.GC()
	server := s.stdio(c.era)
	if c.era == "" {
		var err error
		if server, err = s.web(); err != nil {
			return nil, err
		}
	}
	names := s.present(c.targets)
	targets := make([]drive.Target, len(names))
	for i, name := range names {
		t, err := s.open(name, server)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		defer t.Close()
		targets[i] = t
	}
	rows := newRows(c)
	for round := range p.rounds + 1 { // the first warms up
		for i := range names {
			i = (i + round) % len(names) // each is the first one once
			load := c.load
			if load.For = p.slice; round == 0 {
				load.For /= 4
			}
			sample, err := targets[i].Run(load)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", names[i], err)
			}
			if round == 0 {
				continue
			}
			for j, f := range c.figures {
				if f.of != nil {
					add(rows[j], names[i], f.of(sample))
				}
			}
		}
	}
	for i, name := range names {
		m, ok := usage.Of(targets[i].PID())
		for j, f := range c.figures {
			if f.of == nil && ok {
				add(rows[j], name, mib(m.Peak))
			}
		}
	}
	return rows, nil
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func newRows(c testCase) []figures.Row {
	var rows []figures.Row
	for _, f := range c.figures {
		rows = append(rows, figures.Row{Name: c.name, What: f.what, Aim: f.aim, Cells: map[string]figures.Cell{}})
	}
	return rows
}

// add puts a value into a row; 0 is what could not be measured.
func add(row figures.Row, target string, value float64) {
	if target == byLLM {
		target = ours
	}
	if value != 0 {
		row.Cells[target] = append(row.Cells[target], value)
	}
}

// measureStart starts processes, greets them and makes a first call.
func measureStart(s *setup, p plan, c testCase) ([]figures.Row, error) {
	c.figures = []figure{
		figure{what: "ms to the reply to initialize"}.most(aimStart),
		{what: "ms to the first result"},
		{what: "MiB after it"},
	}
	rows := newRows(c)
	names := s.present(c.targets)
	for range p.rounds * p.starts {
		for _, name := range names {
			if err := startOnce(s, name, rows); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return rows, nil
}

func startOnce(s *setup, name string, rows []figures.Row) error {
	begin := time.Now()
	since := func() float64 { return float64(time.Since(begin).Microseconds()) / 1e3 }
	var t drive.Target
	server := s.stdio(eraLegacy)
	if name == sdk {
		client, err := drive.NewSDK(server.argv, "")
		if err != nil {
			return err
		}
		t = client
	} else {
		process, err := s.spawn(name, server)
		if err != nil {
			return err
		}
		if err := initialize(process); err != nil {
			return err
		}
		add(rows[0], name, since())
		if err := s.ready(name, process); err != nil {
			return err
		}
		t = process
	}
	defer t.Close()
	if _, err := t.Run(drive.Load{Tool: fast.Echo, Arguments: json.RawMessage(`{"message":"hello"}`), InFlight: 1, Calls: 1}); err != nil {
		return err
	}
	add(rows[1], name, since())
	if m, ok := usage.Of(t.PID()); ok && t.PID() != 0 {
		add(rows[2], name, mib(m.Now))
	}
	return nil
}

// measureBinary weighs the programs.
func measureBinary(s *setup, _ plan, c testCase) ([]figures.Row, error) {
	c.figures = []figure{figure{what: "MB"}.most(aimBinary)}
	rows := newRows(c)
	for name, path := range map[string]string{ours: s.sidecar, codex: s.codex} {
		if path == "" {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		add(rows[0], name, float64(info.Size())/mb)
	}
	return rows, nil
}
