package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

var opSoftmax, opLogSoftmax, opSoftmaxBackward, opLogSoftmaxBackward *Op

func init() {
	opSoftmax = define(Op{
		Name: "softmax", Doc: "e^x / Σ e^x along one dimension", Args: []string{"x"}, Class: FP32Output,
		Why: "exponentials and their sum need float32's range", CUDA: "softmax", Line: LikeFirst,
		Check: checkUnary, Result: explicit, Saves: SaveOut,
		CPU:      func(c *Call) { softmaxCPU(c, false) },
		Backward: func(b *Back) { b.softmax(opSoftmaxBackward) },
	})
	opLogSoftmax = define(Op{
		Name: "log_softmax", Doc: "x - log Σ e^x along one dimension", Args: []string{"x"}, Class: FP32Output,
		Why: "exponentials and their sum need float32's range", CUDA: "log_softmax", Line: LikeFirst,
		Check: checkUnary, Result: explicit, Saves: SaveOut,
		CPU:      func(c *Call) { softmaxCPU(c, true) },
		Backward: func(b *Back) { b.softmax(opLogSoftmaxBackward) },
	})
	opSoftmaxBackward = softmaxGradient("softmax_backward", "y·(dy - Σ dy·y) along one dimension", false, func(s *Scope, a, dy, y *Tensor, dim int) *Tensor {
		sum := SumKeep(s, Mul(s, dy, y), dim)
		return Sub(s, Mul(s, a, Sub(s, dy, sum)), Mul(s, dy, SumKeep(s, Mul(s, a, y), dim)))
	})
	opLogSoftmaxBackward = softmaxGradient("log_softmax_backward", "dy - e^y·Σ dy along one dimension", true, func(s *Scope, a, dy, y *Tensor, dim int) *Tensor {
		return Neg(s, Mul(s, Mul(s, a, Exp(s, y)), SumKeep(s, dy, dim)))
	})
}

// softmax sets the gradient from the row of it, in the dtype of the input, which may be narrower than the result's.
func (b *Back) softmax(row *Op) {
	b.Set(0, b.S.apply(row, Attrs{Dims: b.Attrs().Dims, DType: b.DType(0)}, b.DY, b.Out()))
}

// softmaxGradient defines the gradient of a softmax, which reads dy and y once; along gives that of the row itself for y and a gradient a.
func softmaxGradient(name, doc string, log bool, along func(s *Scope, a, dy, y *Tensor, dim int) *Tensor) *Op {
	var o *Op
	o = define(Op{
		Name: name, Doc: doc, Args: []string{"dy", "y"}, Why: whyBackward, CUDA: name, Saves: SaveIn0 | SaveIn1, Result: explicit, Wide: true,
		Check: func(c *Call) []int { c.floats(); c.sameShape(); c.sameDType(1); return c.In[0].shape },
		CPU:   func(c *Call) { softmaxGradCPU(c, log) },
		Backward: func(b *Back) {
			s, a, dim := b.S, b.DY, b.Attrs().Dims[0]
			dy, y := b.In(0), b.In(1)
			if a.dt != dy.dt {
				a = To(s, a, dy.dt)
			}
			if b.Needs(0) {
				g := a
				if log {
					g = Sub(s, a, SumKeep(s, Mul(s, a, Exp(s, y)), dim))
				} else {
					g = s.apply(o, Attrs{Dims: []int{dim}}, a, y)
				}
				b.Set(0, g)
			}
			if b.Needs(1) {
				b.Set(1, along(s, a, dy, y, dim))
			}
		},
	})
	return o
}

// explicit is the result rule of ops with a dtype argument.
func explicit(c *Call) DType {
	if c.DType != NoDType {
		return c.DType
	}
	return c.In[0].dt
}

// Softmax returns e^x / Σ e^x along dim. An explicit dtype wins over autocast, which otherwise gives float32;
// x is brought to it first, as in PyTorch.
func Softmax(s *Scope, x *Tensor, dim int, dtype ...DType) *Tensor {
	x, a := s.axisAttrs(opSoftmax, x, dim, dtype)
	return s.apply(opSoftmax, a, x)
}

// LogSoftmax returns x - log Σ e^x along dim. An explicit dtype wins over autocast, which otherwise gives float32;
// x is brought to it first, as in PyTorch.
func LogSoftmax(s *Scope, x *Tensor, dim int, dtype ...DType) *Tensor {
	x, a := s.axisAttrs(opLogSoftmax, x, dim, dtype)
	return s.apply(opLogSoftmax, a, x)
}

func (s *Scope) axisAttrs(o *Op, x *Tensor, dim int, dtype []DType) (*Tensor, Attrs) {
	x.live(o.Name)
	if len(dtype) > 0 && !dtype[0].IsFloat() {
		fail(o.Name, ErrDType, "use a float dtype", "result dtype %v", dtype[0])
	}
	x, a := s.asked(o, x, dtype)
	a.Dims = []int{o.axis(x, dim)}
	return x, a
}

// alongAxis runs f in place on every line of the input along c.Dims[0], in float64, as the exponentials are whose sum must not lose what
// they have, and rounds it once into the result.
func alongAxis(c *Call, f func(row []float64)) {
	in, out, d := c.In[0], c.Out, c.Dims[0]
	n := in.shape[d]
	if in.Len() == 0 {
		return
	}
	kept := newReduction(in, []int{d})
	inner := out.strides[d]
	cpu.Parallel(kept.nKept, grainOf(8*n), func(lo, hi int) {
		p := rowPool.Get().(*[]float64)
		defer rowPool.Put(p)
		row := sized(p, n)
		for i := lo; i < hi; i++ {
			load(row, in, in.off+offset(i, kept.kept, kept.keptStride), in.strides[d])
			f(row)
			base := out.off + i/inner*inner*n + i%inner
			if inner == 1 {
				store(out, base, row)
				continue
			}
			for k := range row {
				store(out, base+k*inner, row[k:k+1])
			}
		}
	})
}

func maximum(row []float64) float64 {
	m := math.Inf(-1)
	for _, v := range row {
		if v > m || v != v {
			m = v
		}
	}
	return m
}

func softmaxRow(row []float64) {
	m := maximum(row)
	for i := range row {
		row[i] -= m
	}
	cpu.Exp.F64(row, row)
	sum := sumOf(row)
	for i := range row {
		row[i] /= sum
	}
}

func logSoftmaxRow(row []float64) {
	m, rest := logSumExpParts(row)
	if math.IsInf(m, 1) { // as in softmax: nothing is known of the others beside it
		m = math.NaN()
	}
	for i, v := range row {
		row[i] = v - m - rest // the difference is exact near the largest
	}
}

// logSumExp returns log Σ e^row.
func logSumExp(row []float64) float64 {
	m, rest := logSumExpParts(row)
	return m + rest
}

// logSumExpParts returns it as the largest element and what is added to it.
func logSumExpParts(row []float64) (m, rest float64) {
	m = maximum(row)
	if !finite(m) { // all -Inf, or some +Inf or NaN: it decides alone
		return m, 0
	}
	pool := scratches[float64]()
	s := pool.Get().(*scratch[float64])
	sum := 0.0
	for left := row; len(left) > 0; {
		part := s.buf[0][:min(chunk, len(left))]
		for i := range part {
			part[i] = left[i] - m
		}
		cpu.Exp.F64(part, part)
		sum += sumOf(part)
		left = left[len(part):]
	}
	pool.Put(s)
	return m, cpu.Log.Of(sum)
}

// sumOf adds in four interleaved sums, whatever the processor.
func sumOf(row []float64) float64 {
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(row); i += 4 {
		a += row[i]
		b += row[i+1]
		c += row[i+2]
		d += row[i+3]
	}
	for ; i < len(row); i++ {
		a += row[i]
	}
	return (a + b) + (c + d)
}
