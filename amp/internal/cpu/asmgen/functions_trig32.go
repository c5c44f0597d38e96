package main

// Sine and cosine in float32.

// trigReach is how far they go: the multiple of the first part of π/2 is taken off without rounding up to there.
const trigReach = 1 << 20

// every repeats four numbers over a table.
func every(a, b, c, d float32) (t [tableSize]float32) {
	for i := range t {
		t[i] = [4]float32{a, b, c, d}[i%4]
	}
	return t
}

// turnSeries holds, by the parity of the quarter turn, the coefficients in z = r² of (sin r - r)/(r·z) and (cos r - 1)/z for |r| ≤ π/4: 2^-31
// and 2^-30 of the results.
var turnSeries = [][tableSize]float32{
	every(-0.16666667, -0.5, -0.16666667, -0.5), every(0.008333379, 0.041666646, 0.008333379, 0.041666646),
	every(-0.00019853047, -0.0013887304, -0.00019853047, -0.0013887304), every(2.8320956e-06, 2.4431118e-05, 2.8320956e-06, 2.4431118e-05),
}

// turnTables are which quarter turns are odd, and the sign of the result.
var turnTables = [][tableSize]float32{every(0, 1, 0, 1), every(1, 1, -1, -1)}

// turnedF returns sine (turn 0) or cosine (turn 1) within 2 ulp up to trigReach, and NaN beyond. π/2 is taken off k times by Cody and Waite's
// method, in three parts.
func (p *prog) turnedF(x val, turn uint64) val {
	a, one := p.abs(x), p.c(1)
	x = p.choose(p.less(p.c(trigReach), a), p.bits(0x7fc00000), x)
	t := p.fma(x, p.c(0.6366197723675814), p.c(magicF))
	k := p.sub(t, p.c(magicF))
	first := p.fnma(k, p.c(0x1.921fb6p0), x) // exact
	r := p.fnma(k, p.c(-0x1.ee59dap-50), p.fnma(k, p.c(-0x1.777a5cp-25), first))
	if turn != 0 {
		t = p.plus(t, p.bits(turn))
	}
	z := p.mul(r, r)
	odd := p.less(p.c(0), p.table(t, turnTables[0]))
	rate := p.choose(odd, z, p.mul(r, z))
	y := p.fma(rate, p.piecewise(t, z, turnSeries), p.choose(odd, one, r))
	return p.mul(y, p.table(t, turnTables[1]))
}

// sinF: x itself where it is small, -0 among them.
func (p *prog) sinF(x val) val {
	y := p.turnedF(x, 0)
	return p.choose(p.less(p.abs(x), p.c(0x1p-12)), x, y)
}

func (p *prog) cosF(x val) val { return p.turnedF(x, 1) }
