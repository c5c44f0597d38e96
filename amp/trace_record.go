package amp

import "sync"

// A traceRecord keeps what an option of NewScope traces, of every n-th training step: the traces of the newest one that was looked at. T is a
// pointer, so that a cell which links two of them has the code once.
type traceRecord[T any] struct {
	every int
	mu    sync.Mutex
	step  int // of the traces
	kept  []T
}

// everyNth is an option's n: 0 for the first step alone.
func everyNth(option string, n int) int {
	if n < 0 {
		fail("NewScope", ErrArgument, "pass 0 for the first step, n for every n-th", "%s(%d)", option, n)
	}
	return n
}

// looksAt says whether what has a number from 0 up is to be traced.
func (r *traceRecord[T]) looksAt(n int) bool { return n == 0 || r.every > 0 && n%r.every == 0 }

// add keeps a trace, and those of the same training step; outside Steps the newest alone.
func (r *traceRecord[T]) add(step int, t T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if step < 0 || step != r.step {
		r.kept = nil
	}
	r.step, r.kept = step, append(r.kept, t)
}

// traces returns what is kept, in its order; nil where there is nothing.
func (r *traceRecord[T]) traces() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]T(nil), r.kept...)
}
