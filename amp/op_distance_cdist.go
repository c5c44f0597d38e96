package amp

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// cdist: the distances between all rows of two tensors.

var opCdist, opCdistBackward *Op

func init() {
	opCdist = define(Op{
		Name: "cdist", Doc: "p-norms of the differences of each row of a [… n features] and each of b [… m features]: [… n m], batches broadcast", Args: []string{"a", "b"},
		Class: FP32, CPUList: FP32, Why: whyPowers, CUDA: "cdist", Saves: SaveIn0 | SaveIn1, Check: checkCdist, CPU: cdistCPU,
		Backward: func(b *Back) {
			slope := func(i int, dy, x, y *Tensor) {
				if b.Needs(i) {
					b.Set(i, b.sumTo(i, b.S.apply(opCdistBackward, b.Attrs(), dy, x, y)))
				}
			}
			slope(0, b.DY, b.In(0), b.In(1))
			if b.Needs(1) {
				slope(1, Transpose(b.S, b.DY, -1, -2), b.In(1), b.In(0))
			}
		},
	})
	opCdistBackward = define(Op{
		Name: "cdist_backward", Doc: "Σ over the rows of b of dy times the slope of their distance to each row of a", Args: []string{"dy", "a", "b"},
		Why: whyBackward, CUDA: "cdist_backward", Saves: SaveIn0 | SaveIn1 | SaveIn2, Wide: true,
		Check: func(c *Call) []int {
			c.floats()
			k := len(c.In[0].shape) - 2
			return append(slices.Clone(c.In[0].shape[:k+1]), c.In[1].shape[len(c.In[1].shape)-1])
		},
		CPU: cdistBackwardCPU, Backward: cdistSecond,
	})
}

func checkCdist(c *Call) []int {
	c.floats()
	a, b := c.In[0], c.In[1]
	ra, rb := len(a.shape), len(b.shape)
	if ra < 2 || rb < 2 || a.shape[ra-1] != b.shape[rb-1] {
		fail("cdist", ErrShape, "use [… n features] and [… m features]", "%s", c.shapes())
	}
	return append(batchOf("cdist", 2, a, b), a.shape[ra-2], b.shape[rb-2])
}

// eachPair calls f(g, i, row i of a, all rows of b) for every batch g of a and b and each row of a, with numbers in float64.
func eachPair(a, b *Tensor, batch []int, f func(g, i int, row, all []float64)) {
	n, m, k := a.shape[len(a.shape)-2], b.shape[len(b.shape)-2], a.shape[len(a.shape)-1]
	all := make([]float64, m*k)
	eachBatch(a, b, batch, func(g int, a, b matrixRows) {
		for j := range m {
			loadRow(all[j*k:][:k], b, j, 0)
		}
		cpu.Parallel(n, grainOf(m*k), func(lo, hi int) {
			row := make([]float64, k)
			for i := lo; i < hi; i++ {
				loadRow(row, a, i, 0)
				f(g, i, row, all)
			}
		})
	})
}

func cdistCPU(c *Call) {
	if cdistDirect(c) || cdistLines(c) {
		return
	}
	a, b, out := c.In[0], c.In[1], c.Out
	r := len(out.shape)
	n, m, k := out.shape[r-2], out.shape[r-1], a.shape[len(a.shape)-1]
	eachPair(a, b, out.shape[:r-2], func(g, i int, row, all []float64) {
		d, line := make([]float64, k), make([]float64, m)
		for j := range m {
			for q, v := range all[j*k : (j+1)*k] {
				d[q] = row[q] - v
			}
			line[j] = pNorm(d, c.Scalar)
			if k == 0 {
				line[j] = 0
			}
		}
		store(out, out.off+(g*n+i)*m, line)
	})
}

func cdistBackwardCPU(c *Call) {
	if cdistBackwardDirect(c) || cdistBackwardLines(c) {
		return
	}
	dy, a, b, out := c.In[0], c.In[1], c.In[2], c.Out
	r := len(out.shape)
	n, m, k := dy.shape[r-2], dy.shape[r-1], out.shape[r-1]
	batch := dy.shape[:r-2]
	eachPair(a, b, batch, func(g, i int, row, all []float64) {
		d, line, sum := make([]float64, k), make([]float64, m), make([]float64, k)
		loadRow(line, batchRows(dy, batch, g), i, 0)
		for j := range m {
			for q, v := range all[j*k : (j+1)*k] {
				d[q] = row[q] - v
			}
			addSlope(sum, d, line[j], c.Scalar)
		}
		store(out, out.off+(g*n+i)*k, sum)
	})
}

// addSlope adds dy times the slope of the p-norm of d to sum.
func addSlope(sum, d []float64, dy, p float64) {
	y := pNorm(d, p)
	if y == 0 || p == 0 {
		return
	}
	if math.IsInf(p, 0) { // each of several largest differences has the whole slope, as in PyTorch
		for q, v := range d {
			if math.Abs(v) == y {
				sum[q] += float64(math.Copysign(1, v) * dy)
			}
		}
		return
	}
	for q, v := range d {
		switch {
		case v == 0:
		case v != v:
			sum[q] = v
		case p == 2:
			sum[q] += dy * v / y
		case p == 1:
			sum[q] += float64(math.Copysign(1, v) * dy)
		default:
			sum[q] += float64(math.Copysign(cpu.Pow(math.Abs(v)/y, p-1), v) * dy)
		}
	}
}

// cdistSecond is the gradient of cdist_backward. With v = a - b of a pair, y its norm, s = sign v·|v|^(p-1), k = s/y^(p-1) the slope and
// g the gradient of the row's result: Σ g·k for dy, and dy·h for a, -dy·h for b, where
// h = (p-1)·(|v|^(p-2)·g/y^(p-1) - k·(Σ g·k)/y) is the product of the norm's Hessian and g.
func cdistSecond(b *Back) {
	s, p := b.S, b.Attrs().Scalar
	x, y := b.In(1), b.In(2)
	if x.Dim(-1) == 0 {
		p = 2 // distances without features are 0 for any p, and there is no largest of nothing
	}
	v := Sub(s, addDim(s, x, -1), addDim(s, y, -2))
	g, w := addDim(s, b.DY, -1), addDim(s, b.In(0), 0)
	last := []int{len(v.shape) - 1}
	n := VectorNorm(s, v, p, last, true)
	k := pairSlope(s, v, n, Attrs{Scalar: p, Dims: last})
	along := SumKeep(s, Mul(s, g, k), -1)
	if b.Needs(0) {
		b.Set(0, Reshape(s, along, b.Shape(0)...))
	}
	if p == 0 || p == 1 || math.IsInf(p, 0) || !b.Needs(1) && !b.Needs(2) {
		return
	}
	curved := divNonzero(s, Mul(s, absPow(s, v, p-2), g), absPow(s, n, p-1))
	h := MulScalar(s, Mul(s, w, Sub(s, curved, divNonzero(s, Mul(s, k, along), n))), p-1)
	b.Set(1, b.sumTo(1, Sum(s, h, -2)))
	if b.Needs(2) {
		b.Set(2, b.sumTo(2, Neg(s, Sum(s, h, -3))))
	}
}

// pairSlope is the slope k: that of the norm, but for p = ∞, where largest differences do not share it.
func pairSlope(s *Scope, v, n *Tensor, a Attrs) *Tensor {
	if math.IsInf(a.Scalar, 0) {
		return Mul(s, Sign(s, v), To(s, Eq(s, Abs(s, v), n), v.dt))
	}
	return normSlope(s, v, n, Expand(s, constant(s, v.dt, 1), n.shape...), a)
}

// addDim returns t with a dimension of size 1 before its last -k ones; 0 adds it at the end.
func addDim(s *Scope, t *Tensor, k int) *Tensor {
	at := len(t.shape) + k
	return Reshape(s, t, slices.Insert(slices.Clone(t.shape), at, 1)...)
}

// Cdist returns the p-norms of the differences of each row of a [… n features] and each of b [… m features] as [… n m], batches
// broadcast; PyTorch's p is 2. The distances are sums of squares of differences, not of products, so that near points keep their
// digits. Where p is +∞ each of several largest differences has the whole gradient, as in PyTorch. float32 under autocast. It panics with
// ErrArgument for a p below 0.
func Cdist(s *Scope, a, b *Tensor, p float64) *Tensor {
	checkOrder("cdist", p)
	return s.apply(opCdist, Attrs{Scalar: p}, a, b)
}
