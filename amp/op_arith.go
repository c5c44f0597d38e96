package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// add, sub, mul, div and neg, and their forms with a number. The dtype of a result follows ordinary type promotion; a
// number never changes that of floats.

var opAdd, opSub, opMul, opDiv, opNeg, opAddScalar, opMulScalar *Op

const whyArith = "elementwise and safe in half precision"

func init() {
	opAdd = define(Op{
		Name: "add", Doc: "a + b, broadcast", Args: []string{"a", "b"}, Why: whyArith, Widens: true, Ints: true, Whole: ofBools(LogicalOr), CUDA: "add",
		Check: checkBinary, CPU: inHalves(&cpu.LineAdd, byRows(&cpu.LineAddNumber, binary(add32, addK[float64], addK[int64]))),
		Backward: func(b *Back) {
			b.Set(0, b.sumTo(0, b.DY))
			b.Set(1, b.sumTo(1, b.DY))
		},
	})
	opSub = define(Op{
		Name: "sub", Doc: "a - b, broadcast", Args: []string{"a", "b"}, Why: whyArith, Widens: true, Ints: true, CUDA: "sub",
		Check: checkBinary, CPU: inHalves(&cpu.LineSub, binary(sub32, subK[float64], subK[int64])),
		Backward: func(b *Back) {
			b.Set(0, b.sumTo(0, b.DY))
			if b.Needs(1) {
				b.Set(1, b.sumTo(1, Neg(b.S, b.DY)))
			}
		},
	})
	opMul = define(Op{
		Name: "mul", Doc: "a · b elementwise, broadcast", Args: []string{"a", "b"}, Why: whyArith, Widens: true, Ints: true, Whole: ofBools(LogicalAnd), CUDA: "mul",
		Check: checkBinary, CPU: inHalves(&cpu.LineMul, byRows(&cpu.LineScale, binary(mul32, mulK[float64], mulK[int64]))), Saves: SaveIn0 | SaveIn1,
		Backward: func(b *Back) {
			if b.Needs(0) {
				b.Set(0, b.sumTo(0, Mul(b.S, b.DY, b.In(1))))
			}
			if b.Needs(1) {
				b.Set(1, b.sumTo(1, Mul(b.S, b.DY, b.In(0))))
			}
		},
	})
	opDiv = define(Op{
		Name: "div", Doc: "a / b elementwise, broadcast; integers give float32", Args: []string{"a", "b"}, Why: whyArith, Widens: true, Floats: true, CUDA: "div",
		Check: checkBinary, CPU: inHalves(&cpu.LineDiv, binary(pass2OrShort(&cpu.LineDiv, divK[float32]), divK[float64], nil)), Saves: SaveIn0 | SaveIn1, Wide: true,
		Backward: func(b *Back) { // d(a/b) = da/b - (a/b)·db/b, without the rounding of a saved a/b
			if !b.Needs(0) && !b.Needs(1) {
				return
			}
			q := Div(b.S, b.DY, b.In(1))
			b.Set(0, b.sumTo(0, q))
			if b.Needs(1) {
				b.Set(1, b.sumTo(1, Neg(b.S, Mul(b.S, q, Div(b.S, b.In(0), b.In(1))))))
			}
		},
	})
	opNeg = define(Op{
		Name: "neg", Doc: "-x", Args: []string{"x"}, Why: whyArith, CUDA: "neg", Check: checkUnary, Whole: wholeNeg,
		CPU:      inHalves(&cpu.LineNeg, unary(passOrShort(&cpu.LineNeg, negK[float32]), negK[float64])),
		Backward: func(b *Back) { b.Set(0, Neg(b.S, b.DY)) },
	})
	opAddScalar = define(Op{
		Name: "add_scalar", Doc: "x + c for a number c", Args: []string{"x"}, Why: whyArith, CUDA: "add_scalar", Check: checkUnary, Whole: withInteger(Add), Floats: true,
		CPU:      byNumber(&cpu.LineAddNumber, func(x, c float64) float64 { return x + c }),
		Backward: func(b *Back) { b.Set(0, b.DY) },
	})
	opMulScalar = define(Op{
		Name: "mul_scalar", Doc: "x · c for a number c", Args: []string{"x"}, Why: whyArith, CUDA: "mul_scalar", Check: checkUnary, Whole: withInteger(Mul), Floats: true,
		CPU:      byNumber(&cpu.LineScale, func(x, c float64) float64 { return x * c }),
		Backward: func(b *Back) { b.Set(0, MulScalar(b.S, b.DY, b.Attrs().Scalar)) },
	})
}

// Sums and products are called by the gradients of hundreds of ops, each of which would have an Attrs of its own to clear were they
// inlined: 45 KB more of every cell.

// Add returns a + b. Shapes are broadcast; dtypes follow ordinary promotion. Of two booleans it is LogicalOr.
//
//go:noinline
func Add(s *Scope, a, b *Tensor) *Tensor { return s.apply(opAdd, Attrs{}, a, b) }

// Sub returns a - b. Shapes are broadcast; dtypes follow ordinary promotion. It panics with ErrDType for booleans.
func Sub(s *Scope, a, b *Tensor) *Tensor {
	opSub.need(a, b)
	if a.dt == Bool || b.dt == Bool {
		fail("sub", ErrDType, "use amp.LogicalXor or amp.LogicalNot, or convert it with amp.To", "%v - %v: booleans are not subtracted", a.dt, b.dt)
	}
	return s.apply(opSub, Attrs{}, a, b)
}

// Mul returns the elementwise product a · b. Shapes are broadcast; dtypes follow ordinary promotion. Of two booleans it is LogicalAnd.
//
//go:noinline
func Mul(s *Scope, a, b *Tensor) *Tensor { return s.apply(opMul, Attrs{}, a, b) }

// Div returns a / b elementwise. Shapes are broadcast; dtypes follow ordinary promotion, and two integers give float32.
func Div(s *Scope, a, b *Tensor) *Tensor { return s.apply(opDiv, Attrs{}, a, b) }

// Neg returns -x.
func Neg(s *Scope, x *Tensor) *Tensor { return s.apply(opNeg, Attrs{}, x) }

// AddScalar returns x + c in x's dtype; the sum is computed in float32 (float64 for float64) and rounded once. Integers and booleans give
// int64 for a whole number c, float32 for any other.
//
//go:noinline
func AddScalar(s *Scope, x *Tensor, c float64) *Tensor {
	return s.apply(opAddScalar, Attrs{Scalar: c}, x)
}

// ScalarSub returns c - x, a number less a tensor: Neg and AddScalar, with the dtypes of those, rounded once. It panics with ErrDType for
// booleans, as in PyTorch. (PyTorch: 1 - x, torch.rsub; its CPU kernel rounds c to the dtype of a half x first, its CUDA kernel does not.)
func ScalarSub(s *Scope, c float64, x *Tensor) *Tensor { return AddScalar(s, Neg(s, x), c) }

// MulScalar returns x · c in x's dtype; the product is computed in float32 (float64 for float64) and rounded once. Integers and booleans
// give int64 for a whole number c, float32 for any other.
//
//go:noinline
func MulScalar(s *Scope, x *Tensor, c float64) *Tensor {
	return s.apply(opMulScalar, Attrs{Scalar: c}, x)
}

// The float32 forms of the commonest rows.
var (
	add32 = pass2OrShort(&cpu.LineAdd, addK[float32])
	sub32 = pass2OrShort(&cpu.LineSub, subK[float32])
	mul32 = pass2OrShort(&cpu.LineMul, mulK[float32])
)

func addK[T number](dst, x, y []T) {
	y = y[:len(x)]
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v + y[i]
	}
}

func subK[T number](dst, x, y []T) {
	y = y[:len(x)]
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v - y[i]
	}
}

func mulK[T number](dst, x, y []T) {
	y = y[:len(x)]
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v * y[i]
	}
}

func divK[T float32 | float64](dst, x, y []T) {
	y = y[:len(x)]
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = v / y[i]
	}
}

func negK[T number](dst, x []T) {
	for i, v := range x {
		dst[i] = -v
	}
}

// byNumber makes a CPU kernel of a function of an element and the call's number: a pass for float32, f for float64.
func byNumber(k *cpu.LineKernel, f func(x, c float64) float64) func(c *Call) {
	return func(c *Call) {
		number := c.Scalar
		if halfPass(k, c.Out, c.In, number) {
			return
		}
		unary(pass(k, number), func(dst, x []float64) {
			for i, v := range x {
				dst[i] = f(v, number)
			}
		})(c)
	}
}
