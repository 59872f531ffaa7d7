package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/mcp-sidecar/mcp-sidecar/conformance"
)

// scriptedServer is the sub-command whose process is a scripted server: see
// conformance.ProcessOptions.
const scriptedServer = "scripted-server"

// runScriptCommand plays a scripted conversation against a real sidecar.
func (a *app) runScriptCommand() *cobra.Command {
	var binary string
	var verbose bool
	cmd := &cobra.Command{
		Use:   "run-script FILE...",
		Short: "Play scripted conversations against a real sidecar",
		Long: "Play scripted conversations against a real sidecar process: this program, or the one\n" +
			"that --sidecar names. The language is described in the package conformance. The exit\n" +
			"code is 1 when something is not as a script says.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			self, err := os.Executable()
			if err != nil {
				return &exitError{exitFailure, err}
			}
			o := conformance.ProcessOptions{Binary: binary, Relay: []string{self, scriptedServer}, Log: io.Discard}
			if binary == "" {
				o.Binary = self
			}
			if verbose {
				o.Log = a.err
			}
			failed := 0
			for _, file := range files {
				script, err := conformance.ReadScript(file)
				if err == nil {
					err = conformance.RunProcess(cmd.Context(), script, o)
				}
				if err != nil {
					failed++
					fmt.Fprintf(a.out, "FAIL %s\n%v\n", filepath.ToSlash(file), err)
					continue
				}
				fmt.Fprintf(a.out, "ok   %s\n", filepath.ToSlash(file))
			}
			if failed > 0 {
				return &exitError{exitFailure, fmt.Errorf("%d of %d scripts failed", failed, len(files))}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&binary, "sidecar", "", "the sidecar to play against instead of this program")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "show the conversation on stderr")
	return cmd
}

// scriptedServerCommand is the process of a scripted server.
func (a *app) scriptedServerCommand() *cobra.Command {
	return &cobra.Command{
		Use: scriptedServer, Short: "Be a scripted server of run-script", Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if code := conformance.ScriptedServerMain(args, a.in, a.out, a.err); code != exitOK {
				return &exitError{code: code}
			}
			return nil
		},
	}
}
