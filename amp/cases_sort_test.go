package amp

func init() {
	first := func(f func(s *Scope, x *Tensor) (*Tensor, *Tensor)) func(*Scope, *Tensor) *Tensor {
		return func(s *Scope, x *Tensor) *Tensor { v, _ := f(s, x); return v }
	}
	addCases(map[string][]opCase{
		"sort": {
			linearCase("", first(func(s *Scope, x *Tensor) (*Tensor, *Tensor) { return Sort(s, x, -1, false) }), 2, 4),
			linearCase("descending", first(func(s *Scope, x *Tensor) (*Tensor, *Tensor) { return Sort(s, x, 0, true) }), 3, 2, 2),
		},
		"topk": {
			linearCase("", first(func(s *Scope, x *Tensor) (*Tensor, *Tensor) { return Topk(s, x, 2, 1, true) }), 2, 4),
			linearCase("smallest", first(func(s *Scope, x *Tensor) (*Tensor, *Tensor) { return Topk(s, x, 1, 0, false) }), 3, 2),
		},
		"kthvalue": {linearCase("", first(func(s *Scope, x *Tensor) (*Tensor, *Tensor) { return Kthvalue(s, x, 2, 0) }), 3, 2)},
		"median":   {linearCase("", first(func(s *Scope, x *Tensor) (*Tensor, *Tensor) { return Median(s, x, 1) }), 2, 4)},
		"cummax":   {linearCase("", first(func(s *Scope, x *Tensor) (*Tensor, *Tensor) { return Cummax(s, x, 1) }), 2, 4)},
		"cummin":   {linearCase("", first(func(s *Scope, x *Tensor) (*Tensor, *Tensor) { return Cummin(s, x, 0) }), 4, 2)},
		"amax": {
			linearCase("", func(s *Scope, x *Tensor) *Tensor { return Amax(s, x) }, 2, 3),
			linearCase("ends", func(s *Scope, x *Tensor) *Tensor { return Amax(s, x, 0, -1) }, 2, 3, 2),
		},
		"amin": {linearCase("", func(s *Scope, x *Tensor) *Tensor { return Amin(s, x, 1) }, 2, 3)},
	})
}
