package config

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
)

// maxFile bounds config.toml. The largest seen in the wild hold 60 KiB.
const maxFile = 1 << 20

// Sources says what to read. The zero value gives the defaults and no servers.
type Sources struct {
	// UserFile is the path of config.toml, "" for none. A file that does not
	// exist is an empty layer.
	UserFile string
	// Explicit says that the person named UserFile (--config), so that it must
	// exist.
	Explicit bool
	// Overrides are the -c options, key=value each, in their order.
	Overrides []string
	// Initialize and Thread are JSON objects with the TOML keys; empty or null
	// is an empty layer.
	Initialize, Thread json.RawMessage

	// Env is the environment that ${env:…}, env_vars, bearer variables and
	// children draw on; see Environ.
	Env map[string]string
	// Cwd is the thread's working directory, absolute: the default cwd of
	// children, and what a relative cwd is seen from.
	Cwd string
	// WorkspaceFolder is ${workspaceFolder}, "" when there is none.
	WorkspaceFolder string
	// UserHome is ${userHome}, "" when not known.
	UserHome string
	// GOOS chooses the rules for paths and variable names; "" is this system.
	GOOS string
}

// Load reads and merges all layers. It fails only where nothing can be meant:
// an explicit file that cannot be read, a -c that is not key=value. All else
// is in the result: Problems, and each Server's Invalid.
func Load(src Sources) (*Config, error) {
	data, problem, err := readUserFile(src.UserFile, src.Explicit)
	if err != nil {
		return nil, err
	}
	cfg, err := load(src, data, problem)
	if err != nil {
		return nil, err
	}
	cfg.Problems = append(cfg.Problems, idleKeys(cfg.root)...)
	slices.SortStableFunc(cfg.Problems, compareProblems)
	return cfg, nil
}

// load is Load once the file is read, so that it can be tested without one.
func load(src Sources, file []byte, problem *Problem) (*Config, error) {
	if src.GOOS == "" {
		src.GOOS = runtime.GOOS
	}
	env := newEnvironment(src.GOOS, src.Env)
	l := &loader{
		src:    src,
		env:    env,
		fields: serverFields(),
		expand: expander{env: env, workspace: src.WorkspaceFolder, home: src.UserHome},
	}
	if problem != nil {
		l.problems = append(l.problems, *problem)
	}
	overrides, err := parseOverrides(src.Overrides)
	if err != nil {
		return nil, err
	}
	// The order of this list is the order of precedence; another layer is
	// another row.
	layers := []*node{
		defaults(),
		l.user(file),
		overrides,
		l.object(src.Initialize, LayerInitialize),
		l.object(src.Thread, LayerThread),
	}
	root := newTable(Origin{Layer: LayerDefaults})
	for i, layer := range layers {
		layers[i] = l.checkTop(layer)
		root = merge(root, layers[i])
	}
	if n := rulesNode(l.rules); n != nil {
		root.table[rulesKey] = n
	}
	cfg := &Config{root: root, ApprovalRules: l.rules}
	l.readTop(cfg)
	l.readServers(cfg, layers)
	slices.SortStableFunc(l.problems, compareProblems)
	cfg.Problems = l.problems
	return cfg, nil
}

// loader is the work of one Load.
type loader struct {
	src      Sources
	env      environment
	expand   expander
	fields   []serverField
	problems []Problem
	rules    []ApprovalRule // of the layers so far
}

// isField reports whether an entry has a key of this name.
func (l *loader) isField(name string) bool {
	return slices.ContainsFunc(l.fields, func(f serverField) bool { return f.name == name })
}

func (l *loader) warn(at Origin, key []string, msg, hint string) {
	l.problems = append(l.problems, Problem{Origin: at, Key: shownKey(key), Message: msg, Hint: hint})
}

func (l *loader) user(file []byte) *node {
	root, problem := parseTOML(file, LayerUser, l.src.UserFile)
	if problem != nil {
		l.problems = append(l.problems, *problem)
	}
	return root
}

func (l *loader) object(raw json.RawMessage, layer Layer) *node {
	root, err := parseJSON(raw, layer)
	if err != nil {
		l.warn(Origin{Layer: layer}, nil, err.Error(), "send an object with the keys of config.toml, such as mcp_servers")
	}
	return root
}

// readUserFile reads the file layer. A file that is not there is empty, unless
// the person asked for it; one that is there and cannot be read is a Problem.
func readUserFile(path string, explicit bool) ([]byte, *Problem, error) {
	if path == "" {
		if explicit {
			return nil, nil, errors.New("config: reading the configuration file: its name is empty")
		}
		return nil, nil, nil
	}
	data, err := readBounded(path)
	switch {
	case err == nil:
		return data, nil, nil
	case explicit:
		return nil, nil, fmt.Errorf("config: reading %s: %w", path, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	}
	return nil, &Problem{
		Origin:  Origin{Layer: LayerUser, Path: path},
		Message: "cannot be read: " + err.Error(),
		Hint:    "the file is ignored",
	}, nil
}

func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, reason(err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, errors.New("is a folder")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, reason(err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("is larger than %d bytes", maxFile)
	}
	return data, nil
}

// reason drops the path that os errors repeat.
func reason(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// layerOrder ranks the layers for sorting.
var layerOrder = []Layer{LayerDefaults, LayerUser, LayerFlags, LayerInitialize, LayerThread}

func compareProblems(a, b Problem) int {
	return cmp.Or(
		cmp.Compare(slices.Index(layerOrder, a.Layer), slices.Index(layerOrder, b.Layer)),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		strings.Compare(a.Key, b.Key),
		strings.Compare(a.Message, b.Message),
	)
}
