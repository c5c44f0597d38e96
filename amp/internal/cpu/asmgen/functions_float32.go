package main

import (
	"math"
	"slices"
)

// Programs in float32, twice as many numbers an instruction as in float64. Polynomials are weighted least-squares fits near the
// minimax ones (Lawson's iteration over Chebyshev nodes, 50 digits), rounded; their errors are given as powers of 2. Tests hold the
// functions to the bounds in ulps that the comments give.

const (
	magicF  = 0x1.8p23           // added to a small number, it leaves the nearest integer in the low bits
	ln2Top  = 0x1.62e43p-1       // log 2 in float32
	ln2Rest = -0x1.05c61p-29     // and the rest; both are multiplied without rounding
	recipF  = uint64(0x7ef311c3) // less the bits of x, those of 1/x within 5 %
)

// reduceF writes x + low as k·log 2 + r with |r| ≤ log(2)/2; low may be none, -1.
func (p *prog) reduceF(x, low val) (k, r val) {
	k = p.sub(p.fma(x, p.c(math.Log2E), p.c(magicF)), p.c(magicF))
	r = p.fnma(k, p.c(ln2Rest), p.fnma(k, p.c(ln2Top), x))
	if low >= 0 {
		r = p.add(r, low)
	}
	return k, r
}

// powerF returns e^r for the r of reduceF: 1 + r + r²·q(r), 2^-28.
func (p *prog) powerF(r val) val { return p.poly(r, powerSeries...) }

var powerSeries = []float64{1, 1, 0.4999999403953552, 0.1666651964187622, 0.04166838899254799, 0.00836876779794693, 0.0013814930571243167}

// expF is within 1 ulp. It overflows and vanishes where float32 does.
func (p *prog) expF(x val) val {
	k, r := p.reduceF(p.within(x, -104.5, 89), -1)
	return p.scale(p.powerF(r), k)
}

// decayF is expF for numbers that are not above 0.
func (p *prog) decayF(x val) val {
	k, r := p.reduceF(p.max(p.c(-104.5), x), -1)
	return p.scale(p.powerF(r), k)
}

// inverseF returns 1/d for normal d below 2^125, within 1 ulp: a first guess from the bits, a cubic step and Newton's. It takes less
// time than the division of many numbers.
func (p *prog) inverseF(d val) val {
	one := p.c(1)
	y := p.minus(p.bits(recipF), d)
	e := p.fnma(d, y, one)
	y = p.fma(y, p.fma(e, e, e), y)
	return p.fma(y, p.fnma(d, y, one), y)
}

// expm1SeriesF returns (e^r - 1)/r for the r of reduceF.
func (p *prog) expm1SeriesF(r val) val { return p.poly(r, expm1Series...) }

var expm1Series = []float64{1, 0.4999999701976776, 0.16666506230831146, 0.041667137295007706, 0.00836913287639618, 0.0013888960238546133}

// tanhF is within 2 ulp: |tanh x| = (1 - e)/(1 + e), e = exp(-2|x|) = 2^k·(1 + 2p), each side of the quotient rounded once. (e^r-1)/r is good to 2^-26.
func (p *prog) tanhF(x val) val {
	half := p.max(p.c(-20), p.or(x, p.bits(1<<31)))
	t := p.fma(half, p.c(2*math.Log2E), p.c(magicF))
	k := p.sub(t, p.c(magicF))
	r := p.fnma(k, p.c(ln2Rest/2), p.fnma(k, p.c(ln2Top/2), half)) // half of that of reduceF
	one, two := p.c(1), p.c(2)
	twice := p.plus(p.shl(t, 23), two) // 2^(k+1)
	series := slices.Clone(expm1Series[1:])
	for i := range series {
		series[i] = math.Ldexp(series[i], i+1)
	}
	part := p.fma(p.mul(r, r), p.poly(r, series...), r)
	less := p.fnma(twice, part, p.fnma(twice, p.c(0.5), one))
	more := p.fma(twice, part, p.fma(twice, p.c(0.5), one))
	return p.or(p.div(less, more), p.sign(x))
}

// decayOf returns, for v + low, whether v is negative and e^-|v + low|; low may be none, -1.
func (p *prog) decayOf(v, low val) (negative, z val) {
	negative = p.less(v, p.c(0))
	a := p.max(p.c(-104.5), p.or(v, p.bits(1<<31))) // -|v|
	t := p.fma(a, p.c(math.Log2E), p.c(magicF))
	k := p.sub(t, p.c(magicF))
	r := p.fnma(k, p.c(ln2Rest), p.fnma(k, p.c(ln2Top), a))
	if low >= 0 {
		r = p.add(r, p.choose(negative, low, p.neg(low)))
	}
	const up = 64 // the power of 2 times 2^64 is normal
	small := slices.Clone(powerSeries)
	for i := range small {
		small[i] = math.Ldexp(small[i], -up)
	}
	return negative, p.mul(p.poly(r, small...), p.plus(p.shl(t, 23), p.c(1<<up)))
}

// ofOnePlus returns n/(1+z) within 1 ulp, for n 1 or z: what n/(1+z) rounded leaves of n is n - y - y·z, of which n - y is exact.
func (p *prog) ofOnePlus(n, z, inverse val) val {
	y := p.mul(n, inverse)
	return p.fma(p.fnma(y, z, p.sub(n, y)), inverse, y)
}

// gateF returns σ(v + low), which is z/(1+z) for negative and 1/(1+z) for positive v, z = e^-|v|; low may be none, -1.
func (p *prog) gateF(v, low val) val {
	negative, z := p.decayOf(v, low)
	one := p.c(1)
	return p.ofOnePlus(p.choose(negative, z, one), z, p.div(one, p.add(one, z)))
}

// gatesF returns σ(v + low), and 1 less that.
func (p *prog) gatesF(v, low val) (y, rest val) {
	negative, z := p.decayOf(v, low)
	one := p.c(1)
	most := p.div(one, p.add(one, z))
	most = p.fma(p.fnma(most, z, p.sub(one, most)), most, most)
	least := p.mul(z, most)
	return p.choose(negative, least, most), p.choose(negative, most, least)
}

// sigmoidF is within 2 ulp.
func (p *prog) sigmoidF(x val) val { return p.gateF(x, -1) }

// siluF is within 3 ulp, or 2^-142 of subnormal results.
func (p *prog) siluF(x val) val { return p.mul(x, p.sigmoidF(x)) }

// geluInner returns 2·√(2/π)·(x + 0.044715·x³) as a number and a correction: its exponential would show the rounding.
func (p *prog) geluInner(x val) (v, low val) {
	rate, cubic := geluRate, geluRate*geluCubic
	top := float64(math.Round(rate*0x1p18) * 0x1p-18) // short, so that top - w is exact
	square := p.mul(x, x)
	squareLow := p.fma(x, x, p.neg(square))
	w := p.fma(square, p.c(cubic), p.c(top))
	wLow := p.fma(square, p.c(cubic), p.sub(p.c(top), w))
	wLow = p.fma(squareLow, p.c(cubic), p.fma(square, p.c(cubic-float64(float32(cubic))), p.add(wLow, p.c(rate-top))))
	v = p.mul(x, w)
	return v, p.fma(x, wLow, p.fma(x, w, p.neg(v)))
}

// geluTanhF is within 4 ulp, or 2^-145 of subnormal results.
func (p *prog) geluTanhF(x val) val {
	v, low := p.geluInner(p.within(x, -12, 12))
	return p.mul(x, p.gateF(v, low))
}

// millsF returns, for a = |x| held to 14.5 and x then, k and y with e^(-x²/2) = 2^k·y, and t with Φ(-a) = 2^k·y·t: Mills' ratio is a polynomial in
// (a-4)/(a+4), as Shepherd and Laframboise (1981) transform it, over a + 4, 2^-26.8.
func (p *prog) millsF(x val) (k, y, t val) {
	a := p.min(p.c(14.5), p.abs(x))
	square := p.mul(a, a)
	low := p.mul(p.fma(a, a, p.neg(square)), p.c(-0.5))
	k, r := p.reduceF(p.mul(square, p.c(-0.5)), low)
	y = p.powerF(r)
	inverse := p.inverseF(p.add(a, p.c(4)))
	u := p.mul(p.sub(a, p.c(4)), inverse)
	q := p.poly(u, 0.7552851438522339, -0.6078965663909912, 0.38713690638542175, -0.1865234524011612, 0.060403794050216675, -0.007525268942117691,
		-0.0035124686546623707, 0.0015699584037065506, 0.000179304217454046, -0.00013200155808590353)
	return k, y, p.mul(q, inverse)
}

// geluF is within 5.5 ulp, 2.2 above -4.84, or 2^-145 of subnormal results: max(x, 0) - |x|·Φ(-|x|), which is x·Φ(x), with Φ from normalTails where they
// reach and Mills' ratio beyond.
func (p *prog) geluF(x val) val {
	a := p.abs(x)
	index, d := p.nearest(a, tailStep)
	tail := p.piecewise(index, d, normalTails)
	y := p.fnma(a, tail, p.max(p.c(0), x))
	return p.rare(p.less(p.c(tailEnd), a), y, func() val {
		k, y, t := p.millsF(x)
		tail := p.scale(p.mul(t, y), k)
		return p.mul(x, p.choose(p.less(x, p.c(0)), tail, p.sub(p.c(1), tail)))
	})
}

// geluSlopeF: Φ(x) + x·φ(x), by geluSlopes below 0 and as 1 less that of -x above; 0 and 1 beyond their reach.
func (p *prog) geluSlopeF(x val) val {
	index, d := p.nearest(p.min(p.c(slopeEnd), p.abs(x)), slopeStep)
	s := p.piecewise(index, d, geluSlopes)
	return p.choose(p.less(x, p.c(0)), s, p.sub(p.c(1), s))
}

// nearest returns the multiple of step next to a as its number, in the low bits, and the distance from there.
func (p *prog) nearest(a val, step float64) (index, d val) {
	index = p.fma(a, p.c(1/step), p.c(magicF))
	return index, p.fnma(p.sub(index, p.c(magicF)), p.c(step), a)
}

// geluTanhSlopeF: σ + x·σ·(1-σ)·v' for x·σ(v).
func (p *prog) geluTanhSlopeF(x val) val {
	x = p.within(x, -12, 12)
	v, low := p.geluInner(x)
	y, rest := p.gatesF(v, low)
	rate := p.fma(p.mul(x, x), p.c(3*geluRate*geluCubic), p.c(geluRate))
	return p.fma(p.mul(p.mul(y, rest), x), rate, y)
}

// siluSlopeF: σ·(1 + x·(1-σ)).
func (p *prog) siluSlopeF(x val) val {
	x = p.within(x, -150, 150)
	y, rest := p.gatesF(x, -1)
	return p.mul(y, p.fma(x, rest, p.c(1)))
}

// logSeriesF returns (log(1 + f) - f + f²/2)/f³ for f between √½-1 and √2-1.
func (p *prog) logSeriesF(f val) val { return p.poly(f, logSeries...) }

var logSeries = []float64{0.3333333134651184, -0.25000810623168945, 0.20001210272312164, -0.16623631119728088, 0.1420239806175232,
	-0.13158485293388367, 0.12756426632404327, -0.07632119208574295}

// logF is within 1 ulp.
func (p *prog) logF(x val) val {
	y := p.logNormalF(x, 127)
	// Less the least normal number and shifted, the bits of positive normal numbers are below all others, and none are those of NaN.
	far := p.less(p.bits((0x7f800000-0x00800000-1)>>2), p.shr(p.minus(x, p.bits(0x00800000)), 2))
	return p.rare(far, y, func() val {
		y := p.logNormalF(p.mul(x, p.c(0x1p23)), 127+23)           // subnormal
		y = p.choose(p.less(x, p.bits(0x7f800000)), y, x)          // +Inf, NaN
		y = p.choose(p.less(x, p.c(0)), p.bits(0x7fc00000), y)     // no real number
		return p.choose(p.equal(x, p.c(0)), p.bits(0xff800000), y) // -Inf
	})
}

// logNormalF returns the logarithm of a positive normal x, less (bias - 127)·log 2: with x = 2^k·m and f = m-1, log x = k·log 2 + f - f²/2 + f³·q(f), 2^-27.
// Where k is not 0 the sum of the last three is below half of the first, and its rounding counts half of the result's or, where the result is smaller, is the only one.
func (p *prog) logNormalF(x val, bias float64) val {
	const root = 0x3f3504f3 // √½
	u := p.plus(x, p.bits(0x3f800000-root))
	e := p.shr(u, 23) // k + 127
	m := p.plus(p.and(u, p.bits(0x7fffff)), p.bits(root))
	k := p.sub(p.or(e, p.bits(0x4b000000)), p.c(0x1p23+bias))
	f := p.sub(m, p.c(1))
	rest := p.fma(p.poly(f, append([]float64{-0.5}, logSeries...)...), p.mul(f, f), p.mul(k, p.c(ln2Rest)))
	return p.fma(k, p.c(ln2Top), p.add(f, rest))
}
