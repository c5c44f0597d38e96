package cpu

import (
	"math"
	"math/big"
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

const twoOverPiBits = 1280

// twoOverPi holds so many bits of 2/π; halfPi is π/2 with more bits than two float64 have.
var (
	twoOverPi, _ = new(big.Int).SetString("a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921c"+
		"fe1deb1cb129a73ee88235f52ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b7"+
		"4f463f669e5fea2d7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046fc7b6babf0cfbc209af4361d", 16)
	halfPi, _ = new(big.Float).SetPrec(160).SetString("1.57079632679489661923132169163975144209858469968755291048747229615390820314310449931")
)

// largeQuadrant writes x as k·π/2 + r + c, k modulo 4; infinity and NaN give NaN.
func largeQuadrant(x float64) (k int, r, c float64) {
	if math.IsInf(x, 0) || x != x {
		return 0, math.NaN(), 0
	}
	frac, exp := math.Frexp(math.Abs(x)) // x = frac·2^53 · 2^(exp-53), exp > 20
	p := new(big.Int).Mul(big.NewInt(int64(frac*(1<<53))), twoOverPi)
	bits := uint(twoOverPiBits + 53 - exp) // of the fraction of p, which is x·2/π
	p.Add(p, new(big.Int).Lsh(big.NewInt(1), bits-1))
	whole := new(big.Int).Rsh(p, bits)
	k = int(whole.Uint64() & 3)
	p.Sub(p, whole.Lsh(whole, bits))
	p.Sub(p, new(big.Int).Lsh(big.NewInt(1), bits-1))
	f := new(big.Float).SetPrec(160).SetInt(p)
	f.SetMantExp(f, -int(bits))
	f.Mul(f, halfPi)
	r, _ = f.Float64()
	c, _ = f.Sub(f, new(big.Float).SetFloat64(r)).Float64()
	if x < 0 {
		return -k & 3, -r, -c
	}
	return k, r, c
}
