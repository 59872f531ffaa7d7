package keep

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/mcp-sidecar/mcp-sidecar/session/config/fileedit"
	"github.com/mcp-sidecar/mcp-sidecar/session/config/tomledit"
)

// Limits of the records.
const (
	maxRecords    = 1000
	maxDefinition = 4 << 10   // bytes of a definition's text; a larger one is kept as its hash
	maxTexts      = 512 << 10 // bytes of all of them
)

// fileName is the records' file in the state folder.
const fileName = "approvals.json"

// approve is the value that lets a tool run without asking (config's
// ApprovalApprove).
const approve = "approve"

// An Approval is one that was given for good.
type Approval struct {
	// File is the configuration file that lets the calls run, Path the key.
	File   string              `json:"file"`
	Path   []string            `json:"path"`
	Server protocol.ServerName `json:"server"`
	Tool   protocol.ToolName   `json:"tool"`
	// Declared is the digest of the server's entry; see config.Server.
	Declared string `json:"declared"`
	// DefinitionHash is the definition that was agreed to, Definition its text
	// (absent if it was too large to keep).
	DefinitionHash string          `json:"definitionHash"`
	Definition     json.RawMessage `json:"definition,omitzero"`
	At             time.Time       `json:"at"`
}

// ID names the approval: the same tool of the same file has the same one in
// every process.
func (a Approval) ID() string {
	h := sha256.New()
	for _, part := range append([]string{a.File}, a.Path...) {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return "keep-" + hex.EncodeToString(h.Sum(nil)[:8])
}

func (a Approval) is(file string, server protocol.ServerName, tool protocol.ToolName) bool {
	return a.File == file && a.Server == server && a.Tool == tool
}

// A Store is the approvals for good of one state folder. A nil Store has none
// and keeps none.
type Store struct {
	home string
	// writing is the right to keep and revoke; its capacity is 1. So what is
	// known follows the file in the order of the changes, and the locks on files
	// are waited for by other processes only.
	writing chan struct{}

	mu      sync.Mutex
	records []Approval // oldest first; replaced, never changed
}

// Open returns the store of a state folder, which need not exist yet; "" keeps
// nothing. A file of records that can't be read counts as empty, and problem
// says so.
func Open(home string) (s *Store, problem error) {
	s = &Store{home: home, writing: make(chan struct{}, 1)}
	return s, s.Reload()
}

// Reload reads what other processes have kept. If that fails, what was known
// stays.
func (s *Store) Reload() error {
	if s == nil || s.home == "" {
		return nil
	}
	data, err := os.ReadFile(s.file())
	if errors.Is(err, fs.ErrNotExist) {
		data, err = nil, nil
	}
	var records []Approval
	if err == nil {
		records, err = decode(data)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", s.file(), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = records
	return nil
}

func (s *Store) file() string { return filepath.Join(s.home, fileName) }

// Recall returns what a person agreed to when they allowed a tool for good, if
// it was through a Store.
func (s *Store) Recall(file string, server protocol.ServerName, tool protocol.ToolName) (Approval, bool) {
	if s == nil {
		return Approval{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.records, func(a Approval) bool { return a.is(file, server, tool) })
	if i < 0 {
		return Approval{}, false
	}
	return s.records[i], true
}

// Keep writes an approval: the record, then approval_mode in the configuration
// file. If either can't be written, neither stands, and the error says why.
func (s *Store) Keep(ctx context.Context, a Approval) error {
	if s == nil || s.home == "" {
		return errors.New("there is no folder for the sidecar's own state")
	}
	if len(a.Definition) > maxDefinition {
		a.Definition = nil
	}
	release, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer release()
	before, had := s.Recall(a.File, a.Server, a.Tool)
	if err := s.record(ctx, func(all []Approval) []Approval { return append(without(all, a), a) }); err != nil {
		return err
	}
	err = fileedit.Update(ctx, a.File, s.home, func(old []byte) ([]byte, error) { return tomledit.Set(old, a.Path, approve) })
	if err == nil {
		return nil
	}
	undo := s.record(ctx, func(all []Approval) []Approval {
		if all = without(all, a); had {
			all = append(all, before)
		}
		return all
	})
	return errors.Join(err, undo)
}

// List returns the approvals whose configuration file still says approve, the
// oldest first. One whose file can't be read is listed, too.
func (s *Store) List() []Approval {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	records := s.records
	s.mu.Unlock()
	files := map[string][]byte{}
	var out []Approval
	for _, a := range records {
		doc, read := files[a.File]
		if !read {
			doc, _ = os.ReadFile(a.File)
			files[a.File] = doc
		}
		if mode, ok, err := tomledit.Get(doc, a.Path); doc == nil || err != nil || ok && mode == approve {
			out = append(out, a)
		}
	}
	return out
}

// Revoke takes an approval back: the key out of the configuration file, unless
// somebody wrote another mode there, and then the record. If the file can't be
// changed the approval stands, and the error says why.
func (s *Store) Revoke(ctx context.Context, a Approval) error {
	if s == nil {
		return nil
	}
	release, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer release()
	err = fileedit.Update(ctx, a.File, s.home, func(old []byte) ([]byte, error) {
		if mode, ok, err := tomledit.Get(old, a.Path); err == nil && (!ok || mode != approve) {
			return old, nil
		}
		changed, _, err := tomledit.Unset(old, a.Path)
		return changed, err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.record(ctx, func(all []Approval) []Approval { return without(all, a) })
}

func without(all []Approval, a Approval) []Approval {
	return slices.DeleteFunc(slices.Clone(all), func(b Approval) bool { return b.is(a.File, a.Server, a.Tool) })
}

// begin takes the right to write.
func (s *Store) begin(ctx context.Context) (release func(), err error) {
	select {
	case s.writing <- struct{}{}:
		return func() { <-s.writing }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for another approval to be written: %w", context.Cause(ctx))
	}
}

// record changes the records on disk and takes over what is there then. Whoever
// calls it has the right to write.
func (s *Store) record(ctx context.Context, change func([]Approval) []Approval) error {
	if err := s.create(); err != nil {
		return err
	}
	var now []Approval
	err := fileedit.Update(ctx, s.file(), s.home, func(old []byte) ([]byte, error) {
		all, err := decode(old)
		if errors.Is(err, errVersion) {
			return nil, err
		}
		if err != nil { // beyond repair, but not ours to throw away
			if err := os.WriteFile(s.file()+".broken", old, 0o600); err != nil {
				return nil, err
			}
		}
		now = bounded(change(all))
		return encode(now)
	})
	if err != nil {
		return fmt.Errorf("keeping what was approved: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = now
	return nil
}

// create makes the file of records, for this user only.
func (s *Store) create() error {
	if err := os.MkdirAll(s.home, 0o700); err != nil {
		return fmt.Errorf("making the folder of the sidecar's own state: %w", err)
	}
	f, err := os.OpenFile(s.file(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keeping what was approved: %w", err)
	}
	return f.Close()
}

// bounded drops the texts of the oldest records, and the oldest records, until
// they fit.
func bounded(all []Approval) []Approval {
	all = slices.Clone(all[max(0, len(all)-maxRecords):])
	texts := 0
	for i, a := range slices.Backward(all) {
		if texts += len(a.Definition); texts > maxTexts {
			all[i].Definition = nil
		}
	}
	return all
}

// onDisk is the shape of the file.
type onDisk struct {
	Version   int        `json:"version"`
	Approvals []Approval `json:"approvals"`
}

const version = 1

var errVersion = errors.New("these records are another sidecar's, of a version that this one does not know")

func decode(data []byte) ([]Approval, error) {
	if strings.TrimSpace(string(data)) == "" {
		return nil, nil
	}
	var d onDisk
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("not the sidecar's records: %w", err)
	}
	if d.Version != version {
		return nil, fmt.Errorf("%w: version %d", errVersion, d.Version)
	}
	return d.Approvals, nil
}

func encode(all []Approval) ([]byte, error) {
	if all == nil {
		all = []Approval{}
	}
	raw, err := rawjson.Marshal(onDisk{version, all}) // the texts keep their bytes
	return append(raw, '\n'), err
}
