package amp

var opReLU, opReLUBackward *Op

func init() {
	opReLU = define(Op{
		Name: "relu", Doc: "max(x, 0)", Args: []string{"x"}, Why: "only drops signs: exact in any dtype", CUDA: "relu",
		Check: checkUnary, CPU: unary(reluK[float32], reluK[float64]), Saves: SaveOut,
		Backward: func(b *Back) { b.Set(0, b.S.apply(opReLUBackward, Attrs{}, b.DY, b.Out())) },
	})
	opReLUBackward = define(Op{
		Name: "relu_backward", Doc: "dy where y > 0, else 0", Args: []string{"dy", "y"}, Why: "only masks: exact in any dtype", CUDA: "relu_backward",
		Check: func(c *Call) []int { c.floats(); c.sameShape(); return c.In[0].shape },
		CPU:   binary(reluGradK[float32], reluGradK[float64], nil), Saves: SaveIn1,
		Backward: func(b *Back) { // linear in dy; flat in y
			b.Set(0, b.S.apply(opReLUBackward, Attrs{}, b.DY, b.In(1)))
		},
	})
}

// ReLU returns max(x, 0); NaN stays NaN.
func ReLU(s *Scope, x *Tensor) *Tensor { return s.apply(opReLU, Attrs{}, x) }

func reluK[T float32 | float64](dst, x []T) {
	for i, v := range x {
		if v < 0 {
			v = 0
		}
		dst[i] = v
	}
}

func reluGradK[T float32 | float64](dst, dy, y []T) {
	y = y[:len(dy)]
	dst = dst[:len(dy)]
	for i, v := range dy {
		if !(y[i] > 0) {
			v = 0
		}
		dst[i] = v
	}
}
