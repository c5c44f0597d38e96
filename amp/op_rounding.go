package amp

import "math"

// floor, ceil, round, trunc and frac; quotients and remainders of divisions.

var opFloor, opCeil, opRound, opTrunc, opFrac, opFmod, opRemainder, opFloorDivide *Op

func init() {
	opFloor = steps("floor", "largest whole number not above x", math.Floor)
	opCeil = steps("ceil", "smallest whole number not below x", math.Ceil)
	opRound = steps("round", "nearest whole number, the even one of two", math.RoundToEven)
	opTrunc = steps("trunc", "whole part of x, toward 0", math.Trunc)
	opFrac = define(Op{
		Name: "frac", Doc: "x - trunc x, of the sign of x", Args: []string{"x"}, Why: whyBounded, CUDA: "frac", Check: checkUnary,
		CPU:      mapped(func(x float64) float64 { return x - math.Trunc(x) }),
		Backward: func(b *Back) { b.Set(0, b.DY) },
	})
	opFmod = remainderOf("fmod", "a - b·trunc(a/b), of the sign of a, broadcast", math.Mod, func(a, b int64) int64 { return a % b }, Trunc)
	opRemainder = remainderOf("remainder", "a - b·floor(a/b), of the sign of b, broadcast", floorMod, func(a, b int64) int64 {
		m := a % b
		if m != 0 && (m < 0) != (b < 0) {
			m += b
		}
		return m
	}, Floor)
	opFloorDivide = define(Op{
		Name: "floor_divide", Doc: "floor(a / b), broadcast", Args: []string{"a", "b"}, Why: whyArith, Widens: true, Ints: true, ByZero: "infinite", CUDA: "floor_divide", Check: checkBinary,
		CPU: binary(pairwiseK[float32](floorDiv), pairwiseK[float64](floorDiv), wholeDivision("floor_divide", "quotient", func(a, b int64) int64 {
			q := a / b
			if a%b != 0 && (a < 0) != (b < 0) {
				q--
			}
			return q
		})),
		Backward: func(b *Back) {
			b.Set(0, b.flat(0))
			if b.Needs(1) {
				b.Set(1, b.flat(1))
			}
		},
	})
}

// wholeDivision makes the kernel of integers, which refuses a division by 0.
func wholeDivision(name, what string, f func(a, b int64) int64) func(dst, x, y []int64) {
	return func(dst, x, y []int64) {
		for i, v := range x {
			if y[i] == 0 {
				fail(name, ErrArgument, "use floats, for which it is "+byName[name].ByZero, "integer %s of a division by 0", what)
			}
			dst[i] = f(v, y[i])
		}
	}
}

// floorDiv is floor(a/b) of the exact quotient, as Python's // finds it: a less its remainder is a multiple of b, and what the division then
// rounds is less than half of one.
func floorDiv(a, b float64) float64 {
	if b == 0 {
		return a / b
	}
	m := math.Mod(a, b)
	q := (a - m) / b
	if m != 0 && (m < 0) != (b < 0) {
		q--
	}
	if q == 0 {
		return math.Copysign(0, a/b)
	}
	whole := math.Floor(q)
	if q-whole > 0.5 {
		whole++
	}
	return whole
}

// steps defines a row that is flat but at its jumps.
func steps(name, doc string, f func(float64) float64) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Why: "exact in any dtype", CUDA: name, Check: checkUnary, CPU: mapped(f), Whole: wholeSteps,
		Backward: func(b *Back) { b.Set(0, b.flat(0)) },
	})
}

func floorMod(a, b float64) float64 {
	m := math.Mod(a, b)
	if m != 0 && (m < 0) != (b < 0) {
		m += b
	}
	return m
}

// remainderOf defines fmod or remainder: a - b·whole(a/b), whose gradient for b is -whole(a/b).
func remainderOf(name, doc string, f func(a, b float64) float64, ints func(a, b int64) int64, whole func(*Scope, *Tensor) *Tensor) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"a", "b"}, Why: "smaller than both of its inputs", Widens: true, Ints: true, ByZero: "NaN", CUDA: name, Saves: SaveIn0 | SaveIn1, Check: checkBinary,
		CPU: binary(pairwiseK[float32](f), pairwiseK[float64](f), wholeDivision(name, "remainder", ints)),
		Backward: func(b *Back) {
			b.Set(0, b.sumTo(0, b.DY))
			if b.Needs(1) {
				b.Set(1, b.sumTo(1, Neg(b.S, Mul(b.S, b.DY, whole(b.S, Div(b.S, b.In(0), b.In(1)))))))
			}
		},
	})
}

// Floor returns the largest whole number not above x. Its gradient is 0, as is that of Ceil, Round and Trunc.
// Integers stay as they are.
func Floor(s *Scope, x *Tensor) *Tensor { return s.apply(opFloor, Attrs{}, x) }

// Ceil returns the smallest whole number not below x.
func Ceil(s *Scope, x *Tensor) *Tensor { return s.apply(opCeil, Attrs{}, x) }

// Round returns the whole number nearest to x, the even one where two are as near.
func Round(s *Scope, x *Tensor) *Tensor { return s.apply(opRound, Attrs{}, x) }

// Trunc returns x without its digits behind the point.
func Trunc(s *Scope, x *Tensor) *Tensor { return s.apply(opTrunc, Attrs{}, x) }

// Frac returns x - Trunc(x).
func Frac(s *Scope, x *Tensor) *Tensor { return s.apply(opFrac, Attrs{}, x) }

// Fmod returns the remainder of a/b that has the sign of a, as C's fmod; floats or integers, broadcast. Integers divided by 0 panic
// with ErrArgument.
func Fmod(s *Scope, a, b *Tensor) *Tensor { return s.apply(opFmod, Attrs{}, a, b) }

// Remainder returns the remainder of a/b that has the sign of b, as Python's %; floats or integers, broadcast. Integers divided by 0
// panic with ErrArgument.
func Remainder(s *Scope, a, b *Tensor) *Tensor { return s.apply(opRemainder, Attrs{}, a, b) }

// FloorDivide returns floor(a/b), as Python's //; floats or integers, broadcast. Integers divided by 0 panic with ErrArgument. Its gradient is 0.
func FloorDivide(s *Scope, a, b *Tensor) *Tensor { return s.apply(opFloorDivide, Attrs{}, a, b) }
