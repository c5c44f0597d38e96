package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Sums of a float32 tensor and one that was cast to float32 for the purpose, as a residual stream and the result of a branch are: the cast
// waits as what is gathered does, the sum reads the halves themselves, and where nothing else wants the cast it is never launched. PyTorch's
// kernels convert on the way too. The numbers are the same, the cast being exact.

// A waitingCast is what was gathered of a cast to float32.
type waitingCast struct {
	args     mapArgs
	from, to uint64 // both without gaps
	dt       amp.DType
	n        int
}

func init() {
	register(launchCast, "cast")
	register(launchAdd, "add")
	gathers["cast"], gathers["add"] = true, true // the second launches what waits, unless that is a cast it does without
}

// launchCast lets a cast of halves to float32 wait for the next call.
func launchCast(l *launcher) bool {
	out, in := &l.out, &l.in[0]
	if !in.dt.IsHalf() || out.dt != amp.Float32 || out.len() == 0 || !countable(out.len()) || !in.contiguous() || !out.contiguous() {
		return l.cast(out, in)
	}
	f := l.kernel("cast", in.dt, out.dt)
	if f == 0 || !l.mapArgs.lay(out, in) {
		return false
	}
	b := &l.d.batch
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.err = b.launch(l.d); l.err != nil {
		return true
	}
	b.op, b.f, b.blocks = l.c.Op, f, int32(l.mapArgs.grid(out, in))
	b.cast = waitingCast{args: l.mapArgs, from: in.ptr, to: out.ptr, dt: in.dt, n: out.len()}
	b.waiting.Store(true)
	return true
}

func launchAdd(l *launcher) bool {
	x, y := &l.in[0], &l.in[1]
	return l.addHalves(x, y) || l.addHalves(y, x) || x.dt == y.dt && l.elementwise("add", x.dt, nil, &l.out, x, y)
}

// addHalves queues x + y where y is the result of the cast that waits, and reads what was cast.
func (l *launcher) addHalves(x, y *view) bool {
	source, ok := l.d.batch.source(x, y)
	if !ok {
		return false
	}
	f := l.kernel("accumulate", x.dt, source.dt)
	if f == 0 || !l.mapArgs.lay(&l.out, x, &source) || l.err != nil {
		return false
	}
	m := &l.mapArgs
	a := driver.GetArgs(l.c.Op.Name).Struct(unsafe.Pointer(m), unsafe.Sizeof(*m))
	l.err = l.d.queue(f, [3]uint32{m.grid(&l.out, x, &source), 1, 1}, [3]uint32{mapThreads, 1, 1}, 0, a)
	return true
}

// source returns what y was cast from, if y is the whole result of the cast that waits and x none of it.
func (b *batch) source(x, y *view) (source view, ok bool) {
	if !b.waiting.Load() {
		return source, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &b.cast
	if !b.casts() || y.ptr != c.to || y.dt != amp.Float32 || y.len() != c.n || !y.contiguous() || x.dt != amp.Float32 || x.ptr >= c.to && x.ptr < c.to+4*uint64(c.n) {
		return source, false
	}
	source = *y
	source.ptr, source.dt = c.from, c.dt
	return source, true
}

// casts says whether a cast waits; the lock is held.
func (b *batch) casts() bool { return b.waiting.Load() && b.op.Name == "cast" }

// forget drops the cast that waits if its result lies in m, which nobody wants any more; the lock is held.
func (b *batch) forget(m *block) bool {
	if !b.casts() || uint64(m.ptr) != b.cast.to {
		return false
	}
	b.waiting.Store(false)
	b.letGo()
	return true
}
