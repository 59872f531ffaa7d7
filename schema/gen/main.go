// Command gen writes the published contract, or checks that it is up to date.
//
//	go run ./schema/gen          write the files in schema/published
//	go run ./schema/gen -check   name those that are stale; exit 1 if any is
//
// It is run anywhere inside the repository.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/mcp-sidecar/mcp-sidecar/schema"
)

// command is what to run when a file is stale.
const command = "go run ./schema/gen"

func main() {
	dir, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
	os.Exit(run(os.Args[1:], dir, os.Stderr))
}

// run does the work from the folder dir and returns the exit code: 0, 1 for
// stale files and what can't be read or written, 2 for a wrong use.
func run(args []string, dir string, stderr io.Writer) int {
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	check := flags.Bool("check", false, "compare with the files instead of writing them")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	if flags.NArg() > 0 {
		fmt.Fprintf(stderr, "gen: unexpected argument %q\n", flags.Arg(0))
		return 2
	}
	root, err := moduleRoot(dir)
	if err != nil {
		fmt.Fprintln(stderr, "gen:", err)
		return 1
	}
	files, err := render(filepath.Join(root, "protocol"))
	if err != nil {
		fmt.Fprintln(stderr, "gen:", err)
		return 1
	}
	code := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(root, "schema", "published", name)
		if *check {
			if old, err := os.ReadFile(path); err != nil || !bytes.Equal(old, files[name]) {
				fmt.Fprintf(stderr, "gen: schema/published/%s is stale; run: %s\n", name, command)
				code = 1
			}
			continue
		}
		if err := os.WriteFile(path, files[name], 0o666); err != nil {
			fmt.Fprintln(stderr, "gen:", err)
			code = 1
		}
	}
	return code
}

func render(protocol string) (map[string][]byte, error) {
	comments, err := schema.ReadComments(os.DirFS(protocol))
	if err != nil {
		return nil, err
	}
	model, err := schema.Build(comments)
	if err != nil {
		return nil, err
	}
	return schema.Render(model)
}

// moduleRoot returns the folder with go.mod, at dir or above.
func moduleRoot(dir string) (string, error) {
	for d := dir; ; d = filepath.Dir(d) {
		_, err := os.Stat(filepath.Join(d, "go.mod"))
		switch {
		case err == nil:
			return d, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("looking for go.mod: %w", err)
		case d == filepath.Dir(d):
			return "", fmt.Errorf("looking for go.mod: %s is in no module", dir)
		}
	}
}
