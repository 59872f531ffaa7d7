// Command bench measures the sidecar against yardsticks, all in one run: a
// plain relay of lines, the Go SDK's client alone and, when the environment
// variable CODEX_BIN names a binary of Codex, `codex app-server`.
//
//	go run ./conformance/bench [-quick] [-rounds N] [-only REGEXP]
//
// It builds the sidecar and brings the rest along: started again as "bench
// server" it is the MCP server at the far end, as "bench relay" the relay. The
// targets take turns in short rounds, so that what else the machine does hits
// all alike. Shown are the median over the rounds and, in parentheses, the
// least; then how many times the others' median ours is, what is aimed at, and
// whether the aim was met. Ratios are what to look at: the figures themselves
// depend on the machine.
//
// CPU is what the target's own process used; what its server and the driver
// used is not in it. CPU and memory are shown on Linux only.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/fast"
	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/figures"
	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/relay"
	"github.com/mcp-sidecar/mcp-sidecar/conformance/bench/usage"
)

// The parts that the program plays when it is started again.
const (
	partServer = "server" // of stdio; "modern" knows the protocol without sessions
	partHTTP   = "http"   // prints its URL
	partRelay  = "relay"  // the rest is the server's command
)

func main() {
	var err error
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		err = play(os.Args[1], os.Args[2:])
	} else {
		err = bench()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// play is what a process started by the bench does.
func play(part string, args []string) error {
	server := &fast.Server{Modern: len(args) > 0 && args[0] == eraModern}
	switch part {
	case partServer:
		return server.Serve(os.Stdin, os.Stdout)
	case partHTTP:
		return server.ListenHTTP(os.Stdin, os.Stdout)
	case partRelay:
		return relay.Run(args, os.Stdin, os.Stdout)
	}
	return fmt.Errorf("unknown part %q", part)
}

// A plan says how much is measured.
type plan struct {
	rounds int
	slice  time.Duration // of one target, in one round of one case
	starts int           // processes started in a round
}

func bench() error {
	quick := flag.Bool("quick", false, "measure little, to see that it works")
	rounds := flag.Int("rounds", 0, "how often the targets take turns (5; 2 with -quick)")
	only := flag.String("only", "", "measure the cases that match this regular expression")
	flag.Parse()
	which, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	p := plan{rounds: 5, slice: 250 * time.Millisecond, starts: 5}
	if *quick {
		p = plan{rounds: 2, slice: 30 * time.Millisecond, starts: 2}
	}
	if *rounds > 0 {
		p.rounds = *rounds
	}
	s, err := newSetup()
	if err != nil {
		return err
	}
	defer s.close()
	begin := time.Now()
	fmt.Printf("%s %s/%s, %d CPUs%s; %d rounds; median (least)\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), loadText(), p.rounds)
	var rows []figures.Row
	for _, c := range cases() {
		if !which.MatchString(c.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s ...\n", c.name)
		got, err := c.measure(s, p, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		rows = append(rows, got...)
	}
	if err := figures.Write(os.Stdout, columns, rows); err != nil {
		return err
	}
	fmt.Printf("\n%.0f s%s\n", time.Since(begin).Seconds(), loadText())
	return nil
}

func loadText() string {
	if average, ok := usage.Load(); ok {
		return fmt.Sprintf(", load %.1f", average)
	}
	return ""
}
