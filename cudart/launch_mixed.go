package cudart

import (
	"slices"

	"github.com/halftone-ml/halftone/amp"
)

// Sums of a float32 tensor and one that was cast to float32 for the purpose, as a residual stream and the result of a branch are: the sum
// reads the halves themselves while the cast waits, and where nothing else wants the cast it is never launched. PyTorch's kernels convert
// on the way too. The numbers are the same, the cast being exact. Sums that read nothing of casts that wait go ahead of them: the gradient
// of a residual stream is added up while the cast that a norm did without is not yet given back.

func init() {
	register(launchAdd, "add")
	gathers["add"] = true // it launches what waits, unless that is a cast it does without
}

func launchAdd(l *launcher) bool {
	x, y := &l.in[0], &l.in[1]
	switch {
	case l.addHalves(x, y) || l.addHalves(y, x):
		return true
	case x.dt != y.dt:
		return false
	case l.d.batch.apart(x, y):
		defer l.d.batch.mu.Unlock()
		l.ahead = true
		defer func() { l.ahead = false }()
	}
	return l.elementwise("add", x.dt, nil, &l.out, x, y)
}

// addHalves queues x + y where y is the result of a cast that waits, and reads what is cast.
func (l *launcher) addHalves(x, y *view) bool {
	if x.dt != amp.Float32 {
		return false
	}
	source, ok := l.d.batch.source(y, x)
	if !ok {
		return false
	}
	defer l.d.batch.mu.Unlock()
	f := l.kernel("accumulate", x.dt, source.dt)
	if f == 0 || !l.mapArgs.lay(&l.out, x, &source) || l.err != nil {
		return false
	}
	l.ahead = true
	l.apply(f, &l.out, x, &source)
	l.ahead = false
	return true
}

// source returns what y is cast from, if y is the whole result of a cast to float32 that waits, and nothing that waits is to be written to
// the others. The batch is locked then, and the caller unlocks it once what reads the source is queued: until then nobody launches what
// waits, and with that gives the source's memory to another.
func (b *batch) source(y *view, others ...*view) (source view, ok bool) {
	if y.dt != amp.Float32 || !y.contiguous() || !b.apart(others...) {
		return source, false
	}
	for k := range b.copies.count {
		if b.dt.IsHalf() && y.ptr == b.copies.to[k] && int64(y.len()) == b.copies.n[k] {
			source = *y
			source.ptr, source.dt = b.copies.from[k], b.dt
			return source, true
		}
	}
	b.mu.Unlock()
	return source, false
}

// apart says whether casts wait of which none is to be written to the tensors; the batch is locked then.
func (b *batch) apart(tensors ...*view) bool {
	if !b.waiting.Load() {
		return false
	}
	b.mu.Lock()
	if b.casts() && !slices.ContainsFunc(tensors, b.writes) {
		return true
	}
	b.mu.Unlock()
	return false
}

// writes says whether x is made by a cast that waits: such a result is a storage of its own. The lock is held.
func (b *batch) writes(x *view) bool {
	size := uint64(2)
	if b.dt.IsHalf() {
		size = 4
	}
	for k := range b.copies.count {
		if to := b.copies.to[k]; x.ptr >= to && x.ptr < to+size*uint64(b.copies.n[k]) {
			return true
		}
	}
	return false
}

// casts says whether casts wait; the lock is held.
func (b *batch) casts() bool { return b.waiting.Load() && b.op.Name == "cast" }

// forget drops a cast that waits if its result begins at m, which nobody wants any more; the lock is held.
func (b *batch) forget(m *block) bool {
	if !b.casts() {
		return false
	}
	for k := range int(b.copies.count) {
		if b.copies.to[k] != uint64(m.ptr) {
			continue
		}
		if b.copies.drop(k); b.copies.count == 0 {
			b.waiting.Store(false)
			b.letGo()
		}
		return true
	}
	return false
}
