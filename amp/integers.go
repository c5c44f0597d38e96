package amp

import "math"

// Arithmetic of integers and booleans, as PyTorch has it: a whole number leaves integers what they are and makes integers of booleans, any
// other makes both float32; two booleans give a boolean, the sum their "or" and the product their "and".

// isWhole says whether x holds integers or booleans; it may be nil, of which others tell.
func (t *Tensor) isWhole() bool { return t != nil && !t.dt.IsFloat() }

// isInts says whether x holds integers; it may be nil.
func (t *Tensor) isInts() bool { return t != nil && t.dt == Int64 }

// bothBool says whether a and b are booleans.
func bothBool(a, b *Tensor) bool { return a != nil && b != nil && a.dt == Bool && b.dt == Bool }

// whole says whether a number is an integer that int64 and float64 hold exactly.
func whole(c float64) bool { return c == math.Trunc(c) && math.Abs(c) <= 1<<53 }

// number is c for arithmetic with integers: one of them if it is whole.
func (s *Scope) number(c float64) *Tensor {
	if whole(c) {
		return constant(s, Int64, c)
	}
	return constant(s, Float32, c)
}

// clampWhole is Clamp of integers and booleans.
func clampWhole(s *Scope, x *Tensor, lo, hi float64) *Tensor {
	below, above := math.IsInf(lo, -1), math.IsInf(hi, 1)
	if !below && !whole(lo) || !above && !whole(hi) {
		return Clamp(s, To(s, x, Float32), lo, hi)
	}
	y := AddScalar(s, x, 0)
	if !below {
		y = Maximum(s, y, s.number(lo))
	}
	if !above {
		y = Minimum(s, y, s.number(hi))
	}
	return y
}

// powWhole is PowScalar of integers and booleans.
func powWhole(s *Scope, x *Tensor, c float64) *Tensor {
	switch {
	case !whole(c):
		return PowScalar(s, To(s, x, Float32), c)
	case c < 0:
		fail("pow_scalar", ErrArgument, "convert x with amp.To(s, x, amp.Float32)", "%v to the power of %v is no integer", x.dt, c)
	}
	return Pow(s, x, s.number(c))
}

// powInts is x to the power of y modulo 2⁶⁴, rounded toward 0.
func powInts(dst, x, y []int64) {
	for i, v := range x {
		dst[i] = powInt(v, y[i])
	}
}

func powInt(x, y int64) int64 {
	switch {
	case y >= 0:
	case x == 1 || x == -1 && y%2 == 0:
		return 1
	case x == -1:
		return -1
	default:
		return 0
	}
	p := int64(1)
	for ; y > 0; y >>= 1 {
		if y&1 != 0 {
			p *= x
		}
		x *= x
	}
	return p
}
