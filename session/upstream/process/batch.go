package process

import (
	"os"
	"path/filepath"
	"strings"
)

// Windows starts a batch file through cmd.exe, which reads the command line by
// rules of its own: quotes toggle, %NAME% is expanded even between quotes, and
// the batch file then hands %* on to a program that splits it once more. Go
// quotes for the second reader only, so we write the line ourselves. These
// functions are pure and are tested on every system.

// npmScript returns the JavaScript file that the npm shim at path runs, so that
// node can be started without cmd.exe in between; "" if path is no such shim.
func npmScript(path string) string {
	base := strings.ToLower(filepath.Base(path))
	var script string
	switch base {
	case "npx.cmd":
		script = "npx-cli.js"
	case "npm.cmd":
		script = "npm-cli.js"
	default:
		return ""
	}
	script = filepath.Join(filepath.Dir(path), "node_modules", "npm", "bin", script)
	if info, err := os.Stat(script); err != nil || info.IsDir() {
		return ""
	}
	return script
}

// batchLine returns the command line that makes shell, the path of cmd.exe,
// run script with args as they are. It refuses what cmd.exe would change.
func batchLine(shell, script string, args []string) (string, error) {
	var b strings.Builder
	// /e:ON extensions, /v:OFF no !NAME!, /d no AutoRun, /s strip just the
	// outer quotes, /c run and end.
	b.WriteString(`"` + shell + `" /e:ON /v:OFF /d /s /c "`)
	if bad, ok := unsafeForBatch(script); ok {
		return "", &UnsafeArgumentError{Script: script, Index: -1, Char: bad}
	}
	b.WriteString(`"` + script + `"`)
	for i, arg := range args {
		if bad, ok := unsafeForBatch(arg); ok {
			return "", &UnsafeArgumentError{Script: script, Index: i, Char: bad}
		}
		b.WriteByte(' ')
		b.WriteString(quoteBatch(arg))
	}
	b.WriteByte('"')
	return b.String(), nil
}

// unsafeForBatch returns the first character of s that no quoting protects.
func unsafeForBatch(s string) (rune, bool) {
	i := strings.IndexAny(s, "%!\r\n\x00")
	if i < 0 {
		return 0, false
	}
	return rune(s[i]), true
}

// quoteBatch quotes arg for cmd.exe and for the program behind the batch file.
// A quote is doubled: cmd.exe stays inside the quotes, and the C runtime reads
// two of them as one. Backslashes before a quote are doubled for the latter.
func quoteBatch(arg string) string {
	if arg != "" && strings.Trim(arg, batchPlain) == "" {
		return arg
	}
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for i := range len(arg) {
		switch c := arg[i]; c {
		case '\\':
			slashes++
		case '"':
			b.WriteString(strings.Repeat(`\`, slashes))
			b.WriteByte('"')
			slashes = 0
		default:
			slashes = 0
		}
		b.WriteByte(arg[i])
	}
	b.WriteString(strings.Repeat(`\`, slashes))
	b.WriteByte('"')
	return b.String()
}

// batchPlain are the characters that neither reader treats specially.
const batchPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#$*+-./:?@\\_"
