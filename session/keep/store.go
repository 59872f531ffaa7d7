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
	"sync"
	"time"

	"github.com/mcp-sidecar/mcp-sidecar/protocol"
	"github.com/mcp-sidecar/mcp-sidecar/session/config/fileedit"
	"github.com/mcp-sidecar/mcp-sidecar/session/config/tomledit"
)

// approve is the value that lets a tool run without asking (config's
// ApprovalApprove).
const approve = "approve"

// undoTime bounds the taking back of a record whose file could not be written.
const undoTime = 2 * time.Second

// An Approval is one that was given for good.
type Approval struct {
	// File is the configuration file that lets the calls run, without links;
	// Path is the key.
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
	// Before is the mode that the file gave the tool until then; "" for none.
	Before string    `json:"before,omitzero"`
	At     time.Time `json:"at"`
}

// ID names the approval: the same tool of the same file has the same one in
// every process.
func (a Approval) ID() protocol.ApprovalID {
	h := sha256.New()
	for _, part := range append([]string{a.File}, a.Path...) {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return protocol.ApprovalID("keep-" + hex.EncodeToString(h.Sum(nil)[:8]))
}

func (a Approval) key() key { return key{a.File, a.Server, a.Tool} }

// key is what there is one approval for.
type key struct {
	file   string
	server protocol.ServerName
	tool   protocol.ToolName
}

// A Store is the approvals for good of one state folder. A nil Store, and one
// without a folder, has none and keeps none.
type Store struct {
	home string
	// writing is the right to keep and revoke; its capacity is 1. So the locks
	// on files are waited for by other processes only.
	writing chan struct{}

	mu      sync.Mutex
	records []Approval // oldest first; replaced, never changed
	// unreadable says why the records can't be read; nil if they can.
	unreadable error
	// revoked says since when an approval is known to be taken back.
	revoked map[key]time.Time
	// real has the paths without links of those that were asked for.
	real map[string]string
}

// Open returns the store of a state folder, which need not exist yet; "" keeps
// nothing.
func Open(home string) *Store {
	s := &Store{home: home, writing: make(chan struct{}, 1), revoked: map[key]time.Time{}}
	_ = s.Reload() // Recall says Unknown then, and the next Reload why
	return s
}

// Keeps reports whether approvals can be kept.
func (s *Store) Keeps() bool { return s != nil && s.home != "" }

// Reload reads what other processes have kept and taken back. The error says
// why the records can't be read, if they can't.
func (s *Store) Reload() error {
	if !s.Keeps() {
		return nil
	}
	// Read under the lock: what Keep or Revoke take over meanwhile is newer, and
	// must not be overwritten by an older state.
	s.mu.Lock()
	defer s.mu.Unlock()
	records, err := s.read()
	s.real = nil
	s.unreadable = err
	if err == nil {
		s.replaceLocked(records)
	}
	return err
}

// replaceLocked takes over the records as they are on disk. What is not there
// any more was taken back.
func (s *Store) replaceLocked(records []Approval) {
	for _, a := range s.records {
		if !slices.ContainsFunc(records, func(b Approval) bool { return b.key() == a.key() }) {
			s.revoked[a.key()] = time.Now()
		}
	}
	for _, a := range records {
		delete(s.revoked, a.key())
	}
	s.records = records
}

// A Standing is what is known of a mode approve that a file gives a tool.
type Standing int

const (
	// ByHand: a person wrote it, and it holds for whatever the tool is.
	ByHand Standing = iota
	// Kept: an answer of a person wrote it, for the Approval's definition.
	Kept
	// Revoked: it was taken back since the configuration was read.
	Revoked
	// Unknown: the records can't be read.
	Unknown
)

// Recall says what is known of mode approve of a tool in a configuration file
// that was read at that time.
func (s *Store) Recall(file string, server protocol.ServerName, tool protocol.ToolName, read time.Time) (Approval, Standing) {
	if !s.Keeps() {
		return Approval{}, ByHand
	}
	k := key{s.realOf(file), server, tool}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.revoked[k]; ok && !at.Before(read) {
		return Approval{}, Revoked
	}
	if s.unreadable != nil {
		return Approval{}, Unknown
	}
	i := slices.IndexFunc(s.records, func(a Approval) bool { return a.key() == k })
	if i < 0 {
		return Approval{}, ByHand
	}
	return s.records[i], Kept
}

// realOf returns a path without links. It is looked up once between reloads.
func (s *Store) realOf(file string) string {
	s.mu.Lock()
	real, ok := s.real[file]
	s.mu.Unlock()
	if ok {
		return real
	}
	real, err := fileedit.Real(file)
	if err != nil { // it is not there: then nothing is kept in it
		real = file
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.real == nil {
		s.real = map[string]string{}
	}
	s.real[file] = real
	return real
}

// Keep writes an approval: the record, then approval_mode in the configuration
// file. If either can't be written, neither stands, and the error says why.
func (s *Store) Keep(ctx context.Context, a Approval) error {
	if !s.Keeps() {
		return errors.New("there is no folder for the sidecar's own state")
	}
	real, err := fileedit.Real(a.File)
	if err != nil {
		return fmt.Errorf("%s: %w", a.File, reason(err))
	}
	a.File = real
	if len(a.Definition) > maxDefinition {
		a.Definition = nil
	}
	release, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer release()
	means, err := readConfig(a.File)
	if err != nil {
		return fmt.Errorf("%s: %w", a.File, err)
	}
	if a.Before, err = modeIn(means, a.Path); err != nil {
		return fmt.Errorf("%s: %w", a.File, err)
	}
	var before []Approval
	if err := s.record(ctx, func(all []Approval) ([]Approval, error) {
		before = all
		if i := slices.IndexFunc(all, func(b Approval) bool { return b.key() == a.key() }); i >= 0 && a.Before == approve {
			a.Before = all[i].Before
		}
		return s.with(all, a)
	}); err != nil {
		return err
	}
	err = fileedit.Update(ctx, a.File, s.home, func(old []byte) ([]byte, error) {
		means, err := tomledit.Read(old)
		if err == nil {
			_, err = modeIn(means, a.Path) // somebody may have been faster
		}
		if err != nil {
			return nil, err
		}
		return tomledit.Set(old, a.Path, approve)
	})
	if err == nil {
		return nil
	}
	if means, again := readConfig(a.File); again == nil {
		if mode, _ := means.Get(a.Path...); mode == approve {
			return nil // it stands there in spite of the error
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	if undo := s.record(ctx, func([]Approval) ([]Approval, error) { return before, nil }); undo != nil {
		return fmt.Errorf("%s: %w (and %v)", a.File, reason(err), undo)
	}
	return fmt.Errorf("%s: %w", a.File, reason(err))
}

// Revoke takes an approval back: in the configuration file the mode from before
// or none, unless somebody wrote another one there, and then the record. From
// then on Recall knows. If the file can't be changed the approval stands, and the error says
// why.
func (s *Store) Revoke(ctx context.Context, a Approval) error {
	if !s.Keeps() {
		return nil
	}
	release, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer release()
	err = fileedit.Update(ctx, a.File, s.home, func(old []byte) ([]byte, error) {
		if means, err := tomledit.Read(old); err == nil {
			if mode, ok := means.Get(a.Path...); !ok || mode != approve {
				return old, nil
			}
		}
		if a.Before != "" {
			return tomledit.Set(old, a.Path, a.Before)
		}
		changed, _, err := tomledit.Unset(old, a.Path)
		return changed, err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", a.File, reason(err))
	}
	s.mu.Lock()
	s.revoked[a.key()] = time.Now()
	s.mu.Unlock()
	// A record without its key says nothing; if it can't be written, it goes
	// with the next that is.
	_ = s.record(ctx, func(all []Approval) ([]Approval, error) { return without(all, a), nil })
	return nil
}

// List returns the approvals whose configuration file still says approve, the
// oldest first. One whose file can't be read is listed, too.
func (s *Store) List() []Approval {
	if !s.Keeps() {
		return nil
	}
	s.mu.Lock()
	records := s.records
	s.mu.Unlock()
	return s.inForce(records)
}

// begin takes the right to write, from this process and the others.
func (s *Store) begin(ctx context.Context) (release func(), err error) {
	select {
	case s.writing <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for another approval to be written: %w", context.Cause(ctx))
	}
	if err := os.MkdirAll(s.home, 0o700); err != nil {
		<-s.writing
		return nil, fmt.Errorf("making the folder of the sidecar's own state: %w", err)
	}
	unlock, err := fileedit.Lock(ctx, filepath.Join(s.home, "keep"), s.home)
	if err != nil {
		<-s.writing
		return nil, fmt.Errorf("waiting for another approval to be written: %w", err)
	}
	return func() { unlock(); <-s.writing }, nil
}

// reason leaves the package's own words out of an error of fileedit.
func reason(err error) error {
	var e *fileedit.Error
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}
