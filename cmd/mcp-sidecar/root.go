package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-sidecar/mcp-sidecar/schema"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
	"github.com/mcp-sidecar/mcp-sidecar/session/thread"
)

// version is the build's version; a release sets it with -ldflags -X.
var version = "0.1.0-dev"

// app is what the sub-commands share: the process's streams and the flags that
// all of them take.
type app struct {
	in       io.Reader
	out, err io.Writer

	configFile string
	overrides  []string
	strict     bool
	log        logFlags
	drain      time.Duration
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "mcp-sidecar",
		Short: "Manage MCP servers for an editor over stdio",
		Long: "mcp-sidecar manages MCP servers for an editor that speaks line-delimited JSON-RPC 2.0\n" +
			"with it on stdin and stdout. Without a sub-command it serves.",
		Args:          cobra.NoArgs,
		Version:       versionLine(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context()) },
	}
	root.SetVersionTemplate("mcp-sidecar {{.Version}}\n")
	flags := root.PersistentFlags()
	flags.StringVar(&a.configFile, "config", "", "read this file instead of the user's config.toml")
	flags.StringArrayVarP(&a.overrides, "set", "c", nil, "set a key of the configuration: -c key=value")
	flags.BoolVar(&a.strict, "strict", false, "end with code 3 when the configuration has problems")
	flags.StringVar(&a.log.level, "log-level", envOr("MCP_SIDECAR_LOG", "warn"), "trace, debug, info, warn, error or disabled")
	flags.StringVar(&a.log.format, "log-format", "auto", "auto (text on a terminal, else json), text or json")
	flags.StringVar(&a.log.file, "log-file", "", "write the log to this file instead of stderr; {{.pid}} is the process id")
	root.Flags().DurationVar(&a.drain, "drain-timeout", 30*time.Second, "how long requests that were read are answered after stdin has ended")
	root.AddCommand(a.callCommand(), a.listCommand(), a.demoCommand(), a.demoServerCommand(), a.runScriptCommand(), a.scriptedServerCommand(),
		generateCommand("generate-ts", "Write the TypeScript types of the protocol", schema.WriteTS),
		generateCommand("generate-json-schema", "Write the JSON Schema of the protocol", schema.WriteJSONSchema))
	return root
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// versionLine is the version with the commit, where the build knows it.
func versionLine() string {
	line := version
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				line += " (" + s.Value[:12] + ")"
			}
		}
	}
	return line + " " + runtime.GOOS + "/" + runtime.GOARCH
}

// sources says where the configuration is read.
func (a *app) sources() config.Sources {
	env := config.Environ(os.Environ())
	src := config.Sources{UserFile: config.DefaultUserFile(runtime.GOOS, env), Overrides: a.overrides, Env: env}
	if a.configFile != "" {
		src.UserFile, src.Explicit = a.configFile, true
		if abs, err := filepath.Abs(a.configFile); err == nil {
			src.UserFile = abs
		}
	}
	if cwd, err := os.Getwd(); err == nil {
		src.Cwd = cwd
	}
	if home, err := os.UserHomeDir(); err == nil {
		src.UserHome = home
	}
	return src
}

// home is the folder for the sidecar's own state: that of the user's
// config.toml, whatever --config says.
func (a *app) home() string {
	file := config.DefaultUserFile(runtime.GOOS, config.Environ(os.Environ()))
	if file == "" {
		return filepath.Join(os.TempDir(), "mcp-sidecar")
	}
	return filepath.Dir(file)
}

// check reads the configuration once, so that what can't be meant at all is a
// usage error and, with --strict, problems are fatal.
func (a *app) check(src config.Sources) error {
	src.WorkspaceFolder = src.Cwd // as long as no editor names one
	cfg, err := config.Load(src)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if !a.strict {
		return nil
	}
	problems := thread.Warnings(cfg)
	for _, p := range problems {
		fmt.Fprintf(a.err, "mcp-sidecar: %s\n", p.Summary)
	}
	if len(problems) > 0 {
		return &exitError{code: exitConfig}
	}
	return nil
}
