package driver

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/halftone-ml/halftone/internal/wholefile"
)

// A Cache keeps compiled code in a folder, one file per source, options, architecture and compiler version. Several processes may
// use it at once. A nil Cache keeps nothing.
type Cache struct {
	Dir   string
	Bytes int64 // the least recently used files go when there are more; 0 is 512 MB
}

// UserCache returns the user's own: halftone/cuda under os.UserCacheDir, nil if the system has no such folder.
func UserCache() *Cache {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	return &Cache{Dir: filepath.Join(dir, "halftone", "cuda")}
}

// A file is the magic line, the 128-bit FNV-1a hash of the rest, the length of the log, the log, the image.
const (
	cacheMagic = "halftone code 2\n"
	sumBytes   = 16
)

func sumOf(b []byte) []byte {
	h := fnv.New128a()
	h.Write(b)
	return h.Sum(nil)
}

func (c *Cache) file(key string) string { return filepath.Join(c.Dir, key+".code") }

// load returns what was stored. A file that is not whole is as good as none: it is removed, and written again.
func (c *Cache) load(key string) (Code, bool) {
	if c == nil {
		return Code{}, false
	}
	b, err := os.ReadFile(c.file(key))
	if err != nil {
		return Code{}, false
	}
	head := len(cacheMagic) + sumBytes
	if len(b) < head+8 || !bytes.HasPrefix(b, []byte(cacheMagic)) {
		os.Remove(c.file(key))
		return Code{}, false
	}
	sum, rest := b[len(cacheMagic):head], b[head:]
	if !bytes.Equal(sum, sumOf(rest)) {
		os.Remove(c.file(key))
		return Code{}, false
	}
	n := binary.LittleEndian.Uint64(rest)
	rest = rest[8:]
	if n > uint64(len(rest)) {
		return Code{}, false
	}
	now := time.Now()
	_ = os.Chtimes(c.file(key), now, now) // for trim
	log := string(rest[:n])
	return Code{Image: rest[n:], Log: log, Diagnostics: parseLog(log), Cached: true}, true
}

// store writes the file elsewhere and moves it into place, so that no reader sees a part of it.
func (c *Cache) store(key string, code Code) error {
	if c == nil {
		return nil
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return err
	}
	rest := binary.LittleEndian.AppendUint64(nil, uint64(len(code.Log)))
	rest = append(append(rest, code.Log...), code.Image...)
	if err := wholefile.Replace(c.file(key), slices.Concat([]byte(cacheMagic), sumOf(rest), rest), 0o600); err != nil {
		return err
	}
	c.trim()
	return nil
}

// trim removes the files that were not used for longest, until the rest fits, and what crashed writers left.
func (c *Cache) trim() {
	limit := cmp.Or(c.Bytes, 512<<20)
	entries, err := os.ReadDir(c.Dir)
	if err != nil {
		return
	}
	var files []os.FileInfo
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if ext := filepath.Ext(e.Name()); ext != ".code" {
			if time.Since(info.ModTime()) > time.Hour {
				os.Remove(filepath.Join(c.Dir, e.Name()))
			}
			continue
		}
		files = append(files, info)
		total += info.Size()
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= limit {
			return
		}
		if os.Remove(filepath.Join(c.Dir, f.Name())) == nil {
			total -= f.Size()
		}
	}
}
