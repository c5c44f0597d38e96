package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

var opClamp *Op

func init() {
	opClamp = define(Op{
		Name: "clamp", Doc: "x held between two numbers", Args: []string{"x"}, Why: whyChoose, CUDA: "clamp", Check: checkUnary, Saves: SaveIn0,
		CPU: func(c *Call) {
			lo, hi := c.Pair[0], c.Pair[1]
			if halfPass(&cpu.LineClamp, c.Out, c.In, lo, hi) {
				return
			}
			unary(pass(&cpu.LineClamp, lo, hi), func(dst, x []float64) {
				for i, v := range x {
					switch {
					case v < lo:
						v = lo
					case v > hi:
						v = hi
					}
					dst[i] = v
				}
			})(c)
		},
		Backward: func(b *Back) { // dy within the bounds, the bounds included
			x, a := b.In(0), b.Attrs()
			inside := Eq(b.S, x, b.S.apply(opClamp, Attrs{Pair: a.Pair}, x))
			b.Set(0, Where(b.S, inside, b.DY, constant(b.S, b.DY.dt, 0)))
		},
	})
}

// Clamp returns x held between lo and hi; use infinities for a side without bound. NaN stays NaN. Its gradient is that of x at the
// bounds too, as PyTorch's was for long; PyTorch 2.15 gives 0 there. It panics with ErrArgument unless lo ≤ hi.
func Clamp(s *Scope, x *Tensor, lo, hi float64) *Tensor {
	if !(lo <= hi) {
		fail("clamp", ErrArgument, "give the smaller bound first", "bounds %v and %v", lo, hi)
	}
	return s.apply(opClamp, Attrs{Pair: [2]float64{lo, hi}}, x)
}

// ClampMin returns max(x, lo).
func ClampMin(s *Scope, x *Tensor, lo float64) *Tensor { return Clamp(s, x, lo, math.Inf(1)) }

// ClampMax returns min(x, hi).
func ClampMax(s *Scope, x *Tensor, hi float64) *Tensor { return Clamp(s, x, math.Inf(-1), hi) }
