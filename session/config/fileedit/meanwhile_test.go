package fileedit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// others are ways in which another program may write a file.
var others = map[string]func(t *testing.T, path, data string){
	"renames": func(t *testing.T, path, data string) {
		temp := write(t, path+".foreign", data, 0o600)
		if err := os.Rename(temp, path); err != nil {
			t.Error(err)
		}
	},
	"writes in place": func(t *testing.T, path, data string) {
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Error(err)
		}
	},
}

// canSwap tells where the last moment is closed.
var canSwap = runtime.GOOS == "linux" || runtime.GOOS == "darwin"

// What another program writes between our comparison and our swap is edited,
// too, and not lost.
func TestMeanwhile(t *testing.T) {
	if !canSwap {
		t.Skip("files cannot be exchanged here")
	}
	for name, put := range others {
		t.Run(name, func(t *testing.T) {
			file := write(t, filepath.Join(folder(t), "f"), "old\n", 0o600)
			s, times := system(), 0
			s.compared = func() {
				if times++; times <= 2 {
					put(t, file, content(t, file)+"theirs\n")
				}
			}
			if err := update(t.Context(), file, t.TempDir(), adding("ours\n"), s); err != nil {
				t.Fatal(err)
			}
			if got, want := content(t, file), "old\ntheirs\ntheirs\nours\n"; got != want || times != 3 {
				t.Errorf("got %q after %d times, want %q", got, times, want)
			}
		})
	}
}

// A mode that is changed in that moment stays, too.
func TestMeanwhileMode(t *testing.T) {
	if !canSwap {
		t.Skip("files cannot be exchanged here")
	}
	file := write(t, filepath.Join(folder(t), "f"), "old\n", 0o644)
	s := system()
	s.compared = func() { _ = os.Chmod(file, 0o600) }
	err := update(t.Context(), file, t.TempDir(), adding("ours\n"), s)
	if info, _ := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 || content(t, file) != "old\nours\n" {
		t.Errorf("%v, %v, %q", err, info.Mode(), content(t, file))
	}
}

// While theirs goes back, they write once more: the newest stays.
func TestMeanwhileTwice(t *testing.T) {
	if !canSwap {
		t.Skip("files cannot be exchanged here")
	}
	for name, put := range others {
		t.Run(name, func(t *testing.T) {
			file := write(t, filepath.Join(folder(t), "f"), "0\n", 0o600)
			s, swaps := system(), 0
			s.swap = func(a, b string) error {
				// Just before the first four swaps: the file itself, then ours,
				// then theirs in its place.
				if swaps++; swaps <= 4 {
					put(t, file, strings.Repeat("theirs\n", swaps))
				}
				return swap(a, b)
			}
			if err := update(t.Context(), file, t.TempDir(), adding("ours\n"), s); err != nil {
				t.Fatal(err)
			}
			if got, want := content(t, file), strings.Repeat("theirs\n", 4)+"ours\n"; got != want {
				t.Errorf("got %q after %d swaps, want %q", got, swaps, want)
			}
		})
	}
}

// If theirs cannot be swapped back, it is renamed back.
func TestMeanwhileWithoutWayBack(t *testing.T) {
	if !canSwap {
		t.Skip("files cannot be exchanged here")
	}
	file := write(t, filepath.Join(folder(t), "f"), "old\n", 0o600)
	s, swaps := system(), 0
	s.swap = func(a, b string) error {
		swaps++
		if swaps == 1 {
			others["renames"](t, file, "theirs\n")
		}
		if swaps == 2 {
			return errors.New("no way back")
		}
		return swap(a, b)
	}
	if err := update(t.Context(), file, t.TempDir(), adding("ours\n"), s); err != nil || content(t, file) != "theirs\nours\n" {
		t.Errorf("%v, %q", err, content(t, file))
	}
}

// If theirs cannot be put back at all, it is kept, and the error says where.
func TestMeanwhileWithoutAnyWay(t *testing.T) {
	if !canSwap {
		t.Skip("files cannot be exchanged here")
	}
	dir := folder(t)
	file := write(t, filepath.Join(dir, "f"), "old\n", 0o600)
	s, swaps := system(), 0
	s.swap = func(a, b string) error {
		if swaps++; swaps == 1 {
			others["renames"](t, file, "theirs\n")
			return swap(a, b)
		}
		// Over a folder nothing can be renamed.
		if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
			t.Error(err)
		}
		return errors.New("no way back")
	}
	err := update(t.Context(), file, t.TempDir(), adding("ours\n"), s)
	left, _ := filepath.Glob(filepath.Join(dir, tempName))
	if err == nil || len(left) != 1 || !strings.Contains(err.Error(), left[0]) || content(t, left[0]) != "theirs\n" {
		t.Fatalf("%v, left: %q", err, left)
	}
	if err := os.Remove(left[0]); err != nil {
		t.Error(err)
	}
}

// Somebody who is always faster is given way to, for a while.
func TestAlwaysMeanwhile(t *testing.T) {
	file := write(t, filepath.Join(folder(t), "f"), "", 0o600)
	times := 0
	err := Update(t.Context(), file, t.TempDir(), func(old []byte) ([]byte, error) {
		times++
		others["renames"](t, file, string(old)+"x")
		return []byte("ours"), nil
	})
	if !errors.Is(err, ErrBusy) || times != maxTries || content(t, file) != strings.Repeat("x", maxTries) {
		t.Errorf("%v after %d times: %q", err, times, content(t, file))
	}
}

// A file that goes away in the last moment is missing, and not made again.
func TestMeanwhileGone(t *testing.T) {
	if !canSwap {
		t.Skip("files cannot be exchanged here")
	}
	file := write(t, filepath.Join(folder(t), "f"), "old", 0o600)
	s := system()
	s.compared = func() { _ = os.Remove(file) }
	if err := update(t.Context(), file, t.TempDir(), to("new"), s); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
}

// Where files cannot be exchanged, one is renamed after a comparison; and an
// error leaves nothing.
func TestWithoutSwap(t *testing.T) {
	file := write(t, filepath.Join(folder(t), "f"), "old\n", 0o600)
	s := system()
	s.swap = func(string, string) error { return errNoSwap }
	theirs := true
	edit := func(old []byte) ([]byte, error) {
		if theirs {
			theirs = false
			others["renames"](t, file, "theirs\n")
		}
		return append(old, "ours\n"...), nil
	}
	if err := update(t.Context(), file, t.TempDir(), edit, s); err != nil || content(t, file) != "theirs\nours\n" {
		t.Errorf("%v, %q", err, content(t, file))
	}
	mine := errors.New("mine")
	s.rename = func(context.Context, string, string) error { return mine }
	if err := update(t.Context(), file, t.TempDir(), to("x"), s); !errors.Is(err, mine) || content(t, file) != "theirs\nours\n" {
		t.Errorf("%v, %q", err, content(t, file))
	}
	s.swap = func(string, string) error { return mine }
	if err := update(t.Context(), file, t.TempDir(), to("x"), s); !errors.Is(err, mine) || content(t, file) != "theirs\nours\n" {
		t.Errorf("%v, %q", err, content(t, file))
	}
}

// A file that cannot be replaced is written in place, shorter or longer, but
// not over what somebody wrote meanwhile.
func TestInPlace(t *testing.T) {
	file := write(t, filepath.Join(folder(t), "f"), "old\n", 0o600)
	was, _ := os.Stat(file)
	s := system()
	s.swap = func(string, string) error { return errPinned }
	for _, want := range []string{"longer than before\n", "short", "", "again"} {
		err := update(t.Context(), file, t.TempDir(), to(want), s)
		if is, _ := os.Stat(file); err != nil || content(t, file) != want || !os.SameFile(was, is) {
			t.Errorf("%v, got %q, want %q", err, content(t, file), want)
		}
	}
	theirs := true
	s.swap = func(string, string) error {
		if theirs {
			theirs = false
			others["writes in place"](t, file, "theirs\n")
		}
		return errPinned
	}
	if err := update(t.Context(), file, t.TempDir(), adding("ours\n"), s); err != nil || content(t, file) != "theirs\nours\n" {
		t.Errorf("%v, %q", err, content(t, file))
	}
}
