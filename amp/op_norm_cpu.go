package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The kernels of layer_norm and rms_norm.

// normalize is the kernel of both norms.
func normalize(c *Call, center bool) {
	if narrowLines(c.In...) {
		normalizeLines(c, center)
		return
	}
	normalizeWide(c, center)
}

// vectorOf returns the elements of a weight or bias in float32, nil for none.
func vectorOf(in []*Tensor, i int) []float32 {
	if i >= len(in) || in[i] == nil {
		return nil
	}
	t := in[i]
	if t.contiguous() {
		if x, ok := direct[float32](t, t.off, 1, t.Len()); ok {
			return x
		}
	}
	x := make([]float32, 0, t.Len())
	t.each(func(off int) { x = append(x, float32(t.at(off))) })
	return x
}

// normSample is the number of elements whose mean stands in for that of a line at first.
const normSample = 64

// normRate sets Arg[0] and Arg[4] to the mean in two parts (0 unless center) and Arg[1] to 1/√(variance + eps) of line x. The first part
// is the mean of a sample; moments about it give the second part and the variance (Chan, Golub and LeVeque, "Algorithms for computing
// the sample variance", 1983): however the sample falls out, they are no more than n/normSample times the variance away from those about
// the mean, so that no digits of weight are lost.
func (w *lineWork) normRate(x []float32, center bool, eps float64) {
	n := float64(len(x))
	w.Arg[0], w.Arg[4] = 0, 0
	if center {
		sample := x[:min(len(x), normSample)]
		w.Arg[0] = float32(w.SumOf(sample) / float64(len(sample)))
	}
	w.F32[0], w.Acc = x, [2]cpu.Lanes{}
	cpu.LineSpread.Run(len(x), &w.Line)
	variance := w.Acc[1].Sum() / n
	if center {
		rest := w.Acc[0].Sum() / n
		w.Arg[4] = float32(rest)
		variance = max(0, variance-float64(rest*rest))
	}
	w.Arg[1] = float32(1 / math.Sqrt(variance+eps))
}

func normalizeLines(c *Call, center bool) {
	x := normGroups{c.In[0], newReduction(c.In[0], c.Dims)}
	n := x.r.nReduced
	if x.r.nKept == 0 || n == 0 {
		return
	}
	weight, bias := vectorOf(c.In, 1), vectorOf(c.In, 2)
	if weight == nil && bias != nil {
		weight = ones(n)
	}
	kernel := &cpu.LineNorm
	switch {
	case bias != nil:
		kernel = &cpu.LineNormBias
	case weight != nil:
		kernel = &cpu.LineNormWeight
	}
	follow := follows(n, c.In[0], c.Out)
	cpu.Parallel(x.r.nKept, grainOf(n), func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		for i := lo; i < hi; i++ {
			w.lookAhead(n, follow && i+1 < hi)
			w.normRate(x.line(w, 0, i), center, c.Scalar)
			dst := w.target(3, c.Out, c.Out.off+i*n, 1, n)
			w.F32[1], w.F32[2], w.F32[3] = dst, weight, bias
			kernel.Run(n, &w.Line)
			w.write(c.Out, c.Out.off+i*n, 1, dst)
		}
	})
}

func ones(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// normBackwardLines is normBackwardWide in passes. Sums over lines are in float32 for sumLines of them at most.
func normBackwardLines(c *Call, dy, x, dx *normGroups, sums []float64, block int, center bool) {
	n := x.r.nReduced
	weight := vectorOf(c.In, 2)
	total, gradient := &cpu.LineNormSums, &cpu.LineNormGrad
	if weight == nil {
		total, gradient = &cpu.LineNormPlainSums, &cpu.LineNormPlainGrad
	}
	follow := follows(n, c.In[0], c.In[1])
	cpu.Parallel(x.r.nKept, block, func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		own := sums[lo/block*2*n:][:2*n]
		if weight != nil {
			w.sums = resize(w.sums, 2*n)
			clear(w.sums)
		}
		for i := lo; i < hi; i++ {
			w.lookAhead(n, follow && i+1 < hi)
			w.normRate(x.line(w, 0, i), center, c.Scalar)
			dst := w.target(3, c.Out, c.Out.off+i*n, 1, n)
			w.F32[1], w.F32[2] = dy.line(w, 1, i), weight
			if weight != nil {
				w.F32[3], w.F32[4] = w.sums[:n], w.sums[n:]
			}
			w.Acc = [2]cpu.Lanes{}
			total.Run(n, &w.Line)
			if w.Arg[2] = 0; center {
				w.Arg[2] = float32(w.Acc[0].Sum() / float64(n))
			}
			w.Arg[3] = float32(w.Acc[1].Sum() / float64(n))
			w.F32[3] = dst
			gradient.Run(n, &w.Line)
			if dx != nil {
				w.F32[0], w.F32[1], w.F32[2] = dst, dx.line(w, 2, i), dst
				cpu.LineAdd.Run(n, &w.Line)
			}
			w.write(c.Out, c.Out.off+i*n, 1, dst)
			if weight != nil && (i == hi-1 || (i-lo+1)%sumLines == 0) {
				cpu.AddWide(own, w.sums)
				clear(w.sums)
			}
		}
	})
}

const sumLines = 64

// normalizeWide computes in float64.
func normalizeWide(c *Call, center bool) {
	n := 1
	for _, d := range c.Dims {
		n *= c.In[0].shape[d]
	}
	var weight, bias []float64
	if len(c.In) > 1 && c.In[1] != nil {
		weight = c.In[1].Float64s()
	}
	if len(c.In) > 2 && c.In[2] != nil {
		bias = c.In[2].Float64s()
	}
	eachGroup(c.In[0], c.Dims, func(i int, group []float64) {
		mean := 0.0
		if center {
			mean = average(group)
		}
		sum := 0.0
		for _, v := range group {
			sum += float64((v - mean) * (v - mean))
		}
		rate := 1 / math.Sqrt(sum/float64(n)+c.Scalar)
		for k, v := range group {
			v = (v - mean) * rate
			if weight != nil {
				v *= weight[k]
			}
			if bias != nil {
				v += bias[k]
			}
			group[k] = v
		}
		store(c.Out, c.Out.off+i*n, group)
	})
}
