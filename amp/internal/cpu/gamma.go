package cpu

import "math"

// The logarithm of the gamma function and its derivatives. cudart/kernels/special.h has the same operations in the same order.

var (
	// lgammaTwo is log Γ(2+z) / z for z from -1/2 to 1/2, constant term first: a Chebyshev fit, whose error is 6e-17 of it.
	lgammaTwo = [...]float64{0.42278433509846713, 0.3224670334241132, -0.06735230105319563, 0.02058080842778338, -0.007385551028935545, 0.002890510330865901, -0.0011927539009983087, 0.0005096695196526673, -0.00022315497746292723,
		9.945761692157133e-05, -4.4923727564247656e-05, 2.050601970174762e-05, -9.45628851510172e-06, 4.3828545383846665e-06, -1.9743106888421067e-06, 9.242852225162277e-07, -5.811277768921246e-07, 2.7475390051909663e-07}
	// stirling are B₂ₖ/(2k(2k-1)) of Stirling's series, and eulerMaclaurin B₂ₖ/(2k)! of Euler and Maclaurin's formula, from k = 1 on.
	stirling       = [...]float64{1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156}
	eulerMaclaurin = [...]float64{1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000, 1.0 / 74724249600, -3617.0 / 10670622842880000}
)

// polynomial is Σ cᵢ·xⁱ.
func polynomial(c []float64, x float64) float64 {
	y := 0.0
	for i := len(c) - 1; i >= 0; i-- {
		y = math.FMA(y, x, c[i])
	}
	return y
}

// lgamma returns log |Γ(x)|: infinite at 0, at negative whole numbers and at both infinities.
func lgamma(x float64) float64 {
	a := math.Abs(x)
	switch {
	case !(a <= math.MaxFloat64):
		return a
	case x <= 0 && x == math.Floor(x):
		return math.Inf(1)
	case a < 0.5: // Γ(x) = Γ(1+x)/x
		return lgammaOne(x) - log64(a)
	case x > 0:
		return lgammaAbove(x)
	}
	// Γ(x)·Γ(-x) = -π/(x·sin πx)
	r := a - math.Floor(a+0.5)
	return log64(math.Pi/(a*math.Abs(sin64(math.Pi*r)))) - lgammaAbove(a)
}

// lgammaOne is log Γ(1+z) for z from -1/2 to 1/2.
func lgammaOne(z float64) float64 { return float64(z*polynomial(lgammaTwo[:], z)) - log1p64(z) }

// lgammaAbove is lgamma from 1/2 on.
func lgammaAbove(a float64) float64 {
	if a >= 10 { // Stirling's series
		rest := polynomial(stirling[:], 1/(a*a)) / a
		return math.FMA(a-0.5, log64(a)-1, 0.4189385332046727+rest) // log(2π)/2 - 1/2
	}
	if a < 1.5 {
		return lgammaOne(a - 1)
	}
	p := 1.0 // Γ(a) = (a-1)·Γ(a-1)
	for a >= 2.5 {
		a--
		p *= a
	}
	z := a - 2
	return math.FMA(z, polynomial(lgammaTwo[:], z), log64(p))
}

// Polygamma returns derivative n of digamma, the derivative of log Γ(x), and digamma for n = 0. Of x below 0 it takes that of a number between 0 and
// 1 a whole number away, and what lies between by the reflection of both. At 0 and at negative whole numbers it is infinite, but for
// digamma, which changes its sign there, beyond 0.
func Polygamma(n int, x float64) float64 {
	switch {
	case x > 0 || x != x:
		return polygammaAbove(n, x)
	case x == 0 && n == 0:
		return math.Copysign(math.Inf(1), -x)
	case x == math.Floor(x):
		if n == 0 || n == 1 && math.IsInf(x, -1) {
			return math.NaN()
		}
		return math.Inf(n%2*2 - 1)
	}
	mirrored := polygammaAbove(n, 1-x) - polygammaAbove(n, math.Ceil(x)-x)
	if n%2 == 1 {
		mirrored = -mirrored
	}
	return polygammaAbove(n, x-math.Floor(x)) + mirrored
}

// polygammaAbove is Polygamma above 0: (-1)ⁿ⁺¹·n!·Σ 1/(x+k)ⁿ⁺¹, the rest of the sum by Euler and Maclaurin's formula; for n = 0, of which the
// sum has no limit, it is that of the differences to 1/(k+1) that is meant.
func polygammaAbove(n int, x float64) float64 {
	a, sum := x, 0.0
	for k := 1; a < float64(12+n); k++ {
		sum += 1 / power(a, n+1)
		a = x + float64(k)
	}
	rest := 1 / float64(n)
	if n == 0 {
		rest = -log64(a)
	}
	rest += 0.5 / a
	w := 1 / (a * a)
	p := w * float64(n+1)
	for j, c := range eulerMaclaurin {
		rest = math.FMA(p, c, rest)
		p = p * w * float64((n+2*j+2)*(n+2*j+3))
	}
	sum += rest / power(a, n)
	for k := 2; k <= n; k++ {
		sum *= float64(k)
	}
	if n%2 == 0 {
		return -sum
	}
	return sum
}

// power is aⁿ by n products.
func power(a float64, n int) float64 {
	p := 1.0
	for range n {
		p *= a
	}
	return p
}
