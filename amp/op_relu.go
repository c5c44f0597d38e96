package amp

import "math"

var opReLU, opReLUBackward *Op

func init() {
	opReLU = define(Op{
		Name: "relu", Doc: "max(x, 0)", Args: []string{"x"}, Why: "only drops signs: exact in any dtype", CUDA: "relu",
		Check: checkUnary, CPU: unary(reluK[float32], reluK[float64]), Saves: SaveOut,
		Backward: func(b *Back) { b.Set(0, b.S.apply(opReLUBackward, Attrs{}, b.DY, b.Out())) },
	})
	opReLUBackward = define(Op{
		Name: "relu_backward", Doc: "dy where y is not 0 or below, else 0", Args: []string{"dy", "y"}, Why: "only masks: exact in any dtype", CUDA: "relu_backward",
		Check: func(c *Call) []int { c.floats(); c.sameShape(); return c.In[0].shape },
		CPU:   binary(reluGrad32, reluGrad64, nil), Saves: SaveIn1,
		Backward: func(b *Back) { // linear in dy; flat in y
			b.Set(0, b.S.apply(opReLUBackward, Attrs{}, b.DY, b.In(1)))
		},
	})
}

// ReLU returns max(x, 0); NaN stays NaN.
func ReLU(s *Scope, x *Tensor) *Tensor { return s.apply(opReLU, Attrs{}, x) }

// Signs of activations are as good as random: a branch on them costs several times what the arithmetic does.

func reluK[T float32 | float64](dst, x []T) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = max(v, 0)
	}
}

// reluGrad32 keeps dy where y is not 0 or below, which holds for NaN as in PyTorch: where its bits, less one, are those of a positive
// number or NaN, or beyond those of -Inf.
func reluGrad32(dst, dy, y []float32) {
	y, dst = y[:len(dy)], dst[:len(dy)]
	for i, v := range dy {
		bits := math.Float32bits(y[i])
		keep := uint32((int64(bits-1)-0x7fffffff)>>63) | uint32((0xff800000-int64(bits))>>63)
		dst[i] = math.Float32frombits(math.Float32bits(v) & keep)
	}
}

func reluGrad64(dst, dy, y []float64) {
	y, dst = y[:len(dy)], dst[:len(dy)]
	for i, v := range dy {
		if y[i] <= 0 {
			v = 0
		}
		dst[i] = v
	}
}
