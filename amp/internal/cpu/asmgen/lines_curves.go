package main

// Lines of functions of one number and their slopes, in float32.

// log1pUnitF returns log(1 + z) for z from 0 to 1: the series of logF at z, or at (z-1)/2 where 1 + z is taken as 2·(1 + f).
func (p *prog) log1pUnitF(z val) val {
	large := p.less(p.c(0.41421356), z)
	f := p.choose(large, p.mul(p.sub(z, p.c(1)), p.c(0.5)), z)
	square := p.mul(f, f)
	rest := p.fma(p.mul(square, f), p.logSeriesF(f), p.mul(square, p.c(-0.5)))
	y := p.add(f, rest)
	return p.add(y, p.choose(p.less(p.c(0.41421356), z), p.c(ln2Top), p.c(0)))
}

// softplusF is log(1 + e^x) in the form that neither overflows nor loses small values.
func (p *prog) softplusF(x val) val {
	return p.add(p.max(p.c(0), x), p.log1pUnitF(p.decayF(p.or(x, p.bits(1<<31)))))
}

// mishParts returns e = e^x for x held below 20, where mish is x, and n = e·(e + 2): tanh(log(1 + e)) is n/(n + 2).
func (p *prog) mishParts(x val) (e, n val) {
	e = p.expF(p.min(p.c(20), x))
	return e, p.mul(e, p.add(e, p.c(2)))
}

var curveLines = []line{
	{"lineSquare", "sets x1 to x0².", nil, func(l *lineProg) { x := l.line(0); l.put(l.mul(x, x), outSet, 1) }},
	{"lineCube", "sets x1 to x0³.", nil, func(l *lineProg) { x := l.line(0); l.put(l.mul(l.mul(x, x), x), outSet, 1) }},
	{"lineSqrt", "sets x1 to √x0.", nil, func(l *lineProg) { l.put(l.sqrt(l.line(0)), outSet, 1) }},
	{"lineRsqrt", "sets x1 to 1/√x0.", nil, func(l *lineProg) { l.put(l.div(l.c(1), l.sqrt(l.line(0))), outSet, 1) }},
	{"lineReciprocal", "sets x1 to 1/x0.", nil, func(l *lineProg) { l.put(l.div(l.c(1), l.line(0)), outSet, 1) }},
	{"lineSign", "sets x1 to -1, 0 or 1 as the sign of x0, NaN to NaN.", nil, func(l *lineProg) {
		x := l.line(0)
		l.put(l.choose(l.less(l.c(0), x), l.c(1), l.choose(l.less(x, l.c(0)), l.c(-1), x)), outSet, 1)
	}},
	{"lineElu", "sets x1 to a2·x0 above 0, else to a0·(e^(a1·x0) - 1), for positive a1.", nil, func(l *lineProg) {
		x := l.line(0)
		k, r := l.reduceF(l.max(l.c(-40), l.min(l.c(0), l.mul(x, l.arg(1)))), -1)
		scale := l.scale(l.c(1), k)
		e := l.fma(scale, l.mul(r, l.expm1SeriesF(r)), l.sub(scale, l.c(1)))
		l.put(l.choose(l.less(l.c(0), x), l.mul(x, l.arg(2)), l.mul(e, l.arg(0))), outSet, 1)
	}},
	{"lineEluGrad", "sets x2 to x1 times a2 where x0 is above 0, else times a0·e^(a1·x0), for positive a1.", nil, func(l *lineProg) {
		x := l.line(0)
		e := l.mul(l.decayF(l.min(l.c(0), l.mul(x, l.arg(1)))), l.arg(0))
		l.put(l.mul(l.line(1), l.choose(l.less(l.c(0), x), l.arg(2), e)), outSet, 2)
	}},
	{"lineSoftplus", "sets x1 to log(1 + e^(a0·x0))/a0, to x0 where a0·x0 is above a1.", nil, func(l *lineProg) {
		x := l.line(0)
		v := l.mul(x, l.arg(0))
		l.put(l.choose(l.less(l.arg(1), v), x, l.div(l.softplusF(v), l.arg(0))), outSet, 1)
	}},
	{"lineSoftplusGrad", "sets x2 to x1/(1 + e^(-a0·x0)), to x1 where a0·x0 is above a1.", nil, func(l *lineProg) {
		v := l.mul(l.line(0), l.arg(0))
		l.put(l.mul(l.line(1), l.choose(l.less(l.arg(1), v), l.c(1), l.sigmoidF(v))), outSet, 2)
	}},
	{"lineLogSigmoid", "sets x1 to -log(1 + e^-x0).", nil, func(l *lineProg) { l.put(l.neg(l.softplusF(l.neg(l.line(0)))), outSet, 1) }},
	{"lineLogSigmoidGrad", "sets x2 to x1/(1 + e^x0).", nil, func(l *lineProg) {
		l.put(l.mul(l.line(1), l.sigmoidF(l.neg(l.line(0)))), outSet, 2)
	}},
	{"lineMish", "sets x1 to x0·tanh(log(1 + e^x0)).", nil, func(l *lineProg) {
		x := l.line(0)
		_, n := l.mishParts(x)
		l.put(l.mul(x, l.div(n, l.add(n, l.c(2)))), outSet, 1)
	}},
	{"lineMishGrad", "sets x2 to x1 times the slope of mish at x0: (n·(n + 2) + 4·x0·e·(1 + e))/(n + 2)².", nil, func(l *lineProg) {
		x := l.within(l.line(0), -104.5, 20)
		e, n := l.mishParts(x)
		d := l.add(n, l.c(2))
		rate := l.mul(l.mul(l.mul(x, l.c(4)), e), l.add(e, l.c(1)))
		l.put(l.mul(l.line(1), l.div(l.fma(n, d, rate), l.mul(d, d))), outSet, 2)
	}},
	{"lineHardswish", "sets x1 to x0·(x0 + 3)/6 between -3 and 3, to 0 below and to x0 above.", nil, func(l *lineProg) {
		x := l.line(0)
		y := l.mul(l.mul(x, l.add(x, l.c(3))), l.c(1.0/6))
		l.put(l.choose(l.less(x, l.c(3)), l.choose(l.less(l.c(-3), x), y, l.c(0)), x), outSet, 1)
	}},
	{"lineHardswishGrad", "sets x2 to x1 times x0/3 + 1/2 between -3 and 3, times 0 below and 1 above.", nil, func(l *lineProg) {
		x := l.line(0)
		y := l.fma(x, l.c(1.0/3), l.c(0.5))
		l.put(l.mul(l.line(1), l.choose(l.less(x, l.c(3)), l.choose(l.less(l.c(-3), x), y, l.c(0)), l.choose(l.equal(x, x), l.c(1), x))), outSet, 2)
	}},
}

var lossLines = []line{
	{"lineDistance", "adds |x0 - x1| to s0.", nil, func(l *lineProg) { l.put(l.abs(l.sub(l.line(0), l.line(1))), outSum, 0) }},
	{"lineHuber", "adds to s0, for d = |x0 - x1|: d²·a0 where that is not above a1, else d·a2 - a3.", nil, func(l *lineProg) {
		d := l.abs(l.sub(l.line(0), l.line(1)))
		l.put(l.choose(l.less(l.arg(1), d), l.sub(l.mul(d, l.arg(2)), l.arg(3)), l.mul(l.mul(d, d), l.arg(0))), outSum, 0)
	}},
	{"lineBinaryCrossEntropy", "adds log(1 + e^x0) - x0·x1 to s0.", map[int]string{0: "-200"}, func(l *lineProg) {
		x := l.line(0)
		l.put(l.sub(l.softplusF(x), l.mul(x, l.line(1))), outSum, 0)
	}},
	{"lineDivergence", "adds x1·(log x1 - x0) to s0, where x1 is not 0.", nil, func(l *lineProg) {
		x, t := l.line(0), l.line(1)
		l.put(l.choose(l.equal(t, l.c(0)), l.c(0), l.mul(t, l.sub(l.logF(t), x))), outSum, 0)
	}},
}
