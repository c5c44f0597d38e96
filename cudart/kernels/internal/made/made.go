// Package made says what the PTX modules were made of, so that a test can tell in no time, and without clang, whether they are of these
// sources.
package made

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/halftone-ml/halftone/cudart/kernels/internal/arch"
)

// Name is the file that the text lies in, beside the modules.
const Name = "made.txt"

// Text has a line for every unit: its name, a hash of what it is compiled from (its .cu, all headers, the version of clang), and a
// hash of each of its modules in ptx, uncompressed, since Go versions compress differently.
func Text(sources, ptx fs.FS) (string, error) {
	headers, err := fs.Glob(sources, "*.h")
	if err != nil {
		return "", err
	}
	units, err := fs.Glob(sources, "*.cu")
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, file := range units {
		unit, h := strings.TrimSuffix(file, ".cu"), sha256.New()
		for _, name := range append([]string{"clang.version", file}, headers...) {
			data, err := fs.ReadFile(sources, name)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(h, "%s %d\n%s", name, len(data), data)
		}
		fmt.Fprintf(&out, "%s %s", unit, short(h))
		for _, a := range slices.Backward(arch.All) {
			sum, err := unpackedHash(ptx, a.File(unit))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return "", fmt.Errorf("%s: %w", a.File(unit), err)
			}
			fmt.Fprintf(&out, " sm%s:%s", a.Name, sum)
		}
		out.WriteByte('\n')
	}
	return out.String(), nil
}

func unpackedHash(files fs.FS, name string) (string, error) {
	f, err := files.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return short(h), nil
}

func short(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil))[:16] }
