package amp

import (
	"math"
	"slices"
	"sort"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// logcumsumexp, quantile and bucketize; masked_select and nonzero, the shape of whose result depends on the data.

var opLogCumSumExp, opQuantile, opBucketize, opMaskedSelect *Op

func init() {
	opLogCumSumExp = define(Op{
		Name: "logcumsumexp", Doc: "log Σ e^x of the elements so far along a dimension", Args: []string{"x"}, Why: "computed with the largest element taken out, in float64", CUDA: "logcumsumexp", Line: LikeFirst, Saves: SaveIn0 | SaveOut, Wide: true,
		Check: checkUnary,
		CPU:   func(c *Call) { overLines(c.Out, c.Dims[0], c.In, logCumSumExpLine) },
		Backward: func(b *Back) { // e^(x[i]-y[i]) · Σ over k ≥ i of dy[k]·e^(y[i]-y[k]), a recurrence whose factors are at most 1
			d, y := b.Attrs().Dims[0], b.Out()
			next := shiftAlong(b.S, y, d, true, math.Inf(1))
			factor := Where(b.S, Eq(b.S, y, next), constant(b.S, y.dt, 1), Exp(b.S, Sub(b.S, y, next)))
			share := Exp(b.S, Sub(b.S, b.In(0), y))
			nothing := Eq(b.S, b.In(0), constant(b.S, y.dt, math.Inf(-1)))
			b.Set(0, Mul(b.S, MaskedFill(b.S, share, nothing, 0), b.S.recurrence(factor, b.DY, d, true)))
		},
	})
	opQuantile = define(Op{
		Name: "quantile", Doc: "the numbers below which given shares of a dimension's elements lie, interpolated", Args: []string{"x"}, CPUList: FP32, Why: "between two of its inputs", CUDA: "quantile", Line: LikeFirst,
		Composite: []string{"sort", "index_select", "lerp", "where"},
	})
	opBucketize = define(Op{
		Name: "bucketize", Doc: "the number of boundaries below x, or with right those not above x, as int64", Args: []string{"x", "boundaries"}, Why: "compares with sorted numbers", Widens: true, Ints: true, CUDA: "bucketize",
		Check: func(c *Call) []int {
			c.sameDType(1)
			if len(c.In[1].shape) != 1 {
				fail("bucketize", ErrShape, "give a list of boundaries", "%s", c.shapes())
			}
			return c.In[0].shape
		},
		Result: func(*Call) DType { return Int64 },
		CPU: func(c *Call) {
			if c.In[0].isWhole() {
				bucketizeOn[int64](c)
				return
			}
			bucketizeOn[float64](c)
		},
	})
	opMaskedSelect = define(Op{
		Name: "masked_select", Doc: "the elements whose mask is true, as a list", Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: "index_select",
		Composite: []string{"expand", "reshape", "index_select"},
	})
}

// bucketizeOn is the kernel: T is int64 for integers, which float64 does not tell apart beyond 2^53.
func bucketizeOn[T float64 | int64](c *Call) {
	edges := make([]T, c.In[1].Len())
	load(edges, c.In[1], c.In[1].off, c.In[1].strides[0])
	unaryOn(c.Out, c.In[0], func(dst, x []T) {
		for i, v := range x {
			dst[i] = T(sort.Search(len(edges), func(k int) bool { return edges[k] > v || v != v && edges[k] != edges[k] || !c.Reverse && edges[k] == v }))
		}
	})
}

func logCumSumExpLine(out []float64, in [][]float64) {
	most, sum := math.Inf(-1), 0.0
	for i, v := range in[0] {
		switch {
		case v > most && !math.IsInf(most, -1):
			sum = float64(sum*cpu.Exp.Of(most-v)) + 1
			most = v
		case v > most || v != v: // the first that counts; NaN stays
			most, sum = v, 1
		case !math.IsInf(v, -1) && !math.IsInf(most, 1):
			sum += cpu.Exp.Of(v - most)
		}
		out[i] = most + cpu.Log.Of(sum)
		if math.IsInf(most, 0) {
			out[i] = most
		}
	}
}

// LogCumSumExp returns log Σ e^x of the elements so far along dim, in x's dtype.
func LogCumSumExp(s *Scope, x *Tensor, dim int) *Tensor {
	return s.apply(opLogCumSumExp, Attrs{Dims: []int{opLogCumSumExp.axis(x, dim)}}, x)
}

// Quantile returns, for each share q from 0 to 1, the number below which that share of the elements along dim lies, interpolated
// linearly between two of them: [q… others], without dim. NaN where there is one. It panics with ErrArgument for a share
// outside of 0 to 1.
func Quantile(s *Scope, x *Tensor, q []float64, dim int) *Tensor {
	s, in := s.enter(opQuantile, x)
	x, dim = line(s, in[0]), opQuantile.axis(in[0], dim)
	n := x.shape[dim]
	if x.Len() == 0 || len(q) == 0 || !x.dt.IsFloat() {
		fail("quantile", ErrArgument, "use a tensor with elements, of a float dtype, and at least one share", "%v %v along %d, shares %v", x.dt, x.shape, dim, q)
	}
	var lo, hi []int64
	weight := make([]float64, len(q))
	for i, share := range q {
		if !(share >= 0 && share <= 1) {
			fail("quantile", ErrArgument, "use shares from 0 to 1", "share %d is %v", i, share)
		}
		at := float64(share * float64(n-1))
		lo, hi = append(lo, int64(at)), append(hi, int64(math.Ceil(at)))
		weight[i] = at - math.Floor(at)
	}
	sorted, _ := Sort(s, x, dim, false)
	thin := make([]int, len(x.shape))
	for d := range thin {
		thin[d] = 1
	}
	thin[dim] = len(q)
	w := s.Own(made(s, "quantile", x.dt, thin, func(i int) float64 { return weight[i] }))
	y := Lerp(s, IndexSelect(s, sorted, dim, indices(s, lo)), IndexSelect(s, sorted, dim, indices(s, hi)), w)
	last := Narrow(s, sorted, dim, n-1, 1)
	y = Where(s, Ne(s, last, last), last, y)
	order := slices.Delete(after(len(x.shape)), dim, dim+1)
	return Permute(s, y, slices.Insert(order, 0, dim)...)
}

// Bucketize returns, as int64, how many of the sorted boundaries lie below each element of x, or, with right, are not above it. NaN
// lies above all. x and boundaries of different dtypes are compared in the wider one.
func Bucketize(s *Scope, x, boundaries *Tensor, right bool) *Tensor {
	return s.apply(opBucketize, Attrs{Reverse: right}, x, boundaries)
}

// Nonzero returns the places of the elements of x that are not 0, in row-major order, as int64 [places dimensions]. It reads the
// elements, for which a device must be waited for.
func Nonzero(s *Scope, x *Tensor) *Tensor {
	s.alive("Nonzero")
	x.live("Nonzero")
	if len(x.shape) == 0 {
		count := 0
		if x.Item() != 0 {
			count = 1
		}
		return Reshape(s, indices(s, nil), count, 0)
	}
	places := coordinates(setBytes(x.onHost("Nonzero")), x.shape)
	return Reshape(s, indices(s, places), len(places)/len(x.shape), len(x.shape))
}

// MaskedSelect returns the elements of x whose mask (bool) is true, in row-major order; shapes are broadcast. It reads the mask, for which
// a device must be waited for: MaskedFill and Where do without.
func MaskedSelect(s *Scope, x, mask *Tensor) *Tensor {
	s, in := s.enter(opMaskedSelect, x, mask)
	x = in[0]
	mask.live("masked_select")
	if mask.dt != Bool {
		fail("masked_select", ErrDType, "compare to make a mask, for example amp.Ne(s, m, zero)", "mask is %v", mask.dt)
	}
	shape := broadcast(&Call{Op: opMaskedFill, In: []*Tensor{x, mask}})
	places := flatPlaces(setBytes(Expand(s, mask, shape...).onHost("masked_select")))
	return IndexSelect(s, Reshape(s, Expand(s, x, shape...), -1), 0, indices(s, places))
}
