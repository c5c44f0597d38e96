package cpu

import "math"

// Atan2 returns the angle of the point (x, y), with the special cases of math.Atan2.
func Atan2(y, x float64) float64 {
	if x == 0 || y == 0 || math.IsInf(x, 0) || math.IsInf(y, 0) || x != x || y != y {
		return math.Atan2(y, x) // constants
	}
	q := atan64(y / x)
	switch {
	case x > 0:
		return q
	case q <= 0:
		return q + math.Pi
	}
	return q - math.Pi
}
