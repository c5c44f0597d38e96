package main

import "math"

// Sine, cosine, tangent and their inverses.

// quadrant writes x as k·π/2 + r + c with |r| ≤ π/4 and a small c, for |x| ≤ 2²⁰; the low bits of t are k. The constants are
// π/2 in two parts of 33 bits, whose multiples are exact, and a rest.
func (p *prog) quadrant(x val) (t, r, c val) {
	t = p.fma(x, p.c(2/math.Pi), p.c(magic))
	k := p.sub(t, p.c(magic))
	h := p.fnma(k, p.c(1.57079632673412561417e+00), x)
	w := p.mul(k, p.c(6.07710050630396597660e-11))
	u := p.sub(h, w)
	v := p.sub(u, h)
	lost := p.sub(p.sub(h, p.sub(u, v)), p.add(w, v))
	low := p.fnma(k, p.c(2.02226624879595063154e-21), lost)
	r = p.add(u, low)
	return t, r, p.add(p.sub(u, r), low)
}

// alternating returns (-1)^n/(2n+first)! for n from 1 on.
func alternating(first, terms int) []float64 {
	var c []float64
	f := 1.0
	for n := 2; n <= first; n++ {
		f *= float64(n)
	}
	for n := 1; n <= terms; n++ {
		f *= -float64((2*n + first - 1) * (2*n + first))
		c = append(c, 1/f)
	}
	return c
}

// sinCos returns sine and cosine of r+c, each as a number and a correction.
func (p *prog) sinCos(r, c val) (s, sl, q, ql val) {
	z := p.mul(r, r)
	one := p.c(1)
	half := p.mul(z, p.c(0.5))
	q = p.sub(one, half)
	sl = p.fma(p.mul(r, z), p.poly(z, alternating(1, 8)...), p.mul(c, q))
	even := alternating(0, 8)
	series := p.mul(p.mul(z, z), p.poly(z, even[1:]...))
	ql = p.add(p.sub(p.sub(one, q), half), p.fnma(r, c, series))
	return r, sl, q, ql
}

// turned returns sine (turn 0) or cosine (turn 1).
func (p *prog) turned(x val, turn uint64) val {
	return p.quarters(x)(turn)
}

// quarters returns what turned does once sine and cosine are known.
func (p *prog) quarters(x val) func(turn uint64) val {
	t, r, c := p.quadrant(x)
	s, sl, q, ql := p.sinCos(r, c)
	return func(turn uint64) val { return p.quarter(t, s, sl, q, ql, turn) }
}

// quarter chooses one of them and its sign.
func (p *prog) quarter(t, s, sl, q, ql val, turn uint64) val {
	u := p.shl(p.plus(t, p.bits(turn)), 62) // sign: the second bit of k; 2 or 0: the first
	odd := p.less(p.c(1), p.abs(u))
	y := p.choose(odd, p.add(q, ql), p.add(s, sl))
	return p.mul(y, p.or(p.sign(u), p.c(1)))
}

// sinAndCos is the program of both, which share most of the work.
func sinAndCos() *prog {
	p := &prog{}
	x := p.input()
	turned := p.quarters(x)
	p.also = turned(1)
	p.tiny(x, turned(0))
	return p
}

func (p *prog) sin(x val) val { return p.tiny(x, p.turned(x, 0)) }
func (p *prog) cos(x val) val { return p.turned(x, 1) }

func (p *prog) tan(x val) val {
	t, r, c := p.quadrant(x)
	s, sl, q, ql := p.sinCos(r, c)
	odd := p.less(p.c(1), p.abs(p.shl(t, 62)))
	s, sl = p.sum(s, sl) // now the correction is as small as quotient wants it
	q, ql = p.sum(q, ql)
	n, nl := p.choose(odd, p.neg(q), s), p.choose(odd, p.neg(ql), sl)
	d, dl := p.choose(odd, s, q), p.choose(odd, sl, ql)
	y, yl := p.quotient(n, nl, d, dl)
	return p.tiny(x, p.add(y, yl))
}

// atanSeries holds (-1)^n/(2n+1) from n = 1 on.
func atanSeries() []float64 {
	var c []float64
	for n := 1; n <= 21; n++ {
		v := 1 / float64(2*n+1)
		if n%2 == 1 {
			v = -v
		}
		c = append(c, v)
	}
	return c
}

// sum returns a + b and what rounding took.
func (p *prog) sum(a, b val) (s, low val) {
	s = p.add(a, b)
	v := p.sub(s, a)
	return s, p.add(p.sub(a, p.sub(s, v)), p.sub(b, v))
}

// atanOf returns the inverse tangent of the positive (n+nl)/(d+dl) as a number and a correction. Beyond tan π/8 it is
// π/4 + atan (n-d)/(n+d), and beyond its inverse π/2 - atan d/n.
func (p *prog) atanOf(n, nl, d, dl val) (y, low val) {
	tan := p.c(math.Sqrt2 - 1)
	above, beyond := p.less(p.mul(d, tan), n), p.less(d, p.mul(n, tan))
	diff, diffl := p.sum(n, p.neg(d))
	both, bothl := p.sum(n, d)
	diffl, bothl = p.add(diffl, p.sub(nl, dl)), p.add(bothl, p.add(nl, dl))
	pick := func(first, middle, last val) val { return p.choose(beyond, last, p.choose(above, middle, first)) }
	zero := p.c(0)
	base := pick(zero, p.c(math.Pi/4), p.c(math.Pi/2))
	baseLow := pick(zero, p.c(3.061616997868383e-17), p.c(6.123233995736766e-17))
	q, ql := p.quotient(pick(n, diff, p.neg(d)), pick(nl, diffl, p.neg(dl)), pick(d, both, n), pick(dl, bothl, nl))
	z := p.mul(q, q)
	rest := p.fma(p.mul(q, z), p.poly(z, atanSeries()...), p.add(ql, baseLow))
	y = p.add(base, q)
	return y, p.add(p.add(p.sub(base, y), q), rest)
}

func (p *prog) atan(x val) val {
	y, low := p.atanOf(p.min(p.c(1e300), p.abs(x)), p.c(0), p.c(1), p.c(0))
	return p.tiny(x, p.or(p.abs(p.add(y, low)), p.sign(x)))
}

// root returns √(h+l) as a number and a correction.
func (p *prog) root(h, l val) (s, low val) {
	s = p.sqrt(h)
	return s, p.div(p.add(p.fnma(s, s, h), l), p.max(p.c(0x1p-1000), p.add(s, s)))
}

// asin x = 2·atan x/(1+√(1-x²)).
func (p *prog) asin(x val) val {
	a, one := p.abs(x), p.c(1)
	square := p.mul(a, a)
	lost := p.fma(a, a, p.neg(square))
	h := p.sub(one, square)
	s, sl := p.root(h, p.sub(p.sub(p.sub(one, h), square), lost))
	d, dl := p.sum(one, s)
	y, low := p.atanOf(a, p.c(0), d, p.add(dl, sl))
	y = p.mul(p.add(y, low), p.c(2))
	return p.tiny(x, p.or(y, p.sign(x)))
}

// acos x = 2·atan √(1-x)/√(1+x), and π less that for the other sign.
func (p *prog) acos(x val) val {
	a, one := p.abs(x), p.c(1)
	n, nl := p.root(p.sum(one, p.neg(a)))
	d, dl := p.root(p.sum(one, a))
	y, low := p.atanOf(n, nl, d, dl)
	two := p.c(2)
	y, low = p.mul(y, two), p.mul(low, two)
	pi := p.c(math.Pi)
	other := p.sub(pi, y)
	otherLow := p.add(p.sub(p.sub(pi, other), y), p.sub(p.c(1.2246467991473532e-16), low))
	return p.choose(p.less(x, p.c(0)), p.add(other, otherLow), p.add(y, low))
}
