package amp

import (
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The gradients of layer_norm and rms_norm: rows of their own, which read dy and x once.

var opLayerNormBackward, opRMSNormBackward *Op

func init() {
	opLayerNormBackward = normGradient("layer_norm_backward", "gradients of layer_norm's x, added to dx_in, and, with a weight, of weight and bias one after another in one vector", true)
	opRMSNormBackward = normGradient("rms_norm_backward", "gradients of rms_norm's x, added to dx_in, and, with a weight, of weight one after another in one vector", false)
}

// normGradient defines a row that gives, with x̂ the normalized x, r the rate it was scaled by and g = dy·weight,
//
//	dx = r·(g - mean g - x̂·mean(g·x̂)), dweight = Σ dy·x̂, dbias = Σ dy
//
// and for rms_norm the same without the mean and dbias. A gradient that x has from elsewhere, dx_in, is added to dx: in a residual network x
// is read by its block and by the sum behind it.
func normGradient(name, doc string, center bool) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"dy", "x", "weight", "dx_in"}, Why: whyBackward, CUDA: name, Saves: SaveIn0 | SaveIn1 | SaveIn2,
		Check: func(c *Call) []int {
			c.floats()
			c.sameShape()
			if dx := c.In[3]; dx != nil && !slices.Equal(dx.shape, c.In[1].shape) {
				fail(c.Op.Name, ErrShape, "a gradient has the shape of its tensor", "%s", c.shapes())
			}
			n := c.In[1].Len()
			if w := c.In[2]; w != nil {
				n += w.Len()
				if center {
					n += w.Len()
				}
			}
			return []int{n}
		},
		CPU:      func(c *Call) { normBackwardCPU(c, center) },
		Backward: func(b *Back) { normSecond(b, center) },
	})
}

// normBackward sets the gradients of a norm from its gradient row.
func normBackward(b *Back, row *Op, center bool) {
	dy, x := b.DY, b.In(0)
	var w *Tensor
	if len(b.n.in) > 1 && b.n.in[1] != nil {
		w = b.In(1)
	}
	parts := normParts(b.S, b.S.apply(row, b.Attrs(), dy, x, w, b.soFar()), x, w, center)
	parts[0].apart = w == nil || x.Len() > 2*w.Len()
	b.Set(0, parts[0])
	if w != nil {
		b.Set(1, parts[1])
	}
	if len(b.n.in) > 2 && b.Needs(2) {
		if w == nil {
			parts[2] = b.sumTo(2, dy)
		}
		b.Set(2, parts[2])
	}
}

// normParts cuts the vector of a gradient row into those of x and, with a weight, of weight and, for layer_norm, bias.
func normParts(s *Scope, all, x, w *Tensor, center bool) [3]*Tensor {
	n := x.Len()
	out := [3]*Tensor{Reshape(s, Narrow(s, all, 0, 0, n), x.shape...)}
	for i := 1; w != nil && (i == 1 || i == 2 && center); i++ {
		out[i] = Reshape(s, Narrow(s, all, 0, n, w.Len()), w.shape...)
		n += w.Len()
	}
	return out
}

// normSecond is the derivative of a gradient row, in table ops, for gradients a of dx, gw of dweight and gb of dbias:
//
//	ĝ = r·(a - mean a - x̂·mean(a·x̂)), ddy = weight·ĝ + gw·x̂ + gb, ddweight = Σ dy·ĝ
//	X = gw·dy - r·(a·mean(g·x̂) + g·mean(a·x̂)), ddx = r·(X - mean X - x̂·(mean(X·x̂) + mean(a·dx)))
func normSecond(b *Back, center bool) {
	s, dims := b.S, b.Attrs().Dims
	dy, x := b.In(0), b.In(1)
	var w *Tensor
	if b.n.in[2] != nil {
		w = b.In(2)
	}
	parts := normParts(s, b.DY, x, w, center)
	a, gw, gb := parts[0], parts[1], parts[2]
	mean := func(t *Tensor) *Tensor { return meanKeep(s, t, dims) }
	mul := func(p, q *Tensor) *Tensor { return Mul(s, p, q) }

	c := x
	if center {
		c = Sub(s, x, mean(x))
	}
	rate := Rsqrt(s, AddScalar(s, mean(mul(c, c)), b.Attrs().Scalar))
	xhat := mul(c, rate)
	project := func(t, along *Tensor) *Tensor { // rate·(t - mean t - x̂·along)
		if center {
			t = Sub(s, t, mean(t))
		}
		return mul(rate, Sub(s, t, mul(xhat, along)))
	}
	g := dy
	if w != nil {
		g = mul(dy, w)
	}
	gx, ax := mean(mul(g, xhat)), mean(mul(a, xhat))
	hat := project(a, ax)
	put := func(i int, t *Tensor) {
		if b.Needs(i) {
			b.Set(i, b.sumTo(i, t))
		}
	}
	put(3, a)
	slope := Neg(s, mul(rate, Add(s, mul(a, gx), mul(g, ax)))) // X
	ddy := hat
	if w != nil {
		ddy = Add(s, mul(w, hat), mul(gw, xhat))
		if gb != nil {
			ddy = Add(s, ddy, gb)
		}
		slope = Add(s, slope, mul(gw, dy))
		put(2, mul(dy, hat))
	}
	put(0, ddy)
	put(1, project(slope, Add(s, mean(mul(slope, xhat)), mean(mul(a, project(g, gx))))))
}

// normGroups reads a tensor group by group: what a norm works on at a time.
type normGroups struct {
	t *Tensor
	r reduction
}

func (g *normGroups) load(dst []float64, i int) { loadGroup(dst, g, i) }

func loadGroup[T number](dst []T, g *normGroups, i int) {
	n, stride, outer, outerStride := last(g.r.reduced, g.r.reducedStride)
	base := g.t.off + offset(i, g.r.kept, g.r.keptStride)
	for at := 0; at < len(dst); at += n {
		load(dst[at:at+n], g.t, base+offset(at/n, outer, outerStride), stride)
	}
}

// line returns group i in float32: in place if possible, else in buffer k.
func (g *normGroups) line(w *lineWork, k, i int) []float32 {
	if n, stride, outer, _ := last(g.r.reduced, g.r.reducedStride); len(outer) == 0 {
		if x, ok := direct[float32](g.t, g.t.off+offset(i, g.r.kept, g.r.keptStride), stride, n); ok {
			return x
		}
	}
	x := w.buffer(k, g.r.nReduced)
	loadGroup(x, g, i)
	return x
}

// normBackwardCPU computes in float64 and rounds once. Sums over groups are made by fixed blocks of them, and these added up in
// order, so that they do not depend on the workers.
func normBackwardCPU(c *Call, center bool) {
	dy := normGroups{c.In[0], newReduction(c.In[0], c.Dims)}
	x := normGroups{c.In[1], newReduction(c.In[1], c.Dims)}
	var dx *normGroups
	if c.In[3] != nil {
		dx = &normGroups{c.In[3], newReduction(c.In[3], c.Dims)}
	}
	groups, n := x.r.nKept, x.r.nReduced
	if groups == 0 || n == 0 {
		clear(c.Out.st.mem)
		return
	}
	block := max(grainOf(4*n), (groups+normBlocks-1)/normBlocks)
	room, sums := cleared((groups + block - 1) / block * 2 * n)
	defer rowPool.Put(room)
	if narrowLines(c.In...) {
		normBackwardLines(c, &dy, &x, dx, sums, block, center)
	} else {
		normBackwardWide(c, &dy, &x, dx, sums, block, center)
	}
	if c.In[2] == nil {
		return
	}
	addBlocks(sums, 2*n)
	if !center {
		sums = sums[:n]
	}
	store(c.Out, c.Out.off+groups*n, sums[:min(len(sums), 2*n)])
}

// normBlocks bounds the blocks of groups: each has sums of its own.
const normBlocks = 32

// addBlocks adds the blocks of n numbers up in the first, one after the other.
func addBlocks(sums []float64, n int) {
	cpu.Parallel(n, grainOf(len(sums)/max(1, n)), func(lo, hi int) {
		own := sums[lo:hi]
		for at := n; at < len(sums); at += n {
			for k, v := range sums[at+lo : at+hi] {
				own[k] += v
			}
		}
	})
}

// normBackwardWide writes dx and the blocks' sums, in float64.
func normBackwardWide(c *Call, dy, x, dx *normGroups, sums []float64, block int, center bool) {
	n := x.r.nReduced
	var weight []float64
	if c.In[2] != nil {
		weight = c.In[2].Float64s()
	}
	cpu.Parallel(x.r.nKept, block, func(lo, hi int) {
		p := rowPool.Get().(*[]float64)
		defer rowPool.Put(p)
		both := sized(p, 2*n)
		v, d := both[:n], both[n:]
		own := sums[lo/block*2*n:]
		for i := lo; i < hi; i++ {
			x.load(v, i)
			dy.load(d, i)
			normGroupBackward(v, d, weight, own[:n], own[n:2*n], center, c.Scalar)
			if dx != nil {
				dx.load(d, i)
				for k, e := range d {
					v[k] += e
				}
			}
			store(c.Out, c.Out.off+i*n, v)
		}
	})
}

// normGroupBackward replaces v, which holds x, by dx, and adds to the sums for weight and bias.
func normGroupBackward(v, d, weight, dw, db []float64, center bool, eps float64) {
	mean := 0.0
	if center {
		mean = average(v)
	}
	square := 0.0
	for i, x := range v {
		x -= mean
		v[i] = x
		square += float64(x * x)
	}
	n := float64(len(v))
	rate := 1 / math.Sqrt(square/n+eps)
	g, gx := 0.0, 0.0
	d = d[:len(v)]
	if weight != nil {
		weight, dw, db = weight[:len(v)], dw[:len(v)], db[:len(v)]
		for i, e := range d {
			x := v[i] * rate
			dw[i] += float64(e * x)
			db[i] += e
			e = float64(e * weight[i])
			d[i], v[i] = e, x
			g += e
			gx += float64(e * x)
		}
	} else {
		for i, e := range d {
			x := v[i] * rate
			v[i] = x
			g += e
			gx += float64(e * x)
		}
	}
	if !center {
		g = 0
	}
	g, gx = g/n, gx/n
	for i, x := range v {
		v[i] = rate * (d[i] - g - float64(x*gx))
	}
}
