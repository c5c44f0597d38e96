package cpu

import "math"

// What the Go forms of programs in float32 need beside the language's own operations and FMA32.

// scale32 returns y·2^k, rounded once, for a whole k between -200 and 200.
func scale32(y, k float32) float32 {
	return float32(float64(y) * math.Float64frombits(uint64(int64(k)+1023)<<52))
}
