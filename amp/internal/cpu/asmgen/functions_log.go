package main

import "math"

// The logarithms. With s = f/(2+f), log(1+f) = 2s + 2s³/3 + 2s⁵/5 + …; the arrangement, and the polynomial in place of the
// series, are those of e_log.c in FreeBSD's msun:
//
//	Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
//	Developed at SunPro, a Sun Microsystems, Inc. business.
//	Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is preserved.

// mantissa writes a positive normal x as 2^k·m with √½ ≤ m < √2.
func (p *prog) mantissa(x val) (k, m val) {
	const root = 0x3fe6a09e667f3bcd // √½
	u := p.plus(x, p.bits(0x3ff0000000000000-root))
	e := p.shr(u, 52) // k + 1023
	m = p.plus(p.minus(x, p.shl(e, 52)), p.bits(0x3ff0000000000000))
	k = p.sub(p.or(e, p.bits(0x4330000000000000)), p.c(0x1p52+1023))
	return k, m
}

// logParts returns f = m-1, f²/2, s = f/(2+f) and r with log m = f - f²/2 + s·(f²/2 + r).
func (p *prog) logParts(m val) (f, half, s, r val) {
	f = p.sub(m, p.c(1))
	s = p.div(f, p.add(p.c(2), f))
	z := p.mul(s, s)
	r = p.mul(z, p.poly(z, 6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01, 2.222219843214978396e-01,
		1.818357216161805012e-01, 1.531383769920937332e-01, 1.479819860511658591e-01))
	return f, p.mul(p.mul(p.c(0.5), f), f), s, r
}

// logOf returns k·log 2 + log m + c for a small c.
func (p *prog) logOf(k, m, c val) val {
	f, half, s, r := p.logParts(m)
	low := p.fma(s, p.add(half, r), p.fma(k, p.c(ln2Lo), c))
	return p.sub(p.mul(k, p.c(ln2Hi)), p.sub(p.sub(half, low), f))
}

// logLimits puts in what the formula does not give: x is the argument of the logarithm, y the result for a positive number.
func (p *prog) logLimits(x, y val) val {
	inf := p.c(math.Inf(1))
	y = p.choose(p.less(x, inf), y, x) // infinity and NaN
	y = p.choose(p.less(x, p.c(0)), p.bits(0x7ff8000000000001), y)
	return p.choose(p.equal(x, p.c(0)), p.c(math.Inf(-1)), y)
}

// anyMantissa is mantissa for subnormal x too.
func (p *prog) anyMantissa(x val) (k, m val) {
	small := p.less(x, p.c(0x1p-1022))
	k, m = p.mantissa(p.choose(small, p.mul(x, p.c(0x1p54)), x))
	return p.choose(small, p.sub(k, p.c(54)), k), m
}

func (p *prog) log(x val) val {
	k, m := p.anyMantissa(x)
	return p.logLimits(x, p.logOf(k, m, p.c(0)))
}

// logTo returns k·(unit + unitLow) + scale·log m, scale given in two parts; multiples of unit must be exact.
func (p *prog) logTo(x val, unit, unitLow, scale, scaleLow float64) val {
	k, m := p.anyMantissa(x)
	f, half, s, r := p.logParts(m)
	high := p.sub(f, half)
	low := p.fma(s, p.add(half, r), p.sub(p.sub(f, high), half))
	c := p.c(scale)
	y := p.mul(high, c)
	rest := p.add(p.fma(high, c, p.neg(y)), p.fma(high, p.c(scaleLow), p.fma(low, c, p.mul(k, p.c(unitLow)))))
	whole := p.mul(k, p.c(unit))
	sum := p.add(whole, y)
	lost := p.add(p.sub(whole, sum), y)
	return p.logLimits(x, p.add(sum, p.add(lost, rest)))
}

func (p *prog) log2(x val) val { return p.logTo(x, 1, 0, 1/math.Ln2, 2.0355273740931033e-17) }

func (p *prog) log10(x val) val {
	return p.logTo(x, 3.01029995663611771306e-01, 3.69423907715893078616e-13, 1/math.Ln10, 1.098319650216765e-17)
}

// log1p corrects log(u) by what rounding took from u = 1+x.
func (p *prog) log1p(x val) val {
	one := p.c(1)
	u := p.add(one, x)
	v := p.sub(u, one)
	lost := p.add(p.sub(one, p.sub(u, v)), p.sub(x, v))
	k, m := p.mantissa(u)
	y := p.logLimits(u, p.logOf(k, m, p.div(lost, u)))
	return p.tiny(x, y)
}

// logTwice returns log(2x) for large x.
func (p *prog) logTwice(x val) val {
	k, m := p.mantissa(x)
	return p.logLimits(x, p.logOf(p.add(k, p.c(1)), m, p.c(0)))
}

// asinh |x| = log1p(|x| + x²/(1 + √(1+x²))).
func (p *prog) asinh(x val) val {
	a, one := p.abs(x), p.c(1)
	held := p.min(p.c(0x1p30), a)
	square := p.mul(held, held)
	y := p.log1p(p.add(held, p.div(square, p.add(one, p.sqrt(p.add(one, square))))))
	y = p.choose(p.less(a, p.c(0x1p30)), y, p.logTwice(a))
	return p.tiny(x, p.or(y, p.sign(x)))
}

// acosh x = log1p(t + √(2t + t²)), t = x-1.
func (p *prog) acosh(x val) val {
	t := p.sub(p.min(p.c(0x1p30), x), p.c(1))
	y := p.log1p(p.add(t, p.sqrt(p.fma(t, t, p.add(t, t)))))
	y = p.choose(p.less(x, p.c(1)), p.bits(0x7ff8<<48), y) // far below 1 the two parts of y cancel
	return p.choose(p.less(p.c(0x1p30), x), p.logTwice(x), y)
}

// atanh |x| = log1p(2|x|/(1-|x|))/2.
func (p *prog) atanh(x val) val {
	a := p.abs(x)
	y := p.mul(p.c(0.5), p.log1p(p.div(p.add(a, a), p.sub(p.c(1), a))))
	return p.tiny(x, p.or(y, p.sign(x)))
}
