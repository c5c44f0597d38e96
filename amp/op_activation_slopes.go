package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

// The gradients of sigmoid and tanh, by what they returned: each is a row, so that the slope is computed wide and rounded once.

var opSigmoidBackward, opTanhBackward *Op

// slopeByOut defines name_backward of a row whose slope is a function of its value y: dy times it, by a pass and for float64 by f. bend is
// dg, which is the incoming gradient times dy, times the derivative of the slope by y.
func slopeByOut(name, slope string, by *cpu.LineKernel, f func(dy, y float64) float64, bend func(s *Scope, dg, y *Tensor) *Tensor) *Op {
	var op *Op
	op = define(Op{
		Name: name + "_backward", Doc: "dy times the slope of " + name + " where it is y, " + slope, Args: []string{"dy", "y"}, Why: whyBackward,
		CUDA: name + "_backward", Saves: SaveIn0 | SaveIn1, Check: checkSlope, Wide: true,
		CPU: inHalves(by, binary(pass2(by), func(dst, dy, y []float64) {
			for i, v := range dy {
				dst[i] = f(v, y[i])
			}
		}, nil)),
		Backward: func(b *Back) { // linear in dy
			y := b.In(1)
			b.Set(0, b.S.apply(op, Attrs{}, b.DY, y))
			if b.Needs(1) {
				b.Set(1, bend(b.S, Mul(b.S, b.DY, b.In(0)), y))
			}
		},
	})
	return op
}

// slopeAtOut is the gradient of a row by such a row at what it returned.
func slopeAtOut(slope **Op) func(b *Back) *Tensor {
	return func(b *Back) *Tensor { return b.S.apply(*slope, Attrs{}, b.DY, b.Out()) }
}

func init() {
	opSigmoidBackward = slopeByOut("sigmoid", "(1 - y)·y", &cpu.LineSigmoidGrad, func(dy, y float64) float64 { return dy * float64((1-y)*y) },
		func(s *Scope, dg, y *Tensor) *Tensor { return Mul(s, dg, AddScalar(s, MulScalar(s, y, -2), 1)) })
	opTanhBackward = slopeByOut("tanh", "(1 - y)·(1 + y)", &cpu.LineTanhGrad, func(dy, y float64) float64 { return dy * float64((1-y)*(1+y)) },
		func(s *Scope, dg, y *Tensor) *Tensor { return MulScalar(s, Mul(s, dg, y), -2) })
}
