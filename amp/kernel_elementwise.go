package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// Kernels of ops that work element by element: how a function of vectors is taken over tensors, whole where they lie in one piece.

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
	if n := out.Len(); elementsAre[T](out) && elementsAre[T](in) && n == in.Len() { // nothing to widen, nothing to repeat
		f(values[T](out)[out.off:][:n], values[T](in)[in.off:][:n])
		return
	}
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
	if n := out.Len(); elementsAre[T](out) && elementsAre[T](a) && elementsAre[T](b) && n == a.Len() && n == b.Len() {
		f(values[T](out)[out.off:][:n], values[T](a)[a.off:][:n], values[T](b)[b.off:][:n])
		return
	}
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
