package amp

import (
	"errors"
	"fmt"
	"unsafe"
)

// Tensors whose memory the host can't reach: what reads or writes elements outside a kernel comes here. A copy of what a tensor
// covers is made in host memory, laid out as the tensor is, and written back where it was changed.

// A Layout says where a tensor's elements lie, which is what a device's kernel takes. Element (i, j, …) is number
// Offset + i·Strides[0] + j·Strides[1] + … of the buffer.
type Layout struct {
	Buffer  Buffer
	Offset  int   // of the first element, in elements
	Shape   []int // the tensor's own: not to be changed
	Strides []int // in elements; 0 along a broadcast dimension
}

// Layout returns where the elements lie.
func (t *Tensor) Layout() Layout {
	t.live("Layout")
	return Layout{t.st.buf, t.off, t.shape, t.strides}
}

// IsContiguous says whether the elements lie in row-major order without gaps.
func (t *Tensor) IsContiguous() bool { return t.known("IsContiguous").contiguous() }

// IsView says whether t has its elements in memory that was made for another tensor, as what Transpose, Slice and Detach return.
func (t *Tensor) IsView() bool { return t.known("IsView").view }

// span returns the place of the first element that t covers and that behind the last, in its storage.
func (t *Tensor) span() (lo, hi int) {
	lo, hi = t.off, t.off+1
	for d, n := range t.shape {
		if n == 0 {
			return t.off, t.off
		}
		hi += (n - 1) * t.strides[d]
	}
	return lo, hi
}

// mirror returns a tensor laid out as t over host memory for the elements from lo to hi.
func (t *Tensor) mirror(mem []byte, lo int) *Tensor {
	m := &Tensor{dt: t.dt, shape: t.shape, strides: t.strides, off: t.off - lo, name: t.name, needs: t.needs}
	m.st = &storage{dev: theCPU, mem: mem, dt: t.dt, bytes: int64(len(mem))}
	m.st.refs.Store(1) // which kernels that make views of it add to; it is never released
	return m
}

// onHost returns t, or a copy where the host does not reach it, after waiting for its device.
func (t *Tensor) onHost(op string) *Tensor {
	if t.st.mem != nil {
		return t
	}
	t.played(op)
	lo, hi := t.span()
	size := t.dt.Size()
	if c := t.gathered(hi - lo); c != nil {
		defer c.release()
		t, lo, hi = c, 0, c.Len()
	}
	mem := hostBytes((hi - lo) * size)
	t.st.must(op, t.st.dev.CopyOut(mem, t.st.buf, lo*size))
	return t.mirror(mem, lo)
}

// gatherFrom is the size in bytes of what a view spans from which on its device brings the elements together before the host reads them:
// below, a copy of all that lies between them is as quick.
const gatherFrom = 1 << 20

// gathered returns a copy of t without gaps on its device where most of the elements that t spans are not t's, such as those of one column
// of a matrix. It returns nil where there are few between them, and where the device has no room or captures a step.
func (t *Tensor) gathered(span int) *Tensor {
	if n := t.Len(); n == 0 || span/4 < n || span*t.dt.Size() < gatherFrom || capturing.Load() != nil {
		return nil
	}
	var c *Tensor
	if Maybe(func() { c = alloc("contiguous", t.st.dev, t.dt, t.shape) }) != nil {
		return nil
	}
	if t.st.dev.Run(&Call{Op: opContiguous, In: []*Tensor{t}, Out: c}) != nil {
		c.release()
		return nil
	}
	return c
}

// rewrite calls f with t, or with a copy that it fills and that is then written back.
func (t *Tensor) rewrite(op string, f func(t *Tensor)) {
	if t.st.mem != nil {
		f(t)
		return
	}
	lo, hi := t.span()
	size := t.dt.Size()
	mem := hostBytes((hi - lo) * size)
	if !t.contiguous() {
		t.st.must(op, t.st.dev.CopyOut(mem, t.st.buf, lo*size))
	}
	f(t.mirror(mem, lo))
	t.st.must(op, t.st.dev.CopyIn(t.st.buf, lo*size, mem))
}

// setElements replaces the elements, in row-major order.
func setElements[T Element](t *Tensor, values []T) {
	if t.contiguous() {
		if t.st.mem != nil {
			copy(elements[T](t)[t.off:], values)
		} else if len(values) > 0 {
			var z T
			mem := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(z)))
			t.st.must("SetValues", t.st.dev.CopyIn(t.st.buf, t.off*t.dt.Size(), mem))
		}
		return
	}
	t.rewrite("SetValues", func(t *Tensor) {
		dst, i := elements[T](t), 0
		t.each(func(off int) { dst[off] = values[i]; i++ })
	})
}

// fill sets every element of a contiguous tensor to v, rounded to its dtype.
func (t *Tensor) fill(v float64) {
	size, n := t.dt.Size(), t.Len()
	var one [8]byte
	w := &Tensor{dt: t.dt, st: &storage{mem: one[:]}}
	store(w, 0, []float64{v})
	if t.st.mem != nil {
		repeatBytes(t.st.mem[t.off*size:][:n*size], one[:size])
		return
	}
	if f, ok := t.st.dev.(Filler); ok {
		t.st.must("fill", f.Fill(t.st.buf, t.off*size, one[:size], n))
		return
	}
	mem := make([]byte, n*size)
	repeatBytes(mem, one[:size])
	t.st.must("fill", t.st.dev.CopyIn(t.st.buf, t.off*size, mem))
}

// repeatBytes fills dst with a pattern, doubling what is there.
func repeatBytes(dst, pattern []byte) {
	for n := copy(dst, pattern); n < len(dst) && n > 0; n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// copyFrom copies the elements of a tensor of the same shape and dtype; both are contiguous.
func (t *Tensor) copyFrom(op string, src *Tensor) {
	size := t.dt.Size()
	to, from, n := t.off*size, src.off*size, t.Len()*size
	switch a, b := t.st, src.st; {
	case n == 0:
	case a.mem != nil && b.mem != nil:
		copy(a.mem[to:][:n], b.mem[from:][:n])
	case b.mem != nil:
		a.must(op, a.dev.CopyIn(a.buf, to, b.mem[from:][:n]))
	case a.mem != nil:
		src.played(op)
		b.must(op, b.dev.CopyOut(a.mem[to:][:n], b.buf, from))
	case a == b && to < from+n && from < to+n: // the same elements
	case sameDevice(a.dev, b.dev):
		a.must(op, a.dev.Copy(a.buf, to, b.buf, from, n))
	default:
		mem := hostBytes(n)
		b.must(op, b.dev.CopyOut(mem, b.buf, from))
		a.must(op, a.dev.CopyIn(a.buf, to, mem))
	}
}

// hostBytes returns memory that starts where an element of any dtype may, for a few bytes too.
func hostBytes(n int) []byte {
	words := make([]uint64, (n+7)/8+1)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), n)
}

// must panics over an error of the storage's device.
func (st *storage) must(op string, err error) {
	if err != nil {
		deviceFault(op, fmt.Errorf("%s: %w", st.dev.Name(), err))
	}
}

// deviceFault panics over a device's error: over that of an earlier op, such as an index out of range that a kernel found, as it is.
func deviceFault(op string, err error) {
	if e := (*Error)(nil); errors.As(err, &e) {
		panic(e)
	}
	kind, fix := ErrFault, "see the device's message"
	for _, k := range []error{ErrCapture, ErrMemory} {
		if errors.Is(err, k) {
			kind = k
		}
	}
	if outOfMemory(err) {
		kind, fix = ErrMemory, fixMemory
	}
	if a := adviceOf(err); a != "" {
		fix = a
	}
	fail(op, kind, fix, "%v", err)
}

// outOfMemory says whether a device has no memory left.
func outOfMemory(err error) bool {
	m := (interface{ OutOfMemory() bool })(nil)
	return errors.As(err, &m) && m.OutOfMemory()
}

// adviceOf is what a device's error says to do, "" if it does not say.
func adviceOf(err error) string {
	if a := (interface{ Advice() string })(nil); errors.As(err, &a) {
		return a.Advice()
	}
	return ""
}
