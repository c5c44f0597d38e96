package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Kernels that go over the lines of one dimension in passes of package cpu, in float32. Halves are widened first, which is exact, and
// rounded at the end; float64 has kernels of its own.

// lineWork is what one worker needs: the pass, and lines where tensors have none that can be used in place.
type lineWork struct {
	cpu.Line
	f32  [4][]float32
	sums []float32
}

var lineWorks = sync.Pool{New: func() any { return new(lineWork) }}

// release forgets the tensors' memory.
func (w *lineWork) release() {
	w.F32 = [6][]float32{}
	lineWorks.Put(w)
}

// buffer returns the k-th float32 line of n elements.
func (w *lineWork) buffer(k, n int) []float32 {
	w.f32[k] = resize(w.f32[k], n)
	return w.f32[k]
}

// read returns n elements of t from offset off: in place if possible, else widened into buffer k.
func (w *lineWork) read(k int, t *Tensor, off, stride, n int) []float32 {
	if x, ok := direct[float32](t, off, stride, n); ok {
		return x
	}
	x := w.buffer(k, n)
	load(x, t, off, stride)
	return x
}

// target returns where a line of t is to be written: in place, or in buffer k, which write then brings there.
func (w *lineWork) target(k int, t *Tensor, off, stride, n int) []float32 {
	if x, ok := direct[float32](t, off, stride, n); ok {
		return x
	}
	return w.buffer(k, n)
}

// write brings a line that target gave to t.
func (w *lineWork) write(t *Tensor, off, stride int, x []float32) {
	if _, ok := direct[float32](t, off, stride, len(x)); !ok {
		storeLine(t, off, stride, x)
	}
}

// narrowLines says whether the passes can work on the tensors: none is float64.
func narrowLines(ts ...*Tensor) bool {
	for _, t := range ts {
		if t != nil && t.dt == Float64 {
			return false
		}
	}
	return true
}

// eachLine calls f with every line of out along dimension d: the lines of the inputs, and where the result goes. Lines are shared out.
func eachLine(out *Tensor, d int, in []*Tensor, f func(w *lineWork, dst []float32, src [3][]float32)) {
	n := out.shape[d]
	if out.Len() == 0 {
		return
	}
	cpu.Parallel(out.Len()/n, max(1, grain/4/n), func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		for i := lo; i < hi; i++ {
			var src [3][]float32
			for k, t := range in {
				src[k] = w.read(k, t, lineOf(t, d, i), t.strides[d], n)
			}
			at := lineOf(out, d, i)
			dst := w.target(3, out, at, out.strides[d], n)
			f(w, dst, src)
			w.write(out, at, out.strides[d], dst)
		}
	})
}
