package main

import "math"

// The functions: each good to one unit in the last place of float64 or little more, without branches. Series are Taylor's,
// except where a comment says so.

const (
	magic = 0x1.8p52              // added to a small number, it leaves the nearest integer in the low bits
	ln2Hi = 0x1.62e42feep-1       // the first 32 bits of log 2, so that a multiple of up to 21 bits is exact
	ln2Lo = 0x1.a39ef35793c76p-33 // the rest
)

// inverseFactorials returns 1/from! … 1/to!.
func inverseFactorials(from, to int) []float64 {
	var c []float64
	f := 1.0
	for n := 1; n <= to; n++ {
		f *= float64(n)
		if n >= from {
			c = append(c, 1/f)
		}
	}
	return c
}

// reduce writes x as k·log 2 + r + c with |r| ≤ log(2)/2 and a small c, and returns also k as the low bits of t.
func (p *prog) reduce(x val) (k, t, r, c val) {
	t = p.fma(x, p.c(math.Log2E), p.c(magic))
	k = p.sub(t, p.c(magic))
	hi := p.fnma(k, p.c(ln2Hi), x) // exact
	lo := p.mul(k, p.c(ln2Lo))
	r = p.sub(hi, lo)
	c = p.sub(p.sub(hi, r), lo)
	return k, t, r, c
}

// tail returns e^(r+c) - 1 - r for the small r and c of reduce.
func (p *prog) tail(r, c val) val {
	q := p.poly(r, inverseFactorials(2, 13)...)
	return p.fma(p.mul(r, r), q, p.fma(c, r, c))
}

// pow2 returns y·2^k in two steps, for results that are subnormal or too large.
func (p *prog) pow2(y, k val) val {
	t1 := p.fma(k, p.c(0.5), p.c(magic))
	t2 := p.add(p.sub(k, p.sub(t1, p.c(magic))), p.c(magic))
	one := p.c(1)
	y = p.mul(y, p.plus(p.shl(t1, 52), one))
	return p.mul(y, p.plus(p.shl(t2, 52), one))
}

func (p *prog) exp(x val) val {
	a := p.max(p.c(-746), p.min(p.c(710), x)) // NaN stays
	k, _, r, c := p.reduce(a)
	return p.pow2(p.add(p.c(1), p.add(r, p.tail(r, c))), k)
}

// halfExpm1 returns (e^x - 1)/2 as a sum of two numbers, for x up to 710; below -64 that is -1/2.
func (p *prog) halfExpm1(x val) (s, low val) {
	a := p.max(p.c(-64), p.min(p.c(710), x))
	_, t, r, c := p.reduce(a)
	scale := p.plus(p.shl(t, 52), p.c(0.5)) // 2^(k-1)
	whole := p.sub(scale, p.c(0.5))
	part := p.mul(scale, r)
	s = p.add(whole, part)
	lost := p.add(p.add(p.sub(whole, s), part), p.sub(scale, p.add(whole, p.c(0.5))))
	return s, p.fma(scale, p.tail(r, c), lost)
}

// tiny returns x where it is so small that f(x) = x, else y.
func (p *prog) tiny(x, y val) val {
	return p.choose(p.less(p.abs(x), p.c(0x1p-54)), x, y)
}

func (p *prog) expm1(x val) val {
	s, low := p.halfExpm1(x)
	return p.tiny(x, p.mul(p.add(s, low), p.c(2)))
}

// quotient returns (n+nl)/(d+dl), nl and dl being what rounding took from n and d, as a number and a correction.
func (p *prog) quotient(n, nl, d, dl val) (q, low val) {
	inverse := p.div(p.c(1), d)
	q = p.mul(n, inverse)
	rest := p.fnma(q, dl, p.add(p.fnma(q, d, n), nl))
	return q, p.mul(rest, inverse)
}

// tanh |x| = -e / (2 + e), e = exp(-2|x|) - 1.
func (p *prog) tanh(x val) val {
	first, rest := p.halfExpm1(p.mul(p.abs(x), p.c(-2)))
	s := p.add(first, rest)
	low := p.add(p.sub(first, s), rest)
	one := p.c(1)
	d := p.add(one, s)
	dl := p.add(p.add(p.sub(one, d), s), low)
	q, ql := p.quotient(s, low, d, dl)
	y := p.or(p.abs(p.add(q, ql)), p.sign(x))
	return p.tiny(x, y)
}

// expPair returns e^x, for x from -746 on, as a number and a correction.
func (p *prog) expPair(x val) (z, low val) {
	k, _, r, c := p.reduce(x)
	one := p.c(1)
	e := p.tail(r, c)
	high := p.add(one, r)
	rest := p.add(p.add(p.sub(one, high), r), e)
	sum := p.add(high, rest)
	return p.pow2(sum, k), p.pow2(p.add(p.sub(high, sum), rest), k)
}

// halfExp returns e^x / 2, for results beyond those of exp.
func (p *prog) halfExp(x val) val {
	k, _, r, c := p.reduce(p.min(p.c(711), x))
	return p.pow2(p.add(p.c(1), p.add(r, p.tail(r, c))), p.sub(k, p.c(1)))
}

// sinh a = s + s/(1+2s), s = (e^a - 1)/2.
func (p *prog) sinh(x val) val {
	a := p.abs(x)
	first, rest := p.halfExpm1(p.min(p.c(40), a))
	s := p.add(first, rest)
	low := p.add(p.sub(first, s), rest)
	two := p.mul(s, p.c(2))
	d, dl := p.sum(p.c(1), two)
	q, ql := p.quotient(s, low, d, p.fma(low, p.c(2), dl))
	y := p.add(s, q)
	y = p.add(y, p.add(p.add(p.sub(s, y), q), p.add(low, ql)))
	y = p.choose(p.less(a, p.c(22)), y, p.halfExp(a))
	return p.tiny(x, p.or(y, p.sign(x)))
}

func (p *prog) cosh(x val) val {
	a := p.abs(x)
	z, zl := p.expPair(p.min(p.c(40), a))
	zero := p.c(0)
	q, ql := p.quotient(p.c(1), zero, z, zl)
	y := p.add(z, q)
	y = p.add(y, p.add(p.add(p.sub(z, y), q), p.add(zl, ql)))
	return p.choose(p.less(a, p.c(22)), p.mul(y, p.c(0.5)), p.halfExp(a))
}

// sigmoid is z/(1+z) for negative and 1/(1+z) for positive x, z = e^-|x|.
func (p *prog) sigmoid(x val) val {
	z, zl := p.expPair(p.max(p.c(-746), p.or(x, p.bits(1<<63))))
	one := p.c(1)
	d := p.add(one, z)
	dl := p.add(p.add(p.sub(one, d), z), zl)
	negative := p.less(x, p.c(0))
	q, ql := p.quotient(p.choose(negative, z, one), p.choose(negative, zl, p.c(0)), d, dl)
	return p.add(q, ql)
}

// softplus in the form that neither overflows nor loses small values.
func (p *prog) softplus(x val) val {
	y := p.log1p(p.exp(p.or(x, p.bits(1<<63))))
	return p.add(p.max(x, p.c(0)), y)
}

// siluSlope: σ·(1 + x·(1-σ)).
func (p *prog) siluSlope(x val) val {
	one := p.c(1)
	x = p.max(p.c(-1e300), p.min(p.c(1e300), x))
	y := p.sigmoid(x)
	return p.mul(y, p.fma(x, p.sub(one, y), one))
}

func (p *prog) exp2(x val) val {
	a := p.max(p.c(-1080), p.min(p.c(1030), x))
	k := p.sub(p.add(a, p.c(magic)), p.c(magic))
	f, ln2 := p.sub(a, k), p.c(math.Ln2)
	r := p.mul(f, ln2)
	c := p.fma(f, p.c(2.3190468138462996e-17), p.fma(f, ln2, p.neg(r)))
	return p.pow2(p.add(p.c(1), p.add(r, p.tail(r, c))), k)
}
