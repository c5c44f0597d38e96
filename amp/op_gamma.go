package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// lgamma and its derivatives, of which each is the gradient of the one before.

var opLgamma, opDigamma, opPolygamma *Op

func init() {
	opLgamma = elementwise("lgamma", "log |Γ(x)|", Unlisted, "not on the reference's lists, and grows like x·log x: overflows float16 near 8800", cpu.Lgamma, SaveIn0, func(b *Back) *Tensor {
		return Mul(b.S, b.DY, Digamma(b.S, b.In(0)))
	})
	opLgamma.Bound = 4 // of its slope, and of itself below 0, which cancel at their zeros
	opDigamma = elementwise("digamma", "slope of log Γ(x)", Unlisted, "not on the reference's lists, and has poles, where half precision overflows", cpu.Digamma, SaveIn0, polygammaBackward)
	opDigamma.CUDA = "polygamma"
	opPolygamma = elementwise("polygamma", "derivative n of digamma", Unlisted, opDigamma.Why, func(c *Call) {
		n := int(c.Scalar)
		mapped(func(x float64) float64 { return cpu.Polygamma(n, x) })(c)
	}, SaveIn0, polygammaBackward)
	opDigamma.Bound, opPolygamma.Bound = 4, 4 // a sum of numbers up to 3, which cancel around 1.46
}

func polygammaBackward(b *Back) *Tensor {
	return Mul(b.S, b.DY, b.S.apply(opPolygamma, Attrs{Scalar: b.Attrs().Scalar + 1}, b.In(0)))
}

// Lgamma returns log |Γ(x)|, the logarithm of the absolute value of the gamma function, of which Γ(n+1) = n!: infinite at 0, at negative
// whole numbers and at both infinities. It is exact to the last digits, but for float64 next to its zeros below -2, where it is so to some
// 1e-15.
func Lgamma(s *Scope, x *Tensor) *Tensor { return s.apply(opLgamma, Attrs{}, x) }

// Digamma returns ψ(x), the derivative of Lgamma: -∞ at 0, NaN at negative whole numbers and at -∞. It sums 1/(x+k) up to 12 and takes Stirling's
// series there; below 0 it is that of numbers above by ψ(x) + ψ(1-f) = ψ(1-x) + ψ(f), f = x - ⌊x⌋.
func Digamma(s *Scope, x *Tensor) *Tensor { return s.apply(opDigamma, Attrs{}, x) }

// maxPolygamma is the largest n whose factorial float64 holds.
const maxPolygamma = 170

// Polygamma returns ψ⁽ⁿ⁾(x), derivative n of Digamma, which it is for n = 0. For n of 1 and more it is infinite at 0 and at negative whole numbers.
// It panics with ErrArgument unless n is from 0 to 170.
func Polygamma(s *Scope, n int, x *Tensor) *Tensor {
	if n < 0 || n > maxPolygamma {
		fail("polygamma", ErrArgument, "use 0 to 170, whose factorial float64 holds", "derivative %d", n)
	}
	if n == 0 {
		return Digamma(s, x)
	}
	return s.apply(opPolygamma, Attrs{Scalar: float64(n)}, x)
}
