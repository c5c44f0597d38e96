package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The kernels of cdist and its gradient where few rows are compared, with features enough for a line: turning the rows of b would take longer.

// rowPairs are how two rows are compared.
type rowPairs struct {
	n, m, k int             // rows of a and of b, features
	apart   *cpu.LineKernel // of two rows
	follow  *cpu.LineKernel // that adds their differences to a line
	square  bool
}

// newRowPairs looks whether the kernels are for these tensors and this order; nil if not.
func newRowPairs(a, b *Tensor, order float64) *rowPairs {
	p := &rowPairs{n: a.shape[len(a.shape)-2], m: b.shape[len(b.shape)-2], k: a.shape[len(a.shape)-1]}
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
	eachBatch(a, b, out.shape[:len(out.shape)-2], func(g int, a, b matrixRows) {
		distanceWork(p.n*p.m, p.k, func(buf *pairBuffer, l *lineWork, lo, hi int) {
			line, row := buf.grow(&buf.line, hi-lo), -1
			for t := lo; t < hi; t++ {
				if i := t / p.m; i != row {
					row = i
					l.F32[0] = a.line(&buf.row, i)
				}
				l.F32[1] = b.line(&buf.rows, t%p.m)
				line[t-lo] = float32(p.distance(l))
			}
			store(out, out.off+g*p.n*p.m+lo, line)
		})
	})
	return true
}

// cdistBackwardDirect says whether it was for it.
func cdistBackwardDirect(c *Call) bool {
	dy, a, b, out := c.In[0], c.In[1], c.In[2], c.Out
	p := newRowPairs(a, b, c.Scalar)
	if p == nil || dy.dt == Float64 {
		return false
	}
	batch := dy.shape[:len(dy.shape)-2]
	eachBatch(a, b, batch, func(g int, a, b matrixRows) {
		dy := batchRows(dy, batch, g)
		distanceWork(p.n, 2*p.m*p.k, func(buf *pairBuffer, l *lineWork, lo, hi int) {
			weights, sum := buf.grow(&buf.weights, p.m), buf.grow(&buf.sums, p.k)
			for i := lo; i < hi; i++ {
				loadRow(weights, dy, i, 0)
				clear(sum)
				l.F32[0], l.F32[2] = a.line(&buf.row, i), sum
				for j, w := range weights {
					l.F32[1] = b.line(&buf.rows, j)
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
	})
	return true
}
