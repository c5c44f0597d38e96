package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// tril and triu keep a triangle of the last two dimensions.

var opTril, opTriu *Op

func init() {
	opTril = triangle("tril", "the elements up to a diagonal of the last two dimensions, else 0", func(i, diagonal, n int) (lo, hi int) { return 0, min(n, i+diagonal+1) })
	opTriu = triangle("triu", "the elements from a diagonal of the last two dimensions on, else 0", func(i, diagonal, n int) (lo, hi int) { return max(0, i+diagonal), n })
}

// triangle defines a row that keeps the columns lo … hi-1 of matrix row i.
func triangle(name, doc string, keep func(i, diagonal, n int) (lo, hi int)) *Op {
	var o *Op
	o = define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: name,
		Check: func(c *Call) []int {
			if len(c.In[0].shape) < 2 {
				fail(name, ErrShape, "use at least two dimensions", "%s", c.shapes())
			}
			return c.In[0].shape
		},
		CPU: func(c *Call) {
			bySize(c.Out.dt, triangleOn[uint8], triangleOn[uint16], triangleOn[uint32], triangleOn[uint64])(c, keep)
		},
		Backward: func(b *Back) { b.Set(0, b.S.apply(o, b.Attrs(), b.DY)) },
	})
	return o
}

func triangleOn[T word](c *Call, keep func(i, diagonal, n int) (lo, hi int)) {
	x, out := c.In[0], c.Out
	if out.Len() == 0 {
		return
	}
	k := len(x.shape) - 1
	rows, n, step := x.shape[k-1], x.shape[k], x.strides[k]
	src, dst := words[T](x), words[T](out)[out.off:]
	cpu.Parallel(out.Len()/n, grainOf(n), func(from, to int) {
		for r := from; r < to; r++ {
			row := dst[r*n : (r+1)*n]
			lo, hi := keep(r%rows, c.Start, n)
			lo, hi = min(lo, n), max(hi, 0)
			clear(row)
			off := x.off + offset(r, x.shape[:k], x.strides[:k])
			for j := lo; j < hi; j++ {
				row[j] = src[off+j*step]
			}
		}
	})
}

// Tril returns the lower triangle of the last two dimensions: x[i,j] where j - i ≤ diagonal, else 0. A causal mask is
// amp.Tril(s, ones, 0).
func Tril(s *Scope, x *Tensor, diagonal int) *Tensor {
	return s.apply(opTril, Attrs{Start: diagonal}, x)
}

// Triu returns the upper triangle of the last two dimensions: x[i,j] where j - i ≥ diagonal, else 0.
func Triu(s *Scope, x *Tensor, diagonal int) *Tensor {
	return s.apply(opTriu, Attrs{Start: diagonal}, x)
}
