package amp

import "math"

// NanToNum returns x with numbers in the place of what is none: NaN becomes the first of to, +∞ the second and -∞ the third; those not given
// are 0, the largest number of x's dtype and the smallest. The gradient is 0 where an element was replaced. Integers and bools are copied.
// It panics with ErrArgument for more than three numbers, and for one that overflows x's dtype. (PyTorch: torch.nan_to_num(x, nan, posinf,
// neginf).)
func NanToNum(s *Scope, x *Tensor, to ...float64) *Tensor {
	x.live("NanToNum")
	if len(to) > 3 {
		fail("NanToNum", ErrArgument, "give up to three, for NaN, +∞ and -∞", "%d numbers", len(to))
	}
	if !x.dt.IsFloat() {
		return Clone(s, x)
	}
	for _, v := range to {
		holds("NanToNum", x.dt, v) // PyTorch has infinity for what overflows, which is no number
	}
	instead := [3]float64{0, x.dt.Max(), -x.dt.Max()}
	copy(instead[:], to)
	y := MaskedFill(s, x, IsNaN(s, x), instead[0])
	for k, limit := range []float64{math.Inf(1), math.Inf(-1)} {
		y = MaskedFill(s, y, Eq(s, x, s.Own(Full(s, x.dt, limit))), instead[1+k])
	}
	return y
}
