package cudart

import "github.com/halftone-ml/halftone/amp"

// Launches of copies between tensors without gaps (kernels/copies.cu): calls that follow each other are gathered as those of optimizers
// are. The end of a backward pass is a row of them, one for each gradient that lay in a tensor with others.

const copyEach = 16 // elements per thread

// copyArgs is struct Copies.
type copyArgs struct {
	to, from [updateTensors]uint64
	n        [updateTensors]int64
	block    [updateTensors + 1]int32
	count    int32
	_        [2]int32
}

var copiesStems = map[int]string{1: "copies_w8", 2: "copies_w16", 4: "copies_w32", 8: "copies_w64"}

func init() { gathers["copy_"] = true }

// gatherCopy gathers a copy; false if it is not one of elements that lie in a row in both tensors.
func (l *launcher) gatherCopy(to, from *view) bool {
	n := to.len()
	if to.dt != from.dt || n == 0 || n != from.len() || !countable(n) || !to.contiguous() || !from.contiguous() {
		return false
	}
	size := to.dt.Size()
	f := l.kernel(copiesStems[size], amp.NoDType, amp.NoDType)
	if f == 0 {
		return false
	}
	b := &l.d.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting.Load() && !(b.op == l.c.Op && b.f == f && b.copies.joins(to.ptr, from.ptr, uint64(n*size), uint64(size))) {
		if l.err = b.launch(l.d); l.err != nil {
			return true
		}
	}
	u := &b.copies
	if !b.waiting.Load() {
		b.op, b.f, b.blocks, *u = l.c.Op, f, 0, copyArgs{}
		b.waiting.Store(true)
	}
	u.to[u.count], u.from[u.count], u.n[u.count], u.block[u.count] = to.ptr, from.ptr, int64(n), b.blocks
	u.count++
	b.blocks += int32(blocks(n, updateThreads*copyEach))
	if u.block[u.count] = b.blocks; u.count == updateTensors {
		l.err = b.launch(l.d)
	}
	return true
}

// joins says whether a copy of so many bytes may run beside those that wait: it reads nothing that one of them writes, and writes nothing
// that one of them reads or writes.
func (u *copyArgs) joins(to, from, bytes, size uint64) bool {
	meet := func(p, q, n uint64) bool { return p < q+n && q < p+bytes }
	for k := range u.count {
		n := uint64(u.n[k]) * size
		if meet(to, u.to[k], n) || meet(to, u.from[k], n) || meet(from, u.to[k], n) {
			return false
		}
	}
	return true
}
