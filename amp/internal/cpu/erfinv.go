package cpu

import "math"

// Giles' single-precision approximation (Approximating the erfinv function, 2010), constant terms first.
var (
	erfinvMiddle = []float64{1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06, -3.5233877e-06, 3.43273939e-07, 2.81022636e-08}
	erfinvEnds   = []float64{2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844, 0.00134934322, 0.000100950558, -0.000200214257}
)

// erfinv returns the inverse of the error function: an approximation, and two steps of Halley's method on erf or, near the
// ends, on erfc.
func erfinv(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a == 1:
		return math.Copysign(math.Inf(1), x)
	case !(a < 1):
		return math.NaN()
	case a < 0x1p-30:
		return float64(x * (math.SqrtPi / 2))
	}
	w, coef := -log64(float64((1-a)*(1+a)))-2.5, erfinvMiddle
	if w >= 2.5 {
		w, coef = math.Sqrt(w+2.5)-3, erfinvEnds
	}
	y := 0.0
	for i := len(coef) - 1; i >= 0; i-- {
		y = math.FMA(y, w, coef[i])
	}
	y = float64(y * a)
	for range 2 {
		var off float64
		if a < 0.5 {
			off = erf64(y) - a
		} else {
			off = (1 - a) - erfc64(y)
		}
		off = float64(float64(off*(math.SqrtPi/2)) * exp64(float64(y*y)))
		y -= off / math.FMA(y, off, 1)
	}
	return math.Copysign(y, x)
}
