package cpu

import "math"

// Pow returns x^y with the special cases of math.Pow, whose algorithm this is with products that no compiler may fuse: the
// integer part of y by repeated squaring, the rest by exp and log.
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case y == 1:
		return x
	case x != x || y != y:
		return math.NaN()
	case x == 0 || math.IsInf(x, 0) || math.IsInf(y, 0):
		return math.Pow(x, y) // exact, without arithmetic
	case y == 0.5:
		return math.Sqrt(x)
	case y == -0.5:
		return 1 / math.Sqrt(x)
	}
	whole, part := math.Modf(math.Abs(y))
	if part != 0 && x < 0 {
		return math.NaN()
	}
	if whole >= 1<<63 {
		return math.Pow(x, y) // 0, 1 or infinity by comparison alone
	}
	m, exp := 1.0, 0 // the result is m·2^exp
	if part != 0 {
		if part > 0.5 {
			part--
			whole++
		}
		m = exp64(float64(part * log64(x)))
	}
	base, e := math.Frexp(x)
	for i := int64(whole); i != 0; i >>= 1 {
		if e < -1<<12 || e > 1<<12 { // overflow of e: the result is 0 or infinity
			exp += e
			break
		}
		if i&1 == 1 {
			m = float64(m * base)
			exp += e
		}
		base = float64(base * base)
		e <<= 1
		if base < 0.5 {
			base += base
			e--
		}
	}
	if y < 0 {
		m = 1 / m
		exp = -exp
	}
	return math.Ldexp(m, exp)
}

// Powers sets dst to x^y, computed in float64, whose error vanishes in float32; dst may be x or y.
func Powers(dst, x, y []float32) {
	var buf [512]float32
	dst, y = dst[:len(x)], y[:len(x)]
	for len(x) > 0 {
		part := buf[:min(len(buf), len(x))]
		for i := powersVec(part, x, y); i < len(part); i++ {
			part[i] = float32(power64(float64(x[i]), float64(y[i])))
		}
		for i := 0; i < len(part); i++ { // what is NaN because that form does not go there, and others
			bad := Unscale(part[i:], 1)
			if bad < 0 {
				break
			}
			i += bad
			part[i] = float32(Pow(float64(x[i]), float64(y[i])))
		}
		copy(dst, part)
		dst, x, y = dst[len(part):], x[len(part):], y[len(part):]
	}
}
