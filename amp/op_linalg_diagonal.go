package amp

import "slices"

// diagonal and trace.

var opDiagonal, opDiagonalBackward, opTrace *Op

func init() {
	opDiagonal = define(Op{
		Name: "diagonal", Doc: "the elements x[i,i+offset] of two dimensions as the last one, as a view", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "view",
		Check: func(c *Call) []int { return c.Shape },
		View:  func(c *Call) *Tensor { return diagonalOf(c.In[0], c) },
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Shape = b.Shape(0)
			b.Set(0, b.S.apply(opDiagonalBackward, a, b.DY))
		},
	})
	opDiagonalBackward = define(Op{
		Name: "diagonal_backward", Doc: "dy on the diagonal of a tensor of zeros", Args: []string{"dy"}, Why: whyView, CUDA: "diagonal_backward",
		Check: func(c *Call) []int { return c.Shape },
		CPU: func(c *Call) {
			clear(c.Out.st.mem)
			place := *c
			place.Shape = c.In[0].shape
			part := diagonalOf(c.Out, &place)
			copyPart(part, c.In[0], 0, 0)
			part.release()
		},
		Backward: func(b *Back) {
			a := b.Attrs()
			b.Set(0, Diagonal(b.S, b.DY, a.Start, a.Dims[0], a.Dims[1]))
		},
	})
	opTrace = define(Op{
		Name: "trace", Doc: "sum of the diagonal of a matrix", Args: []string{"x"}, CPUList: FP32, Why: "one kernel, not on the CUDA lists; accumulated wide", CUDA: "trace", Composite: []string{"diagonal", "sum"},
	})
}

// diagonalOf views a diagonal of t in the shape that the call gives it.
func diagonalOf(t *Tensor, c *Call) *Tensor {
	first, second := c.Dims[0], c.Dims[1]
	var strides []int
	for d, n := range t.strides {
		if d != first && d != second {
			strides = append(strides, n)
		}
	}
	v := t.alias(c.Shape, append(strides, t.strides[first]+t.strides[second]))
	switch {
	case v.Len() == 0:
	case c.Start >= 0:
		v.off += c.Start * t.strides[second]
	default:
		v.off -= c.Start * t.strides[first]
	}
	return v
}

// Diagonal returns the elements x[i,i+offset] of dimensions first and second as a new last dimension, as a view; an
// offset beyond the corners gives no elements.
func Diagonal(s *Scope, x *Tensor, offset, first, second int) *Tensor {
	x.live("diagonal")
	first, second = x.axis("diagonal", first), x.axis("diagonal", second)
	if first == second {
		fail("diagonal", ErrShape, "name two dimensions", "dimension %d twice", first)
	}
	rows, columns := x.shape[first], x.shape[second]
	n := min(rows, columns-offset)
	if offset < 0 {
		n = min(rows+offset, columns)
	}
	_, shape := others(x, []int{first, second})
	return s.apply(opDiagonal, Attrs{Dims: []int{first, second}, Start: offset, Shape: append(shape, max(n, 0))}, x)
}

// DiagEmbed returns matrices with the last dimension of x, [… n], on the diagonal that is offset above the main one, below it for a negative
// offset, and 0 elsewhere: [… m m], where m is n and the offset's size. (PyTorch: torch.diag_embed, and torch.diag of a vector.)
func DiagEmbed(s *Scope, x *Tensor, offset int) *Tensor {
	x.live("DiagEmbed")
	if len(x.shape) == 0 {
		fail("DiagEmbed", ErrShape, "use [… n]", "x has no dimension")
	}
	if offset > 1<<24 || offset < -1<<24 {
		fail("DiagEmbed", ErrArgument, "use an offset within the matrix", "offset %d", offset)
	}
	n := x.shape[len(x.shape)-1]
	m := n + max(offset, -offset)
	before := max(offset, 0) - min(offset, 0)*m // elements before the first of the diagonal, in row-major order
	// One element and m zeros make a diagonal where rows have m elements.
	lines := Pad(s, Unsqueeze(s, x, -1), []int{0, m}, "constant", 0)
	batch := x.shape[:len(x.shape)-1]
	flat := Reshape(s, lines, append(slices.Clone(batch), n*(m+1))...)
	all := Pad(s, flat, []int{before, m*m - before - n*(m+1)}, "constant", 0) // which takes zeros off again where they go beyond the end
	return Reshape(s, all, append(slices.Clone(batch), m, m)...)
}

// MatrixTrace returns the sum of the diagonal of a matrix, accumulated wide and rounded once: torch.trace.
func MatrixTrace(s *Scope, x *Tensor) *Tensor {
	rankOf("trace", x, 2)
	s, in := s.enter(opTrace, x)
	return Sum(s, Diagonal(s, in[0], 0, 0, 1))
}
