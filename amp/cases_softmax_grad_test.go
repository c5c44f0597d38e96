package amp

func init() {
	row := func(o func() *Op, dim int) func(s *Scope, x []*Tensor) *Tensor {
		return func(s *Scope, x []*Tensor) *Tensor { return s.apply(o(), Attrs{Dims: []int{dim}}, x[0], x[1]) }
	}
	soft, log := func() *Op { return opSoftmaxBackward }, func() *Op { return opLogSoftmaxBackward }
	addCases(map[string][]opCase{
		"softmax_backward": {
			{name: "last", terms: 8, inputs: []input{in(-2, 2, 3, 5), in(0, 1, 3, 5)}, call: row(soft, 1)},
			{name: "first", terms: 8, inputs: []input{in(-2, 2, 4, 2, 3), in(0, 1, 4, 2, 3)}, call: row(soft, 0)},
		},
		"log_softmax_backward": {
			{name: "last", terms: 8, inputs: []input{in(-2, 2, 3, 5), in(-3, 0, 3, 5)}, call: row(log, 1)},
			{name: "first", terms: 8, inputs: []input{in(-2, 2, 4, 2, 3), in(-3, 0, 4, 2, 3)}, call: row(log, 0)},
		},
	})
}
