package main

import "math"

// The error function and what rests on it.

// erfSeries is erf(x)/x - 1 in powers of x², for |x| ≤ ½: the terms 2/√π·(-1)^n / (n!·(2n+1)).
func erfSeries() []float64 {
	var c []float64
	f := 1.0
	for n := range 13 {
		if n > 0 {
			f *= -float64(n)
		}
		c = append(c, 2/math.Sqrt(math.Pi)/(f*float64(2*n+1)))
	}
	c[0] = 1.28379167095512573896e-01 // 2/√π - 1
	return c
}

// erfcLarge returns erfc(a) for ½ ≤ a: with t = (a-4)/(a+4) it is Q(t)·exp(-a²)/(1+2a), Q a Chebyshev interpolation of degree
// 21 over ½ … 28, computed with 60 digits. (The transformation is Shepherd and Laframboise's, 1981.)
func (p *prog) erfcLarge(a val) val {
	y, _ := p.erfcExp(a)
	return y
}

// erfcExp is erfcLarge, and exp(-a²) for 0 ≤ a.
func (p *prog) erfcExp(a val) (y, exponential val) {
	a = p.min(p.c(28), a)
	t := p.div(p.sub(a, p.c(4)), p.add(a, p.c(4)))
	part := p.mul(t, p.poly(t, -0.13962111684056253, 0.015379652102619027, 0.0680970542546948, -0.10103906603625375, 0.09373283499828751,
		-0.06633036581360713, 0.03716751553818893, -0.01619773403826592, 0.0050319699756138135, -0.0007577734486762808, -0.00019925671345040716,
		0.00015062249512264785, -2.4398983809134553e-05, -1.12247322473501e-05, 5.7086428044048145e-06, 2.9955790685567077e-07, -8.22559563206072e-07,
		6.702452833728971e-08, 1.0568025135820959e-07, -1.2224048303152388e-08, -1.0476718674668371e-08))
	first := p.c(1.2329951186255526)
	q := p.add(first, part)
	ql := p.add(p.add(p.sub(first, q), part), p.c(-4.385618197502668e-17))
	one := p.c(1)
	twice := p.mul(a, p.c(2))
	d := p.add(one, twice)
	dl := p.choose(p.less(one, twice), p.sub(one, p.sub(d, twice)), p.sub(twice, p.sub(d, one)))
	w, wl := p.quotient(q, ql, d, dl)
	square := p.neg(p.mul(a, a))
	lost := p.fnma(a, a, p.neg(square)) // -a² is square + lost
	k, _, r, c := p.reduce(square)
	e := p.add(r, p.tail(r, c)) // exp(square) is 2^k·(1+e)
	wl = p.fma(w, lost, wl)
	return p.pow2(p.add(w, p.fma(w, e, p.fma(wl, e, wl))), k), p.pow2(p.add(one, e), k)
}

func (p *prog) erf(x val) val {
	a := p.abs(x)
	z := p.mul(x, x)
	small := p.fma(x, p.poly(z, erfSeries()...), x)
	large := p.or(p.sub(p.c(1), p.erfcLarge(a)), p.sign(x))
	return p.choose(p.less(a, p.c(0.5)), small, large)
}

func (p *prog) erfc(x val) val {
	large, _ := p.erfcExp(p.abs(x))
	return p.erfcWith(x, large)
}

// erfcWith returns erfc(x) given erfc(|x|) for 0.52 ≤ |x|.
func (p *prog) erfcWith(x, large val) val {
	a, one := p.abs(x), p.c(1)
	large = p.choose(p.less(x, p.c(0)), p.sub(p.c(2), large), large)
	// 1 - erf(x), as ½ - (erf(x) - ½) where that loses less.
	pivot := p.choose(p.less(x, p.c(0.25)), p.c(0), p.c(0.5))
	r := p.fma(x, p.poly(p.mul(x, x), erfSeries()...), p.sub(x, pivot))
	small := p.sub(p.sub(one, pivot), r)
	return p.choose(p.less(a, p.c(0.52)), small, large)
}

func (p *prog) gelu(x val) val {
	return p.mul(x, p.mul(p.c(0.5), p.erfc(p.mul(x, p.c(-math.Sqrt2/2)))))
}

// geluSlope: Φ(x) + x·φ(x).
func (p *prog) geluSlope(x val) val {
	u := p.mul(x, p.c(-math.Sqrt2/2))
	large, bell := p.erfcExp(p.abs(u))
	density := p.mul(p.c(1/math.Sqrt(2*math.Pi)), bell)
	cdf := p.mul(p.c(0.5), p.erfcWith(u, large))
	y := p.fma(x, density, cdf)
	return p.choose(p.less(p.abs(x), p.c(40)), y, p.choose(p.less(x, p.c(0)), p.c(0), cdf)) // where 0 times infinity may stand
}

// The cubic inside of gelu's approximation by tanh, doubled: x·σ(2u) is x/2·(1 + tanh u) without its cancellation.
const (
	geluRate  = 2 * 0.7978845608028653558798921198687 // 2·√(2/π)
	geluCubic = 0.044715
)

func (p *prog) geluGate(x val) (gate, square val) {
	square = p.mul(x, x)
	return p.sigmoid(p.mul(p.mul(x, p.c(geluRate)), p.fma(square, p.c(geluCubic), p.c(1)))), square
}

func (p *prog) geluTanh(x val) val {
	y, _ := p.geluGate(x)
	return p.mul(x, y)
}

// geluTanhSlope: σ + x·σ·(1-σ)·v' for x·σ(v).
func (p *prog) geluTanhSlope(x val) val {
	y, square := p.geluGate(p.max(p.c(-1e100), p.min(p.c(1e100), x)))
	rate := p.mul(p.c(geluRate), p.fma(square, p.c(3*geluCubic), p.c(1)))
	bell := p.mul(p.mul(y, p.sub(p.c(1), y)), p.mul(p.max(p.c(-1e100), p.min(p.c(1e100), x)), rate))
	return p.add(y, bell)
}
