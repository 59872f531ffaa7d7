package real

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	// suiteTime bounds a run of the suite, scenarioTime one of its scenarios.
	// The driver's own bound is below that, so that it can say what it waits for.
	suiteTime    = 8 * time.Minute
	scenarioTime = 3 * time.Minute

	// expectedFailures names the scenarios that may fail.
	expectedFailures = "expected-failures.yml"

	// played is what the driver prints at the end of a scenario.
	played = "the scenario was played to its end"
)

// withoutLogin are the scenarios of each requirement set that need no OAuth:
// the sidecar passes all of them.
var withoutLogin = map[string][]string{
	"2025-11-25": {
		"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", "json-schema-2020-12-preservation",
	},
	"2026-07-28": {
		"tools_call", "request-metadata", "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers",
		"http-invalid-tool-headers", "json-schema-ref-no-deref", "json-schema-2020-12-preservation",
	},
}

// A verdict is the suite's line about one scenario.
type verdict struct {
	scenario               string
	passed, failed, warned int // checks
}

func (v verdict) good() bool { return v.passed > 0 && v.failed == 0 && v.warned == 0 }

// The sidecar does what the official suite asks of a client, in both
// revisions. Scenarios that need OAuth are expected to fail, at the login.
func TestOfficialSuite(t *testing.T) {
	needServers(t)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			out := t.TempDir()
			verdicts := runSuite(t, revision, out)
			var others []string
			for _, v := range verdicts {
				if strings.HasPrefix(v.scenario, "auth/") {
					if text := kept(t, out, v.scenario, "stderr.txt"); !v.good() && !strings.Contains(text, "kind=authRequired") {
						t.Errorf("%s did not fail for want of a login:\n%s", v.scenario, text)
					}
					continue
				}
				others = append(others, v.scenario)
				if !v.good() || !strings.Contains(kept(t, out, v.scenario, "stdout.txt"), played) {
					t.Errorf("%s: %d checks passed, %d failed, %d warnings; the driver said:\n%s", v.scenario, v.passed, v.failed, v.warned,
						kept(t, out, v.scenario, "stderr.txt"))
				}
			}
			want := slices.Sorted(slices.Values(withoutLogin[revision]))
			if slices.Sort(others); !slices.Equal(others, want) {
				t.Errorf("without a login there were %v, want %v", others, want)
			}
		})
	}
}

var (
	color       = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	verdictLine = regexp.MustCompile(`(?m)^[✓✗] (\S+): (\d+) passed, (\d+) failed(?:, (\d+) warnings)?$`)
)

// runSuite runs a requirement set and returns what became of its scenarios. Its
// closing lines go to the test's log.
func runSuite(t *testing.T, revision, out string) []verdict {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), suiteTime, fmt.Errorf("not done within %s", suiteTime))
	defer cancel()
	cmd := exec.CommandContext(ctx, nodePath, filepath.Join("node_modules", "@modelcontextprotocol", "conformance", "dist", "index.js"),
		"client", "--command", `"`+driverPath+`"`, "--requirements", revision, "--expected-failures", expectedFailures,
		"--timeout", strconv.FormatInt(scenarioTime.Milliseconds(), 10), "-o", out)
	cmd.Env = append(os.Environ(), "MCP_SIDECAR_BINARY="+sidecarPath,
		"PATH="+filepath.Dir(nodePath)+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.WaitDelay = 10 * time.Second // drivers hold the pipes
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("the suite fails: %v", errors.Join(err, context.Cause(ctx)))
	}
	_, closing, ok := strings.Cut(string(said), "=== SUITE SUMMARY ===")
	if !ok {
		t.Fatalf("the suite did not come to its end:\n%s", said)
	}
	var verdicts []verdict
	good := 0
	for _, m := range verdictLine.FindAllStringSubmatch(closing, -1) {
		v := verdict{scenario: m[1]}
		for i, n := range []*int{&v.passed, &v.failed, &v.warned} {
			if m[i+2] != "" {
				*n, err = strconv.Atoi(m[i+2])
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		if v.good() {
			good++
		}
		verdicts = append(verdicts, v)
	}
	t.Logf("%s: %d scenarios, %d passed without a failed check\n%s", revision, len(verdicts), good, color.ReplaceAllString(strings.TrimSpace(closing), ""))
	return verdicts
}

// kept returns what the suite kept of a scenario.
func kept(t *testing.T, out, scenario, file string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(out, filepath.FromSlash(scenario)+"-20*", file))
	if err != nil || len(found) != 1 {
		t.Fatalf("of %s there are %v, %v", scenario, found, err)
	}
	text, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Only scenarios that need OAuth may be expected to fail.
func TestExpectedFailures(t *testing.T) {
	text, err := os.ReadFile(expectedFailures)
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(text), "\nclient:\n")
	if !ok || list == "" {
		t.Fatal("there is no list of clients' scenarios")
	}
	for line := range strings.Lines(list) {
		if !regexp.MustCompile(`^  - auth/[a-z0-9-]+\n$`).MatchString(line) {
			t.Errorf("%q needs no login", line)
		}
	}
}
