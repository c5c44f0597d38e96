package dataset

import (
	"errors"
	"fmt"
	"strings"

	"github.com/halftone-ml/halftone/amp"
)

// What can be wrong with a file; match with errors.Is. A missing file matches fs.ErrNotExist.
var (
	ErrTruncated = errors.New("file is truncated")
	ErrFormat    = errors.New("file has another format")
	ErrChecksum  = errors.New("file has another checksum")
)

// A FileError is what is wrong with one file: what was expected, what was found, and one thing to do.
type FileError struct {
	File        string // as the reader named it
	Kind        error  // ErrTruncated, ErrFormat, ErrChecksum, fs.ErrNotExist or the system's error
	Want, Found string
	Fix         string
}

// Error returns "dataset: data_batch_1.bin: file is truncated: expected …, found …; fix: …".
func (e *FileError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "dataset: %s: %v", e.File, e.Kind)
	if e.Want != "" {
		b.WriteString(": expected " + e.Want)
	}
	if e.Found != "" {
		b.WriteString(", found " + e.Found)
	}
	if e.Fix != "" {
		b.WriteString("; fix: " + e.Fix)
	}
	return b.String()
}

// Unwrap returns the kind, for errors.Is.
func (e *FileError) Unwrap() error { return e.Kind }

// misused panics with amp.ErrArgument, as package amp does for mistakes in a program.
func misused(op, fix, format string, args ...any) {
	panic(&amp.Error{Op: op, Kind: amp.ErrArgument, Detail: fmt.Sprintf(format, args...), Fix: fix})
}
