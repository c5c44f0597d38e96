//go:build linux && (amd64 || arm64)

package driver

import (
	"sort"
	"sync"
)

// ranges are page-locked blocks of host memory, by address.
type ranges struct {
	mu   sync.RWMutex
	list []span // sorted
}

type span struct{ from, to uintptr }

func (r *ranges) after(p uintptr) int {
	return sort.Search(len(r.list), func(i int) bool { return r.list[i].from > p })
}

func (r *ranges) add(p uintptr, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.after(p)
	r.list = append(r.list, span{})
	copy(r.list[i+1:], r.list[i:])
	r.list[i] = span{p, p + uintptr(n)}
}

// remove takes out the block that starts at p and has n bytes; it tells whether there was one.
func (r *ranges) remove(p uintptr, n int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := r.after(p) - 1
	if i < 0 || r.list[i] != (span{p, p + uintptr(n)}) {
		return false
	}
	r.list = append(r.list[:i], r.list[i+1:]...)
	return true
}

// holds tells whether n bytes from p are in one block.
func (r *ranges) holds(p uintptr, n int) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	i := r.after(p) - 1
	return i >= 0 && p+uintptr(n) <= r.list[i].to
}
