package schema

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// The types compile under the strictest settings, a typed client fits on a
// page, and it can't be misused (testdata/typescript/client.ts). Needs tsc on
// the PATH; the module itself depends on no compiler.
func TestTypeScriptCompiles(t *testing.T) {
	tsc, err := exec.LookPath("tsc")
	if err != nil {
		t.Skip("there is no TypeScript compiler (tsc) on the PATH")
	}
	out, err := exec.Command(tsc, "--noEmit", "--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes",
		"--target", "es2022", "--lib", "es2022", "--module", "esnext", "--moduleResolution", "bundler",
		filepath.Join("testdata", "typescript", "client.ts"), filepath.Join("published", FileTS)).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
