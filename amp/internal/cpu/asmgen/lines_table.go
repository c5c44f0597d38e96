package main

// The lines. x0 … are float32 lines, y0 … float64 ones, a0 … arguments, s0 … sums.
var lines = []line{
	{"lineMax", "leaves the largest of x0 in the lanes of s0, NaN aside.", func(l *lineProg) {
		l.put(l.x32(0), outMax, 0)
	}},
	{"lineSum", "adds x0 to s0.", func(l *lineProg) {
		l.put(l.x32(0), outSum, 0)
	}},
	{"lineDot", "adds x0·x1 to s0.", func(l *lineProg) {
		l.put(l.mul(l.x32(0), l.x32(1)), outSum, 0)
	}},
	{"lineSpread", "adds (x0 - a0)² to s0.", func(l *lineProg) {
		d := l.sub(l.x32(0), l.arg(0))
		l.put(l.mul(d, d), outSum, 0)
	}},
	{"lineExp", "sets y0 to e^(x0 - a0), good to ten digits, and adds it to s0.", func(l *lineProg) {
		e := l.exp32(l.sub(l.x32(0), l.arg(0)))
		l.put(e, outF64, 0)
		l.put(e, outSum, 0)
	}},
	{"lineExpSum", "adds e^(x0 - a0), good to ten digits, to s0.", func(l *lineProg) {
		l.put(l.exp32(l.sub(l.x32(0), l.arg(0))), outSum, 0)
	}},
	{"lineScale", "sets x1 to y0·a0.", func(l *lineProg) {
		l.put(l.mul(l.x64(0), l.arg(0)), outF32, 1)
	}},
	{"lineShift", "sets x1 to x0 - a0 - a1.", func(l *lineProg) {
		l.put(l.sub(l.sub(l.x32(0), l.arg(0)), l.arg(1)), outF32, 1)
	}},
	{"lineSoftmaxGrad", "sets x2 to y·(dy - a0) for y x0 and dy x1.", func(l *lineProg) {
		y, dy := l.x32(0), l.x32(1)
		l.put(l.mul(y, l.sub(dy, l.arg(0))), outF32, 2)
	}},
	{"lineLogSoftmaxGrad", "sets x2 to dy - e^y·a0 for y x0 and dy x1.", func(l *lineProg) {
		e := l.exp32(l.x32(0))
		l.put(l.sub(l.x32(1), l.mul(e, l.arg(0))), outF32, 2)
	}},
	{"lineNorm", "sets x1 to (x0 - a0)·a1.", func(l *lineProg) {
		l.put(l.mul(l.sub(l.x32(0), l.arg(0)), l.arg(1)), outF32, 1)
	}},
	{"lineNormWeight", "sets x1 to (x0 - a0)·a1·x2.", func(l *lineProg) {
		l.put(l.mul(l.mul(l.sub(l.x32(0), l.arg(0)), l.arg(1)), l.x32(2)), outF32, 1)
	}},
	{"lineNormBias", "sets x1 to (x0 - a0)·a1·x2 + x3.", func(l *lineProg) {
		v := l.mul(l.mul(l.sub(l.x32(0), l.arg(0)), l.arg(1)), l.x32(2))
		l.put(l.add(v, l.x32(3)), outF32, 1)
	}},
	{"lineNormSums", "adds, for x̂ = (x0 - a0)·a1, dy x1 and weight x2: dy·x̂ to y0, dy to y1, g = dy·weight to s0 and g·x̂ to s1.", func(l *lineProg) {
		x := l.mul(l.sub(l.x32(0), l.arg(0)), l.arg(1))
		dy := l.x32(1)
		l.put(dy, outAdd, 1)
		l.put(l.mul(dy, x), outAdd, 0)
		g := l.mul(dy, l.x32(2))
		l.put(g, outSum, 0)
		l.put(l.mul(g, x), outSum, 1)
	}},
	{"lineNormPlainSums", "adds, for x̂ = (x0 - a0)·a1 and dy x1: dy to s0 and dy·x̂ to s1.", func(l *lineProg) {
		x := l.mul(l.sub(l.x32(0), l.arg(0)), l.arg(1))
		dy := l.x32(1)
		l.put(dy, outSum, 0)
		l.put(l.mul(dy, x), outSum, 1)
	}},
	{"lineNormGrad", "sets x3 to a1·(dy·weight - a2 - x̂·a3) for x̂ = (x0 - a0)·a1, dy x1 and weight x2.", func(l *lineProg) {
		x := l.mul(l.sub(l.x32(0), l.arg(0)), l.arg(1))
		g := l.mul(l.x32(1), l.x32(2))
		l.put(l.mul(l.arg(1), l.sub(l.sub(g, l.arg(2)), l.mul(x, l.arg(3)))), outF32, 3)
	}},
	{"lineNormPlainGrad", "sets x3 to a1·(dy - a2 - x̂·a3) for x̂ = (x0 - a0)·a1 and dy x1.", func(l *lineProg) {
		x := l.mul(l.sub(l.x32(0), l.arg(0)), l.arg(1))
		l.put(l.mul(l.arg(1), l.sub(l.sub(l.x32(1), l.arg(2)), l.mul(x, l.arg(3)))), outF32, 3)
	}},
	{"lineGeluGrad", "sets x2 to the slope of gelu at x0 times x1.", func(l *lineProg) {
		l.put(l.mul(l.geluSlope32(l.x32(0)), l.x32(1)), outF32, 2)
	}},
	{"lineGeluTanhGrad", "sets x2 to the slope of gelu by tanh at x0 times x1.", func(l *lineProg) {
		l.put(l.mul(l.geluTanhSlope32(l.x32(0)), l.x32(1)), outF32, 2)
	}},
	{"lineSiluGrad", "sets x2 to the slope of silu at x0 times x1.", func(l *lineProg) {
		l.put(l.mul(l.siluSlope32(l.x32(0)), l.x32(1)), outF32, 2)
	}},
}
