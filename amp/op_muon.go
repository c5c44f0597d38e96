package amp

import (
	"fmt"
	"math"
)

// UpdateMuon takes one Muon step on a matrix p [out in] from its Grad; buf is the momentum buffer. It is made of other ops, recorded in the
// scope in which Backward computed the gradient, among them the products of bfloat16 that make the step. With g = grad:
//
//	buf = buf + (1-Momentum)·(g - buf)
//	d   = buf, or g + Momentum·(buf - g) with Nesterov
//	p  -= LR·(WeightDecay·p + r·NS(d))
//
// NS brings the singular values of d near 1: NSSteps steps of Newton and Schulz's iteration X ← a·X + (b·A + c·A²)·X in bfloat16, with
// A = X·Xᵀ, from X = d/max(‖d‖, Eps) on. r is AdjustLR's.
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
	d := MulScalar(s, To(s, orthogonal(s, mean, &u), p.dt), u.AdjustLR.ratio(p.shape))
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

// An AdjustLR is what Muon multiplies its learning rate by, so that one rate suits matrices of all shapes: torch's adjust_lr_fn.
type AdjustLR uint8

const (
	// AdjustOriginal is √max(1, out/in).
	AdjustOriginal AdjustLR = iota
	// AdjustMatchRMSAdamW is 0.2·√max(out, in): steps are as long as AdamW's, whose rates and decays serve (Liu et al., 2025).
	AdjustMatchRMSAdamW
	// AdjustSpectralUnclamped is √(out/in) (Bernstein, 2025).
	AdjustSpectralUnclamped
)

var adjustments = [...]string{"original", "match_rms_adamw", "spectral_unclamped"}

// Valid says whether it is one of the constants.
func (a AdjustLR) Valid() bool { return int(a) < len(adjustments) }

// String returns torch's name.
func (a AdjustLR) String() string {
	if !a.Valid() {
		return fmt.Sprintf("adjustment(%d)", uint8(a))
	}
	return adjustments[a]
}

// ratio is the factor for a matrix of a shape.
func (a AdjustLR) ratio(shape []int) float64 {
	out, in := float64(shape[0]), float64(shape[1])
	switch {
	case shape[0] == 0 || shape[1] == 0:
		return 0
	case a == AdjustMatchRMSAdamW:
		return 0.2 * math.Sqrt(max(out, in))
	case a == AdjustSpectralUnclamped:
		return math.Sqrt(out / in)
	}
	return math.Sqrt(max(1, out/in))
}
