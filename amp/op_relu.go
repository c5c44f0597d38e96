package amp

import "github.com/halftone-ml/halftone/amp/internal/cpu"

var opReLU, opReLUBackward *Op

func init() {
	opReLU = define(Op{
		Name: "relu", Doc: "max(x, 0)", Args: []string{"x"}, Why: "only drops signs: exact in any dtype", CUDA: "relu", Whole: wholeReLU,
		Check: checkUnary, CPU: inHalves(&cpu.LineReLU, unary(passOrShort(&cpu.LineReLU, reluK[float32]), reluK[float64])), Saves: SaveOut,
		Backward: func(b *Back) { b.Set(0, b.S.apply(opReLUBackward, Attrs{}, b.DY, b.Out())) },
	})
	opReLUBackward = define(Op{
		Name: "relu_backward", Doc: "dy where y is not 0 or below, else 0", Args: []string{"dy", "y"}, Why: "only masks: exact in any dtype", CUDA: "relu_backward",
		Check: func(c *Call) []int { c.floats(); c.sameShape(); return c.In[0].shape },
		CPU:   inHalves(&cpu.LineReLUGrad, binary(pass2(&cpu.LineReLUGrad), reluGrad64, nil)), Saves: SaveIn1,
		Backward: func(b *Back) { // linear in dy; flat in y
			b.Set(0, b.S.apply(opReLUBackward, Attrs{}, b.DY, b.In(1)))
		},
	})
}

// ReLU returns max(x, 0); NaN stays NaN.
func ReLU(s *Scope, x *Tensor) *Tensor { return s.apply(opReLU, Attrs{}, x) }

func reluK[T float32 | float64](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = max(v, 0)
	}
}

// reluGrad64 keeps dy where y is not 0 or below, which holds for NaN as in PyTorch.
func reluGrad64(dst, dy, y []float64) {
	y, dst = y[:len(dy)], dst[:len(dy)]
	for i, v := range dy {
		if y[i] <= 0 {
			v = 0
		}
		dst[i] = v
	}
}
