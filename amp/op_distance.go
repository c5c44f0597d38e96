package amp

import (
	"fmt"
	"math"
	"slices"
)

// Distances made of norms. Their gradients are 0 where the distance is.

var opCosineSimilarity, opPairwiseDistance, opDist, opPdist, opNormalize, opRenorm *Op

func init() {
	composite := func(o Op) *Op {
		o.CUDA = "norm"
		return define(o)
	}
	opCosineSimilarity = composite(Op{
		Name: "cosine_similarity", Doc: "Σ (a/‖a‖)·(b/‖b‖) along one dimension, norms held at eps; broadcast", Args: []string{"a", "b"}, Class: FP32, Why: whyPowers,
		Bound:     2, // of a gradient, whose parts along a vector cancel
		Composite: []string{"linalg_vector_norm", "clamp", "div", "mul", "sum"},
	})
	opPairwiseDistance = composite(Op{
		Name: "pairwise_distance", Doc: "p-norm of a - b + eps along the last dimension; broadcast", Args: []string{"a", "b"}, Why: "PyTorch makes it of norm, which gives float32",
		Composite: []string{"sub", "norm"}, Parts: Apart,
	})
	opDist = composite(Op{
		Name: "dist", Doc: "p-norm of a - b over all elements; broadcast", Args: []string{"a", "b"}, Class: FP32, Why: whyPowers, Composite: []string{"sub", "linalg_vector_norm"},
	})
	opPdist = composite(Op{
		Name: "pdist", Doc: "p-norms of the differences of every two rows: (0,1), (0,2) … (1,2) …", Args: []string{"x"}, Class: FP32, Why: whyPowers,
		Composite: []string{"cdist", "reshape", "index_select", "embedding", "sub", "linalg_vector_norm"},
	})
	opNormalize = composite(Op{
		Name: "normalize", Doc: "x / ‖x‖ along a dimension, the p-norm held at eps", Args: []string{"x"}, Class: FP32, Why: "made of norm, which gives float32",
		Composite: []string{"norm", "clamp", "div"}, Parts: ApartOnCUDA,
	})
	opRenorm = composite(Op{
		Name: "renorm", Doc: "x, the slices along a dimension whose p-norm is above a limit scaled down to it", Args: []string{"x"}, Class: FP32, Why: whyPowers,
		Composite: []string{"linalg_vector_norm", "where", "mul"},
	})
}

// CosineSimilarity returns the cosine of the angle between a and b along dim, which goes; other sizes are broadcast. Norms are held at
// eps, PyTorch's is 1e-8 and its dim 1, without changing the gradient, which is that of norms which are not held. float32 under autocast. It
// panics with ErrArgument for an eps below 0.
func CosineSimilarity(s *Scope, a, b *Tensor, dim int, eps float64) *Tensor {
	a.live("cosine_similarity")
	b.live("cosine_similarity")
	if !(eps >= 0) {
		fail("cosine_similarity", ErrArgument, "use an eps of 0 or above; the usual one is 1e-8", "eps %v", eps)
	}
	s, in, done := s.enterWide(opCosineSimilarity, a, b)
	shape := broadcast(&Call{Op: opCosineSimilarity, In: in})
	for i, t := range in {
		t = Expand(s, t, shape...)
		in[i] = Div(s, t, raise(s, VectorNorm(s, t, 2, []int{dim}, true), eps))
	}
	return done(Sum(s, Mul(s, in[0], in[1]), dim))
}

// PairwiseDistance returns the p-norm of a - b + eps along the last dimension, kept as size 1 if keep; broadcast. PyTorch's p is 2, its
// eps 1e-6. Not on autocast's lists; its norm is, so that the result is float32.
func PairwiseDistance(s *Scope, a, b *Tensor, p, eps float64, keep bool) *Tensor {
	s, in, done := s.enterWide(opPairwiseDistance, a, b)
	return done(normOf(s, opNorm, AddScalar(s, Sub(s, in[0], in[1]), eps), p, []int{-1}, keep, nil))
}

// Dist returns the p-norm of a - b over all elements, broadcast; PyTorch's p is 2. float32 under autocast.
func Dist(s *Scope, a, b *Tensor, p float64) *Tensor {
	s, in, done := s.enterWide(opDist, a, b)
	return done(VectorNorm(s, Sub(s, in[0], in[1]), p, nil, false))
}

// Pdist returns the p-norms of the differences of every two rows of x [n features], as [n·(n-1)/2] in the order (0,1), (0,2) …
// (1,2) …; PyTorch's p is 2. float32 under autocast.
func Pdist(s *Scope, x *Tensor, p float64) *Tensor {
	rankOf("pdist", x, 2)
	checkOrder("pdist", p)
	s, in, done := s.enterWide(opPdist, x)
	n := x.shape[0]
	if math.IsInf(p, 0) { // Cdist's gradient is that of PyTorch's pdist where differences tie; a norm's is not
		pairs := make([]int64, 0, n*(n-1)/2)
		for i := range n {
			for j := i + 1; j < n; j++ {
				pairs = append(pairs, int64(i*n+j))
			}
		}
		return done(IndexSelect(s, Reshape(s, Cdist(s, in[0], in[0], p), n*n), 0, indices(s, pairs)))
	}
	first, second := make([]int64, 0, n*(n-1)/2), make([]int64, 0, n*(n-1)/2)
	for i := range n {
		for j := i + 1; j < n; j++ {
			first, second = append(first, int64(i)), append(second, int64(j))
		}
	}
	d := Sub(s, Embedding(s, in[0], indices(s, first)), Embedding(s, in[0], indices(s, second)))
	return done(VectorNorm(s, d, p, []int{-1}, false))
}

func checkOrder(op string, p float64) {
	if !(p >= 0) {
		fail(op, ErrArgument, "use a p of 0 or above; the usual one is 2", "p %v", p)
	}
}

// Normalize returns x divided by its p-norm along dim, held at eps. PyTorch's p is 2, its dim 1, its eps 1e-12. float32 under autocast.
func Normalize(s *Scope, x *Tensor, p float64, dim int, eps float64) *Tensor {
	s, in, done := s.enterWide(opNormalize, x)
	return done(Div(s, in[0], ClampMin(s, normOf(s, opNorm, in[0], p, []int{dim}, true, nil), eps)))
}

// Renorm returns x with those slices along dim scaled down whose p-norm is above limit: torch.renorm. float32 under autocast. It
// panics with ErrArgument for a p of 0 or below, or a limit below 0.
func Renorm(s *Scope, x *Tensor, p float64, dim int, limit float64) *Tensor {
	x.live("renorm")
	if !(p > 0) || !(limit >= 0) {
		fail("renorm", ErrArgument, "use a p above 0 and a limit of 0 or above", "p %v, limit %v", p, limit)
	}
	if len(x.shape) < 2 {
		fail("renorm", ErrShape, "use a tensor of two dimensions or more", "x %v has no slices", x.shape)
	}
	dim = x.axis("renorm", dim)
	s, in, done := s.enterWide(opRenorm, x)
	var others []int
	for d := range x.shape {
		if d != dim {
			others = append(others, d)
		}
	}
	norm := VectorNorm(s, in[0], p, others, true)
	scale := MulScalar(s, Reciprocal(s, AddScalar(s, norm, 1e-7)), limit)
	above := Gt(s, norm, constant(s, norm.dt, limit))
	return done(Mul(s, in[0], Where(s, above, scale, constant(s, norm.dt, 1))))
}

// batchOf broadcasts the dimensions before the last k of tensors.
func batchOf(op string, k int, ts ...*Tensor) []int {
	var lead []int
	for i, t := range ts {
		if len(t.shape) < k {
			fail(op, ErrShape, fmt.Sprintf("use tensors of %d dimensions or more", k), "input %d is %v", i, t.shape)
		}
		own := t.shape[:len(t.shape)-k]
		if i == 0 {
			lead = slices.Clone(own)
			continue
		}
		lead = broadcast(&Call{Op: byName[op], In: []*Tensor{{dt: t.dt, shape: lead}, {dt: t.dt, shape: own}}})
	}
	return lead
}
