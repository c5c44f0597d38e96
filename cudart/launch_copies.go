package cudart

import (
	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of copies and casts between tensors without gaps (kernels/copies.cu): calls that follow each other are gathered as those of
// optimizers are. The end of a backward pass is a row of copies, one for each gradient that lay in a tensor with others; input, weight and
// bias of a layer under autocast are a row of casts, and so are their gradients.

const copyEach = 16 // elements per thread

// copyArgs is struct Copies.
type copyArgs struct {
	to, from [listTensors]uint64
	list
	told [listTensors]uint64 // words that casts to float32 set unless all elements are finite, or 0
}

func init() {
	register(launchCopyInto, "copy_")
	register(launchCast, "cast")
	gathers["copy_"], gathers["cast"] = true, true
}

var copiesStems = map[int]string{1: "copies_w8", 2: "copies_w16", 4: "copies_w32", 8: "copies_w64"}

func launchCopyInto(l *launcher) bool {
	out, in := &l.out, &l.in[1]
	if in.dt != out.dt {
		return l.cast(out, in)
	}
	return l.gather(l.kernel(copiesStems[out.dt.Size()], amp.NoDType, amp.NoDType), out, in, 0) || l.copy(out, in)
}

// launchCast gathers the casts that autocast makes.
func launchCast(l *launcher) bool {
	out, in := &l.out, &l.in[0]
	switch {
	case in.dt.IsHalf() && out.dt == amp.Float32:
		if l.gatherTelling(out, in) {
			return true
		}
	case in.dt == amp.Float32 && out.dt.IsHalf() && !streamed(out.len(), out.dt): // the elementwise kernel writes past the cache
		if l.gather(l.kernel("casts", in.dt, out.dt), out, in, 0) {
			return true
		}
	}
	return l.cast(out, in)
}

// gatherTelling is gather for a cast of halves, which tells whether all of them are finite: the result may be a gradient.
func (l *launcher) gatherTelling(out, in *view) bool {
	f, v, word := l.kernel("casts", in.dt, out.dt), l.d.verdict(l.c, out), uint64(0)
	if v != nil {
		word = v.word
	}
	done := l.gather(f, out, in, word)
	switch {
	case v == nil:
	case done && l.err == nil:
		l.d.believe(v)
	default:
		l.d.unused(v)
	}
	return done
}

// gather lets a copy or cast by kernel f wait for others; false if it is not one of elements that lie in a row in both tensors.
func (l *launcher) gather(f driver.Function, to, from *view, told uint64) bool {
	n := to.len()
	if f == 0 || n == 0 || n != from.len() || !countable(n) || !to.contiguous() || !from.contiguous() {
		return false
	}
	b := &l.d.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting.Load() && !(b.op == l.c.Op && b.f == f && b.copies.joins(to, from)) {
		if l.err = b.launch(l.d); l.err != nil {
			return true
		}
	}
	u := &b.copies
	if !b.waiting.Load() {
		b.op, b.f, b.dt, u.count = l.c.Op, f, from.dt, 0
		b.waiting.Store(true)
	}
	u.to[u.count], u.from[u.count], u.n[u.count], u.told[u.count] = to.ptr, from.ptr, int64(n), told
	if u.count++; u.full() {
		l.err = b.launch(l.d)
	}
	return true
}

// joins says whether a copy or cast like those that wait may run beside them: it reads nothing that one of them writes, and writes nothing
// that one of them reads or writes.
func (u *copyArgs) joins(to, from *view) bool {
	writes, reads := uint64(to.dt.Size()), uint64(from.dt.Size())
	meet := func(p, size, q, other uint64, n int64) bool {
		return p < q+other*uint64(n) && q < p+size*uint64(to.len())
	}
	for k := range u.count {
		if n := u.n[k]; meet(to.ptr, writes, u.to[k], writes, n) || meet(to.ptr, writes, u.from[k], reads, n) || meet(from.ptr, reads, u.to[k], writes, n) {
			return false
		}
	}
	return true
}

// spread lays the tensors out on a grid, and returns its blocks.
func (u *copyArgs) spread() (n int32) {
	for k := range u.count {
		u.begin[k] = n
		n += int32(blocks(int(u.n[k]), listThreads*copyEach))
	}
	u.begin[u.count] = n
	return n
}

// drop takes entry k out.
func (u *copyArgs) drop(k int) {
	copy(u.to[k:], u.to[k+1:u.count])
	copy(u.from[k:], u.from[k+1:u.count])
	copy(u.n[k:], u.n[k+1:u.count])
	copy(u.told[k:], u.told[k+1:u.count])
	u.count--
}
