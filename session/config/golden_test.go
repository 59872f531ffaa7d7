package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The whole rendering of a configuration: effective values masked, origin of
// each, and every complaint. Run with -update to rewrite the golden files.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/effective/*.toml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden inputs: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			src := base()
			src.UserFile = "config.toml"
			if strings.Contains(file, "layers") {
				src.Overrides = []string{"mcp_servers.docs.enabled=false"}
				src.Initialize = json.RawMessage(`{"mcp_servers":{"docs":{"env":{"REGION":"us"}}}}`)
				src.Thread = json.RawMessage(`{"idle_timeout_sec":0,"mcp_servers":{"extra":{"url":"http://localhost:1/mcp"}}}`)
			}
			if strings.Contains(file, "approvals") {
				src.Overrides = []string{`approval_rules=[{server="flags",action="ask"}]`}
				src.Initialize = json.RawMessage(`{"approval_templates":{"docs":{"bye":""}},"approval_rules":[{"action":"allow","tool":"read_*"}]}`)
				src.Thread = json.RawMessage(`{"approval_templates.docs.more":"More?","approval_rules":[]}`)
			}
			cfg := mustLoad(t, src, strings.ReplaceAll(string(data), "\r\n", "\n"))
			got := render(t, cfg)
			if strings.Contains(got, "S3CRET") || strings.Contains(got, "k-value-1") {
				for line := range strings.Lines(got) {
					if strings.Contains(line, "S3CRET") || strings.Contains(line, "k-value-1") {
						t.Errorf("a secret is shown: %s", line)
					}
				}
			}
			golden := strings.TrimSuffix(file, ".toml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
				t.Errorf("differs from %s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

func render(t *testing.T, cfg *Config) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, cfg.Effective(), "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteString("\n\norigins\n")
	origins := cfg.Origins()
	for _, k := range sortedKeys(origins) {
		fmt.Fprintf(&b, "%s: %s\n", k, origins[k])
	}
	b.WriteString("\nproblems\n" + lines(cfg.Problems))
	for i := range cfg.Servers {
		s := &cfg.Servers[i]
		fmt.Fprintf(&b, "\n%v enabled=%v origin=%v\n%s", s, s.Enabled, s.Origin, lines(s.Invalid))
	}
	return b.String()
}
