package dataset

import (
	"archive/tar"
	"compress/flate"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/halftone-ml/halftone/internal/optional"
)

// maxFile bounds what a reader takes into memory, whatever a file claims or holds.
const maxFile = 1 << 31

// A File says what was read and how far it can be trusted.
type File struct {
	Name     string
	Bytes    int64
	Verified Verification
}

// Verification is how the content of a file was checked.
type Verification string

// The ways a file can have been verified. Structure means that lengths, headers and labels are right, which a changed pixel
// is not noticed by.
const (
	Structure Verification = "structure"
	Official  Verification = "official checksum"
	Given     Verification = "given checksum"
)

// A ReadOption configures CIFAR10, MNIST, FashionMNIST and IDXImages.
type ReadOption func(*reading)

// reading is how files are to be verified.
type reading struct {
	given    map[string]string
	official []known
	lenient  bool
	files    []File
}

// Checksum demands that the file of that name, without folder, has a checksum: "md5:" or "sha256:" and hexadecimal digits. It
// takes the place of the checksum that is known of an official file.
func Checksum(file, sum string) ReadOption {
	kind, digits, _ := strings.Cut(strings.ToLower(sum), ":")
	raw, err := hex.DecodeString(digits)
	if h := newHash(kind); h == nil || err != nil || len(raw) != h.Size() {
		misused("Checksum", "write \"md5:\" and 32 hexadecimal digits, or \"sha256:\" and 64", "%q for %s", sum, file)
	}
	return func(r *reading) { r.given[file] = kind + ":" + digits }
}

// Unverified accepts files that have the size of an official file and other content, such as relabeled copies.
func Unverified() ReadOption { return func(r *reading) { r.lenient = true } }

func newReading(op string, official []known, opts []ReadOption) *reading {
	r := &reading{given: map[string]string{}, official: official}
	optional.Apply(op, opts, r, misused)
	return r
}

// unused reports a Checksum option whose file was not read: a misspelled name must not pass for verified.
func (r *reading) unused(dir string) error {
	for name, sum := range r.given {
		found := false
		var names []string
		for _, f := range r.files {
			found = found || f.Name == name
			names = append(names, f.Name)
		}
		if !found {
			return &FileError{
				File: filepath.Join(dir, name), Kind: fs.ErrNotExist, Want: "to verify " + sum,
				Found: "only " + strings.Join(names, ", "), Fix: "give dataset.Checksum the name of a file that is read",
			}
		}
	}
	return nil
}

func newHash(kind string) hash.Hash {
	switch kind {
	case "md5":
		return md5.New()
	case "sha256":
		return sha256.New()
	}
	return nil
}

// A digest hashes a file while it is read, if there is something to compare with.
type digest struct {
	hash.Hash
	want string // "md5:…"
	how  Verification
	fix  string
}

// digest returns what to verify a file of that name and size by; nil if nothing is known of it.
func (r *reading) digest(name string, bytes int64) *digest {
	if sum, ok := r.given[name]; ok {
		kind, _, _ := strings.Cut(sum, ":")
		return &digest{newHash(kind), sum, Given, "get the file that the checksum was made of, or correct dataset.Checksum"}
	}
	if r.lenient {
		return nil
	}
	for _, k := range r.official {
		if k.name == name && k.bytes == bytes {
			kind, _, _ := strings.Cut(k.sum, ":")
			return &digest{newHash(kind), k.sum, Official, "download it again; if it is meant to differ, pass dataset.Unverified()"}
		}
	}
	return nil
}

// finish compares the digest, which may be nil, and notes the file.
func (r *reading) finish(path string, bytes int64, d *digest) error {
	f := File{Name: filepath.Base(path), Bytes: bytes, Verified: Structure}
	if d != nil {
		kind, _, _ := strings.Cut(d.want, ":")
		if got := kind + ":" + hex.EncodeToString(d.Sum(nil)); got != d.want {
			found, fix := got, d.fix
			if set, file := recognize(got); set != "" {
				found, fix = set+"'s "+file, "read it with the function for "+set+", or replace it"
			}
			return &FileError{File: path, Kind: ErrChecksum, Want: d.want, Found: found, Fix: fix}
		}
		f.Verified = d.how
	}
	r.files = append(r.files, f)
	return nil
}

// open opens a regular file of a size that can be read; get names what to do when it is missing.
func open(path, get string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, &FileError{File: path, Kind: fs.ErrNotExist, Fix: get}
	}
	if err != nil {
		return nil, 0, &FileError{File: path, Kind: err, Fix: "make it readable"}
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = &FileError{File: path, Kind: err, Fix: "make it readable"}
	case !info.Mode().IsRegular():
		err = &FileError{File: path, Kind: ErrFormat, Want: "a regular file", Found: info.Mode().Type().String(), Fix: get}
	case info.Size() > maxFile:
		err = &FileError{File: path, Kind: ErrFormat, Want: fmt.Sprintf("at most %d bytes", maxFile), Found: count(info.Size()), Fix: get}
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// readExactly reads n bytes. Memory grows with what has arrived: a length that is only claimed costs nothing. It returns what
// there was and io.ErrUnexpectedEOF when the input ends early.
func readExactly(r io.Reader, n int64) ([]byte, error) {
	buf := make([]byte, 0, min(n, 1<<16))
	for {
		room := min(int64(cap(buf)), n)
		k, err := io.ReadFull(r, buf[len(buf):room])
		buf = buf[:len(buf)+k]
		if int64(len(buf)) == n {
			return buf, nil
		}
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return buf, err
		}
		bigger := make([]byte, len(buf), min(n, 2*int64(cap(buf))))
		copy(bigger, buf)
		buf = bigger
	}
}

// blame returns the kind of an error that came up while content was unpacked and parsed: ErrTruncated, ErrChecksum, ErrFormat, or
// the error itself when reading failed.
func blame(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return ErrTruncated
	case errors.Is(err, gzip.ErrChecksum):
		return ErrChecksum
	case errors.Is(err, gzip.ErrHeader) || errors.Is(err, tar.ErrHeader) || errors.As(err, &corrupt):
		return ErrFormat
	}
	return err
}

// isContent says whether an error is about what a file holds, not about reading it.
func isContent(err error) bool {
	return errors.Is(err, ErrTruncated) || errors.Is(err, ErrFormat) || errors.Is(err, ErrChecksum)
}

// count words a number of bytes.
func count(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
