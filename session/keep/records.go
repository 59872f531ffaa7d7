package keep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-sidecar/mcp-sidecar/protocol/rawjson"
	"github.com/mcp-sidecar/mcp-sidecar/session/config/fileedit"
	"github.com/mcp-sidecar/mcp-sidecar/session/config/tomledit"
)

// Limits of the records.
const (
	maxRecords    = 1000
	maxDefinition = 4 << 10   // bytes of a definition's text; a larger one is kept as its hash
	maxTexts      = 256 << 10 // bytes of all of them
)

// fileName is the records' file in the state folder.
const fileName = "approvals.json"

func (s *Store) file() string { return filepath.Join(s.home, fileName) }

// read returns the records on disk.
func (s *Store) read() ([]Approval, error) {
	data, err := fileedit.Read(s.file())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var records []Approval
	if err == nil {
		records, err = decode(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s can't be read: %w; mend it or remove it", s.file(), err)
	}
	return records, nil
}

// record changes the records on disk and takes over what is there then. Whoever
// calls it has the right to write.
func (s *Store) record(ctx context.Context, change func([]Approval) ([]Approval, error)) error {
	f, err := os.OpenFile(s.file(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keeping what was approved: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("keeping what was approved: %w", err)
	}
	var now []Approval
	err = fileedit.Update(ctx, s.file(), s.home, func(old []byte) ([]byte, error) {
		all, err := decode(old)
		if err != nil {
			return nil, fmt.Errorf("%w; mend it or remove it", err)
		}
		if now, err = change(all); err != nil {
			return nil, err
		}
		return encode(now)
	})
	if err != nil {
		return fmt.Errorf("keeping what was approved in %s: %w", s.file(), reason(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unreadable = nil
	s.replaceLocked(now)
	return nil
}

// with returns the records with a at the end, in place of what it replaces. When
// there are too many, those that no file stands for any more go; a record of an
// approval in force never does, for it would hold for whatever the tool becomes.
func (s *Store) with(all []Approval, a Approval) ([]Approval, error) {
	all = without(all, a)
	if len(all) >= maxRecords {
		all = s.inForce(all)
	}
	if len(all) >= maxRecords {
		return nil, fmt.Errorf("%d tools are allowed for good already; take some back (approval/revoke)", len(all))
	}
	all = append(all, a)
	texts := 0
	for i, a := range slices.Backward(all) { // of the oldest only the hash is kept
		if texts += len(a.Definition); texts > maxTexts {
			all[i].Definition = nil
		}
	}
	return all, nil
}

func without(all []Approval, a Approval) []Approval {
	return slices.DeleteFunc(slices.Clone(all), func(b Approval) bool { return b.key() == a.key() })
}

// inForce returns the records whose file says approve, or can't be read.
func (s *Store) inForce(all []Approval) []Approval {
	type file struct {
		means tomledit.Reading
		err   error
	}
	files := map[string]file{}
	return slices.DeleteFunc(slices.Clone(all), func(a Approval) bool {
		f, known := files[a.File]
		if !known {
			f.means, f.err = readConfig(a.File)
			files[a.File] = f
		}
		mode, ok := f.means.Get(a.Path...)
		return errors.Is(f.err, fs.ErrNotExist) || f.err == nil && (!ok || mode != approve)
	})
}

func readConfig(path string) (tomledit.Reading, error) {
	text, err := fileedit.Read(path)
	if err != nil {
		return tomledit.Reading{}, err
	}
	return tomledit.Read(text)
}

// The mode that an approval may take the place of, beside none and approve.
const auto = "auto"

// modeIn returns the mode that a file gives the tool of an approval, if one for
// good can be written there: the file must define the server, and the mode must
// be one in which it is offered. Both may have changed while the person thought.
func modeIn(means tomledit.Reading, path []string) (mode string, err error) {
	entry := path[:len(path)-3]
	_, command := means.Get(append(slices.Clone(entry), "command")...)
	_, url := means.Get(append(slices.Clone(entry), "url")...)
	if !command && !url {
		return "", errors.New("it does not define the server any more")
	}
	mode, ok := means.Get(path...)
	if !ok || mode == auto || mode == approve {
		return mode, nil
	}
	return "", fmt.Errorf("somebody gave the tool approval_mode = %q meanwhile", mode)
}

// onDisk is the shape of the file.
type onDisk struct {
	Version   int        `json:"version"`
	Approvals []Approval `json:"approvals"`
}

const version = 1

func decode(data []byte) ([]Approval, error) {
	if strings.TrimSpace(string(data)) == "" {
		return nil, nil
	}
	var d onDisk
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("not the sidecar's records: %w", err)
	}
	if d.Version != version {
		return nil, fmt.Errorf("records of version %d, which this sidecar does not know", d.Version)
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
