package cudart

import "github.com/halftone-ml/halftone/amp"

// Sums of a float32 tensor and one that was cast to float32 for the purpose, as a residual stream and the result of a branch are: the sum
// reads the halves themselves while the cast waits, and where nothing else wants the cast it is never launched. PyTorch's kernels convert
// on the way too. The numbers are the same, the cast being exact.

func init() {
	register(launchAdd, "add")
	gathers["add"] = true // it launches what waits, unless that is a cast it does without
}

func launchAdd(l *launcher) bool {
	x, y := &l.in[0], &l.in[1]
	return l.addHalves(x, y) || l.addHalves(y, x) || x.dt == y.dt && l.elementwise("add", x.dt, nil, &l.out, x, y)
}

// addHalves queues x + y where y is the result of a cast that waits, and reads what is cast.
func (l *launcher) addHalves(x, y *view) bool {
	source, ok := l.d.batch.source(x, y)
	if !ok {
		return false
	}
	f := l.kernel("accumulate", x.dt, source.dt)
	if f == 0 || !l.mapArgs.lay(&l.out, x, &source) || l.err != nil {
		return false
	}
	l.ahead = true
	l.apply(f, &l.out, x, &source)
	l.ahead = false
	return true
}

// source returns what y is cast from, if y is the whole result of a cast that waits, and nothing that waits is to be written to x.
func (b *batch) source(x, y *view) (source view, ok bool) {
	if !b.waiting.Load() || x.dt != amp.Float32 || y.dt != amp.Float32 || !y.contiguous() {
		return source, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.casts() || !b.dt.IsHalf() {
		return source, false
	}
	for k := range b.copies.count {
		to, n := b.copies.to[k], b.copies.n[k]
		switch {
		case x.ptr >= to && x.ptr < to+4*uint64(n):
			return source, false
		case y.ptr == to && int64(y.len()) == n:
			source, ok = *y, true
			source.ptr, source.dt = b.copies.from[k], b.dt
		}
	}
	return source, ok
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
