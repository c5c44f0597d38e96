package amp

import (
	"math"
	"slices"
)

// Arithmetic of integers and booleans, as PyTorch has it: a whole number leaves integers what they are and makes integers of booleans, any
// other makes both float32; two booleans give a boolean, the sum their "or" and the product their "and".

// isWhole says whether x holds integers or booleans.
func (t *Tensor) isWhole() bool { return !t.dt.IsFloat() }

// whole says whether a number is an integer that int64 holds.
func whole(c float64) bool { return c == math.Trunc(c) && c >= math.MinInt64 && c < -math.MinInt64 }

// integer is the whole number c for arithmetic with integers.
func (s *Scope) integer(c float64) *Tensor { return constant(s, Int64, c) }

// What rows make of integers and booleans with other rows (Op.Whole). Where a number is not whole they leave it to the row, for floats.

// ofBools makes the Whole of a row that is another one of two booleans.
func ofBools(of func(s *Scope, a, b *Tensor) *Tensor) func(s *Scope, at Attrs, in []*Tensor) *Tensor {
	return func(s *Scope, _ Attrs, in []*Tensor) *Tensor {
		if in[0].dt == Bool && in[1].dt == Bool {
			return of(s, in[0], in[1])
		}
		return nil
	}
}

// withInteger makes the Whole of a row with a number that is another one with that number as a tensor.
func withInteger(of func(s *Scope, x, c *Tensor) *Tensor) func(s *Scope, at Attrs, in []*Tensor) *Tensor {
	return func(s *Scope, at Attrs, in []*Tensor) *Tensor {
		if !whole(at.Scalar) {
			return nil
		}
		return of(s, in[0], s.integer(at.Scalar))
	}
}

// ofInts makes the Whole of a row that takes no booleans.
func ofInts(of func(s *Scope, at Attrs, x *Tensor) *Tensor) func(s *Scope, at Attrs, in []*Tensor) *Tensor {
	return func(s *Scope, at Attrs, in []*Tensor) *Tensor {
		if in[0].dt == Bool {
			return nil
		}
		return of(s, at, in[0])
	}
}

var (
	wholeNeg     = ofInts(func(s *Scope, _ Attrs, x *Tensor) *Tensor { return MulScalar(s, x, -1) })
	wholeAbs     = ofInts(func(s *Scope, _ Attrs, x *Tensor) *Tensor { return Maximum(s, x, Neg(s, x)) })
	wholeReLU    = ofInts(func(s *Scope, _ Attrs, x *Tensor) *Tensor { return ClampMin(s, x, 0) })
	wholeBetween = ofInts(func(s *Scope, at Attrs, x *Tensor) *Tensor {
		return Clamp(s, x, math.Trunc(at.Pair[0]), math.Trunc(at.Pair[1]))
	})
	wholeSteps = ofInts(func(s *Scope, _ Attrs, x *Tensor) *Tensor { return AddScalar(s, x, 0) }) // a copy
)

// wholeSign: true and false are their own signs.
func wholeSign(s *Scope, _ Attrs, in []*Tensor) *Tensor {
	if in[0].dt == Bool {
		return Maximum(s, in[0], in[0])
	}
	return Clamp(s, in[0], -1, 1)
}

func wholeClamp(s *Scope, at Attrs, in []*Tensor) *Tensor {
	x, lo, hi := in[0], at.Pair[0], at.Pair[1]
	below, above := math.IsInf(lo, -1), math.IsInf(hi, 1)
	if !below && !whole(lo) || !above && !whole(hi) {
		return nil
	}
	y := AddScalar(s, x, 0)
	if !below {
		y = Maximum(s, y, s.integer(lo))
	}
	if !above {
		y = Minimum(s, y, s.integer(hi))
	}
	return y
}

func wholeClampTensor(s *Scope, _ Attrs, in []*Tensor) *Tensor {
	x, low, high := in[0], in[1], in[2]
	if !low.isWhole() || !high.isWhole() {
		return nil
	}
	return Minimum(s, Maximum(s, x, low), high)
}

// wholeThreshold wants a value that integers have; above any threshold is above the whole number below it.
var wholeThreshold = ofInts(func(s *Scope, at Attrs, x *Tensor) *Tensor {
	threshold, value := math.Floor(at.Pair[0]), at.Pair[1]
	if !whole(threshold) || !whole(value) {
		fail("threshold", ErrArgument, "use whole numbers, or convert x with amp.To(s, x, amp.Float32)", "%v, threshold %v, value %v", x.dt, at.Pair[0], value)
	}
	return Where(s, Gt(s, x, s.integer(threshold)), x, s.integer(value))
})

// allInts says whether all tensors hold integers.
func allInts(in []*Tensor) bool {
	return !slices.ContainsFunc(in, func(t *Tensor) bool { return t.dt != Int64 })
}

// wholeDot leaves what is no pair of vectors to the row, which says so.
func wholeDot(s *Scope, _ Attrs, in []*Tensor) *Tensor {
	if !allInts(in) || len(in[0].shape) != 1 || !slices.Equal(in[0].shape, in[1].shape) {
		return nil
	}
	return Sum(s, Mul(s, in[0], in[1]))
}

// wholeLinear takes three tensors of integers, or two and no bias.
func wholeLinear(s *Scope, _ Attrs, in []*Tensor) *Tensor {
	x, w, bias := in[0], in[1], in[2]
	if !allInts(in[:2]) || bias != nil && bias.dt != Int64 {
		return nil
	}
	linearShape(&Call{Op: opLinear, In: in})
	y := MatMul(s, x, Transpose(s, w, 0, 1))
	if bias != nil {
		y = Add(s, y, bias)
	}
	return y
}

func wholeAddcmul(s *Scope, at Attrs, in []*Tensor) *Tensor {
	if opAddcmul.common(in) != Int64 || !whole(at.Scalar) {
		return nil
	}
	return Add(s, in[0], MulScalar(s, Mul(s, in[1], in[2]), at.Scalar))
}

// wholeCross leaves what are no vectors of three to the row.
func wholeCross(s *Scope, at Attrs, in []*Tensor) *Tensor {
	a, b, dim := in[0], in[1], at.Dims[0]
	three := func(t *Tensor) bool { return len(t.shape)+dim >= 0 && t.shape[len(t.shape)+dim] == 3 }
	if dim >= 0 || !allInts(in) || !three(a) || !three(b) { // what Check refuses
		return nil
	}
	next := func(t *Tensor, by int) *Tensor { return Roll(s, t, []int{-by}, []int{len(t.shape) + dim}) }
	return Sub(s, Mul(s, next(a, 1), next(b, 2)), Mul(s, next(a, 2), next(b, 1)))
}

func wholePowScalar(s *Scope, at Attrs, in []*Tensor) *Tensor {
	x, c := in[0], at.Scalar
	switch {
	case !whole(c):
		return nil
	case c < 0:
		fail("pow_scalar", ErrArgument, "convert x with amp.To(s, x, amp.Float32)", "%v to the power of %v is no integer", x.dt, c)
	}
	return Pow(s, x, s.integer(c))
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
