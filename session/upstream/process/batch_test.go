package process

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const testShell = `C:\Windows\System32\cmd.exe`

func TestBatchLine(t *testing.T) {
	got, err := batchLine(testShell, `C:\Program Files\nodejs\npx.cmd`, []string{"-y", "a b", "", `q"t`, `end\`, `C:\x`, `sp ace\`, "a&b", "ü"})
	want := `"C:\Windows\System32\cmd.exe" /e:ON /v:OFF /d /s /c ""C:\Program Files\nodejs\npx.cmd" -y "a b" "" "q""t" end\ C:\x "sp ace\\" "a&b" "ü""`
	if err != nil || got != want {
		t.Errorf("batchLine = %s, %v\nwant %s", got, err, want)
	}
}

// What cmd.exe would change is refused, and the argument is not shown.
func TestBatchLineRefuses(t *testing.T) {
	for _, bad := range []string{"%PATH%", "a!b", "a\nb", "a\rb", "a\x00b"} {
		_, err := batchLine(testShell, `C:\x.cmd`, []string{"ok", "s3cret" + bad})
		var unsafe *UnsafeArgumentError
		if !errors.As(err, &unsafe) || unsafe.Index != 1 || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("batchLine(%q) = %v, want an UnsafeArgumentError for argument 1 without its text", bad, err)
		}
	}
	var unsafe *UnsafeArgumentError
	if _, err := batchLine(testShell, `C:\100%\x.cmd`, nil); !errors.As(err, &unsafe) || unsafe.Index != -1 {
		t.Errorf("batchLine with such a path = %v", err)
	}
}

// Whatever is not refused arrives: cmd.exe sees no special character outside
// quotes, and the program behind the batch file reads the same arguments.
func FuzzBatchLine(f *testing.F) {
	f.Add("plain", `a "quoted" word`)
	f.Add(`trailing\`, `\\server\share\`)
	f.Add(`&|<>^()`, `\"`)
	f.Add("", `""`)
	f.Add(`a\\"b`, " ")
	f.Fuzz(func(t *testing.T, a, b string) {
		line, err := batchLine(testShell, `C:\x.cmd`, []string{a, b})
		if err != nil {
			if !strings.ContainsAny(a+b, "%!\r\n\x00") {
				t.Fatalf("refused %q %q: %v", a, b, err)
			}
			return
		}
		inner := line[strings.Index(line, ` /c "`)+len(` /c "`) : len(line)-1]
		quoted := false
		for i := range len(inner) {
			switch c := inner[i]; {
			case c == '"':
				quoted = !quoted
			case !quoted && strings.IndexByte("&|<>^()%!,;=\t", c) >= 0:
				t.Fatalf("%q outside quotes in %s", c, inner)
			}
		}
		if got := splitWindows(inner); !slices.Equal(got, []string{`C:\x.cmd`, a, b}) {
			t.Fatalf("%s is read as %q, want %q", inner, got, []string{a, b})
		}
	})
}

// splitWindows splits a command line as the C runtime of Windows does.
func splitWindows(line string) []string {
	var args []string
	for i := 0; i < len(line); {
		for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
			i++
		}
		if i == len(line) {
			break
		}
		var arg []byte
		for quoted := false; i < len(line) && (quoted || line[i] != ' ' && line[i] != '\t'); i++ {
			slashes := 0
			for i < len(line) && line[i] == '\\' {
				slashes++
				i++
			}
			if i == len(line) || line[i] != '"' {
				arg = append(arg, strings.Repeat(`\`, slashes)...)
				i--
				if slashes == 0 {
					i++
					arg = append(arg, line[i])
				}
				continue
			}
			arg = append(arg, strings.Repeat(`\`, slashes/2)...)
			switch {
			case slashes%2 == 1:
				arg = append(arg, '"')
			case quoted && i+1 < len(line) && line[i+1] == '"':
				arg = append(arg, '"')
				i++
			default:
				quoted = !quoted
			}
		}
		args = append(args, string(arg))
	}
	return args
}

func TestNpmScript(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "node_modules", "npm", "bin", "npx-cli.js")
	if got := npmScript(filepath.Join(dir, "npx.cmd")); got != "" {
		t.Errorf("npmScript without the script = %q", got)
	}
	writeFile(t, script, "", 0o644)
	if got := npmScript(filepath.Join(dir, "NPX.CMD")); got != script {
		t.Errorf("npmScript = %q, want %q", got, script)
	}
	if got := npmScript(filepath.Join(dir, "other.cmd")); got != "" {
		t.Errorf("npmScript of another shim = %q", got)
	}
}
