package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// PathEnv is the environment variable that names the session's file to the programs of cells. The Halftone kernel sets it to memory of
// its own; a program outside a notebook may be given a file by it.
const PathEnv = "HALFTONE_SESSION"

// gonbEnv names the temporary folder of the GoNB that runs a cell: one for each notebook, which goes when that GoNB ends.
const gonbEnv = "GONB_TMP_DIR"

// Where returns the session's file: what PathEnv says; in stock GoNB a file of its temporary folder; "" elsewhere, where nothing
// outlives the program.
func Where() string {
	if path := os.Getenv(PathEnv); path != "" {
		return path
	}
	if dir := os.Getenv(gonbEnv); dir != "" {
		return filepath.Join(dir, "halftone", "session")
	}
	return ""
}

// OpenDefault opens the session that Where names. Outside a notebook it is memory of this process alone.
func OpenDefault() (*Store, error) {
	s, err := openDefault()
	if path := os.Getenv(DevicesEnv); err == nil && path != "" && strings.HasPrefix(s.b.path, "/proc/") {
		s.SetKeeper(KeeperAt(path))
	}
	return s, err
}

func openDefault() (*Store, error) {
	path := Where()
	switch {
	case path == "":
		o, err := NewOwner(os.TempDir())
		if err != nil {
			return nil, err
		}
		defer o.Close()
		return Open(o.Path())
	case strings.HasPrefix(path, "/proc/"): // memory of the kernel's
		s, err := Open(path)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
			err = fmt.Errorf("%w; it is memory of the kernel, which is gone or belongs to another user: restart the kernel", err)
		}
		return s, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("session: no folder for the session: %w", err)
	}
	return Create(path)
}
