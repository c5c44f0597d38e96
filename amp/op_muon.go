package amp

import "math"

// UpdateMuon takes one Muon step on a matrix p [out in] from its Grad; buf is the momentum buffer. It is made of other ops, recorded in the
// scope in which Backward computed the gradient, among them the products of bfloat16 that make the step. With g = grad:
//
//	buf = buf + (1-Momentum)·(g - buf)
//	d   = buf, or g + Momentum·(buf - g) with Nesterov
//	p  -= LR·(WeightDecay·p + r·NS(d))
//
// NS brings the singular values of d near 1: NSSteps steps of Newton and Schulz's iteration X ← a·X + (b·A + c·A²)·X in bfloat16, with
// A = X·Xᵀ, from X = d/max(‖d‖, Eps) on. r is √max(1, out/in), 0.2·√max(out, in) with MatchRMSAdamW, √(out/in) with SpectralUnclamped.
// Formulas are those of torch.optim.Muon. It panics with ErrShape unless p is a matrix, with ErrGrad without a gradient and with
// ErrArgument for InvScale and Maximize, which Muon does not take.
func UpdateMuon(p, buf *Tensor, u Update) {
	const op = "muon"
	grad := gradientOf(op, p)
	rankOf(op, p, 2)
	if u.InvScale != nil || u.Maximize {
		fail(op, ErrArgument, "divide the gradients before the step", "InvScale and Maximize are not for it")
	}
	buf.live(op)
	s := stepScope(p)
	defer s.Close()
	if u.FoundInf != nil { // nothing changes where it is set: between buf and buf lies buf
		grad = Where(s, To(s, u.FoundInf, Bool), buf, grad)
	}
	mean := LerpScalar(s, buf, grad, 1-u.Momentum)
	CopyInPlace(s, buf, mean)
	if u.Nesterov {
		mean = LerpScalar(s, grad, mean, u.Momentum)
	}
	d := MulScalar(s, To(s, orthogonal(s, mean, &u), p.dt), muonRatio(&u, p.shape))
	move := Update{LR: u.LR, WeightDecay: u.WeightDecay}
	s.apply(opSGD, Attrs{Update: &move}, p, d, nil, nil, u.FoundInf, nil, u.Rate)
}

// orthogonal is NS: an odd polynomial that moves every singular value towards 1 (Jordan, 2024, "Muon: an optimizer for hidden layers in
// neural networks"). A is the smaller of the two products.
func orthogonal(s *Scope, d *Tensor, u *Update) *Tensor {
	x, tall := To(s, d, BFloat16), d.shape[0] > d.shape[1]
	if tall {
		x = Transpose(s, x, 0, 1)
	}
	x = Div(s, x, ClampMin(s, Norm(s, x), u.Eps))
	for range int(u.NSSteps) {
		gram := MatMul(s, x, Transpose(s, x, 0, 1))
		x = Addmm(s, x, Addmm(s, gram, gram, gram, u.NS[1], u.NS[2]), x, u.NS[0], 1)
	}
	if tall {
		x = Transpose(s, x, 0, 1)
	}
	return x
}

// muonRatio is what makes steps of matrices of all shapes alike.
func muonRatio(u *Update, shape []int) float64 {
	out, in := float64(shape[0]), float64(shape[1])
	switch {
	case shape[0] == 0 || shape[1] == 0:
		return 0
	case u.MatchRMSAdamW:
		return 0.2 * math.Sqrt(max(out, in))
	case u.SpectralUnclamped:
		return math.Sqrt(out / in)
	}
	return math.Sqrt(max(1, out/in))
}
