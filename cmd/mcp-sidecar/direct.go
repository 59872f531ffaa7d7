package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-sidecar/mcp-sidecar/elicit"
	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config"
)

// direct is a session in this process with one thread, for the sub-commands.
type direct struct {
	sidecar protocol.Sidecar
	thread  protocol.ThreadID
}

// open starts a session and a thread with the servers of the configuration, or
// only some of them, and waits until they are ready or have failed.
func (a *app) open(ctx context.Context, only []protocol.ServerName, unasked bool) (*direct, func(), error) {
	src := a.sources()
	if err := a.check(src); err != nil {
		return nil, nil, err
	}
	log, closeLog, err := a.log.open(a.err)
	if err != nil {
		return nil, nil, err
	}
	ctx = log.WithContext(ctx)
	person := newTerminal(a.in, a.err)
	home := newProcess(a, log)
	s := home.session(ctx, src, person, nil)
	end := func() {
		home.end(s)
		closeLog()
	}
	fail := func(err error) (*direct, func(), error) {
		end()
		return nil, nil, &exitError{exitFailure, err}
	}
	if _, err := s.Initialize(ctx, &protocol.InitializeParams{
		ClientInfo: protocol.ClientInfo{Name: "mcp-sidecar", Version: version}, Capabilities: person.capabilities(),
	}); err != nil {
		return fail(err)
	}
	p := &protocol.ThreadStartParams{WaitForServersMs: time.Hour.Milliseconds()} // each has its own limit
	if only != nil {
		p.Servers = &protocol.ServerSelection{Include: only}
	}
	if unasked {
		p.ApprovalPolicy, p.Sandbox = protocol.ApprovalPolicy(`"never"`), protocol.SandboxFullAccess
	}
	r, err := s.ThreadStart(ctx, p)
	if err != nil {
		return fail(err)
	}
	return &direct{s, r.Thread.ID}, end, nil
}

// callCommand calls one tool.
func (a *app) callCommand() *cobra.Command {
	var raw, yes bool
	cmd := &cobra.Command{
		Use:   "call SERVER TOOL [JSON]",
		Short: "Call a tool of a configured server",
		Long: "Call a tool of a configured server with JSON arguments; \"-\" reads them from stdin.\n" +
			"A tool that needs an approval is asked for on the terminal, and so is what its server asks.\n" +
			"--yes runs the tool unasked, unless a rule insists, and declines what its server asks.\n" +
			"The exit code is 1 when the call fails or the tool reports an error.",
		Example: "  mcp-sidecar call files read_file '{\"path\":\"README.md\"}'",
		Args:    cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			var arguments json.RawMessage
			if len(args) == 3 {
				text := args[2]
				if text == "-" {
					all, err := io.ReadAll(a.in)
					if err != nil {
						return &exitError{exitFailure, err}
					}
					text = string(all)
				}
				arguments = json.RawMessage(strings.TrimSpace(text))
				if !json.Valid(arguments) || !strings.HasPrefix(string(arguments), "{") {
					return fmt.Errorf("the arguments must be a JSON object, such as '{\"path\":\"README.md\"}'")
				}
			}
			if err := a.configured(args[0]); err != nil {
				return err
			}
			server := protocol.ServerName(args[0])
			d, end, err := a.open(cmd.Context(), []protocol.ServerName{server}, yes)
			if err != nil {
				return err
			}
			defer end()
			result, err := d.sidecar.ServerToolCall(cmd.Context(), &protocol.ServerToolCallParams{
				ThreadID: d.thread, Server: server, Tool: protocol.ToolName(args[1]), Arguments: arguments,
			})
			if err != nil {
				var e *protocol.Error
				if errors.As(err, &e) && e.Data.Hint == "" {
					switch {
					case e.Data.Reason == protocol.ReasonClientUnsupported:
						e.WithHint("call it from a terminal to be asked, or with --yes to run it unasked")
					case e.Data.Reason == protocol.ReasonPolicyNever && yes:
						e.WithHint("a rule of approval_rules wants a person to be asked, and --yes does not overrule it; call it from a terminal, without --yes")
					}
				}
				return &exitError{exitFailure, explained(err)}
			}
			return a.printResult(json.RawMessage(*result), raw)
		},
	}
	cmd.Flags().BoolVar(&raw, "json", false, "print the raw result")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "run the tool without asking")
	return cmd
}

// configured returns an error that names the servers there are, unless name is
// one of them.
func (a *app) configured(name string) error {
	cfg, err := config.Load(a.sources())
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if _, ok := cfg.Server(name); ok {
		return nil
	}
	names := make([]string, len(cfg.Servers))
	for i := range cfg.Servers {
		names[i] = strconv.Quote(cfg.Servers[i].Name)
	}
	if len(names) == 0 {
		return &exitError{exitFailure, fmt.Errorf("no server %q: none is configured in %s", name, a.sources().UserFile)}
	}
	return &exitError{exitFailure, fmt.Errorf("no server %q is configured; there are %s", name, strings.Join(names, ", "))}
}

// explained adds an error's hint.
func explained(err error) error {
	var e *protocol.Error
	if errors.As(err, &e) && e.Data.Hint != "" {
		return fmt.Errorf("%w\n  hint: %s", err, e.Data.Hint)
	}
	return err
}

// printResult prints the texts of a result, or all of it raw.
func (a *app) printResult(raw json.RawMessage, asJSON bool) error {
	var r struct {
		Content []struct {
			Type, Text, MIMEType string
		} `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
	}
	asText, asLine := func(s string) string { return s }, func(raw json.RawMessage) string { return string(raw) }
	if isTerminal(a.out) { // else some program reads it, and wants what the server said
		asText = func(s string) string { return elicit.CleanLines(s, maxShownResult) }
		asLine = func(raw json.RawMessage) string { return shownJSON(raw, maxShownResult) }
	}
	if err := json.Unmarshal(raw, &r); err != nil || asJSON {
		fmt.Fprintln(a.out, asLine(raw))
	} else {
		for _, block := range r.Content {
			if block.Type == "text" {
				fmt.Fprintln(a.out, asText(block.Text))
			} else {
				fmt.Fprintf(a.out, "(%s %s: see --json)\n", onLine(block.Type), onLine(block.MIMEType))
			}
		}
		if len(r.Content) == 0 && r.Structured != nil {
			fmt.Fprintln(a.out, asLine(r.Structured))
		}
	}
	if r.IsError {
		return &exitError{code: exitFailure}
	}
	return nil
}

// listCommand lists servers and their tools.
func (a *app) listCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list [SERVER...]",
		Short: "Start the configured servers and list their tools",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			var only []protocol.ServerName
			for _, name := range args {
				only = append(only, protocol.ServerName(name))
			}
			d, end, err := a.open(cmd.Context(), only, false)
			if err != nil {
				return err
			}
			defer end()
			status, err := d.sidecar.ServerStatusList(cmd.Context(), &protocol.ServerStatusListParams{ThreadID: d.thread, Limit: 1 << 20})
			if err != nil {
				return &exitError{exitFailure, err}
			}
			frozen, err := d.sidecar.BindingFreeze(cmd.Context(), &protocol.BindingFreezeParams{ThreadID: d.thread})
			if err != nil {
				return &exitError{exitFailure, err}
			}
			if asJSON {
				enc := json.NewEncoder(a.out)
				enc.SetEscapeHTML(false)
				enc.SetIndent("", "  ")
				if err := enc.Encode(map[string]any{"servers": status.Data, "binding": frozen.Binding}); err != nil {
					return &exitError{exitFailure, err}
				}
				return nil
			}
			return a.printList(status.Data, &frozen.Binding, args)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print everything as JSON")
	return cmd
}

func (a *app) printList(servers []protocol.ServerStatus, b *protocol.Binding, asked []string) error {
	if len(servers) == 0 && len(asked) == 0 {
		fmt.Fprintf(a.err, "no servers are configured in %s\n", a.sources().UserFile)
		return nil
	}
	known := map[string]bool{}
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, s := range servers {
		known[string(s.Name)] = true
		fmt.Fprintf(w, "%s\t%s\t%s\t\n", onLine(string(s.Name)), s.RuntimeStatus, onLine(s.Era))
		if s.LastError != nil {
			fmt.Fprintf(w, "  %s: %s\n", s.LastError.Kind, onLine(s.LastError.Error)) // no cell: it would widen the column
		}
		for _, t := range b.Tools {
			if t.Server == s.Name {
				name := t.Flat
				if t.Exposure == protocol.ExposureHidden {
					name = "(hidden from the model)"
				}
				fmt.Fprintf(w, "  %s\t%s\t%s\t\n", onLine(string(t.Tool)), t.Approval, name)
			}
		}
	}
	if err := w.Flush(); err != nil {
		return &exitError{exitFailure, err}
	}
	for _, name := range asked {
		if !known[name] {
			return &exitError{exitFailure, fmt.Errorf("no server %q is configured", name)}
		}
	}
	return nil
}
