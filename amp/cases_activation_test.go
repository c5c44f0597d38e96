package amp

// withNumber calls a row with one number.
func withNumber(f func(*Scope, *Tensor, float64) *Tensor, c float64, x input) opCase {
	return unaryCase(func(s *Scope, t *Tensor) *Tensor { return f(s, t, c) }, x)
}

func named(name string, c opCase) opCase { c.name = name; return c }

func straight(c opCase) opCase { c.flat = true; return c }

func tied(c opCase) opCase { c.flat, c.ties = true, true; return c }

// slopeCase is the gradient row of a unary row at its attributes.
func slopeCase(row string, at Attrs, x input) opCase {
	return opCase{inputs: []input{in(-2, 2, x.shape...), x}, call: func(s *Scope, in []*Tensor) *Tensor {
		return s.apply(byName[row+"_backward"], at, in[0], in[1])
	}}
}

// fixedSlopeCase is that of a row made of straight pieces, where x is no variable.
func fixedSlopeCase(row string, at Attrs, x ...float64) opCase {
	return opCase{inputs: []input{in(-2, 2, len(x))}, flat: true, call: func(s *Scope, in []*Tensor) *Tensor {
		return s.apply(byName[row+"_backward"], at, in[0], castLike(in[0], x))
	}}
}

func init() {
	wide := in(-2.5, 2.5, 2, 3)
	beta := Attrs{Pair: [2]float64{1.5, 2}}
	addCases(map[string][]opCase{
		"gelu_backward":      {slopeCase("gelu", Attrs{}, wide)},
		"gelu_tanh":          {unaryCase(GELUTanh, wide)},
		"gelu_tanh_backward": {slopeCase("gelu_tanh", Attrs{}, wide)},
		"silu_backward":      {slopeCase("silu", Attrs{}, wide)},
		"sigmoid_backward":   {slopeCase("sigmoid", Attrs{}, in(0.05, 0.95, 2, 3))},
		"tanh_backward":      {slopeCase("tanh", Attrs{}, in(-0.9, 0.9, 2, 3))},
		"softplus": {named("beta", unaryCase(func(s *Scope, x *Tensor) *Tensor { return SoftplusBeta(s, x, 1.5, 2) }, in(-2, 1.2, 2, 3))),
			named("linear", straight(unaryCase(func(s *Scope, x *Tensor) *Tensor { return SoftplusBeta(s, x, 1.5, 2) }, in(1.4, 3, 2, 3))))},
		"softplus_backward":    {slopeCase("softplus", beta, in(-2, 1.2, 2, 3)), named("linear", straight(slopeCase("softplus", beta, in(1.4, 3, 2, 3))))},
		"elu":                  {withNumber(ELU, 1.3, in(-2, -0.1, 2, 3)), named("above", straight(withNumber(ELU, 1.3, in(0.1, 2, 2, 3))))},
		"elu_backward":         {slopeCase("elu", Attrs{Scalar: 1.3}, in(-2, -0.1, 2, 3)), named("above", straight(slopeCase("elu", Attrs{Scalar: 1.3}, in(0.1, 2, 2, 3))))},
		"selu":                 {unaryCase(SELU, in(-2, -0.1, 2, 3)), named("above", straight(unaryCase(SELU, in(0.1, 2, 2, 3))))},
		"selu_backward":        {slopeCase("selu", Attrs{}, in(-2, -0.1, 2, 3))},
		"celu":                 {withNumber(CELU, 0.7, in(-2, -0.1, 2, 3)), named("above", straight(withNumber(CELU, 0.7, in(0.1, 2, 2, 3))))},
		"celu_backward":        {slopeCase("celu", Attrs{Scalar: 0.7}, in(-2, -0.1, 2, 3))},
		"mish":                 {unaryCase(Mish, wide)},
		"mish_backward":        {slopeCase("mish", Attrs{}, wide)},
		"softsign":             {unaryCase(Softsign, in(0.1, 2, 2, 3)), named("below", unaryCase(Softsign, in(-2, -0.1, 2, 3)))},
		"softsign_backward":    {slopeCase("softsign", Attrs{}, in(-2, -0.1, 2, 3))},
		"tanhshrink":           {unaryCase(Tanhshrink, wide)},
		"tanhshrink_backward":  {slopeCase("tanhshrink", Attrs{}, wide)},
		"logsigmoid":           {unaryCase(LogSigmoid, wide)},
		"logsigmoid_backward":  {slopeCase("logsigmoid", Attrs{}, wide)},
		"hardswish":            {unaryCase(Hardswish, in(-2.9, 2.9, 2, 3)), named("above", straight(unaryCase(Hardswish, in(3.1, 4, 2, 3)))), named("below", straight(unaryCase(Hardswish, in(-4, -3.1, 2, 3))))},
		"hardswish_backward":   {slopeCase("hardswish", Attrs{}, in(-2.9, 2.9, 2, 3))},
		"leaky_relu":           {straight(withNumber(LeakyReLU, 0.1, in(0.1, 2, 2, 3))), named("below", straight(withNumber(LeakyReLU, 0.1, in(-2, -0.1, 2, 3))))},
		"leaky_relu_backward":  {fixedSlopeCase("leaky_relu", Attrs{Scalar: 0.1}, -1, 0, 1)},
		"hardtanh":             {straight(unaryCase(func(s *Scope, x *Tensor) *Tensor { return Hardtanh(s, x, -1, 2) }, in(-0.9, 1.9, 2, 3))), named("above", straight(unaryCase(func(s *Scope, x *Tensor) *Tensor { return Hardtanh(s, x, -1, 1) }, in(1.1, 2, 2, 3))))},
		"hardtanh_backward":    {fixedSlopeCase("hardtanh", Attrs{Pair: [2]float64{-1, 1}}, -2, -1, 0.5, 1, 2)},
		"relu6":                {straight(unaryCase(ReLU6, in(0.1, 5.9, 2, 3)))},
		"hardsigmoid":          {straight(unaryCase(Hardsigmoid, in(-2.9, 2.9, 2, 3)))},
		"hardsigmoid_backward": {fixedSlopeCase("hardsigmoid", Attrs{}, -4, -3, 0, 3, 4)},
		"hardshrink":           {straight(withNumber(Hardshrink, 0.5, in(0.6, 2, 2, 3))), named("middle", straight(withNumber(Hardshrink, 0.5, in(-0.4, 0.4, 2, 3))))},
		"hardshrink_backward":  {fixedSlopeCase("hardshrink", Attrs{Scalar: 0.5}, -1, -0.5, 0, 0.5, 1)},
		"softshrink":           {straight(withNumber(Softshrink, 0.5, in(0.6, 2, 2, 3))), named("below", straight(withNumber(Softshrink, 0.5, in(-2, -0.6, 2, 3))))},
		"softshrink_backward":  {fixedSlopeCase("softshrink", Attrs{Scalar: 0.5}, -1, -0.5, 0, 0.5, 1)},
		"threshold":            {straight(unaryCase(func(s *Scope, x *Tensor) *Tensor { return Threshold(s, x, 0.5, -7) }, in(0.6, 2, 2, 3))), named("below", straight(unaryCase(func(s *Scope, x *Tensor) *Tensor { return Threshold(s, x, 0.5, -7) }, in(-2, 0.4, 2, 3))))},
		"threshold_backward":   {fixedSlopeCase("threshold", Attrs{Pair: [2]float64{0.5, -7}}, -1, 0.5, 1)},
		"softmin":              {unaryCase(func(s *Scope, x *Tensor) *Tensor { return Softmin(s, x, 0) }, in(-2, 2, 3, 2))},
		"glu": {unaryCase(func(s *Scope, x *Tensor) *Tensor { return GLU(s, x, -1) }, in(-2, 2, 2, 4)),
			named("middle", unaryCase(func(s *Scope, x *Tensor) *Tensor { return GLU(s, x, 1) }, in(-2, 2, 2, 2, 3)))},
		"glu_backward": {
			{inputs: []input{in(-2, 2, 2, 2), in(-2, 2, 2, 4)}, call: func(s *Scope, x []*Tensor) *Tensor {
				return s.apply(opGLUBackward, Attrs{Dims: []int{1}}, x[0], x[1])
			}},
			{name: "pair", inputs: []input{in(-2, 2, 3, 1), in(-2, 2, 3, 2)}, call: func(s *Scope, x []*Tensor) *Tensor {
				return s.apply(opGLUBackward, Attrs{Dims: []int{1}}, x[0], x[1])
			}},
		},
	})
	preluCases()
	mathCases()
}

func preluCases() {
	// Both signs: the weight's second derivative is that of a product.
	below, above := in(-2, -0.1, 2, 3), in(0.1, 2, 2, 3, 2)
	addCases(map[string][]opCase{
		"prelu": {
			binaryCase("one", PReLU, below, in(0.1, 0.5, 1)),
			binaryCase("channels", PReLU, in(-2, -0.1, 2, 3, 2), in(0.1, 0.5, 3)),
			straight(binaryCase("above", PReLU, above, in(0.1, 0.5, 3))),
			binaryCase("vector", PReLU, in(-2, -0.1, 4), in(0.1, 0.5)),
			{name: "mixed", inputs: []input{in(0.1, 2, 2, 3), in(0.1, 0.5, 3)}, call: func(s *Scope, x []*Tensor) *Tensor {
				return PReLU(s, Mul(s, x[0], castLike(x[0], []float64{1, -1, 1, -1, -1, 1})), x[1])
			}},
		},
		"prelu_backward": {{inputs: []input{in(-2, 2, 2, 3), in(0.1, 0.5, 3)}, call: func(s *Scope, x []*Tensor) *Tensor {
			return s.apply(opPReLUBackward, Attrs{}, x[0], castLike(x[0], []float64{1, -1, 1, -1, -1, 1}), x[1])
		}}},
	})
}

func mathCases() {
	addCases(map[string][]opCase{
		"floor":        {straight(unaryCase(Floor, in(1.1, 1.9, 2, 3)))},
		"ceil":         {straight(unaryCase(Ceil, in(1.1, 1.9, 2, 3)))},
		"round":        {straight(unaryCase(Round, in(1.6, 2.4, 2, 3)))},
		"trunc":        {straight(unaryCase(Trunc, in(-1.9, -1.1, 2, 3)))},
		"frac":         {straight(unaryCase(Frac, in(-1.9, -1.1, 2, 3)))},
		"fmod":         {straight(binaryCase("", Fmod, in(2.1, 2.9, 2, 3), in(1, 1, 3))), straight(binaryCase("negative", Fmod, in(-2.9, -2.1, 2, 3), in(1, 1, 3)))},
		"remainder":    {straight(binaryCase("", Remainder, in(2.1, 2.9, 2, 3), in(1, 1, 3))), straight(binaryCase("negative", Remainder, in(-2.9, -2.1, 2, 3), in(1, 1, 3)))},
		"floor_divide": {straight(binaryCase("", FloorDivide, in(2.1, 2.9, 2, 3), in(1, 1, 3))), straight(binaryCase("negative", FloorDivide, in(-2.9, -2.1, 2, 3), in(1, 1, 3)))},
		"erfinv":       {unaryCase(Erfinv, in(-0.8, 0.8, 2, 3))},
		"lgamma":       {unaryCase(Lgamma, in(0.2, 4, 2, 3)), named("negative", unaryCase(Lgamma, in(-2.9, -2.1, 2, 3)))},
		"digamma":      {unaryCase(Digamma, in(0.3, 4, 2, 3)), named("negative", unaryCase(Digamma, in(-1.8, -1.2, 2, 3)))},
		"polygamma": {
			unaryCase(func(s *Scope, x *Tensor) *Tensor { return Polygamma(s, 1, x) }, in(0.5, 4, 2, 3)),
			named("second", unaryCase(func(s *Scope, x *Tensor) *Tensor { return Polygamma(s, 2, x) }, in(0.8, 4, 2, 3))),
		},
		"atan":     {unaryCase(Atan, in(-2, 2, 2, 3))},
		"asinh":    {unaryCase(Asinh, in(-2, 2, 2, 3))},
		"acosh":    {unaryCase(Acosh, in(1.5, 3, 2, 3))},
		"atanh":    {unaryCase(Atanh, in(-0.7, 0.7, 2, 3))},
		"exp2":     {unaryCase(Exp2, in(-2, 2, 2, 3))},
		"square":   {unaryCase(Square, in(-2, 2, 2, 3))},
		"__rpow__": {unaryCase(func(s *Scope, x *Tensor) *Tensor { return ScalarPow(s, 1.7, x) }, in(-2, 2, 2, 3))},
		"__rdiv__": {unaryCase(func(s *Scope, x *Tensor) *Tensor { return ScalarDiv(s, 1.7, x) }, in(0.5, 2, 2, 3))},
	})
}
