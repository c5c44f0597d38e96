package amp

import (
	"fmt"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// add_, copy_ and mul_scalar_ change their first input. In-place ops are never autocast and record no graph.

var opAddInPlace, opCopyInPlace, opScaleInPlace *Op

func init() {
	opAddInPlace = define(Op{
		Name: "add_", Doc: "dst += x, broadcast, in dst's dtype", Args: []string{"dst", "x"}, Why: "in place", InPlace: true, CUDA: "add_",
		Check: checkAddInPlace, CPU: onViews(func(c *Call) {
			switch c.Out.dt {
			case Float64:
				binaryOn(c.Out, c.In[0], c.In[1], addK[float64])
			case Int64:
				binaryOn(c.Out, c.In[0], c.In[1], addK[int64])
			default:
				binaryOn(c.Out, c.In[0], c.In[1], add32)
			}
		}),
	})
	opCopyInPlace = define(Op{
		Name: "copy_", Doc: "dst = x, broadcast, rounded to dst's dtype", Args: []string{"dst", "x"}, Why: "in place", InPlace: true, CUDA: "copy_",
		Check: checkInPlace, CPU: copyInto,
	})
}

func init() {
	opScaleInPlace = define(Op{
		Name: "mul_scalar_", Doc: "dst *= c for a number c", Args: []string{"dst"}, Why: "in place", InPlace: true, CUDA: "mul_scalar",
		Check: checkNumberInPlace,
		CPU:   onViews(byNumber(&cpu.LineScale, func(x, k float64) float64 { return x * k })),
	})
}

// copyInto moves the words where both have one dtype, however either lies; else each element is rounded once.
func copyInto(c *Call) {
	dst, x := c.Out, c.In[1]
	switch {
	case dst.dt == x.dt && dst.Len() == x.Len() && onePiece(dst, x):
		size := dst.dt.Size()
		copy(dst.st.mem[dst.off*size:][:dst.Len()*size], x.st.mem[x.off*size:])
	case dst.dt == x.dt:
		if !dst.contiguous() || !slices.Equal(dst.shape, x.shape) || !copyTransposed(dst, x) {
			copyRows(dst, x)
		}
	case !dst.contiguous():
		rows := dst.gapless(c.Op.Name)
		defer rows.release()
		convertTo(rows, x)
		copyRows(dst, rows)
	default:
		convertTo(dst, x)
	}
}

// convertTo sets dst, which has no gaps, to x of another dtype: in float64 where one of them needs it.
func convertTo(dst, x *Tensor) {
	if x.dt == Float64 || dst.dt == Float64 || x.dt == Int64 {
		binaryOn(dst, dst, x, func(dst, _, x []float64) { copy(dst, x) })
		return
	}
	binaryOn(dst, dst, x, func(dst, _, x []float32) { copy(dst, x) })
}

// AddInPlace adds x, broadcast to dst's shape, to dst, in dst's dtype. dst may be a view, such as a column or a diagonal, of the tensor that
// changes (PyTorch: x.diagonal().add_(1)). x may be another view of dst's memory: all of it is read as it was before. It panics with ErrDType
// for floats that are to be added to integers, or either to bools, with ErrArgument for a view whose elements share memory, as Expand's do, and
// with ErrGrad outside NoGrad for a dst that wants a gradient.
func AddInPlace(s *Scope, dst, x *Tensor) { s.inPlace(opAddInPlace, dst, x) }

// CopyInPlace sets dst to x, broadcast to dst's shape and rounded to dst's dtype: writing into a cache is
// CopyInPlace(s, Narrow(s, cache, 2, at, 1), k). What AddInPlace says of views and of gradients holds here.
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
	dst.writable(c.Op.Name, "dst")
	return dst.shape
}

// checkNumberInPlace is the rule of in-place ops of floats whose other operands are numbers.
func checkNumberInPlace(c *Call) []int {
	c.floats()
	c.In[0].writable(c.Op.Name, "dst")
	return c.In[0].shape
}

// guardInPlace refuses to change what a graph may still need a gradient of: a leaf has its place in an optimizer's scope, and a result of ops
// would lose its gradient there.
func (s *Scope) guardInPlace(o *Op, t *Tensor) {
	if s.root.reference && (t.scope == nil || !t.scope.root.reference) {
		fail(o.Name, ErrArgument, "let Forward change only what it made with ops in c.S where c.S.Recomputing()", "%s %sof shape %v is the program's, and a trace of rounding runs Forward again", o.argName(0), quoted(t.name), t.shape)
	}
	if !t.needs || s.noGrad {
		return
	}
	what := fmt.Sprintf("%s %sof shape %v", o.argName(0), quoted(t.name), t.shape)
	leaf := t
	for leaf.node != nil && leaf.node.op.View != nil {
		leaf = leaf.node.in[0]
	}
	switch {
	case t.node == nil:
		fail(o.Name, ErrGrad, "change it in a s.NoGrad() scope, as optimizers do", "%s wants a gradient", what)
	case leaf.node == nil:
		fail(o.Name, ErrGrad, "change it in a s.NoGrad() scope, as optimizers do", "%s is a view of the leaf %sof shape %v, which wants a gradient", what, quoted(leaf.name), leaf.shape)
	}
	fix := "make a new tensor with an op that is not in place, and use that from there on"
	switch o {
	case opAddInPlace:
		fix = "use y := amp.Add(s, dst, x) from there on; amp.IndexAdd and amp.IndexPut add to parts of a tensor"
	case opCopyInPlace:
		fix = "use the result of amp.Where or amp.IndexPut from there on, which set parts of a tensor; amp.Clone copies all of x"
	}
	fail(o.Name, ErrGrad, fix, "%s is the result of %s and wants a gradient, which is that of its old value", what, t.node.op.Name)
}
