package main

// A function is a program and its names.
type function struct {
	name, doc string
	vector    bool // worth vector forms
	build     func(p *prog, x val) val
	single    func(p *prog, x val) val // with the digits of float32; nil for build
	narrow    func(p *prog, x val) val // in float32; nil for single
}

var functions = []function{
	{"exp", "returns e^x.", true, (*prog).exp, (*prog).exp32, (*prog).expF},
	{"expm1", "returns e^x - 1.", true, (*prog).expm1, nil, nil},
	{"log", "returns the natural logarithm of x.", true, (*prog).log, nil, (*prog).logF},
	{"log1p", "returns log(1 + x).", true, (*prog).log1p, nil, nil},
	{"log2", "returns the logarithm of x to base 2.", false, (*prog).log2, nil, nil},
	{"log10", "returns the logarithm of x to base 10.", false, (*prog).log10, nil, nil},
	{"tanh", "returns the hyperbolic tangent of x.", true, (*prog).tanh, (*prog).tanh32, (*prog).tanhF},
	{"sinh", "returns the hyperbolic sine of x.", false, (*prog).sinh, nil, nil},
	{"cosh", "returns the hyperbolic cosine of x.", false, (*prog).cosh, nil, nil},
	{"sigmoid", "returns 1 / (1 + e^-x).", true, (*prog).sigmoid, (*prog).sigmoid32, (*prog).sigmoidF},
	{"silu", "returns x / (1 + e^-x).", true, func(p *prog, x val) val { return p.mul(x, p.sigmoid(x)) }, (*prog).silu32, (*prog).siluF},
	{"softplus", "returns log(1 + e^x).", true, (*prog).softplus, nil, nil},
	{"erf", "returns the error function of x.", true, (*prog).erf, nil, nil},
	{"erfc", "returns 1 - erf(x), accurate where that is small.", true, (*prog).erfc, nil, nil},
	{"gelu", "returns x·Φ(x), Φ the distribution function of the normal distribution.", true, (*prog).gelu, (*prog).gelu32, (*prog).geluF},
	{"geluSlope", "returns the derivative of gelu.", true, (*prog).geluSlope, nil, (*prog).geluSlopeF},
	{"geluTanh", "returns gelu approximated by tanh.", true, (*prog).geluTanh, (*prog).geluTanh32, (*prog).geluTanhF},
	{"geluTanhSlope", "returns the derivative of geluTanh.", true, (*prog).geluTanhSlope, nil, (*prog).geluTanhSlopeF},
	{"siluSlope", "returns the derivative of silu.", true, (*prog).siluSlope, nil, (*prog).siluSlopeF},
	{"exp2", "returns 2^x.", false, (*prog).exp2, nil, nil},
	{"asinh", "returns the inverse hyperbolic sine of x.", false, (*prog).asinh, nil, nil},
	{"acosh", "returns the inverse hyperbolic cosine of x.", false, (*prog).acosh, nil, nil},
	{"atanh", "returns the inverse hyperbolic tangent of x.", false, (*prog).atanh, nil, nil},
	{"sin", "returns the sine of x for |x| ≤ 2²⁰.", true, (*prog).sin, nil, (*prog).sinF},
	{"cos", "returns the cosine of x for |x| ≤ 2²⁰.", true, (*prog).cos, nil, (*prog).cosF},
	{"tan", "returns the tangent of x for |x| ≤ 2²⁰.", false, (*prog).tan, nil, nil},
	{"asin", "returns the inverse sine of x.", false, (*prog).asin, nil, nil},
	{"acos", "returns the inverse cosine of x.", false, (*prog).acos, nil, nil},
	{"atan", "returns the inverse tangent of x.", false, (*prog).atan, nil, nil},
}

// A form is what a program is for.
type form int

const (
	double form = iota
	single      // results to the digits of float32, computed in float64
	narrow      // in float32
)

// program is the function's: one in float32 if it is for such numbers and there is one.
func (f function) program(k form) *prog {
	build, p := f.build, &prog{}
	switch {
	case k == narrow && f.narrow != nil:
		build, p.single = f.narrow, true
	case k != double && f.single != nil:
		build = f.single
	}
	v := build(p, p.input())
	if int(v) != len(p.ins)-1 {
		panic("asmgen: " + f.name + " does not end with its result")
	}
	return p.needed()
}
