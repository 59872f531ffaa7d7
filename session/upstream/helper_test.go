//go:build unix

package upstream

import (
	"strings"
	"testing"
)

// The helper's headers are taken, and none of what it prints shows up in an
// error.
func TestHeadersHelper(t *testing.T) {
	got, err := runHelper(t.Context(), `echo '{"x-api-key":"s3cret","Accept-Language":"de"}'`)
	if err != nil || got["X-Api-Key"] != "s3cret" || len(got) != 2 {
		t.Errorf("got %v, %v", got, err)
	}
	for command, want := range map[string]string{
		`echo s3cret; echo s3cret >&2; exit 3`: "exit status 3",
		`echo '["s3cret"]'`:                    "no JSON object of strings",
		`echo '{"a":1}'`:                       "no JSON object of strings",
		`head -c 100000 /dev/zero | tr '\0' s`: "more than 65536 bytes",
		`no-such-command-s3cret 2>/dev/null`:   "exit status 127",
	} {
		_, err := runHelper(t.Context(), command)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want %q", command, err, want)
		}
	}
}
