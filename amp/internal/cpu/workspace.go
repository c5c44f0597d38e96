package cpu

import (
	"sync"
	"sync/atomic"
)

// line is how many elements are fetched at a time.
const line = 256

// A workspace holds what one worker packs. Its parts only grow.
type workspace[T Float] struct {
	a, b, c, tile []T
	piece         [3]int // what a holds: the product, the row and the step of k
	wide          [2][]T // operands of a small product widened whole
	bias          []T    // a number for all columns
	sum, last     []T    // unfinished rows of a whole product; a narrow panel of b
	columns       [3]int // what last holds, if it is columns of b: the product, the column and the step of k
	call          product[T]
	half          []uint16    // elements narrowed on their way
	lines         [4 * line]T // four runs of elements on their way
}

// A freeList keeps workspaces between calls; unlike a sync.Pool it does not lose them at a garbage collection.
// Each worker finds the one it had: what it packs there may still be in its cache.
type freeList[T Float] struct {
	mu   sync.Mutex
	list []*workspace[T]
	mine [64]atomic.Pointer[workspace[T]] // of the first workers
}

var (
	free32 freeList[float32]
	free64 freeList[float64]
	freeI  freeList[int64]
)

func workspaces[T Float]() *freeList[T] {
	var z T
	var l any = &freeI
	switch any(z).(type) {
	case float32:
		l = &free32
	case float64:
		l = &free64
	}
	return l.(*freeList[T])
}

func (f *freeList[T]) get() *workspace[T] {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.list); n > 0 {
		w := f.list[n-1]
		f.list = f.list[:n-1]
		w.poison()
		return w
	}
	return new(workspace[T])
}

func (f *freeList[T]) put(w *workspace[T]) {
	f.mu.Lock()
	f.list = append(f.list, w)
	f.mu.Unlock()
}

// of returns the workspace of a worker, or another one while someone else has it.
func (f *freeList[T]) of(worker int) *workspace[T] {
	if worker < len(f.mine) {
		if w := f.mine[worker].Swap(nil); w != nil {
			w.poison()
			return w
		}
	}
	return f.get()
}

func (f *freeList[T]) back(worker int, w *workspace[T]) {
	if worker >= len(f.mine) || !f.mine[worker].CompareAndSwap(nil, w) {
		f.put(w)
	}
}

// grow returns n elements, of b if it has them; their values are anything.
func grow[T any](b []T, n int) []T {
	if cap(b) < n {
		b = make([]T, n, n+n/8)
		hugePages(b)
		Poison(b)
	}
	return b[:n]
}

// HugePages asks for pages of 2 MiB, where the system has them, for what lies whole in b; it changes nothing else.
func HugePages(b []byte) { hugePages(b) }
