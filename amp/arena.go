package amp

import (
	"slices"
	"sync"
	"sync/atomic"
)

// An arena owns the tensors of a scope. Closing it starts a new generation, so that a scope of an old one is known as closed.
type arena struct {
	gen       atomic.Uint32
	mu        sync.Mutex
	owned     []*Tensor
	children  []*arena
	cache     castCache
	parent    *arena
	parentGen uint32
	passes    passCount
}

// child returns a new arena that closes with a at the latest.
func (a *arena) child(gen uint32) *arena {
	c := &arena{parent: a, parentGen: gen}
	a.mu.Lock()
	a.children = append(a.children, c)
	a.mu.Unlock()
	return c
}

func (a *arena) own(t *Tensor) {
	a.mu.Lock()
	a.owned = append(a.owned, t)
	a.mu.Unlock()
}

func (a *arena) disown(t *Tensor) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := len(a.owned) - 1; i >= 0; i-- {
		if a.owned[i] == t {
			a.owned[i] = a.owned[len(a.owned)-1]
			a.owned = a.owned[:len(a.owned)-1]
			return true
		}
	}
	return false
}

// sweep frees everything the arena owns but what is held.
func (a *arena) sweep(held map[*Tensor]int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := a.owned[:0]
	for _, t := range a.owned {
		if held[t] > 0 {
			kept = append(kept, t)
			continue
		}
		t.release()
	}
	clear(a.owned[len(kept):])
	a.owned = kept
}

// close frees what the arena and its children own; the arena can be used again, as its next generation.
func (a *arena) close() {
	a.gen.Add(1)
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, c := range a.children {
		c.close()
		a.children[i] = nil
	}
	a.children = a.children[:0]
	for i, t := range a.owned {
		t.release()
		a.owned[i] = nil
	}
	a.owned = a.owned[:0]
	a.cache.clear()
}

// drop closes the arena for good.
func (a *arena) drop() {
	a.close()
	p := a.parent
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.children, a); i >= 0 {
		p.children = slices.Delete(p.children, i, i+1)
	}
}
