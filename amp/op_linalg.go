package amp

import (
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Products of vectors along a dimension, and products of tensors that are made of matrix products.

var opVecdot, opVdot, opCross, opTensordot, opMultiDot, opBilinear, opOuter, opInner, opKron *Op

func init() {
	opVecdot = define(Op{
		Name: "linalg_vecdot", Doc: "Σ a·b along one dimension, broadcast, accumulated in float64", Args: []string{"a", "b"}, Class: Lower, CPUList: Lower, Why: whyGEMM, CUDA: "vecdot",
		Saves: SaveIn0 | SaveIn1,
		Check: func(c *Call) []int {
			c.floats()
			shape := slices.Clone(broadcast(c))
			d := c.alongLast(shape)
			return slices.Delete(shape, d, d+1)
		},
		CPU: func(c *Call) {
			shape := broadcast(c)
			eachLines(c.In[0], c.In[1], shape, c.alongLast(shape), func(i int, x, y []float64) {
				sum := 0.0
				for k, v := range x {
					sum += float64(v * y[k])
				}
				store(c.Out, c.Out.off+i, []float64{sum})
			})
		},
		Backward: func(b *Back) {
			along := b.Attrs().Dims[0] // counts from the last: -1 and below
			dy := addDim(b.S, b.DY, along+1)
			if n, m := sizeAlong(b.Shape(0), along), sizeAlong(b.Shape(1), along); n != m { // one of them was broadcast along it
				if n == 1 {
					n = m
				}
				shape := dy.Shape()
				shape[len(shape)+along] = n
				dy = Expand(b.S, dy, shape...)
			}
			if b.Needs(0) {
				b.Set(0, b.sumTo(0, Mul(b.S, dy, b.In(1))))
			}
			if b.Needs(1) {
				b.Set(1, b.sumTo(1, Mul(b.S, dy, b.In(0))))
			}
		},
	})
	opVdot = define(Op{
		Name: "vdot", Doc: "Σ a·b of two vectors", Args: []string{"a", "b"}, Class: Promote, Why: whyCombine, CUDA: "dot", Composite: []string{"dot"},
	})
	opCross = define(Op{
		Name: "cross", Doc: "cross product of vectors of three along a dimension, broadcast", Args: []string{"a", "b"}, Class: Promote, Why: whyCombine, Widens: true, Whole: wholeCross, CUDA: "cross",
		Saves: SaveIn0 | SaveIn1,
		Check: func(c *Call) []int {
			shape := broadcast(c)
			if d := c.alongLast(shape); shape[d] != 3 {
				fail("cross", ErrShape, "use vectors of three", "%s: dimension %d has %d elements", c.shapes(), d, shape[d])
			}
			c.floats()
			return shape
		},
		CPU: func(c *Call) {
			shape := c.Out.shape
			d := c.alongLast(shape)
			inner := c.Out.strides[d]
			eachLines(c.In[0], c.In[1], shape, d, func(i int, x, y []float64) {
				base := c.Out.off + i/inner*inner*3 + i%inner
				for k := range 3 {
					p, q := (k+1)%3, (k+2)%3
					store(c.Out, base+k*inner, []float64{float64(x[p]*y[q]) - float64(x[q]*y[p])})
				}
			})
		},
		Backward: func(b *Back) { // b × dy and dy × a
			cross := func(x, y *Tensor) *Tensor { return b.S.apply(opCross, b.Attrs(), x, y) }
			if b.Needs(0) {
				b.Set(0, b.sumTo(0, cross(b.In(1), b.DY)))
			}
			if b.Needs(1) {
				b.Set(1, b.sumTo(1, cross(b.DY, b.In(0))))
			}
		},
	})
}

func init() {
	opTensordot = define(Op{
		Name: "tensordot", Doc: "Σ a·b over pairs of dimensions", Args: []string{"a", "b"}, Class: Promote, Why: whyCombine, CUDA: "gemm", Composite: []string{"transpose", "reshape", "dot", "mm"}, Parts: Apart,
	})
	opMultiDot = define(Op{
		Name: "multi_dot", Doc: "product of several matrices, in the order of fewest operations; the ends may be vectors", Args: []string{"first", "second", "third"}, Class: Lower, Why: whyGEMM,
		CUDA: "gemm", Composite: []string{"reshape", "mm"}, Parts: Apart,
	})
	opBilinear = define(Op{
		Name: "bilinear", Doc: "Σ a[i]·weight[o,i,j]·b[j] + bias[o]", Args: []string{"a", "b", "weight", "bias"}, Class: Promote, Why: whyCombine, CUDA: "gemm",
		Composite: []string{"transpose", "reshape", "mm", "bmm"},
	})
	opOuter = define(Op{
		Name: "outer", Doc: "a[i]·b[j] of two vectors", Args: []string{"a", "b"}, Why: whyArith, CUDA: "mul", Composite: []string{"reshape", "mul"}, Parts: Apart,
	})
	opInner = define(Op{
		Name: "inner", Doc: "Σ a·b along the last dimensions, for every two rows", Args: []string{"a", "b"}, Why: "PyTorch makes it of tensordot, which promotes", CUDA: "gemm",
		Composite: []string{"tensordot"}, Parts: Apart,
	})
	opKron = define(Op{
		Name: "kron", Doc: "a with every element multiplied by the whole of b", Args: []string{"a", "b"}, Why: whyArith, CUDA: "mul", Composite: []string{"reshape", "mul"}, Parts: Apart,
	})
}

// alongLast returns the dimension of a shape that c.Dims[0] names, counted from the last so that broadcasting leaves it alone.
func (c *Call) alongLast(shape []int) int {
	d := len(shape) + c.Dims[0]
	if d < 0 || c.Dims[0] >= 0 {
		fail(c.Op.Name, ErrShape, "use a dimension that both have", "dimension %d of %v", c.Dims[0], shape)
	}
	return d
}

// fromLast turns a dimension of the broadcast shape of a and b into one that counts from the last.
func fromLast(op string, dim int, a, b *Tensor) int {
	a.live(op)
	b.live(op)
	if dim >= 0 {
		return dim - max(len(a.shape), len(b.shape))
	}
	return dim
}

// eachLines calls f with every two lines of a and b along dimension d of the shape that they are broadcast to, in float64, and the
// line's number.
func eachLines(a, b *Tensor, shape []int, d int, f func(i int, x, y []float64)) {
	wide := func(t *Tensor) (strides []int, step int) {
		all := make([]int, len(shape))
		for k := range t.shape {
			if j := len(shape) - len(t.shape) + k; t.shape[k] == shape[j] {
				all[j] = t.strides[k]
			}
		}
		step = all[d]
		return slices.Delete(all, d, d+1), step
	}
	kept := slices.Delete(slices.Clone(shape), d, d+1)
	sa, stepA := wide(a)
	sb, stepB := wide(b)
	n := shape[d]
	cpu.Parallel(length(kept), grainOf(4*n), func(lo, hi int) {
		x, y := make([]float64, n), make([]float64, n)
		for i := lo; i < hi; i++ {
			load(x, a, a.off+offset(i, kept, sa), stepA)
			load(y, b, b.off+offset(i, kept, sb), stepB)
			f(i, x, y)
		}
	})
}

// sizeAlong is the size of a dimension that counts from the last, 1 where a shape does not reach that far.
func sizeAlong(shape []int, along int) int {
	if len(shape)+along < 0 {
		return 1
	}
	return shape[len(shape)+along]
}

// Vecdot returns Σ a·b along dim, which goes; other sizes are broadcast: torch.linalg.vecdot. In the lower dtype under autocast.
func Vecdot(s *Scope, a, b *Tensor, dim int) *Tensor {
	if a.lone() && b.lone() {
		a = line(s, a) // b is broadcast to it
	}
	return s.apply(opVecdot, Attrs{Dims: []int{fromLast("linalg_vecdot", dim, a, b)}}, a, b)
}

// Vdot returns Σ a·b of two vectors, as Dot does for real numbers; under autocast in the wider dtype of the two.
func Vdot(s *Scope, a, b *Tensor) *Tensor {
	s, in := s.enter(opVdot, a, b)
	return Dot(s, in[0], in[1])
}

// Cross returns the cross products of vectors of three along dim, of floats or of integers; other sizes are broadcast. Under autocast in the
// wider dtype of the two. It panics with ErrShape unless a and b have as many dimensions.
func Cross(s *Scope, a, b *Tensor, dim int) *Tensor {
	opCross.need(a, b)
	if len(a.shape) != len(b.shape) {
		fail("cross", ErrShape, "give a and b as many dimensions with amp.Unsqueeze", "a %v, b %v", a.shape, b.shape)
	}
	return s.apply(opCross, Attrs{Dims: []int{fromLast("cross", dim, a, b)}}, a, b)
}

// Outer returns a[i]·b[j] for vectors a [n] and b [m] as [n m].
func Outer(s *Scope, a, b *Tensor) *Tensor {
	rankOf("outer", a, 1)
	rankOf("outer", b, 1)
	s, in := s.enter(opOuter, a, b)
	return Mul(s, Reshape(s, in[0], -1, 1), in[1])
}

// Inner returns Σ a·b along the last dimensions for every row of a and every row of b: [… of a, … of b].
func Inner(s *Scope, a, b *Tensor) *Tensor {
	a.live("inner")
	b.live("inner")
	if len(a.shape) == 0 || len(b.shape) == 0 {
		return Mul(s, a, b)
	}
	s, in := s.enter(opInner, a, b)
	return Tensordot(s, in[0], in[1], []int{-1}, []int{-1})
}
