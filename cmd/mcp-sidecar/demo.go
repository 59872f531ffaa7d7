package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/mcp-sidecar/mcp-sidecar/conformance/demo"
)

// demoCommand plays a conversation with this program as the sidecar.
func (a *app) demoCommand() *cobra.Command {
	var interactive, full bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Play an editor against a sidecar and two servers, and show every line",
		Long: "Play an editor against a sidecar and two small servers that are part of this program, and show\n" +
			"every line that goes either way. Nothing of your own configuration is read or changed, and\n" +
			"nothing is left behind. The exit code is 1 when anything is not as it should be.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := os.Executable()
			if err != nil {
				return &exitError{exitFailure, fmt.Errorf("demo: finding this program: %w", err)}
			}
			err = demo.Run(cmd.Context(), demo.Options{
				Sidecar: self, Self: self, Out: a.out, Stderr: a.err, Interactive: interactive, In: a.in, Echo: !isTerminal(a.in),
				Color: isTerminal(a.out) && os.Getenv("NO_COLOR") == "", Full: full,
			})
			if err != nil {
				return &exitError{exitFailure, err}
			}
			return nil
		},
	}
	cmd.Flags().BoolVarP(&interactive, "interactive", "i", false, "answer the questions yourself")
	cmd.Flags().BoolVar(&full, "full", false, "show long lines whole")
	return cmd
}

// demoServerCommand serves one of the two servers of the demo.
func (a *app) demoServerCommand() *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:    "demo-server",
		Short:  "Serve the demo's notes over stdio, or its town over HTTP",
		Args:   cobra.NoArgs,
		Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if addr == "" {
				if err := demo.ServeStdio(cmd.Context(), a.in, a.out); err != nil {
					return &exitError{exitFailure, err}
				}
				return nil
			}
			url, done, err := demo.ServeHTTP(cmd.Context(), addr)
			if err != nil {
				return &exitError{exitFailure, err}
			}
			fmt.Fprintln(a.out, url)
			<-done
			return nil
		},
	}
	cmd.Flags().StringVar(&addr, "http", "", "serve over Streamable HTTP at this address, such as 127.0.0.1:8080")
	return cmd
}
