package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A key that this version does not act on is not taken in silence.
func TestKeysWithoutEffectAreTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.toml")
	text := "idle_timeout_sec = 5\n[[approval_rules]]\naction = 'deny'\n[approval_templates.a]\nt = ''\n[mcp_servers.a]\ncommand = 'x'\nexposure = 'deferred'\n[mcp_servers.b]\nurl = 'http://h'\nscopes = ['s']\nexposure = 'hidden'\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(Sources{UserFile: file, Cwd: "/"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range cfg.Problems {
		if p.Message == noEffect {
			got = append(got, p.Key)
		}
	}
	want := []string{"idle_timeout_sec", "mcp_servers.a.exposure", "mcp_servers.b.scopes"}
	if !slices.Equal(got, want) {
		t.Errorf("told of %s, want %s", strings.Join(got, ", "), strings.Join(want, ", "))
	}
}
