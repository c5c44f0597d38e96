package amp

import (
	"errors"
	"fmt"
	"strings"
)

// Kinds of misuse; match them with errors.Is.
var (
	ErrShape    = errors.New("shape mismatch")
	ErrDType    = errors.New("dtype mismatch")
	ErrDevice   = errors.New("device mismatch")
	ErrClosed   = errors.New("used after Close")
	ErrStale    = errors.New("modified after it was saved for backward")
	ErrGrad     = errors.New("no gradient")
	ErrBanned   = errors.New("unsafe under autocast")
	ErrScaler   = errors.New("gradient scaler misuse")
	ErrArgument = errors.New("bad argument")
	ErrMemory   = errors.New("out of memory")
	ErrCapture  = errors.New("not possible in a captured step")
	ErrHook     = errors.New("a hook failed")
	ErrFinite   = errors.New("not finite")                // a number that was to be finite is infinite or NaN
	ErrFault    = errors.New("the device failed")         // an error that a GPU's driver reports, of this op or of earlier ones
	ErrSingular = errors.New("no such factor or inverse") // of a matrix that is singular, or not positive definite
)

// An Error is one misuse of the package: what went wrong, where, and one way to fix it.
type Error struct {
	Op     string // op or function, e.g. "matmul", "GradScaler.Unscale"
	Kind   error  // one of the Err… values
	Detail string // shapes, dtypes, names
	Module string // module path, e.g. "net/0"
	Fix    string // one thing to do
}

// Error returns "amp: linear (in net/0): shape mismatch: …; fix: …".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("amp: ")
	b.WriteString(e.Op)
	if e.Module != "" {
		fmt.Fprintf(&b, " (in %s)", e.Module)
	}
	fmt.Fprintf(&b, ": %v", e.Kind)
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Fix != "" {
		b.WriteString("; fix: " + e.Fix)
	}
	return b.String()
}

// Unwrap returns the kind, for errors.Is.
func (e *Error) Unwrap() error { return e.Kind }

// Maybe calls fn and returns the *Error it panicked with, nil if it returned. Any other panic goes on.
func Maybe(fn func()) (err error) {
	if fn == nil {
		fail("Maybe", ErrArgument, "pass what may panic", "the function is nil")
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			err = r
		default:
			panic(r)
		}
	}()
	fn()
	return nil
}

// misused is fail for an argument that makes no sense.
func misused(op, fix, format string, args ...any) { fail(op, ErrArgument, fix, format, args...) }

// fail panics with an *Error. It stands in hundreds of functions: inlined it would be 37 KB more of every cell.
//
//go:noinline
func fail(op string, kind error, fix, format string, args ...any) {
	panic(&Error{Op: op, Kind: kind, Detail: fmt.Sprintf(format, args...), Fix: fix})
}
