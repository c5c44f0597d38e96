package main

// Rounding to formats shorter than float32 in both fields, with scales, and the largest numbers that those are made of.

const fractionBits = 1<<23 - 1

// scaleFor returns the largest power of two from 2^-126 to 2^126 that keeps amax within a format, 1 for an amax that is infinite or NaN. base
// has 254 plus the exponent of the format's largest number, less the margin, as its exponent bits; top is that number's mantissa in [1, 2); below
// tiny every amax takes the largest scale.
func (l *lineProg) scaleFor(amax, base, top, tiny val) val {
	exponent := l.and(amax, l.bits(0x7f800000))
	mantissa := l.or(l.and(amax, l.bits(fractionBits)), l.c(1))
	up := l.minus(base, exponent)
	up = l.choose(l.less(top, mantissa), l.mul(up, l.c(0.5)), up)
	up = l.choose(l.less(amax, tiny), l.c(0x1p126), l.max(up, l.c(0x1p-126)))
	return l.choose(l.less(amax, l.bits(0x7f800000)), up, l.c(1))
}

// roundShort returns q ≥ 0 rounded to the numbers of a format, to nearest even: what is added and taken away again is so large that it leaves
// the format's digits. normal is the smallest number with all of them, unit 1.5·2^(23 - bits of the mantissa).
func (l *lineProg) roundShort(q, normal, unit val) val {
	large := l.mul(l.and(l.max(q, normal), l.bits(0x7f800000)), unit)
	return l.sub(l.add(q, large), large)
}

var shortLines = []line{
	{"lineAmount", "leaves the largest |x0| in the lanes of s0, NaN aside, and adds the number of NaN to s1.", nil, func(l *lineProg) {
		x := l.line(0)
		l.put(l.abs(x), outMax, 0)
		l.put(l.choose(l.equal(x, x), l.c(0), l.c(1)), outSum, 1)
	}},
	{"lineAmounts", "sets x1 to the larger of |x0| and x1, NaN if either is.", nil, func(l *lineProg) {
		l.put(l.larger(l.abs(l.line(0)), l.line(1)), outSet, 1)
	}},
	{"lineShort", "sets x2 to x0 rounded to numbers of a short format times a scale for the largest |x0| x1: Arg as cpu.ShortArgs makes it.", nil, func(l *lineProg) {
		x, up := l.line(0), l.scaleFor(l.line(1), l.arg(0), l.arg(1), l.arg(2))
		down := l.minus(l.bits(254<<23), up)
		r := l.roundShort(l.min(l.mul(l.abs(x), up), l.arg(3)), l.arg(4), l.arg(5))
		y := l.mul(r, down)
		y = l.choose(l.less(l.arg(7), y), l.mul(l.fnma(r, l.arg(6), r), down), y)
		l.put(l.choose(l.equal(l.sub(x, x), l.c(0)), l.or(y, l.sign(x)), x), outSet, 2)
	}},
}
