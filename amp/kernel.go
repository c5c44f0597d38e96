package amp

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp/bfloat16"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/x448/float16"
)

// The CPU kernels of 16-bit floats compute in float32 and round once per op, as tensor cores do. Rows therefore give their
// arithmetic for float32, float64 and, where it makes sense, int64; what follows brings any tensor to that form.
//
// A product that is added to something is written T(x*y) + z: without the conversion the compilers for some processors fuse
// the two, and results would depend on the processor. Elementary functions come from package cpu for the same reason.

// chunk is the number of elements that are widened, computed and rounded at a time: three chunks of float64 fit the L1 cache.
const chunk = 512

// grain is the number of elements from which another worker pays.
const grain = 1 << 15

// grainOf is grain counted in items each of which is as much work as so many elements.
func grainOf(work int) int { return max(1, grain/max(1, work)) }

// number lists the types kernels compute in.
type number interface{ float32 | float64 | int64 }

// load widens len(dst) elements of t, stride apart from offset off.
func load[T number](dst []T, t *Tensor, off, stride int) {
	switch t.dt {
	case Float16:
		gather16(dst, elements[float16.Float16](t), off, stride, cpu.WidenF16, cpu.F16ToF32)
	case BFloat16:
		gather16(dst, elements[bfloat16.BFloat16](t), off, stride, cpu.WidenBF16, cpu.BF16ToF32)
	case Float32:
		gather(dst, elements[float32](t), off, stride)
	case Float64:
		gather(dst, elements[float64](t), off, stride)
	case Int64:
		gather(dst, elements[int64](t), off, stride)
	case Bool:
		if single, ok := any(dst).([]float32); ok && stride == 1 {
			cpu.WidenBools(single, t.st.mem[off:off+len(dst)])
			return
		}
		for i := range dst { // bytes rather than branches, which random masks would mispredict
			dst[i] = T(min(t.st.mem[off+i*stride], 1))
		}
	}
}

func gather[T, S number](dst []T, src []S, off, stride int) {
	switch stride {
	case 1:
		src = src[off : off+len(dst)]
		if same, ok := any(src).([]T); ok {
			copy(dst, same)
			return
		}
		for i, v := range src {
			dst[i] = T(v)
		}
	case 0:
		fill(dst, T(src[off]))
	default:
		for i := range dst {
			dst[i] = T(src[off])
			off += stride
		}
	}
}

// fill sets every element: by copies, which are vectors.
func fill[T number](dst []T, v T) {
	few := min(len(dst), 16)
	for i := range dst[:few] {
		dst[i] = v
	}
	for n := few; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

func gather16[T number, S ~uint16](dst []T, src []S, off, stride int, all func([]float32, []uint16), one func(uint16) float32) {
	if stride == 1 && len(dst) >= 8 {
		half := raw16(src[off : off+len(dst)])
		if d, ok := any(dst).([]float32); ok {
			all(d, half)
			return
		}
		pool := scratches[float32]()
		s := pool.Get().(*scratch[float32])
		for i := 0; i < len(dst); i += chunk {
			wide := s.buf[0][:min(chunk, len(dst)-i)]
			all(wide, half[i:i+len(wide)])
			for j, v := range wide {
				dst[i+j] = T(v)
			}
		}
		pool.Put(s)
		return
	}
	if stride == 0 {
		fill(dst, T(one(uint16(src[off]))))
		return
	}
	for i := range dst {
		dst[i] = T(one(uint16(src[off])))
		off += stride
	}
}

// store rounds src to t's dtype, into consecutive elements from offset off.
func store[T number](t *Tensor, off int, src []T) {
	switch t.dt {
	case Float16:
		dst := raw16(elements[float16.Float16](t)[off : off+len(src)])
		if s, ok := any(src).([]float32); ok {
			cpu.NarrowF16(dst, s)
			return
		}
		for i, v := range src {
			dst[i] = cpu.F64ToF16(float64(v))
		}
	case BFloat16:
		dst := raw16(elements[bfloat16.BFloat16](t)[off : off+len(src)])
		if s, ok := any(src).([]float32); ok {
			cpu.NarrowBF16(dst, s)
			return
		}
		for i, v := range src {
			dst[i] = cpu.F64ToBF16(float64(v))
		}
	case Float32:
		narrow(elements[float32](t)[off:off+len(src)], src)
	case Float64:
		narrow(elements[float64](t)[off:off+len(src)], src)
	case Int64:
		narrow(elements[int64](t)[off:off+len(src)], src)
	case Bool:
		if s, ok := any(src).([]float32); ok {
			cpu.Truths(t.st.mem[off:off+len(src)], s)
			return
		}
		dst := elements[bool](t)[off : off+len(src)]
		for i, v := range src {
			dst[i] = v != 0
		}
	}
}

func narrow[T, S number](dst []T, src []S) {
	if same, ok := any(src).([]T); ok {
		copy(dst, same)
		return
	}
	if short, ok := any(dst).([]float32); ok {
		if wide, ok := any(src).([]float64); ok {
			cpu.NarrowF64(short, wide)
			return
		}
	}
	for i, v := range src {
		dst[i] = T(v)
	}
}

// setFloat64s fills a contiguous tensor.
func (t *Tensor) setFloat64s(v []float64) {
	t.rewrite("setFloat64s", func(t *Tensor) { store(t, t.off, v) })
}

// elementsAre says whether t's elements are of type T.
func elementsAre[T number](t *Tensor) bool {
	var z T
	switch any(z).(type) {
	case float32:
		return t.dt == Float32
	case float64:
		return t.dt == Float64
	}
	return t.dt == Int64
}

// values views the storage of a tensor that holds T.
func values[T number](t *Tensor) []T {
	var z T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(t.st.mem))), len(t.st.mem)/int(unsafe.Sizeof(z)))
}

// direct returns len n elements of t in place, if it is of type T and they are consecutive.
func direct[T number](t *Tensor, off, stride, n int) ([]T, bool) {
	if stride != 1 {
		return nil, false
	}
	var z T
	switch any(z).(type) {
	case float32:
		if t.dt != Float32 {
			return nil, false
		}
		s, ok := any(elements[float32](t)[off : off+n]).([]T)
		return s, ok
	case float64:
		if t.dt != Float64 {
			return nil, false
		}
		s, ok := any(elements[float64](t)[off : off+n]).([]T)
		return s, ok
	}
	if t.dt != Int64 {
		return nil, false
	}
	s, ok := any(elements[int64](t)[off : off+n]).([]T)
	return s, ok
}

// fetch returns n elements as T: in place where possible, else widened into buf.
func fetch[T number](buf *[chunk]T, t *Tensor, off, stride, n int) []T {
	if s, ok := direct[T](t, off, stride, n); ok {
		return s
	}
	load(buf[:n], t, off, stride)
	return buf[:n]
}

// raw16 views half elements as their bits.
func raw16[S ~uint16](s []S) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// onePiece says whether the elements of out and of each input lie one behind another, so that they need no walk, and are too few
// to share out; an input of one element is taken for all.
func onePiece(out *Tensor, in ...*Tensor) bool {
	n := out.Len()
	if n == 0 || n > grain || !out.contiguous() {
		return false
	}
	for _, t := range in {
		if k := t.Len(); k != 1 && (k != n || !t.contiguous()) {
			return false
		}
	}
	return true
}

// pace is the distance of an input's elements in onePiece.
func (t *Tensor) pace() int {
	if t.Len() == 1 {
		return 0
	}
	return 1
}

// unaryOn runs f over the elements of in, computed in T.
func unaryOn[T number](out, in *Tensor, f func(dst, x []T)) {
	if onePiece(out, in) {
		unaryPiece(out, in, f)
		return
	}
	w := newRowWalk(out, in)
	if elementsAre[T](out) && elementsAre[T](in) && w.step[1] == 1 { // nothing to widen: no need for pieces that fit a scratch
		dst, x := values[T](out), values[T](in)
		w.runBy(grain, func(off [4]int, n int) { f(dst[off[0]:off[0]+n], x[off[1]:off[1]+n]) })
		return
	}
	pool := scratches[T]()
	w.run(func(off [4]int, n int) {
		s := pool.Get().(*scratch[T])
		x := fetch(&s.buf[0], in, off[1], w.step[1], n)
		if dst, ok := direct[T](out, off[0], 1, n); ok {
			f(dst, x)
		} else {
			f(s.buf[1][:n], x)
			store(out, off[0], s.buf[1][:n])
		}
		pool.Put(s)
	})
}

// unaryPiece is unaryOn for onePiece: what makes small ops cheap.
func unaryPiece[T number](out, in *Tensor, f func(dst, x []T)) {
	pool := scratches[T]()
	s := pool.Get().(*scratch[T])
	step := in.pace()
	for lo, total := 0, out.Len(); lo < total; lo += chunk {
		n := min(chunk, total-lo)
		x := fetch(&s.buf[0], in, in.off+lo*step, step, n)
		if dst, ok := direct[T](out, out.off+lo, 1, n); ok {
			f(dst, x)
		} else {
			f(s.buf[1][:n], x)
			store(out, out.off+lo, s.buf[1][:n])
		}
	}
	pool.Put(s)
}

// binaryPiece is binaryOn for onePiece.
func binaryPiece[T number](out, a, b *Tensor, f func(dst, x, y []T)) {
	pool := scratches[T]()
	s := pool.Get().(*scratch[T])
	stepA, stepB := a.pace(), b.pace()
	for lo, total := 0, out.Len(); lo < total; lo += chunk {
		n := min(chunk, total-lo)
		x := fetch(&s.buf[0], a, a.off+lo*stepA, stepA, n)
		y := fetch(&s.buf[1], b, b.off+lo*stepB, stepB, n)
		if dst, ok := direct[T](out, out.off+lo, 1, n); ok {
			f(dst, x, y)
		} else {
			f(s.buf[2][:n], x, y)
			store(out, out.off+lo, s.buf[2][:n])
		}
	}
	pool.Put(s)
}

// binaryOn runs f over the elements of a and b, computed in T.
func binaryOn[T number](out, a, b *Tensor, f func(dst, x, y []T)) {
	if onePiece(out, a, b) {
		binaryPiece(out, a, b, f)
		return
	}
	w := newRowWalk(out, a, b)
	if elementsAre[T](out) && elementsAre[T](a) && elementsAre[T](b) && w.step[1] == 1 && w.step[2] == 1 {
		dst, x, y := values[T](out), values[T](a), values[T](b)
		w.runBy(grain, func(off [4]int, n int) { f(dst[off[0]:off[0]+n], x[off[1]:off[1]+n], y[off[2]:off[2]+n]) })
		return
	}
	pool := scratches[T]()
	if elementsAre[T](out) && elementsAre[T](a) && elementsAre[T](b) && (w.step[1] == 1 && w.step[2] == 0 || w.step[1] == 0 && w.step[2] == 1) {
		dst, x, y := values[T](out), values[T](a), values[T](b)
		w.runBy(grain, func(off [4]int, n int) { // a number, which need not be repeated more than once for a row
			s := pool.Get().(*scratch[T])
			same := s.buf[0][:min(chunk, n)]
			if w.step[1] == 0 {
				fill(same, x[off[1]])
			} else {
				fill(same, y[off[2]])
			}
			for i := 0; i < n; i += chunk {
				m := min(chunk, n-i)
				if d := dst[off[0]+i:][:m]; w.step[1] == 0 {
					f(d, same[:m], y[off[2]+i:][:m])
				} else {
					f(d, x[off[1]+i:][:m], same[:m])
				}
			}
			pool.Put(s)
		})
		return
	}
	w.run(func(off [4]int, n int) {
		s := pool.Get().(*scratch[T])
		x := fetch(&s.buf[0], a, off[1], w.step[1], n)
		y := fetch(&s.buf[1], b, off[2], w.step[2], n)
		if dst, ok := direct[T](out, off[0], 1, n); ok {
			f(dst, x, y)
		} else {
			f(s.buf[2][:n], x, y)
			store(out, off[0], s.buf[2][:n])
		}
		pool.Put(s)
	})
}

// unary makes a CPU kernel of float arithmetic given for both widths.
func unary(f32 func(dst, x []float32), f64 func(dst, x []float64)) func(c *Call) {
	return func(c *Call) {
		if c.In[0].dt == Float64 {
			unaryOn(c.Out, c.In[0], f64)
			return
		}
		unaryOn(c.Out, c.In[0], f32)
	}
}

// binary makes a CPU kernel of arithmetic given for floats and, where not nil, integers.
func binary(f32 func(dst, x, y []float32), f64 func(dst, x, y []float64), i64 func(dst, x, y []int64)) func(c *Call) {
	return func(c *Call) {
		switch c.In[0].dt {
		case Float64:
			binaryOn(c.Out, c.In[0], c.In[1], f64)
		case Int64:
			binaryOn(c.Out, c.In[0], c.In[1], i64)
		default:
			binaryOn(c.Out, c.In[0], c.In[1], f32)
		}
	}
}

// mappedBy makes the kernel of a function of one number from a pass for float32 and a function for float64.
func mappedBy(k *cpu.LineKernel, f func(float64) float64) func(c *Call) {
	return unary(pass(k), func(dst, x []float64) {
		for i, v := range x {
			dst[i] = f(v)
		}
	})
}

// aFunction is a plain function of one number, or one that package cpu has for slices.
type aFunction interface {
	func(float64) float64 | *cpu.Function
}

// mapped makes the two widths of a function of one number.
func mapped[F aFunction](of F) func(c *Call) {
	if fast, ok := any(of).(*cpu.Function); ok {
		compute := unary(fast.F32, fast.F64)
		return func(c *Call) {
			if in := c.In[0]; tabled(c.Out, in) {
				lookUp(c.Out, in, halfTable(fast, in.dt))
				return
			}
			compute(c)
		}
	}
	f := any(of).(func(float64) float64)
	return unary(
		func(dst, x []float32) {
			for i, v := range x {
				dst[i] = float32(f(float64(v)))
			}
		},
		func(dst, x []float64) {
			for i, v := range x {
				dst[i] = f(v)
			}
		})
}
