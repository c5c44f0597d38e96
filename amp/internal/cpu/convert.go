// Package cpu holds the CPU kernels: plain loops over typed slices, the worker pool that spreads them, and the conversions
// between the float formats. It knows neither tensors nor autocast.
package cpu

import "math"

// F32ToF16 rounds to the nearest binary16, ties to even, with gradual underflow; 65520 and above become infinity.
// A NaN keeps its sign and top payload bits and becomes quiet, as the hardware conversion does.
func F32ToF16(f float32) uint16 {
	u := math.Float32bits(f)
	sign := uint16(u>>16) & 0x8000
	u &= 0x7fffffff
	switch {
	case u > 0x7f800000:
		return sign | 0x7e00 | uint16(u>>13)&0x3ff
	case u >= 0x47800000: // 65536 and above
		return sign | 0x7c00
	case u < 0x38800000: // below 2^-14: adding 0.5 lets the adder align and round the subnormal
		v := math.Float32frombits(u) + 0.5
		return sign | uint16(math.Float32bits(v)-0x3f000000)
	}
	u += 0xfff + u>>13&1
	return sign | uint16((u-112<<23)>>13)
}

// F16ToF32 widens exactly.
func F16ToF32(h uint16) float32 {
	u := uint32(h&0x7fff) << 13
	sign := uint32(h&0x8000) << 16
	switch exp := u & 0x0f800000; exp {
	case 0x0f800000: // infinity or NaN, made quiet
		u += 224 << 23
		if u&0x7fffff != 0 {
			u |= 0x400000
		}
	case 0: // zero or subnormal: the subtraction normalises
		return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(u+113<<23)-math.Float32frombits(113<<23)))
	default:
		u += 112 << 23
	}
	return math.Float32frombits(sign | u)
}

// F32ToBF16 rounds to the nearest bfloat16, ties to even. The NaN test comes first: adding the rounding term to
// 0x7fffffff would otherwise carry into the sign and yield -0.
func F32ToBF16(f float32) uint16 {
	u := math.Float32bits(f)
	if u&0x7fffffff > 0x7f800000 {
		return uint16(u>>16) | 0x40
	}
	return uint16((u + 0x7fff + u>>16&1) >> 16)
}

// BF16ToF32 widens exactly.
func BF16ToF32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// oddF32 narrows with rounding to odd, so that a second rounding to a shorter format gives what one rounding would.
func oddF32(x float64) float32 {
	f := float32(x)
	u := math.Float32bits(f)
	if float64(f) == x || x != x || u&1 == 1 {
		return f
	}
	if math.IsInf(float64(f), 0) {
		return math.Float32frombits(u - 1) // x is finite: the largest float32, which is odd
	}
	if math.Abs(float64(f)) > math.Abs(x) {
		return math.Float32frombits(u - 1)
	}
	return math.Float32frombits(u + 1)
}

// F64ToF16 rounds once, straight from float64.
func F64ToF16(x float64) uint16 {
	if math.IsInf(x, 0) {
		return F32ToF16(float32(x))
	}
	return F32ToF16(oddF32(x))
}

// F64ToBF16 rounds once, straight from float64.
func F64ToBF16(x float64) uint16 {
	if math.IsInf(x, 0) {
		return F32ToBF16(float32(x))
	}
	return F32ToBF16(oddF32(x))
}

// RoundF16 sets dst to src rounded once to binary16, straight from float64. (It and RoundBF16 stand apart since a func that is handed buf would
// move it to the heap.)
func RoundF16(dst []uint16, src []float64) {
	var buf [256]float32
	for len(src) > 0 {
		n := min(len(src), len(buf))
		NarrowF16(dst[:n], oddF32s(buf[:n], src[:n]))
		dst, src = dst[n:], src[n:]
	}
}

// RoundBF16 sets dst to src rounded once to bfloat16, straight from float64.
func RoundBF16(dst []uint16, src []float64) {
	var buf [256]float32
	for len(src) > 0 {
		n := min(len(src), len(buf))
		NarrowBF16(dst[:n], oddF32s(buf[:n], src[:n]))
		dst, src = dst[n:], src[n:]
	}
}

// oddF32s is oddF32 for numbers most of which, having been made of halves, are exact in float32.
func oddF32s(dst []float32, src []float64) []float32 {
	NarrowF64(dst, src)
	for i, x := range src {
		if float64(dst[i]) != x {
			dst[i] = oddF32(x)
		}
	}
	return dst
}

// WidenF16 sets dst to src as float32.
func WidenF16(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	for i := widenF16Vec(dst, src); i < len(src); i++ {
		h := src[i]
		// The normal range inline: a call per element costs more than the conversion.
		if e := h & 0x7c00; e != 0 && e != 0x7c00 {
			dst[i] = math.Float32frombits(uint32(h&0x8000)<<16 | (uint32(h&0x7fff)<<13 + 112<<23))
			continue
		}
		dst[i] = F16ToF32(h)
	}
}

// NarrowF16 sets dst to src rounded to binary16.
func NarrowF16(dst []uint16, src []float32) {
	dst = dst[:len(src)]
	for i := narrowF16Vec(dst, src); i < len(src); i++ {
		f := src[i]
		u := math.Float32bits(f)
		if m := u & 0x7fffffff; m-0x38800000 < 0x47800000-0x38800000 {
			m += 0xfff + m>>13&1
			dst[i] = uint16(u>>16)&0x8000 | uint16((m-112<<23)>>13)
			continue
		}
		dst[i] = F32ToF16(f)
	}
}

// WidenBF16 sets dst to src as float32.
func WidenBF16(dst []float32, src []uint16) {
	dst = dst[:len(src)]
	for i := widenBF16Vec(dst, src); i < len(src); i++ {
		dst[i] = math.Float32frombits(uint32(src[i]) << 16)
	}
}

// NarrowBF16 sets dst to src rounded to bfloat16.
func NarrowBF16(dst []uint16, src []float32) {
	dst = dst[:len(src)]
	for i := narrowBF16Vec(dst, src); i < len(src); i++ {
		dst[i] = F32ToBF16(src[i])
	}
}

// AddWide adds src to dst.
func AddWide(dst []float64, src []float32) {
	dst = dst[:len(src)]
	for i := addWideVec(dst, src); i < len(src); i++ {
		dst[i] += float64(src[i])
	}
}

// MulWide multiplies dst by src.
func MulWide(dst []float64, src []float32) {
	dst = dst[:len(src)]
	for i := mulWideVec(dst, src); i < len(src); i++ {
		dst[i] *= float64(src[i])
	}
}

// WidenF64 sets dst to src as float64.
func WidenF64(dst []float64, src []float32) {
	dst = dst[:len(src)]
	for i := widenF64Vec(dst, src); i < len(src); i++ {
		dst[i] = float64(src[i])
	}
}
