package main

import "math"

// Shorter programs for float32: computed in float64 as the others, to some ten digits, and rounded to seven. They are what CUDA kernels do
// (cudart/kernels/math64.h); the CPU has programs in float32.

// singleExp returns e^x for x between -708 and 709.
func (p *prog) singleExp(x val) val {
	t, r := p.singleReduce(x)
	y := p.poly(r, append([]float64{1}, inverseFactorials(1, 8)...)...)
	return p.plus(y, p.shl(t, 52)) // k more in the exponent
}

func (p *prog) singleReduce(x val) (t, r val) {
	t = p.fma(x, p.c(math.Log2E), p.c(magic))
	return t, p.fnma(p.sub(t, p.c(magic)), p.c(math.Ln2), x)
}

// within holds x between two numbers; NaN stays.
func (p *prog) within(x val, lo, hi float64) val {
	return p.max(p.c(lo), p.min(p.c(hi), x))
}

// exp32 overflows and vanishes where float32 does.
func (p *prog) exp32(x val) val { return p.singleExp(p.within(x, -105, 89)) }

func (p *prog) tanh32(x val) val {
	t, r := p.singleReduce(p.max(p.c(-40), p.mul(p.abs(x), p.c(-2))))
	one := p.c(1)
	scale := p.plus(p.shl(t, 52), one)
	e := p.fma(scale, p.mul(r, p.poly(r, inverseFactorials(1, 8)...)), p.sub(scale, one)) // exp(-2|x|) - 1
	y := p.div(e, p.add(p.c(2), e))
	return p.or(p.abs(y), p.sign(x))
}

func (p *prog) sigmoid32(x val) val { return p.singleSigmoid(x, 105) }

func (p *prog) singleSigmoid(x val, limit float64) val {
	one := p.c(1)
	return p.div(one, p.add(one, p.singleExp(p.neg(p.within(x, -limit, limit)))))
}

func (p *prog) silu32(x val) val {
	y := p.choose(p.less(p.c(-150), x), p.singleSigmoid(x, 150), p.c(0)) // x·y is 0 in float32 there
	return p.mul(x, y)
}

func (p *prog) geluTanh32(x val) val {
	v := p.mul(p.mul(x, p.c(geluRate)), p.fma(p.mul(x, x), p.c(geluCubic), p.c(1)))
	y := p.choose(p.less(p.c(-20), x), p.singleSigmoid(v, 150), p.c(0))
	return p.mul(x, y)
}

// normalTail returns Φ(-|x|) and e^(-x²/2), by the formula of erfcLarge with a polynomial of degree 14 over 0 … 12.8, the two
// quotients made of one.
func (p *prog) normalTail(x val) (tail, bell val) {
	one, four := p.c(1), p.c(4)
	a := p.min(p.c(12.8), p.mul(p.abs(x), p.c(math.Sqrt2/2)))
	over, d := p.add(a, four), p.fma(a, p.c(2), one)
	inverse := p.div(one, p.mul(over, d))
	t := p.mul(p.mul(p.sub(a, four), d), inverse)
	q := p.poly(t, 1.2329951186263632, -0.13962111684363232, 0.015379651930950674, 0.06809705470260306, -0.10103905992883928, 0.09373282291625129,
		-0.06633045367320578, 0.0371676323978995, -0.016197070021936315, 0.005031533543456733, -0.000760604637826834, -0.00019915403058068566,
		0.00015704859668137582, -2.1274276966839732e-05, -1.7132486087403545e-05)
	part := p.mul(p.mul(p.c(0.5), q), p.mul(over, inverse))
	bell = p.singleExp(p.neg(p.mul(a, a)))
	return p.mul(part, bell), bell
}

func (p *prog) gelu32(x val) val {
	tail, _ := p.normalTail(x)
	tail = p.choose(p.less(p.c(-18), x), tail, p.c(0)) // x·Φ(x) is 0 in float32 there
	return p.mul(x, p.choose(p.less(x, p.c(0)), tail, p.sub(p.c(1), tail)))
}
