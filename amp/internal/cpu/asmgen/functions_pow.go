package main

import "math"

// power is x^y for float32 numbers, in float64: e^(y·log x) to some twelve digits, where x is positive and finite, else NaN.
func (p *prog) power(x, y val) val {
	k, m := p.mantissa(x)
	f := p.sub(m, p.c(1))
	s := p.div(f, p.add(p.c(2), f))
	z := p.mul(s, s)
	part := p.fma(p.mul(s, z), p.poly(z, 2.0/3, 2.0/5, 2.0/7, 2.0/9, 2.0/11, 2.0/13, 2.0/15), p.add(s, s)) // log m, 2^-46 of it
	v := p.mul(y, p.fma(k, p.c(math.Ln2), part))
	t, r := p.singleReduce(p.within(v, -105, 89))                                              // float32 vanishes and overflows there
	e := p.plus(p.poly(r, append([]float64{1}, inverseFactorials(1, 10)...)...), p.shl(t, 52)) // 2^-42
	e = p.choose(p.less(p.c(0), x), e, p.bits(0x7ff8<<48))
	return p.choose(p.less(x, p.c(math.Inf(1))), e, p.bits(0x7ff8<<48))
}

// powers is the program of power.
func powers() *prog {
	p := &prog{}
	x := p.input()
	y := p.emit(ins{op: opInput, n: 1})
	p.power(x, y)
	return p.needed()
}
