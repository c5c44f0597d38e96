package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// Quotients and powers that are 0 where the ordinary ones are infinite or NaN. Gradients of norms are made of them: they are safe at 0,
// and since the rows' own gradients are made of the same rows, so is every higher derivative.

var opDivNonzero, opAbsPow, opSignedPow *Op

func init() {
	opDivNonzero = define(Op{
		Name: "div_nonzero", Doc: "a / b, 0 where b is 0; broadcast", Args: []string{"a", "b"}, Why: whyArith, Widens: true, CUDA: "div_nonzero", Wide: true,
		Check: checkBinary, CPU: binary(divNonzeroK[float32], divNonzeroK[float64], nil), Saves: SaveIn0 | SaveIn1,
		Backward: func(b *Back) {
			q := divNonzero(b.S, b.DY, b.In(1))
			b.Set(0, b.sumTo(0, q))
			if b.Needs(1) {
				b.Set(1, b.sumTo(1, Neg(b.S, Mul(b.S, q, divNonzero(b.S, b.In(0), b.In(1))))))
			}
		},
	})
	opAbsPow = powerRow("abs_pow", "|x|^c for a number c, 0 at x = 0 if c is below 0", func(x, c float64) float64 { return cpu.Pow(math.Abs(x), c) },
		func(s *Scope, x *Tensor, c float64) *Tensor { return signedPow(s, x, c-1) })
	opSignedPow = powerRow("signed_pow", "sign x·|x|^c for a number c, 0 at x = 0", func(x, c float64) float64 { return math.Copysign(cpu.Pow(math.Abs(x), c), x) },
		func(s *Scope, x *Tensor, c float64) *Tensor { return absPow(s, x, c-1) })
}

// powerRow defines abs_pow or signed_pow: each one's slope is c times the other.
func powerRow(name, doc string, f func(x, c float64) float64, slope func(s *Scope, x *Tensor, c float64) *Tensor) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Why: "part of the gradients of norms, which run in the dtype of their forward", CUDA: name, Wide: true, Check: checkUnary, Saves: SaveIn0,
		CPU: func(c *Call) {
			q, signed := c.Scalar, name == "signed_pow"
			mapped(func(x float64) float64 {
				if x == 0 && (q < 0 || signed) {
					return 0
				}
				return f(x, q)
			})(c)
		},
		Backward: func(b *Back) {
			c := b.Attrs().Scalar
			if c == 0 { // 1, or a sign
				b.Set(0, b.flat(0))
				return
			}
			b.Set(0, Mul(b.S, b.DY, MulScalar(b.S, slope(b.S, b.In(0), c), c)))
		},
	})
}

func divNonzeroK[T float32 | float64](dst, x, y []T) {
	for i, v := range x {
		dst[i] = 0
		if y[i] != 0 {
			dst[i] = v / y[i]
		}
	}
}

func divNonzero(s *Scope, a, b *Tensor) *Tensor { return s.apply(opDivNonzero, Attrs{}, a, b) }

func absPow(s *Scope, x *Tensor, c float64) *Tensor { return s.apply(opAbsPow, Attrs{Scalar: c}, x) }

func signedPow(s *Scope, x *Tensor, c float64) *Tensor {
	return s.apply(opSignedPow, Attrs{Scalar: c}, x)
}
