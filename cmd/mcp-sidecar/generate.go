package main

import (
	"github.com/spf13/cobra"
)

// generateCommand returns a command that writes a part of the published
// contract into a folder.
func generateCommand(name, short string, write func(dir string) error) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use: name + " --out DIR", Short: short, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := write(dir); err != nil {
				return &exitError{exitFailure, err}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&dir, "out", "", "the folder to write to")
	_ = cmd.MarkFlagRequired("out") // the flag exists
	return cmd
}
