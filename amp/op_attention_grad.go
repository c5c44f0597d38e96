package amp

import (
	"math"
	"slices"
)

// The second derivative of attention, in table ops. With P = softmax(scale·q·kᵀ + mask) and dropout's factors D attention_backward
// gives
//
//	dv = (P∘D)ᵀ·dy, dS = P∘(dP - Σ dP∘P) for dP = dy·vᵀ∘D, dq = scale·dS·k, dk = scale·dSᵀ·q, dmask = dS
//
// and what follows is the derivative of that, for gradients gq, gk, gv and gm of its four results.

func attentionSecond(b *Back) {
	s, in := b.S, [5]*Tensor{}
	for i, t := range b.n.in {
		if t != nil {
			in[i] = b.In(i)
		}
	}
	a := newAttention(in[1:], b.n.attrs)
	g := a.split(s, wide(s, b.DY), b.Attrs().Dims)
	dy, q, k, v := wide(s, in[0]), wide(s, in[1]), wide(s, in[2]), wide(s, in[3])
	turn := func(x *Tensor) *Tensor { return Transpose(s, x, -1, -2) }
	scaled := func(x *Tensor) *Tensor { return MulScalar(s, x, a.scale) }

	p := a.probabilities(s, q, k)
	drop := a.dropped(s, b.Attrs(), p)
	dp := drop(MatMul(s, dy, turn(v)))
	centered := Sub(s, dp, rowSum(s, Mul(s, dp, p)))
	ds := Mul(s, p, centered)

	u := scaled(Add(s, MatMul(s, g[0], turn(k)), MatMul(s, q, turn(g[1])))) // gradient of dS
	if g[3] != nil {
		u = Add(s, u, g[3])
	}
	rho := rowSum(s, Mul(s, u, p))
	gp := Sub(s, Mul(s, u, centered), Mul(s, rho, dp))
	gp = Add(s, gp, drop(MatMul(s, dy, turn(g[2]))))
	gdp := drop(Mul(s, p, Sub(s, u, rho)))                // gradient of dy·vᵀ
	gs := Mul(s, p, Sub(s, gp, rowSum(s, Mul(s, gp, p)))) // gradient of the scores

	put := func(i int, x *Tensor) {
		if b.Needs(i) {
			b.Set(i, To(s, b.sumTo(i, x), b.DType(i)))
		}
	}
	put(0, Add(s, MatMul(s, drop(p), g[2]), MatMul(s, gdp, v)))
	put(1, scaled(Add(s, MatMul(s, gs, k), MatMul(s, ds, g[1]))))
	put(2, scaled(Add(s, MatMul(s, turn(gs), q), MatMul(s, turn(ds), g[0]))))
	put(3, MatMul(s, turn(gdp), dy))
	if in[4] != nil {
		put(4, gs)
	}
}

// wide returns halves as float32, so that the scores keep their digits.
func wide(s *Scope, x *Tensor) *Tensor {
	if x.dt.IsHalf() {
		return To(s, x, Float32)
	}
	return x
}

// dropped returns the product with dropout's factors, the identity without dropout.
func (a *attention) dropped(s *Scope, at Attrs, p *Tensor) func(x *Tensor) *Tensor {
	if a.drop == nil {
		return func(x *Tensor) *Tensor { return x }
	}
	shape := append(slices.Clone(a.batch), a.T, a.S)
	factors := s.apply(opDropout, Attrs{Scalar: at.Attention.Dropout, Dims: []int{0}, Draw: at.Draw}, s.filled(p.dt, 1, shape))
	return func(x *Tensor) *Tensor { return Mul(s, x, factors) }
}

// filled returns a tensor of one value that belongs to the scope.
func (s *Scope) filled(dt DType, v float64, shape []int) *Tensor {
	return s.Own(Full(s, dt, v, shape...))
}

func rowSum(s *Scope, x *Tensor) *Tensor { return SumKeep(s, x, -1) }

// probabilities returns the softmax of the scores, in table ops; zero where a mask forbids, even all of a row.
func (a *attention) probabilities(s *Scope, q, k *Tensor) *Tensor {
	scores := MulScalar(s, MatMul(s, q, Transpose(s, k, -1, -2)), a.scale)
	var allowed *Tensor
	switch {
	case a.causal:
		allowed = Tril(s, s.filled(scores.dt, 1, []int{a.T, a.S}), 0)
	case a.additive():
		seen := Ne(s, a.mask, s.filled(a.mask.dt, math.Inf(-1), nil))
		scores = Add(s, scores, wide(s, Where(s, seen, a.mask, s.filled(a.mask.dt, 0, nil))))
		allowed = To(s, seen, scores.dt)
	case a.mask != nil:
		allowed = To(s, a.mask, scores.dt)
	default:
		return Softmax(s, scores, -1)
	}
	// Far below any score, yet finite: a row without any key is even, and then zero, instead of NaN.
	far := MulScalar(s, AddScalar(s, allowed, -1), 1e30)
	return Mul(s, Softmax(s, Add(s, scores, far), -1), allowed)
}
