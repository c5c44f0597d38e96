package cudart

import (
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/bfloat16"
	"github.com/x448/float16"
)

// wordOf returns a number as the bits of an element, rounded once.
func wordOf(dt amp.DType, v float64) uint64 {
	switch dt {
	case amp.Float16:
		return uint64(float16.Fromfloat32(odd(v)))
	case amp.BFloat16:
		return uint64(bfloat16.Fromfloat32(odd(v)))
	case amp.Float32:
		return uint64(math.Float32bits(float32(v)))
	case amp.Float64:
		return math.Float64bits(v)
	case amp.Int64:
		return uint64(int64(v))
	}
	if v != 0 {
		return 1
	}
	return 0
}

// odd rounds to float32 toward zero and sets the last bit if that was not exact, so that rounding again to a half rounds once.
func odd(v float64) float32 {
	f := float32(v)
	if float64(f) == v || v != v || math.IsInf(float64(f), 0) {
		return f
	}
	b := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(v) {
		b--
	}
	return math.Float32frombits(b | 1)
}
