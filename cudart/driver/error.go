package driver

import (
	"errors"
	"fmt"
	"strings"

	"github.com/halftone-ml/halftone/cudart/libraries"
)

// Errors to match with errors.Is.
var (
	ErrNoCUDA      = libraries.ErrNoCUDA                              // there is no driver or no device
	ErrMemory      = error(outOfMemory("out of device memory"))       // CUDA_ERROR_OUT_OF_MEMORY
	ErrUnsupported = libraries.ErrUnsupported                         // by this driver, device or implementation
	ErrNotFound    = errors.New("not found")                          // no such kernel or symbol
	ErrImage       = errors.New("the device can't load this code")    // PTX of a newer version, code for another architecture …
	ErrLost        = errors.New("the CUDA context is lost")           // a kernel or the device failed; this process can't use it any more
	ErrCapture     = errors.New("not allowed while work is captured") // a call that waits, or an invalidated capture
)

// outOfMemory is what package amp, which does not know this one, takes for its own ErrMemory.
type outOfMemory string

func (e outOfMemory) Error() string     { return string(e) }
func (e outOfMemory) OutOfMemory() bool { return true }

// An Error is a call that CUDA refused, or earlier work whose failure it reports.
type Error struct {
	Code int      // CUresult, cublasStatus_t or nvrtcResult, by Call's prefix
	Name string   // "CUDA_ERROR_OUT_OF_MEMORY"
	Text string   // CUDA's sentence about it, and its log where there is one
	Call string   // "cuMemAllocAsync"
	Op   string   // what it was called for: an op of the table, a size, a symbol; may be empty
	Last []string // the last launches of the process, oldest first, where the failure may be an earlier launch's
	Kind error    // one of the errors above, or nil
}

// Error is one line, but for a compiler's log.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Op != "" {
		b.WriteString(e.Op + ": ")
	}
	fmt.Fprintf(&b, "%s: %s", e.Call, e.Name)
	if e.Text != "" {
		b.WriteString(": " + e.Text)
	}
	if e.Kind != nil {
		fmt.Fprintf(&b, " (%v)", e.Kind)
	}
	if len(e.Last) > 0 {
		b.WriteString("; last launches: " + strings.Join(e.Last, ", "))
	}
	return b.String()
}

// Unwrap returns Kind.
func (e *Error) Unwrap() error { return e.Kind }

// Advice is what to do about it, "" if the text says all there is to say.
func (e *Error) Advice() string {
	if e.Kind == ErrLost {
		return "start the program again, in a notebook the cell: this process can't use the device any more; if it fails again, one of the last launches is at fault"
	}
	return ""
}
