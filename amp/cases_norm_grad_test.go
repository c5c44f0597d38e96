package amp

func init() {
	row := func(o func() *Op, dims []int) func(s *Scope, x []*Tensor) *Tensor {
		return func(s *Scope, x []*Tensor) *Tensor {
			var w, dx *Tensor
			if len(x) > 2 && len(x[2].shape) <= len(dims) {
				w = x[2]
			}
			if len(x) > 3 || len(x) > 2 && w == nil {
				dx = x[len(x)-1]
			}
			return s.apply(o(), Attrs{Dims: dims, Scalar: 1e-3}, x[0], x[1], w, dx)
		}
	}
	layer, rms := func() *Op { return opLayerNormBackward }, func() *Op { return opRMSNormBackward }
	flat, deep := in(-2, 2, 3, 4), in(-2, 2, 2, 2, 3)
	addCases(map[string][]opCase{
		"layer_norm_backward": {
			{name: "weight", terms: 8, inputs: []input{flat, flat, in(0.5, 1.5, 4)}, call: row(layer, []int{1})},
			{name: "two", terms: 8, inputs: []input{deep, deep, in(0.5, 1.5, 2, 3)}, call: row(layer, []int{1, 2})},
			{name: "bare", terms: 8, inputs: []input{flat, flat}, call: row(layer, []int{1})},
			{name: "added", terms: 8, inputs: []input{deep, deep, in(0.5, 1.5, 3), deep}, call: row(layer, []int{2})},
			{name: "bare, added", terms: 8, inputs: []input{flat, flat, flat}, call: row(layer, []int{1})},
		},
		"rms_norm_backward": {
			{name: "weight", terms: 8, inputs: []input{flat, flat, in(0.5, 1.5, 4)}, call: row(rms, []int{1})},
			{name: "bare", terms: 8, inputs: []input{flat, flat}, call: row(rms, []int{1})},
			{name: "added", terms: 8, inputs: []input{deep, deep, in(0.5, 1.5, 2, 3), deep}, call: row(rms, []int{1, 2})},
		},
	})
}
