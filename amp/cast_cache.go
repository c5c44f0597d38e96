package amp

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// A castCache keeps the half copies of float32 weights for the uses within one scope's memory. The key is the tensor, its dtype and
// its version: a nested scope of another dtype gets its own copy, and a weight changed in place is cast afresh.
type castCache struct {
	mu      sync.Mutex
	entries map[castKey]castEntry
}

type castKey struct {
	t  *Tensor
	to DType
}

type castEntry struct {
	version uint32
	cast    *Tensor
}

// cacheable says whether a cast of t to the scope's dtype is kept: a float32 leaf that wants a gradient and is no view. Frozen
// weights, inputs and activations are not, as in the reference.
func (s *Scope) cacheable(t *Tensor, to DType) bool {
	return !s.auto.noCache && to == s.auto.dtype && to != Float32 && t.dt == Float32 && t.needs && t.node == nil && !t.view
}

// lookup finds a cast in this scope's memory or in that of the scopes it is derived from.
func (a *arena) lookup(t *Tensor, to DType) *Tensor {
	for ; a != nil; a = a.parent {
		a.cache.mu.Lock()
		e, ok := a.cache.entries[castKey{t, to}]
		a.cache.mu.Unlock()
		if ok && e.version == t.st.version.Load() && e.cast.st != nil {
			return e.cast
		}
	}
	return nil
}

func (c *castCache) put(t *Tensor, cast *Tensor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[castKey]castEntry{}
	}
	c.entries[castKey{t, cast.dt}] = castEntry{t.st.version.Load(), cast}
}

func (c *castCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}

// CastsIn returns a scope whose casts of weights are made in the memory of keeper, s itself or a scope around it, and stay until that closes:
// what runs a model in one Child after the other, such as a generator of text, then casts each weight once. It panics with ErrArgument for
// another keeper, and with ErrClosed for one that is closed.
func (s *Scope) CastsIn(keeper *Scope) *Scope {
	keeper.alive("CastsIn")
	around := s.known("CastsIn").arena
	for around != nil && around != keeper.arena {
		around = around.parent
	}
	if around == nil {
		fail("CastsIn", ErrArgument, "pass the scope whose Child this is, or one around it", "%s does not lie within %s", s.label(), keeper.label())
	}
	c := s.derive()
	c.casts = keeper
	return c
}

// ClearCastCache forgets the casts cached in this scope's memory; later uses cast again.
func (s *Scope) ClearCastCache() { s.known("ClearCastCache").arena.cache.clear() }

// What is no weight is cast again for every operand, and each cast has a gradient of its own. The half copies hold the same numbers,
// though: while the graph keeps one, the next shares its memory.

// share offers a copy of t that the graph keeps to later casts in the same scope's memory.
func (t *Tensor) share(copy *Tensor) {
	if copy.scope != nil && !copy.view && (t.node != nil || !t.needs) { // weights have the cache
		atomic.StorePointer(&t.copied, unsafe.Pointer(copy))
	}
}

// sharedCast returns a tensor of the copy's memory that a cast of t to a dtype would have made; nil if there is none.
func (s *Scope) sharedCast(t *Tensor, to DType) *Tensor {
	c := (*Tensor)(atomic.LoadPointer(&t.copied))
	if c == nil || c.dt != to || c.scope.arena != s.arena || c.scope.gen != s.gen || c.st == nil || c.copiedAt != t.st.version.Load() || c.st.version.Load() != 0 {
		return nil
	}
	out := c.alias(c.shape, c.strides)
	out.view, out.scope, out.copiedAt = false, s, c.copiedAt
	s.arena.own(out)
	return out
}
