package amp

func init() {
	draw := Draw{Seed: 5, Block: 9}
	row := func(o **Op, lead int) func(*Scope, *Tensor) *Tensor {
		return func(s *Scope, x *Tensor) *Tensor {
			return s.apply(*o, Attrs{Scalar: 0.4, Dims: []int{lead}, Draw: draw}, x)
		}
	}
	linear := func(name string, f func(*Scope, *Tensor) *Tensor, shape ...int) opCase {
		c := unaryCase(f, in(-2, 2, shape...))
		c.name, c.flat = name, true
		return c
	}
	addCases(map[string][]opCase{
		"dropout":                {linear("", row(&opDropout, 0), 3, 4), linear("nothing left", func(s *Scope, x *Tensor) *Tensor { return Dropout(s, x, 1) }, 5)},
		"feature_dropout":        {linear("", row(&opFeatureDropout, 2), 2, 3, 2)},
		"alpha_dropout":          {linear("", row(&opAlphaDropout, 0), 3, 4)},
		"alpha_dropout_backward": {linear("", row(&opAlphaDropoutBackward, 0), 3, 4)},
	})
}
