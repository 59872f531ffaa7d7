package drive

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/figures"
	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/usage"
)

// A Load is calls of one tool with the same arguments.
type Load struct {
	Tool      string
	Arguments json.RawMessage
	InFlight  int
	// For is how long new calls are made; at least Calls are.
	For   time.Duration
	Calls int
}

// A Sample is what came of a Load, in microseconds.
type Sample struct {
	P50, P99 float64 // from sending a call to having its reply
	PerCall  float64 // the time in all by the number of calls
	CPU      float64 // of the target, for each call; 0 where not known
}

// A Target is something that calls tools of the server.
type Target interface {
	// Run puts a load on it.
	Run(Load) (Sample, error)
	// PID is its process, 0 if it is in this one.
	PID() int
	// Close ends it.
	Close()
}

// A watch takes the times of one Load.
type watch struct {
	load      Load
	pid       int
	begin     time.Time
	cpu       time.Duration
	latencies []float64
}

func startWatch(l Load, pid int) *watch {
	cpu, _ := usage.CPU(pid)
	return &watch{load: l, pid: pid, begin: time.Now(), cpu: cpu}
}

// more reports whether another call is to be made when sent were.
func (w *watch) more(sent int) bool {
	return sent < w.load.Calls || time.Since(w.begin) < w.load.For
}

func (w *watch) took(d time.Duration) { w.latencies = append(w.latencies, micros(d)) }

func (w *watch) sample() Sample {
	wall := time.Since(w.begin)
	n := float64(len(w.latencies))
	s := Sample{P50: figures.Median(w.latencies), P99: figures.Quantile(w.latencies, 0.99), PerCall: micros(wall) / n}
	if cpu, ok := usage.CPU(w.pid); ok {
		s.CPU = micros(cpu-w.cpu) / n
	}
	return s
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// errReply is a reply that is no result.
func errReply(line []byte) error {
	const most = 500
	return fmt.Errorf("drive: a call was not answered with a result: %.*s", most, line)
}
