package share

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A folder that was received may hold anything under the names of its record: a link to /dev/zero, which never ends, or a pipe, which never
// begins. So only regular files are opened, and of each no more is read than it is said to have.

// regular refuses what is no file of bytes on a disk.
func regular(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	what := "special file"
	switch {
	case info.IsDir():
		what = "folder"
	case info.Mode()&fs.ModeSymlink != 0:
		what = "link"
	case info.Mode()&fs.ModeNamedPipe != 0:
		what = "pipe"
	case info.Mode()&fs.ModeDevice != 0:
		what = "device"
	}
	return fmt.Errorf("%s is a %s, not a regular file: put the file itself there", path, what)
}

// readFile is os.ReadFile for regular files of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s has more than %d bytes, which is more than is read of it", path, limit)
	}
	return b, err
}

// describe returns the record of a file below dir, which is the user's own: it may be a link.
func describe(ctx context.Context, dir, name string) (File, error) {
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	if err != nil {
		return File{}, err
	}
	if err := regular(path, info); err != nil {
		return File{}, err
	}
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	return hashed(ctx, name, f)
}

// describeAs is describe for a folder that was received, where a record says how long the file is: one of another length is not read, nor
// is a link, or what a folder that is a link leads to elsewhere.
func describeAs(ctx context.Context, dir string, want File) (File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return File{}, err
	}
	defer root.Close()
	name := filepath.FromSlash(want.Path)
	info, err := root.Lstat(name)
	if err != nil {
		return File{}, err
	}
	if err := regular(want.Path, info); err != nil {
		return File{}, err
	}
	if info.Size() != want.Bytes {
		return File{Path: want.Path, Bytes: info.Size()}, nil
	}
	f, err := root.Open(name)
	if err != nil {
		return File{}, err
	}
	return hashed(ctx, name, f)
}

// hashed reads a file to its end, unless ctx ends before, and closes it.
func hashed(ctx context.Context, name string, f *os.File) (File, error) {
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, &interruptible{ctx, f})
	return File{Path: filepath.ToSlash(name), Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
}

// An interruptible reader ends with ctx.
type interruptible struct {
	ctx context.Context
	r   io.Reader
}

func (i *interruptible) Read(p []byte) (int, error) {
	if i.ctx.Err() != nil {
		return 0, context.Cause(i.ctx)
	}
	return i.r.Read(p)
}
