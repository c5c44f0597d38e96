package amp

func init() {
	addCases(map[string][]opCase{
		"prod": {
			unaryCase(func(s *Scope, x *Tensor) *Tensor { return Prod(s, x) }, in(0.5, 1.5, 2, 3)),
			{name: "dim", inputs: []input{in(-1.5, 1.5, 2, 3, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return ProdDim(s, x[0], 1) }},
			{name: "one", inputs: []input{in(-1.5, 1.5, 2, 1)}, flat: true, call: func(s *Scope, x []*Tensor) *Tensor { return ProdDim(s, x[0], -1) }},
		},
		"cumprod": {
			unaryCase(func(s *Scope, x *Tensor) *Tensor { return Cumprod(s, x, -1) }, in(-1.5, 1.5, 2, 4)),
			{name: "first", inputs: []input{in(-1.5, 1.5, 3, 2, 2)}, call: func(s *Scope, x []*Tensor) *Tensor { return Cumprod(s, x[0], 0) }},
		},
		"recurrence": {
			binaryCase("", func(s *Scope, a, b *Tensor) *Tensor { return s.recurrence(a, b, 1, false) }, in(-1.2, 1.2, 2, 4), in(-2, 2, 2, 4)),
			binaryCase("reverse", func(s *Scope, a, b *Tensor) *Tensor { return s.recurrence(a, b, 0, true) }, in(-1.2, 1.2, 3, 2), in(-2, 2, 3, 2)),
		},
	})
}
