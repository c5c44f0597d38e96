package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The kernels of cdist and its gradient where few rows are compared, with features enough for a line: turning the rows of b would take longer.

// rowPairs are the batches of a and b, row by row.
type rowPairs struct {
	a, b    *Tensor
	n, m, k int
	apart   *cpu.LineKernel // of two rows
	follow  *cpu.LineKernel // that adds their differences to a line
	square  bool
}

// newRowPairs looks whether the kernels are for these tensors and this order; nil if not.
func newRowPairs(a, b *Tensor, order float64) *rowPairs {
	p := &rowPairs{a: a, b: b, n: a.shape[len(a.shape)-2], m: b.shape[len(b.shape)-2], k: a.shape[len(a.shape)-1]}
	few := p.m < shortLine || p.n*(160+p.k) < 40*p.k // a pair takes some 20 ns and 1/8 for a feature, turning 5 for a feature of b
	if a.dt == Float64 || b.dt == Float64 || p.k < shortLine || !few {
		return nil
	}
	switch order {
	case 1:
		p.apart, p.follow = &cpu.LineAmountApart, &cpu.LineFollowSign
	case 2:
		p.apart, p.follow, p.square = &cpu.LineApart, &cpu.LineFollow, true
	default:
		return nil
	}
	return p
}

// row is row i of the batch of t that begins at off, read into room where its elements are no float32 in a row.
func (p *rowPairs) row(room *[]float32, t *Tensor, off, i int) []float32 {
	r := len(t.shape)
	off += i * t.strides[r-2]
	if own, ok := direct[float32](t, off, t.strides[r-1], p.k); ok {
		return own
	}
	*room = resize(*room, p.k)
	load(*room, t, off, t.strides[r-1])
	return *room
}

// distance is that of the lines 0 and 1.
func (p *rowPairs) distance(l *lineWork) float64 {
	clear(l.Acc[0][:])
	p.apart.Run(p.k, &l.Line)
	d := l.Acc[0].Sum()
	if p.square {
		d = math.Sqrt(d)
	}
	return d
}

// cdistDirect says whether it was for it.
func cdistDirect(c *Call) bool {
	a, b, out := c.In[0], c.In[1], c.Out
	p := newRowPairs(a, b, c.Scalar)
	if p == nil {
		return false
	}
	batch := out.shape[:len(out.shape)-2]
	for g := range length(batch) {
		fromA, fromB := batchPlace(a, batch, g), batchPlace(b, batch, g)
		cpu.Parallel(p.n*p.m, grainOf(p.k), func(lo, hi int) {
			buf, l := pairBuffers.Get().(*pairBuffer), lineWorks.Get().(*lineWork)
			defer func() { pairBuffers.Put(buf); l.release() }()
			line, row := buf.grow(&buf.line, hi-lo), -1
			for t := lo; t < hi; t++ {
				if i := t / p.m; i != row {
					row = i
					l.F32[0] = p.row(&buf.row, a, fromA, i)
				}
				l.F32[1] = p.row(&buf.rows, b, fromB, t%p.m)
				line[t-lo] = float32(p.distance(l))
			}
			store(out, out.off+g*p.n*p.m+lo, line)
		})
	}
	return true
}

// cdistBackwardDirect says whether it was for it.
func cdistBackwardDirect(c *Call) bool {
	dy, a, b, out := c.In[0], c.In[1], c.In[2], c.Out
	p := newRowPairs(a, b, c.Scalar)
	if p == nil || dy.dt == Float64 {
		return false
	}
	r := len(dy.shape)
	batch := dy.shape[:r-2]
	for g := range length(batch) {
		fromA, fromB, at := batchPlace(a, batch, g), batchPlace(b, batch, g), dy.off+offset(g, batch, dy.strides)
		cpu.Parallel(p.n, grainOf(2*p.m*p.k), func(lo, hi int) {
			buf, l := pairBuffers.Get().(*pairBuffer), lineWorks.Get().(*lineWork)
			defer func() { pairBuffers.Put(buf); l.release() }()
			weights, sum := buf.grow(&buf.weights, p.m), buf.grow(&buf.sums, p.k)
			for i := lo; i < hi; i++ {
				load(weights, dy, at+i*dy.strides[r-2], dy.strides[r-1])
				clear(sum)
				l.F32[0], l.F32[2] = p.row(&buf.row, a, fromA, i), sum
				for j, w := range weights {
					l.F32[1] = p.row(&buf.rows, b, fromB, j)
					if p.square {
						d := float32(p.distance(l))
						if d == 0 { // rows in one place pull nowhere
							continue
						}
						w /= d
					}
					l.Arg[0] = w
					p.follow.Run(p.k, &l.Line)
				}
				store(out, out.off+(g*p.n+i)*p.k, sum)
			}
		})
	}
	return true
}
