package store

import (
	"fmt"
	"os"
	"path/filepath"
)

// An Owner holds the memory of a session for as long as the session is to live.
type Owner struct {
	f    *os.File
	path string
	dir  string // to remove; "" for memory without a name
}

// NewOwner makes an empty session: in memory that has no name and goes with the last process that holds it, or, where the system has no
// such memory, in a file of a folder below dir that only this user can enter.
func NewOwner(dir string) (*Owner, error) {
	if o, err := ownMemory(); err == nil {
		return o, nil
	}
	return newFileOwner(dir)
}

func newFileOwner(dir string) (*Owner, error) {
	private, err := os.MkdirTemp(dir, "session") // 0700
	if err != nil {
		return nil, fmt.Errorf("session: no folder for the session: %w", err)
	}
	path := filepath.Join(private, "store")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		_ = os.RemoveAll(private)
		return nil, fmt.Errorf("session: %w", err)
	}
	return &Owner{f, path, private}, nil
}

// Path names the session for Open, to this process and others of the same user.
func (o *Owner) Path() string { return o.path }

// Env is the variable that tells cells of the session.
func (o *Owner) Env() string { return PathEnv + "=" + o.path }

// Close lets go of the session. Its memory goes back to the system once no cell runs any more.
func (o *Owner) Close() error {
	err := o.f.Close()
	if o.dir != "" {
		_ = os.RemoveAll(o.dir)
	}
	return err
}
