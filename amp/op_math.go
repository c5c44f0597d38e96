package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// exp, log, sqrt and pow. The first two and pow are on the fp32 list: their results leave the half range early, or lose most of
// their digits in it.

var opExp, opLog, opSqrt, opPow, opPowScalar *Op

func init() {
	opExp = define(Op{
		Name: "exp", Doc: "e^x", Args: []string{"x"}, Class: FP32, Why: "overflows float16 above 11.09", CUDA: "exp", Floats: true,
		Check: checkUnary, CPU: mapped(cpu.Exp), Saves: SaveOut,
		Backward: func(b *Back) { b.Set(0, Mul(b.S, b.DY, b.Out())) },
	})
	opLog = define(Op{
		Name: "log", Doc: "natural logarithm", Args: []string{"x"}, Class: FP32, Why: "steep near zero, where half precision has few digits", CUDA: "log", Floats: true,
		Check: checkUnary, CPU: mapped(cpu.Log), Saves: SaveIn0,
		Backward: func(b *Back) { b.Set(0, Div(b.S, b.DY, b.In(0))) },
	})
	opSqrt = define(Op{
		Name: "sqrt", Doc: "square root", Args: []string{"x"}, Why: "halves the exponent, so it stays in range", CUDA: "sqrt", Floats: true,
		Check: checkUnary, CPU: mappedBy(&cpu.LineSqrt, math.Sqrt), Saves: SaveOut,
		Wide:     true,
		Backward: func(b *Back) { b.Set(0, Div(b.S, b.DY, MulScalar(b.S, b.Out(), 2))) },
	})
	opPow = define(Op{
		Name: "pow", Doc: "x^y elementwise, broadcast", Args: []string{"x", "y"}, Class: FP32, Why: "multiplies the exponent, so it leaves the half range early",
		Widens: true, Ints: true, CUDA: "pow", Check: checkBinary, CPU: binary(cpu.Powers, powK[float64], powInts), Saves: SaveIn0 | SaveIn1 | SaveOut,
		Wide:     true,
		Backward: powBackward,
	})
	opPowScalar = define(Op{
		Name: "pow_scalar", Doc: "x^c for a number c", Args: []string{"x"}, Class: FP32, Why: "multiplies the exponent, so it leaves the half range early", CUDA: "pow_scalar", Whole: wholePowScalar, Floats: true,
		Check: checkUnary, Saves: SaveIn0,
		CPU: powScalarCPU, Wide: true,
		Backward: func(b *Back) { // c·x^(c-1), and 0 for c = 0 even at x = 0
			c := b.Attrs().Scalar
			if c == 0 {
				b.Set(0, b.flat(0))
				return
			}
			b.Set(0, Mul(b.S, b.DY, MulScalar(b.S, PowScalar(b.S, b.In(0), c-1), c)))
		},
	})
}

// powScalarCPU takes roots where the power is one, as PyTorch does: they know the sign of zero and have no root of -∞.
func powScalarCPU(c *Call) {
	switch c.Scalar {
	case 0.5:
		opSqrt.CPU(c)
	case -0.5:
		opRsqrt.CPU(c)
	case -1:
		opReciprocal.CPU(c)
	case 2:
		squareCPU(c)
	case 3:
		cubeCPU(c)
	default:
		powScalarOf(c)
	}
}

var (
	squareCPU = inHalves(&cpu.LineSquare, mappedBy(&cpu.LineSquare, func(x float64) float64 { return x * x }))
	cubeCPU   = mappedBy(&cpu.LineCube, func(x float64) float64 { return x * x * x })
)

func powScalarOf(c *Call) {
	number, number32 := c.Scalar, float32(c.Scalar)
	unary(
		func(dst, x []float32) {
			var same [chunk]float32
			for i := range same[:min(chunk, len(x))] {
				same[i] = number32
			}
			for len(x) > 0 {
				n := min(chunk, len(x))
				cpu.Powers(dst[:n], x[:n], same[:n])
				dst, x = dst[n:], x[n:]
			}
		},
		func(dst, x []float64) {
			for i, v := range x {
				dst[i] = cpu.Pow(v, number)
			}
		})(c)
}

// powBackward: dx = dy·y·x^(y-1), dy' = dy·x^y·log x, both 0 where their factor y or x^y is 0, and dy' at 0^0 too.
func powBackward(b *Back) {
	x, y := b.In(0), b.In(1)
	if b.Needs(0) {
		b.Set(0, b.sumTo(0, Mul(b.S, b.DY, zeroTimes(b.S, y, Pow(b.S, x, AddScalar(b.S, y, -1))))))
	}
	if b.Needs(1) {
		zero := Full(b.S, x.dt, 0)
		x = MaskedFill(b.S, x, LogicalAnd(b.S, Eq(b.S, x, zero), Ge(b.S, y, zero)), 1)
		b.Set(1, b.sumTo(1, Mul(b.S, b.DY, zeroTimes(b.S, b.Out(), Log(b.S, x)))))
	}
}

// Exp returns e^x; float32 under autocast.
func Exp(s *Scope, x *Tensor) *Tensor { return s.apply(opExp, Attrs{}, x) }

// Log returns the natural logarithm; float32 under autocast.
func Log(s *Scope, x *Tensor) *Tensor { return s.apply(opLog, Attrs{}, x) }

// Sqrt returns the square root.
func Sqrt(s *Scope, x *Tensor) *Tensor { return s.apply(opSqrt, Attrs{}, x) }

// Pow returns x^y elementwise, broadcast; float32 under autocast. Of integers it is an integer, rounded toward 0 where y is negative.
func Pow(s *Scope, x, y *Tensor) *Tensor { return s.apply(opPow, Attrs{}, x, y) }

// PowScalar returns x^c; float32 under autocast. Integers and booleans give int64 for a whole number c, which must not be negative, and
// float32 for any other.
func PowScalar(s *Scope, x *Tensor, c float64) *Tensor {
	return s.apply(opPowScalar, Attrs{Scalar: c}, x)
}

func powK[T float32 | float64](dst, x, y []T) {
	for i, v := range x {
		dst[i] = T(cpu.Pow(float64(v), float64(y[i])))
	}
}

// zeroTimes is a product in which 0 wins over infinity and NaN, as the limits in pow's gradient ask for.
var opZeroTimes *Op

func init() {
	opZeroTimes = define(Op{
		Name: "xmul", Doc: "a · b, 0 where a is 0 whatever b is", Args: []string{"a", "b"}, Why: whyArith, Widens: true, CUDA: "xmul",
		Check: checkBinary, CPU: binary(xmulK[float32], xmulK[float64], nil), Saves: SaveIn0 | SaveIn1,
		Backward: func(b *Back) {
			if b.Needs(0) {
				b.Set(0, b.sumTo(0, Mul(b.S, b.DY, b.In(1))))
			}
			if b.Needs(1) {
				b.Set(1, b.sumTo(1, Mul(b.S, b.DY, b.In(0))))
			}
		},
	})
}

func zeroTimes(s *Scope, a, b *Tensor) *Tensor { return s.apply(opZeroTimes, Attrs{}, a, b) }

func xmulK[T float32 | float64](dst, x, y []T) {
	for i, v := range x {
		if v == 0 {
			dst[i] = 0
			continue
		}
		dst[i] = v * y[i]
	}
}
