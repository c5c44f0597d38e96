package amp

import (
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// add_, copy_ and mul_scalar_ change their first input. In-place ops are never autocast and record no graph.

var opAddInPlace, opCopyInPlace, opScaleInPlace *Op

func init() {
	opAddInPlace = define(Op{
		Name: "add_", Doc: "dst += x, broadcast, in dst's dtype", Args: []string{"dst", "x"}, Why: "in place", InPlace: true, CUDA: "add_",
		Check: checkAddInPlace, CPU: func(c *Call) {
			switch c.Out.dt {
			case Float64:
				binaryOn(c.Out, c.In[0], c.In[1], addK[float64])
			case Int64:
				binaryOn(c.Out, c.In[0], c.In[1], addK[int64])
			default:
				binaryOn(c.Out, c.In[0], c.In[1], add32)
			}
		},
	})
	opCopyInPlace = define(Op{
		Name: "copy_", Doc: "dst = x, broadcast, rounded to dst's dtype", Args: []string{"dst", "x"}, Why: "in place", InPlace: true, CUDA: "copy_",
		Check: checkInPlace, CPU: func(c *Call) {
			if c.In[1].dt == Int64 && c.Out.dt == Int64 { // float64 holds 53 bits
				binaryOn(c.Out, c.Out, c.In[1], func(dst, _, x []int64) { copy(dst, x) })
				return
			}
			if c.In[1].dt == Float64 || c.Out.dt == Float64 || c.In[1].dt == Int64 {
				binaryOn(c.Out, c.Out, c.In[1], func(dst, _, x []float64) { copy(dst, x) })
				return
			}
			binaryOn(c.Out, c.Out, c.In[1], func(dst, _, x []float32) { copy(dst, x) })
		},
	})
}

func init() {
	opScaleInPlace = define(Op{
		Name: "mul_scalar_", Doc: "dst *= c for a number c", Args: []string{"dst"}, Why: "in place", InPlace: true, CUDA: "mul_scalar",
		Check: func(c *Call) []int { c.floats(); return c.In[0].shape },
		CPU: func(c *Call) {
			byNumber(&cpu.LineScale, func(x, k float64) float64 { return x * k })(c)
		},
	})
}

// AddInPlace adds x to dst, in dst's dtype. x may be another view of dst's memory: all of it is read as it was before. It panics with
// ErrDType for floats that are to be added to integers, or either to bools.
func AddInPlace(s *Scope, dst, x *Tensor) { s.inPlace(opAddInPlace, dst, x) }

// CopyInPlace sets dst to x, rounded to dst's dtype. x may be another view of dst's memory: all of it is read as it was before.
func CopyInPlace(s *Scope, dst, x *Tensor) { s.inPlace(opCopyInPlace, dst, x) }

// inPlace applies a row that writes dst while it reads x: a copy of x, where that would read what is written.
func (s *Scope) inPlace(o *Op, dst, x *Tensor) {
	if s != nil && overlap(dst, x) {
		x = s.NoGrad().apply(opContiguous, Attrs{}, x)
		defer x.release()
	}
	s.apply(o, Attrs{}, dst, x)
}

// overlap says whether two tensors may have elements in common that are not at the same place in both.
func overlap(a, b *Tensor) bool {
	if a == nil || b == nil || a.st == nil || a.st != b.st || a.Len() == 0 || b.Len() == 0 {
		return false
	}
	if a.off == b.off && slices.Equal(a.shape, b.shape) && slices.Equal(a.strides, b.strides) {
		return false
	}
	from, to := a.span()
	first, end := b.span()
	return from < end && first < to
}

func checkAddInPlace(c *Call) []int {
	kind := func(dt DType) int { return slices.Index([]bool{dt == Bool, dt == Int64, dt.IsFloat()}, true) }
	if dst, x := c.In[0].dt, c.In[1].dt; kind(x) > kind(dst) {
		fail(c.Op.Name, ErrDType, "convert x with amp.To, or add to a tensor that can hold the sum", "%v is added to %v in place", x, dst)
	}
	return checkInPlace(c)
}

func checkInPlace(c *Call) []int {
	dst := c.In[0]
	if out := broadcast(c); len(out) != len(dst.shape) || length(out) != dst.Len() {
		fail(c.Op.Name, ErrShape, "x must fit into dst", "%s", c.shapes())
	}
	if !dst.contiguous() {
		fail(c.Op.Name, ErrShape, "change the tensor it is a view of", "%s: dst is no contiguous tensor", c.shapes())
	}
	return dst.shape
}

// guardInPlace refuses to change what a graph may still need a gradient of.
func (s *Scope) guardInPlace(o *Op, t *Tensor) {
	if t.needs && !s.noGrad {
		fail(o.Name, ErrGrad, "change it in a s.NoGrad() scope, as optimizers do", "%sof shape %v wants a gradient", quoted(t.name), t.shape)
	}
}
