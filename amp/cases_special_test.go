package amp

func init() {
	drawn := Attrs{Pair: [2]float64{0.125, 1.0 / 3}, Draw: Draw{Seed: 4, Block: 2}}
	rrelu := func(s *Scope, x *Tensor) *Tensor { return s.apply(opRReLU, drawn, x) }
	between := func(s *Scope, x []*Tensor) *Tensor { return ClampTensors(s, x[0], x[1], x[2]) }
	addCases(map[string][]opCase{
		"erfc":      {unaryCase(Erfc, in(-2, 2, 2, 3))},
		"hypot":     {binaryCase("", Hypot, in(0.2, 2, 2, 3), in(-2, -0.2, 3))},
		"logaddexp": {binaryCase("", LogAddExp, in(-2, 2, 2, 3), in(-2, 2, 2, 1))},
		"rrelu":     {straight(unaryCase(rrelu, in(-2, -0.1, 2, 3))), named("above", straight(unaryCase(rrelu, in(0.1, 2, 2, 3))))},
		"rrelu_backward": {{inputs: []input{in(-2, 2, 5)}, flat: true, call: func(s *Scope, x []*Tensor) *Tensor {
			return s.apply(opRReLUBackward, drawn, x[0], castLike(x[0], []float64{-1, 1, 0, -2, -3}))
		}}},
		"clamp_tensor": {
			{flat: true, inputs: []input{in(0.5, 1, 2, 3), in(-1, 0, 3), in(1.5, 2, 2, 1)}, call: between},
			{name: "below", flat: true, inputs: []input{in(-2, -1.5, 2, 3), in(-1, 0, 3), in(1.5, 2, 2, 1)}, call: between},
			{name: "above", flat: true, inputs: []input{in(3, 4, 2, 3), in(-1, 0, 3), in(1.5, 2, 2, 1)}, call: between},
			{name: "crossed", flat: true, inputs: []input{in(0, 0.4, 2, 3), in(1, 2, 3), in(0.5, 0.9, 2, 1)}, call: between},
			{name: "one", flat: true, inputs: []input{in(-2, -1.5, 2, 3), in(-1, 0, 3)}, call: func(s *Scope, x []*Tensor) *Tensor { return ClampTensors(s, x[0], x[1], nil) }},
		},
	})
}
