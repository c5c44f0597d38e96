package kernel

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A privateDir is the folder of one kernel's sockets and temporary files. It is the kernel's as long as that holds its
// lock, which the system releases however the kernel ends. A process id would not do: the folder above may be shared with
// another container or host, where ids mean other processes.
type privateDir struct {
	path string
	lock *os.File
}

const (
	dirPrefix = "ht"
	lockName  = "lock"

	// Under the private folder the longest socket is gopls's: about 50 bytes more.
	maxDirParent = maxSocketPath - 55

	// A folder without a lock file is one that is being made, unless it is as old as this.
	lockPatience = time.Minute
)

// makeDir makes the private folder of a kernel under parent, and removes those of dead kernels. Where parent cannot be written,
// as in a read-only home, or is too long a path, the system's folder for temporary files takes its place.
func makeDir(parent string) (*privateDir, error) {
	var first error
	for _, dir := range []string{parent, os.TempDir(), "/tmp"} {
		// gopls and we listen on sockets in it, and a socket's path is short.
		if len(dir) > maxDirParent {
			continue
		}
		d, err := makeDirIn(dir)
		if err == nil {
			return d, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, fmt.Errorf("kernel: no folder for temporary files: %w; set HALFTONE_HOME to a folder you can write", first)
}

func makeDirIn(parent string) (*privateDir, error) {
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return nil, err
	}
	sweep(parent)
	path, err := os.MkdirTemp(parent, dirPrefix)
	if err != nil {
		return nil, err
	}
	// It gets its name when it is locked: another kernel that starts at this moment takes an open lock for a dead kernel's.
	unnamed := filepath.Join(path, lockName+".new")
	lock, err := os.OpenFile(unnamed, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		_ = os.RemoveAll(path)
		return nil, err
	}
	// Where the file system has no locks nothing is ever swept, either.
	_ = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err := os.Rename(unnamed, filepath.Join(path, lockName)); err != nil {
		_ = lock.Close()
		_ = os.RemoveAll(path)
		return nil, err
	}
	return &privateDir{path, lock}, nil
}

// remove removes the folder, and gives up the lock after that.
func (d *privateDir) remove() {
	removeDir(d.path)
	_ = d.lock.Close()
}

// sweep removes the folders of dead kernels: a power cut kills a kernel together with its guard.
func sweep(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		path := filepath.Join(parent, e.Name())
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || !strings.HasPrefix(e.Name(), dirPrefix) {
			continue
		}
		// Not everything in /tmp that begins like ours is ours.
		if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Getuid() || info.Mode().Perm() != 0o700 {
			continue
		}
		lock, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR, 0)
		if err != nil {
			_, cells := os.Stat(filepath.Join(path, tmpName))
			if os.IsNotExist(err) && cells == nil && time.Since(info.ModTime()) > lockPatience {
				_ = os.RemoveAll(path) // it was being removed when its kernel was killed
			}
			continue
		}
		if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			_ = os.RemoveAll(path)
		}
		_ = lock.Close()
	}
}
