package main

import "slices"

const (
	padLowest = "float32(math.Inf(-1))"
	padMean   = "io.Arg[0]"
)

// linesAhead names the lines that a kernel brings into the cache while it works on those io.Ahead bytes before.
var linesAhead = map[string][]int{
	"lineMax": {0}, "lineExp": {1}, "lineDot": {0, 1}, "lineSoftmaxGrad": {2}, "lineShift": {1}, "lineLogSoftmaxGrad": {0, 1, 2},
	"lineSpread": {0}, "lineNorm": {1}, "lineNormWeight": {1}, "lineNormBias": {1},
	"lineNormSums": {1}, "lineNormPlainSums": {0, 1}, "lineNormGrad": {3}, "lineNormPlainGrad": {3},
	"lineChannel": {0, 1}, "lineChannelGrad": {0, 1, 2}, "lineChannels": {0, 4}, "lineChannelsGrad": {0, 1, 6},
}

// quotientBy returns n/d with the bits of the division, for n of 2^-100 or above or 0, d not far from 1 and inverse its correctly rounded
// inverse: corrected twice by what is left (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor", 1990).
// Processors divide many numbers slowly.
func (l *lineProg) quotientBy(n, d, inverse val) val {
	q := l.mul(n, inverse)
	q = l.fma(l.fnma(q, d, n), inverse, q)
	q = l.fma(l.fnma(q, d, n), inverse, q)
	return l.choose(l.less(n, l.bits(0x7f800000)), q, n) // +Inf, NaN
}

// deviation returns x0 - a0 - a4, for a mean in two parts.
func (l *lineProg) deviation() val { return l.sub(l.sub(l.line(0), l.arg(0)), l.arg(4)) }

// larger and smaller are NaN if a or b is; 0 is above -0.
func (l *lineProg) larger(a, b val) val {
	return l.choose(l.equal(a, a), l.choose(l.equal(a, b), l.and(a, b), l.max(a, b)), a)
}

func (l *lineProg) smaller(a, b val) val {
	return l.choose(l.equal(a, a), l.choose(l.equal(a, b), l.or(a, b), l.min(a, b)), a)
}

// lerp is a + w·(b - a), or from b for w of 0.5 and above, so that it is b where w is 1. What the rounding of b - a leaves (Knuth's sum of two)
// is not lost.
func (l *lineProg) lerp(a, b, w val) val {
	d, near := l.sub(b, a), l.less(w, l.c(0.5))
	other := l.sub(d, b)
	left := l.sub(l.sub(b, l.sub(d, other)), l.add(a, other))
	w = l.choose(near, w, l.sub(w, l.c(1)))
	return l.add(l.fma(d, w, l.choose(near, a, b)), l.number(l.mul(left, w)))
}

// number is x, and 0 where x is NaN or infinite, as what a rounding leaves is where its result is no number.
func (l *lineProg) number(x val) val {
	return l.choose(l.less(l.abs(x), l.bits(0x7f800000)), x, l.c(0))
}

func (l *lineProg) fmaSquare(d, sum val) val { return l.fma(d, d, sum) }

// signed is w with the sign of d, and d where that is 0 or NaN.
func (l *lineProg) signed(w, d val) val {
	return l.choose(l.less(l.c(0), d), w, l.choose(l.less(d, l.c(0)), l.neg(w), d))
}

// apart adds what add makes of the differences of four lines from numbers to x4, and of those from four others to x5.
func (l *lineProg) apart(add func(d, sum val) val) {
	var sums [2]val
	for k := range 2 {
		sums[k] = l.line(4 + k)
	}
	for q := range 4 {
		x := l.line(q)
		for k := range 2 {
			sums[k] = add(l.sub(x, l.arg(4*k+q)), sums[k])
		}
	}
	for k := range 2 {
		l.put(sums[k], outSet, 4+k)
	}
}

// The lines. x0 … are the lines, a0 … arguments, s0 … sums.
var lines = slices.Concat(basicLines, curveLines, lossLines, recurrentLines, shortLines)

var basicLines = []line{
	{"lineMax", "leaves the largest of x0 in the lanes of s0, NaN aside.", map[int]string{0: padLowest}, func(l *lineProg) {
		l.put(l.line(0), outMax, 0)
	}},
	{"lineSum", "adds x0 to s0.", nil, func(l *lineProg) {
		l.put(l.line(0), outSum, 0)
	}},
	{"lineDot", "adds x0·x1 to s0.", nil, func(l *lineProg) {
		l.put(l.mul(l.line(0), l.line(1)), outSum, 0)
	}},
	{"lineSpread", "adds d = x0 - a0 to s0 and d² to s1.", map[int]string{0: padMean}, func(l *lineProg) {
		d := l.sub(l.line(0), l.arg(0))
		l.put(d, outSum, 0)
		l.put(l.mul(d, d), outSum, 1)
	}},
	{"lineExp", "sets x1 to e^(x0 - a0) for x0 ≤ a0 and adds it to s0.", map[int]string{0: padLowest}, func(l *lineProg) {
		e := l.decayF(l.sub(l.line(0), l.arg(0)))
		l.put(e, outSet, 1)
		l.put(e, outSum, 0)
	}},
	{"lineExpSum", "adds e^(x0 - a0) for x0 ≤ a0 to s0.", map[int]string{0: padLowest}, func(l *lineProg) {
		l.put(l.decayF(l.sub(l.line(0), l.arg(0))), outSum, 0)
	}},
	{"lineExpScale", "sets x1 to e^(x0·a1 - a0) for x0·a1 ≤ a0 and positive a1, to 0 where that is below the normal numbers, and adds it to s0.", map[int]string{0: padLowest}, func(l *lineProg) {
		d := l.sub(l.mul(l.line(0), l.arg(1)), l.arg(0))
		far := l.less(d, l.c(-87.3)) // processors take twenty times as long for subnormal results
		e := l.choose(far, l.c(0), l.decayF(l.choose(far, l.c(0), d)))
		l.put(e, outSet, 1)
		l.put(e, outSum, 0)
	}},
	{"lineScale", "sets x1 to x0·a0.", nil, func(l *lineProg) {
		l.put(l.mul(l.line(0), l.arg(0)), outSet, 1)
	}},
	{"lineScaleAdd", "sets x0 to x0·a0 + x1.", nil, func(l *lineProg) {
		l.put(l.add(l.mul(l.line(0), l.arg(0)), l.line(1)), outSet, 0)
	}},
	{"lineScaleMask", "sets x0 to x0·a0, and to a1 where x1 is below 0.5.", nil, func(l *lineProg) {
		l.put(l.choose(l.less(l.line(1), l.c(0.5)), l.arg(1), l.mul(l.line(0), l.arg(0))), outSet, 0)
	}},
	{"lineShift", "sets x1 to x0 - a0 - a1.", nil, func(l *lineProg) {
		l.put(l.sub(l.sub(l.line(0), l.arg(0)), l.arg(1)), outSet, 1)
	}},
	{"lineSoftmaxGrad", "sets x2 to y·(dy - a0) for y x0 and dy x1.", nil, func(l *lineProg) {
		y, dy := l.line(0), l.line(1)
		l.put(l.mul(y, l.sub(dy, l.arg(0))), outSet, 2)
	}},
	{"lineLogSoftmaxGrad", "sets x2 to dy - e^y·a0 for y x0 and dy x1.", nil, func(l *lineProg) {
		e := l.expF(l.line(0))
		l.put(l.sub(l.line(1), l.mul(e, l.arg(0))), outSet, 2)
	}},
	{"lineNorm", "sets x1 to (x0 - a0 - a4)·a1.", nil, func(l *lineProg) {
		l.put(l.mul(l.deviation(), l.arg(1)), outSet, 1)
	}},
	{"lineNormWeight", "sets x1 to (x0 - a0 - a4)·a1·x2.", nil, func(l *lineProg) {
		l.put(l.mul(l.mul(l.deviation(), l.arg(1)), l.line(2)), outSet, 1)
	}},
	{"lineNormBias", "sets x1 to (x0 - a0 - a4)·a1·x2 + x3.", nil, func(l *lineProg) {
		v := l.mul(l.deviation(), l.arg(1))
		l.put(l.fma(v, l.line(2), l.line(3)), outSet, 1)
	}},
	{"lineNormSums", "adds, for x̂ = (x0 - a0 - a4)·a1, dy x1 and weight x2: dy·x̂ to x3, dy to x4, g = dy·weight to s0 and g·x̂ to s1.", map[int]string{0: padMean}, func(l *lineProg) {
		x := l.mul(l.deviation(), l.arg(1))
		dy := l.line(1)
		l.put(dy, outAdd, 4)
		l.put(l.mul(dy, x), outAdd, 3)
		g := l.mul(dy, l.line(2))
		l.put(g, outSum, 0)
		l.put(l.mul(g, x), outSum, 1)
	}},
	{"lineNormPlainSums", "adds, for x̂ = (x0 - a0 - a4)·a1 and dy x1: dy to s0 and dy·x̂ to s1.", map[int]string{0: padMean}, func(l *lineProg) {
		x := l.mul(l.deviation(), l.arg(1))
		dy := l.line(1)
		l.put(dy, outSum, 0)
		l.put(l.mul(dy, x), outSum, 1)
	}},
	{"lineNormGrad", "sets x3 to a1·(dy·weight - a2 - x̂·a3) for x̂ = (x0 - a0 - a4)·a1, dy x1 and weight x2.", nil, func(l *lineProg) {
		x := l.mul(l.deviation(), l.arg(1))
		g := l.mul(l.line(1), l.line(2))
		l.put(l.mul(l.arg(1), l.fnma(x, l.arg(3), l.sub(g, l.arg(2)))), outSet, 3)
	}},
	{"lineNormPlainGrad", "sets x3 to a1·(dy - a2 - x̂·a3) for x̂ = (x0 - a0 - a4)·a1 and dy x1.", nil, func(l *lineProg) {
		x := l.mul(l.deviation(), l.arg(1))
		l.put(l.mul(l.arg(1), l.fnma(x, l.arg(3), l.sub(l.line(1), l.arg(2)))), outSet, 3)
	}},
	{"lineGeluGrad", "sets x2 to the slope of gelu at x0 times x1.", nil, func(l *lineProg) {
		l.put(l.mul(l.geluSlopeF(l.line(0)), l.line(1)), outSet, 2)
	}},
	{"lineGeluTanhGrad", "sets x2 to the slope of gelu by tanh at x0 times x1.", nil, func(l *lineProg) {
		l.put(l.mul(l.geluTanhSlopeF(l.line(0)), l.line(1)), outSet, 2)
	}},
	{"lineSiluGrad", "sets x2 to the slope of silu at x0 times x1.", nil, func(l *lineProg) {
		l.put(l.mul(l.siluSlopeF(l.line(0)), l.line(1)), outSet, 2)
	}},
	{"lineSigmoidGrad", "sets x2 to x0 times the slope of sigmoid where it is x1: x0·(1 - x1)·x1.", nil, func(l *lineProg) {
		y := l.line(1)
		l.put(l.mul(l.line(0), l.mul(l.sub(l.c(1), y), y)), outSet, 2)
	}},
	{"lineTanhGrad", "sets x2 to x0 times the slope of tanh where it is x1: x0·(1 - x1)·(1 + x1).", nil, func(l *lineProg) {
		y := l.line(1)
		l.put(l.mul(l.line(0), l.mul(l.sub(l.c(1), y), l.add(l.c(1), y))), outSet, 2)
	}},
	{"lineAdd", "sets x2 to x0 + x1.", nil, func(l *lineProg) { l.put(l.add(l.line(0), l.line(1)), outSet, 2) }},
	{"lineSub", "sets x2 to x0 - x1.", nil, func(l *lineProg) { l.put(l.sub(l.line(0), l.line(1)), outSet, 2) }},
	{"lineMul", "sets x2 to x0·x1.", nil, func(l *lineProg) { l.put(l.mul(l.line(0), l.line(1)), outSet, 2) }},
	{"lineDiv", "sets x2 to x0/x1.", nil, func(l *lineProg) { l.put(l.div(l.line(0), l.line(1)), outSet, 2) }},
	{"lineMaximum", "sets x2 to the larger of x0 and x1, NaN if either is.", nil, func(l *lineProg) { l.put(l.larger(l.line(0), l.line(1)), outSet, 2) }},
	{"lineMinimum", "sets x2 to the smaller of x0 and x1, NaN if either is.", nil, func(l *lineProg) { l.put(l.smaller(l.line(0), l.line(1)), outSet, 2) }},
	{"lineClampTo", "sets x3 to the smaller of x2 and the larger of x0 and x1, NaN if one is.", nil, func(l *lineProg) {
		l.put(l.smaller(l.larger(l.line(0), l.line(1)), l.line(2)), outSet, 3)
	}},
	{"lineAddcmul", "sets x3 to x0 + a0·x1·x2.", nil, func(l *lineProg) {
		x := l.line(0)
		l.put(l.fma(l.mul(l.line(1), l.arg(0)), l.line(2), x), outSet, 3)
	}},
	{"lineAddcdiv", "sets x3 to x0 + a0·x1/x2, with what the roundings of product and quotient leave added, so that a difference of neighbors is right.", nil, func(l *lineProg) {
		c, a, b := l.arg(0), l.line(1), l.line(2)
		p := l.mul(c, a)
		q := l.div(p, b)
		left := l.div(l.sub(l.fnma(q, b, p), l.fnma(c, a, p)), b)
		l.put(l.add(l.add(l.line(0), q), l.number(left)), outSet, 3)
	}},
	{"lineLerp", "sets x3 to x0 + x2·(x1 - x0), from the end that is nearer.", nil, func(l *lineProg) {
		l.put(l.lerp(l.line(0), l.line(1), l.line(2)), outSet, 3)
	}},
	{"lineLerpNumber", "sets x2 to x0 + a0·(x1 - x0), from the end that is nearer.", nil, func(l *lineProg) {
		l.put(l.lerp(l.line(0), l.line(1), l.arg(0)), outSet, 2)
	}},
	{"lineAdam", "takes a step of Adam on the parameter x0 with the gradient x1, its moving average x2 and that of its square x3: x2 += a0·(x1 - x2), x3 = a1·x3 + a2·x1·x1, x0 = x0·a3 - a4·x2/(√x3/a5 + a6); a7 is 1/a5.", nil, func(l *lineProg) {
		x, g, m, v := l.line(0), l.line(1), l.line(2), l.line(3)
		m = l.add(m, l.mul(l.arg(0), l.sub(g, m)))
		l.put(m, outSet, 2)
		v = l.add(l.mul(l.arg(1), v), l.mul(l.mul(l.arg(2), g), g))
		l.put(v, outSet, 3)
		size := l.add(l.quotientBy(l.sqrt(v), l.arg(5), l.arg(7)), l.arg(6))
		l.put(l.sub(l.mul(x, l.arg(3)), l.div(l.mul(l.arg(4), m), size)), outSet, 0)
	}},
	{"lineMomentum", "takes a step of descent with momentum on the parameter x0 with the gradient x1 and the buffer x2: x2 = a1·x2 + a2·(x1 + a3·x0), x0 -= a0·x2; with a3 = 0 an infinite x0 is not in x2.", nil, func(l *lineProg) {
		x := l.line(0)
		g := l.add(l.line(1), l.choose(l.equal(l.arg(3), l.c(0)), l.c(0), l.mul(l.arg(3), x)))
		m := l.add(l.mul(l.arg(1), l.line(2)), l.mul(l.arg(2), g))
		l.put(m, outSet, 2)
		l.put(l.sub(x, l.mul(l.arg(0), m)), outSet, 0)
	}},
	{"lineDescend", "subtracts a0·x1 from x0.", nil, func(l *lineProg) {
		l.put(l.sub(l.line(0), l.mul(l.arg(0), l.line(1))), outSet, 0)
	}},
	{"lineAddNumber", "sets x1 to x0 + a0.", nil, func(l *lineProg) { l.put(l.add(l.line(0), l.arg(0)), outSet, 1) }},
	{"lineNeg", "sets x1 to -x0.", nil, func(l *lineProg) { l.put(l.neg(l.line(0)), outSet, 1) }},
	{"lineAbs", "sets x1 to |x0|.", nil, func(l *lineProg) { l.put(l.abs(l.line(0)), outSet, 1) }},
	{"lineClamp", "sets x1 to x0 held between a0 and a1, NaN to NaN.", nil, func(l *lineProg) {
		l.put(l.max(l.arg(0), l.min(l.arg(1), l.line(0))), outSet, 1)
	}},
	{"lineReLU", "sets x1 to x0 above 0, NaN to NaN, else to 0.", nil, func(l *lineProg) {
		zero := l.c(0)
		l.put(l.add(l.max(zero, l.line(0)), zero), outSet, 1) // the sum makes 0 of -0
	}},
	{"lineReLUGrad", "sets x2 to x0 where x1 is not 0 or below, else to 0.", nil, func(l *lineProg) {
		dy, y := l.line(0), l.line(1)
		l.put(l.choose(l.less(y, l.c(0x1p-149)), l.c(0), dy), outSet, 2)
	}},
	{"lineLeaky", "sets x1 to x0 above 0, else to x0·a0.", nil, func(l *lineProg) {
		x := l.line(0)
		l.put(l.choose(l.less(l.c(0), x), x, l.mul(x, l.arg(0))), outSet, 1)
	}},
	{"lineLeakyGrad", "sets x2 to x0·a0 where x1 is 0 or below, else to x0.", nil, func(l *lineProg) {
		dy, x := l.line(0), l.line(1)
		l.put(l.choose(l.less(x, l.c(0x1p-149)), l.mul(dy, l.arg(0)), dy), outSet, 2)
	}},
	{"lineCompare", "sets x2 to a0 where x0 < x1, a1 where they are equal, a2 where x0 > x1 and a3 where one is NaN.", nil, func(l *lineProg) {
		a, b := l.line(0), l.line(1)
		other := l.choose(l.less(b, a), l.arg(2), l.arg(3))
		l.put(l.choose(l.less(a, b), l.arg(0), l.choose(l.equal(a, b), l.arg(1), other)), outSet, 2)
	}},
	{"lineWhere", "sets x3 to x2 where x0 is 0, else to x1.", nil, func(l *lineProg) {
		l.put(l.choose(l.equal(l.line(0), l.c(0)), l.line(2), l.line(1)), outSet, 3)
	}},
	{"lineApart", "adds (x0 - x1)² to s0.", nil, func(l *lineProg) {
		d := l.sub(l.line(0), l.line(1))
		l.put(l.mul(d, d), outSum, 0)
	}},
	{"lineSquaresApart", "adds (x0 - a0)² + (x1 - a1)² + (x2 - a2)² + (x3 - a3)² to x4, and to x5 the same with a4 to a7.", nil, func(l *lineProg) { l.apart(l.fmaSquare) }},
	{"lineAmountsApart", "adds |x0 - a0| + |x1 - a1| + |x2 - a2| + |x3 - a3| to x4, and to x5 the same with a4 to a7.", nil, func(l *lineProg) {
		l.apart(func(d, sum val) val { return l.add(l.abs(d), sum) })
	}},
	{"linePull", "adds x2·(a0 - x0) to s0 and x2·(a1 - x1) to s1.", nil, func(l *lineProg) {
		w := l.line(2)
		for k := range 2 {
			l.put(l.mul(w, l.sub(l.arg(k), l.line(k))), outSum, k)
		}
	}},
	{"linePullSign", "adds x2 with the sign of a0 - x0 to s0, and with that of a1 - x1 to s1: 0 where they are equal, NaN where one is.", nil, func(l *lineProg) {
		w := l.line(2)
		for k := range 2 {
			l.put(l.signed(w, l.sub(l.arg(k), l.line(k))), outSum, k)
		}
	}},
	{"lineAmountApart", "adds |x0 - x1| to s0.", nil, func(l *lineProg) { l.put(l.abs(l.sub(l.line(0), l.line(1))), outSum, 0) }},
	{"lineFollow", "adds a0·(x0 - x1) to x2.", nil, func(l *lineProg) {
		l.put(l.fma(l.sub(l.line(0), l.line(1)), l.arg(0), l.line(2)), outSet, 2)
	}},
	{"lineFollowSign", "adds a0 with the sign of x0 - x1 to x2: 0 where they are equal, NaN where one is.", nil, func(l *lineProg) {
		l.put(l.add(l.signed(l.arg(0), l.sub(l.line(0), l.line(1))), l.line(2)), outSet, 2)
	}},
	{"lineMaxNaN", "leaves the largest of x0 in the lanes of s0, NaN aside, and adds the number of NaN to s1.", map[int]string{0: padLowest}, func(l *lineProg) {
		x := l.line(0)
		l.put(x, outMax, 0)
		l.put(l.choose(l.equal(x, x), l.c(0), l.c(1)), outSum, 1)
	}},
	{"lineChannel", "sets x1 to (x0 - a0)·a1 + a2.", nil, func(l *lineProg) {
		l.put(l.fma(l.sub(l.line(0), l.arg(0)), l.arg(1), l.arg(2)), outSet, 1)
	}},
	{"lineChannels", "sets x4 to (x0 - x1)·x2 + x3.", nil, func(l *lineProg) {
		l.put(l.fma(l.sub(l.line(0), l.line(1)), l.line(2), l.line(3)), outSet, 4)
	}},
	{"lineChannelGrad", "sets x2 to (x0 - a2 - (x1 - a0)·a3)·a1 for dy x0 and x x1.", nil, func(l *lineProg) {
		g := l.sub(l.line(0), l.arg(2))
		l.put(l.mul(l.fnma(l.sub(l.line(1), l.arg(0)), l.arg(3), g), l.arg(1)), outSet, 2)
	}},
	{"lineChannelsGrad", "sets x6 to (x0 - x5 - (x1 - x2)·x4)·x3 for dy x0 and x x1.", nil, func(l *lineProg) {
		g := l.sub(l.line(0), l.line(5))
		l.put(l.mul(l.fnma(l.sub(l.line(1), l.line(2)), l.line(4), g), l.line(3)), outSet, 6)
	}},
	{"lineSpreadColumns", "adds d = x0 - x1 to x2 and d² to x3.", nil, func(l *lineProg) {
		d := l.sub(l.line(0), l.line(1))
		l.put(d, outAdd, 2)
		l.put(l.mul(d, d), outAdd, 3)
	}},
	{"lineProductColumns", "adds x0 to x3 and x0·(x1 - x2) to x4.", nil, func(l *lineProg) {
		dy := l.line(0)
		l.put(dy, outAdd, 3)
		l.put(l.mul(dy, l.sub(l.line(1), l.line(2))), outAdd, 4)
	}},
}
