package fileedit

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

const (
	// lockLimit bounds the waiting for the lock. An edit takes milliseconds, so
	// whoever has it for longer is stuck.
	lockLimit = 10 * time.Second
	// lockPoll is how often a lock that is held is tried.
	lockPoll = 5 * time.Millisecond
)

// Lock waits until nobody else has the lock called name in a state folder, as
// Update does for a file. Who holds one may call Update.
func Lock(ctx context.Context, name, stateDir string) (unlock func(), err error) {
	return lock(ctx, name, stateDir)
}

// Real returns the path of a file without links, which may be missing itself.
// Update changes that file.
func Real(path string) (string, error) { return resolve(path) }

// lock waits until nobody else of this state folder edits the file. The lock
// is a file of its own: the file itself changes places, and on Windows a lock
// on it would keep readers out. It stays, since removing it is a race.
func lock(ctx context.Context, real, stateDir string) (unlock func(), err error) {
	if err := os.MkdirAll(stateDir, 0o700); err != nil {
		return nil, fmt.Errorf("locking it: %w", err)
	}
	l := flock.New(lockFile(real, stateDir), flock.SetPermissions(0o600))
	limited, cancel := context.WithTimeout(ctx, lockLimit)
	defer cancel()
	switch _, err := l.TryLockContext(limited, lockPoll); {
	case err == nil:
		return func() { _ = l.Unlock() }, nil // the end of the process unlocks, too
	case limited.Err() != nil:
		return nil, fmt.Errorf("%w (the lock is %s): %w", ErrBusy, l.Path(), err)
	default:
		return nil, fmt.Errorf("locking it: %w", err)
	}
}

// lockFile names the lock of a file. Where case does not matter, two spellings
// are one file; elsewhere two files share a lock, which does no harm.
func lockFile(real, stateDir string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(real)))
	return filepath.Join(stateDir, "edit-"+hex.EncodeToString(sum[:16])+".lock")
}
