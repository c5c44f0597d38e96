package cpu

import (
	"math"
	"math/bits"

	"github.com/halftone-ml/halftone/amp/internal/wideint"
)

// Sine, cosine and tangent beyond the range of the generated functions: the multiple of π/2 is taken off in integers.

// quadrantLimit is how far the generated functions go: multiples of 33-bit parts of π/2 are exact up to there.
const quadrantLimit = 1 << 20

func sinOf(x float64) float64 {
	if math.Abs(x) <= quadrantLimit {
		return sin64(x)
	}
	k, r, c := largeQuadrant(x)
	return turn(k, r, c)
}

func cosOf(x float64) float64 {
	if math.Abs(x) <= quadrantLimit {
		return cos64(x)
	}
	k, r, c := largeQuadrant(x)
	return turn(k+1, r, c)
}

// trigReach is how far sine and cosine in float32 go; beyond they are rounded from float64.
const trigReach = 1 << 20

func sinOf32(x float32) float32 {
	if x <= trigReach && x >= -trigReach {
		return sinF32(x)
	}
	return float32(sinOf(float64(x)))
}

func cosOf32(x float32) float32 {
	if x <= trigReach && x >= -trigReach {
		return cosF32(x)
	}
	return float32(cosOf(float64(x)))
}

func tanOf(x float64) float64 {
	if math.Abs(x) <= quadrantLimit {
		return tan64(x)
	}
	k, r, c := largeQuadrant(x)
	t := tan64(r)
	t += float64(c * float64(1+float64(t*t)))
	if k&1 == 1 {
		t = -1 / t
	}
	return t
}

// turn returns the sine of k·π/2 + r + c for a small c.
func turn(k int, r, c float64) float64 {
	y := sin64(r)
	low := float64(c * cos64(r))
	if k&1 == 1 {
		y, low = cos64(r), -float64(c*y)
	}
	y += low
	if k&2 == 2 {
		y = -y
	}
	return y
}

// twoOverPi is 2/π after 64 zero bits, highest word first; halfPi is π/2·2^191, lowest word first.
var (
	twoOverPi = [21]uint64{
		0, 0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
		0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
		0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
		0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
		0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
	}
	halfPi = [3]uint64{0x29024e088a67cc74, 0xc4c6628b80dc1cd1, 0xc90fdaa22168c234}
)

// largeQuadrant writes x, beyond quadrantLimit, as k·π/2 + r + c, k modulo 4; infinity and NaN give NaN. As Payne and Hanek do (1983), it
// multiplies by those bits of 2/π alone whose products are neither multiples of 4 nor below all that r and c hold.
func largeQuadrant(x float64) (k int, r, c float64) {
	if math.IsInf(x, 0) || x != x {
		return 0, math.NaN(), 0
	}
	b := math.Float64bits(x)
	mantissa := b&(1<<52-1) | 1<<52 // |x| is mantissa·2^(exp-53)
	exp := int(b>>52&0x7ff) - 1022

	var window, f [4]uint64
	at, shift := uint(exp+9)/64, uint(exp+9)%64 // the first bit used: its product with the mantissa's last is 2
	for i := range uint(4) {
		window[3-i] = twoOverPi[at+i]<<shift | twoOverPi[at+i+1]>>(64-shift)
	}
	wideint.Mul(f[:], window[:], []uint64{mantissa}) // x·2/π modulo 4, in parts of 2^-254, of which it may lack 2^53
	k = int((f[3] + 1<<61) >> 62)
	f[3] -= uint64(k) << 62 // in two's complement, from -1/2 to 1/2

	// No float64 comes as near as 2^-62 to a multiple of π/2, in parts of it: the highest word of the distance is not 0.
	sign := uint64(int64(f[3]) >> 63)
	f[3] ^= sign
	zeros := uint(bits.LeadingZeros64(f[3])) - 1 // without the sign's
	for i := 3; i > 0; i-- {
		f[i-1] ^= sign
		f[i] = f[i]<<zeros | f[i-1]>>(64-zeros)
	}
	var p [6]uint64
	wideint.Mul(p[:], f[1:], halfPi[:])
	r = wideint.Float64(p[:], -320)
	p[5] -= uint64(r)
	c = wideint.Float64(p[:], -320)
	scale := math.Ldexp(1, -61-int(zeros))
	if sign != 0 != (x < 0) {
		scale = -scale
	}
	if x < 0 {
		k = -k & 3
	}
	return k, r * scale, c * scale
}
