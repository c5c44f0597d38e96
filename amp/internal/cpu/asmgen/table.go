package main

// A function is a program and its names.
type function struct {
	name, doc string
	vector    bool // worth vector forms
	build     func(p *prog, x val) val
	single    func(p *prog, x val) val // for float32, nil for the same
}

var functions = []function{
	{"exp", "returns e^x.", true, (*prog).exp, (*prog).exp32},
	{"expm1", "returns e^x - 1.", true, (*prog).expm1, nil},
	{"log", "returns the natural logarithm of x.", true, (*prog).log, nil},
	{"log1p", "returns log(1 + x).", true, (*prog).log1p, nil},
	{"log2", "returns the logarithm of x to base 2.", false, (*prog).log2, nil},
	{"log10", "returns the logarithm of x to base 10.", false, (*prog).log10, nil},
	{"tanh", "returns the hyperbolic tangent of x.", true, (*prog).tanh, (*prog).tanh32},
	{"sinh", "returns the hyperbolic sine of x.", false, (*prog).sinh, nil},
	{"cosh", "returns the hyperbolic cosine of x.", false, (*prog).cosh, nil},
	{"sigmoid", "returns 1 / (1 + e^-x).", true, (*prog).sigmoid, (*prog).sigmoid32},
	{"silu", "returns x / (1 + e^-x).", true, func(p *prog, x val) val { return p.mul(x, p.sigmoid(x)) }, (*prog).silu32},
	{"softplus", "returns log(1 + e^x).", true, (*prog).softplus, nil},
	{"erf", "returns the error function of x.", true, (*prog).erf, nil},
	{"erfc", "returns 1 - erf(x), accurate where that is small.", true, (*prog).erfc, nil},
	{"gelu", "returns x·Φ(x), Φ the distribution function of the normal distribution.", true, (*prog).gelu, (*prog).gelu32},
	{"geluSlope", "returns the derivative of gelu.", true, (*prog).geluSlope, nil},
	{"geluTanh", "returns gelu approximated by tanh.", true, (*prog).geluTanh, (*prog).geluTanh32},
	{"geluTanhSlope", "returns the derivative of geluTanh.", true, (*prog).geluTanhSlope, nil},
	{"siluSlope", "returns the derivative of silu.", true, (*prog).siluSlope, nil},
	{"exp2", "returns 2^x.", false, (*prog).exp2, nil},
	{"asinh", "returns the inverse hyperbolic sine of x.", false, (*prog).asinh, nil},
	{"acosh", "returns the inverse hyperbolic cosine of x.", false, (*prog).acosh, nil},
	{"atanh", "returns the inverse hyperbolic tangent of x.", false, (*prog).atanh, nil},
	{"sin", "returns the sine of x for |x| ≤ 2²⁰.", true, (*prog).sin, nil},
	{"cos", "returns the cosine of x for |x| ≤ 2²⁰.", true, (*prog).cos, nil},
	{"tan", "returns the tangent of x for |x| ≤ 2²⁰.", false, (*prog).tan, nil},
	{"asin", "returns the inverse sine of x.", false, (*prog).asin, nil},
	{"acos", "returns the inverse cosine of x.", false, (*prog).acos, nil},
	{"atan", "returns the inverse tangent of x.", false, (*prog).atan, nil},
}

// program is the function's, for float32 or for float64.
func (f function) program(single bool) *prog {
	build := f.build
	if single && f.single != nil {
		build = f.single
	}
	p := &prog{}
	v := build(p, p.input())
	if int(v) != len(p.ins)-1 {
		panic("asmgen: " + f.name + " does not end with its result")
	}
	return p.needed()
}
