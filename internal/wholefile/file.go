// Package wholefile writes files as a whole or not at all: whoever reads one sees the old content or the new, never a part.
package wholefile

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// File is a file that takes its place only when it is committed. Until then it has a name of its own in the same folder, so that the
// rename stays within one file system.
type File struct {
	*os.File
	path string // "" for a device or a pipe, which has been written to
	done bool
}

// Create begins the file that is to be at path. One that is there already passes on its permissions, and a link stays one: what it points
// to is replaced. Else the permissions are mode, less what the process's umask takes. A device or a pipe is no file to take the place of,
// and gets the bytes as they are written.
func Create(path string, mode os.FileMode) (*File, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, there := os.Stat(path)
	if there == nil && !info.Mode().IsRegular() && !info.IsDir() {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &File{File: f}, err
	}
	f, err := beside(path, mode)
	if err != nil {
		return nil, err
	}
	if there == nil {
		if err := f.Chmod(info.Mode().Perm()); err != nil {
			f.Discard()
			return nil, err
		}
	}
	return f, nil
}

// ending is that of unfinished files; before it there is a random number.
const ending = ".tmp"

// Meant is the name that an unfinished file, left by a crash, was to get; other names are what they are.
func Meant(name string) string {
	stem, unfinished := strings.CutSuffix(name, ending)
	if n := len(stem) - len(".01234567"); unfinished && n > 0 && stem[n] == '.' {
		return stem[:n]
	}
	return name
}

// beside makes a new file that nobody else's can be.
func beside(path string, mode os.FileMode) (*File, error) {
	for try := 0; ; try++ {
		f, err := os.OpenFile(fmt.Sprintf("%s.%08x%s", path, rand.Uint32(), ending), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err == nil {
			return &File{File: f, path: path}, nil
		}
		if !os.IsExist(err) || try == 100 {
			return nil, err
		}
	}
}

// Commit brings the content to the disk and gives the file its name. What was there before stays where that fails.
func (f *File) Commit() error {
	if f.path == "" {
		f.done = true
		return f.Close()
	}
	if err := f.Sync(); err != nil {
		f.Discard()
		return err
	}
	if err := f.rename(); err != nil {
		return err
	}
	syncFolder(filepath.Dir(f.path))
	return nil
}

// Discard removes what was written. After Commit it does nothing, so that it may be deferred.
func (f *File) Discard() {
	if !f.done {
		f.done = true
		_ = f.Close()
		if f.path != "" {
			_ = os.Remove(f.Name())
		}
	}
}

func (f *File) rename() error {
	err := f.Close()
	if err == nil {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is the one to report
	}
	f.done = true
	return err
}

// syncFolder brings the new name to the disk; not every system can, and the data is safe without.
func syncFolder(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}

// Write writes a file of the user's by Create: after a crash, or where a disk is full, what was there before stays.
func Write(path string, content []byte, mode os.FileMode) error {
	f, err := Create(path, mode)
	if err != nil {
		return fmt.Errorf("%w; name a file in a folder that is there and can be written to", err)
	}
	defer f.Discard()
	if _, err = f.File.Write(content); err == nil {
		err = f.Commit()
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w; what was there before stays as it was", path, err)
	}
	return nil
}

// Replace writes a file that another process may be reading at the moment. It does not wait for the disk: what such files say is worth
// nothing after a crash, and they are written often.
func Replace(path string, content []byte, mode os.FileMode) error {
	f, err := beside(path, mode)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err = f.Write(content); err != nil {
		return err
	}
	return f.rename()
}

// Writable tells, before anything is computed, whether Create would succeed.
func Writable(path string) error {
	f, err := Create(path, 0o600)
	if err == nil {
		f.Discard()
	}
	return err
}
