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
	same [3][chunk]uint16 // a half repeated
	sums []float32
	wide []float64
}

var lineWorks = sync.Pool{New: func() any { return new(lineWork) }}

// release forgets the tensors' memory.
func (w *lineWork) release() {
	clear(w.F32[:])
	clear(w.Half[:])
	w.Ahead = 0
	lineWorks.Put(w)
}

// buffer returns the k-th float32 line of n elements.
func (w *lineWork) buffer(k, n int) []float32 {
	w.f32[k] = resize(w.f32[k], n)
	return w.f32[k]
}

// follows says whether lines of n elements lie one behind another, in float32.
func follows(n int, ts ...*Tensor) bool {
	for _, t := range ts {
		if t.dt != Float32 || !t.contiguous() || len(t.shape) == 0 || t.shape[len(t.shape)-1] > n {
			return false
		}
	}
	return true
}

// lookAhead has the passes fetch the next lines of n elements, where they follow.
func (w *lineWork) lookAhead(n int, follow bool) {
	w.Ahead = 0
	if follow {
		w.Ahead = 4 * n
	}
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
	cpu.Parallel(out.Len()/n, grainOf(n), func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		follow := follows(n, out) && follows(n, in...)
		for i := lo; i < hi; i++ {
			w.lookAhead(n, follow && i+1 < hi)
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

// shortLine is the length from which a pass pays.
const shortLine = 24

// pass makes the kernel of a function of one number in float32 from a pass from line 0 to line 1 with some numbers.
func pass(k *cpu.LineKernel, arg ...float64) func(dst, x []float32) {
	return func(dst, x []float32) {
		w := lineWorks.Get().(*lineWork)
		w.F32[0], w.F32[1] = x, dst
		for i, v := range arg {
			w.Arg[i] = float32(v)
		}
		k.Run(len(x), &w.Line)
		w.release()
	}
}

// passOrShort is pass, and a loop that does the same for few numbers.
func passOrShort(k *cpu.LineKernel, short func(dst, x []float32)) func(dst, x []float32) {
	long := pass(k)
	return func(dst, x []float32) {
		if len(x) < shortLine {
			short(dst, x)
			return
		}
		long(dst, x)
	}
}

// pass2 makes the kernel of a function of two numbers from a pass from lines 0 and 1 to line 2.
func pass2(k *cpu.LineKernel, arg ...float64) func(dst, x, y []float32) {
	return func(dst, x, y []float32) {
		w := lineWorks.Get().(*lineWork)
		w.F32[0], w.F32[1], w.F32[2] = x, y, dst
		for i, v := range arg {
			w.Arg[i] = float32(v)
		}
		k.Run(len(x), &w.Line)
		w.release()
	}
}

// pass2OrShort is pass2, and a loop that does the same for few numbers.
func pass2OrShort(k *cpu.LineKernel, short func(dst, x, y []float32)) func(dst, x, y []float32) {
	long := pass2(k)
	return func(dst, x, y []float32) {
		if len(x) < shortLine {
			short(dst, x, y)
			return
		}
		long(dst, x, y)
	}
}
