package main

// A function is a program and its names.
type function struct {
	name, doc string
	vector    bool // worth vector forms
	build     func(p *prog, x val) val
}

var functions = []function{
	{"exp", "returns e^x.", true, (*prog).exp},
	{"expm1", "returns e^x - 1.", true, (*prog).expm1},
	{"log", "returns the natural logarithm of x.", true, (*prog).log},
	{"log1p", "returns log(1 + x).", true, (*prog).log1p},
	{"log2", "returns the logarithm of x to base 2.", false, (*prog).log2},
	{"log10", "returns the logarithm of x to base 10.", false, (*prog).log10},
	{"tanh", "returns the hyperbolic tangent of x.", true, (*prog).tanh},
	{"sinh", "returns the hyperbolic sine of x.", false, (*prog).sinh},
	{"cosh", "returns the hyperbolic cosine of x.", false, (*prog).cosh},
	{"sigmoid", "returns 1 / (1 + e^-x).", true, (*prog).sigmoid},
	{"silu", "returns x / (1 + e^-x).", true, func(p *prog, x val) val { return p.mul(x, p.sigmoid(x)) }},
	{"softplus", "returns log(1 + e^x).", true, (*prog).softplus},
	{"erf", "returns the error function of x.", true, (*prog).erf},
	{"erfc", "returns 1 - erf(x), accurate where that is small.", true, (*prog).erfc},
	{"gelu", "returns x·Φ(x), Φ the distribution function of the normal distribution.", true, (*prog).gelu},
	{"geluSlope", "returns the derivative of gelu.", true, (*prog).geluSlope},
	{"geluTanh", "returns gelu approximated by tanh.", true, (*prog).geluTanh},
	{"geluTanhSlope", "returns the derivative of geluTanh.", true, (*prog).geluTanhSlope},
	{"siluSlope", "returns the derivative of silu.", true, (*prog).siluSlope},
	{"exp2", "returns 2^x.", false, (*prog).exp2},
	{"asinh", "returns the inverse hyperbolic sine of x.", false, (*prog).asinh},
	{"acosh", "returns the inverse hyperbolic cosine of x.", false, (*prog).acosh},
	{"atanh", "returns the inverse hyperbolic tangent of x.", false, (*prog).atanh},
	{"sin", "returns the sine of x for |x| ≤ 2²⁰.", true, (*prog).sin},
	{"cos", "returns the cosine of x for |x| ≤ 2²⁰.", true, (*prog).cos},
	{"tan", "returns the tangent of x for |x| ≤ 2²⁰.", false, (*prog).tan},
	{"asin", "returns the inverse sine of x.", false, (*prog).asin},
	{"acos", "returns the inverse cosine of x.", false, (*prog).acos},
	{"atan", "returns the inverse tangent of x.", false, (*prog).atan},
}

func (f function) program() *prog {
	p := &prog{}
	v := f.build(p, p.input())
	if int(v) != len(p.ins)-1 {
		panic("asmgen: " + f.name + " does not end with its result")
	}
	return p
}
