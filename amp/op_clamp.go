package amp

import (
	"math"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

var opClamp *Op

func init() {
	opClamp = define(Op{
		Name: "clamp", Doc: "x held between two numbers", Args: []string{"x"}, Why: whyChoose, CUDA: "clamp", Check: checkUnary, Whole: wholeClamp, Floats: true, Saves: SaveIn0,
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
		Backward: func(b *Back) { // dy within the bounds, 0 at them and for NaN
			x, dy, zero := b.In(0), b.DY, constant(b.S, b.DY.dt, 0)
			lo, hi := b.Attrs().Pair[0], b.Attrs().Pair[1]
			if !math.IsInf(lo, -1) {
				dy = Where(b.S, Gt(b.S, x, constant(b.S, x.dt, lo)), dy, zero)
			}
			if !math.IsInf(hi, 1) {
				dy = Where(b.S, Lt(b.S, x, constant(b.S, x.dt, hi)), dy, zero)
			}
			b.Set(0, dy)
		},
	})
}

// Clamp returns x held between lo and hi; use infinities for a side without bound. NaN stays NaN. Its gradient is 0 at the bounds, as
// PyTorch's is from 2.14 on; it was 1 before. Integers and booleans give int64 for whole bounds, float32 for others. It panics with
// ErrArgument unless lo ≤ hi.
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
