// Package wideint adds and multiplies integers of several words, for what must be exact or rounded once: math/big would do, but is 82 KB
// of every cell. Words stand lowest first.
package wideint

import (
	"math"
	"math/bits"
)

// Mul sets z to x·y modulo 2^(64·len(z)); z must not overlap them.
func Mul(z, x, y []uint64) {
	clear(z)
	for i, a := range x {
		var carry uint64
		for j, b := range y {
			if i+j >= len(z) {
				break
			}
			hi, lo := bits.Mul64(a, b)
			var c uint64
			lo, c = bits.Add64(lo, carry, 0)
			hi += c
			z[i+j], c = bits.Add64(z[i+j], lo, 0)
			carry = hi + c
		}
		if i+len(y) < len(z) {
			z[i+len(y)] = carry
		}
	}
}

// Float64 returns x·2^exp for an x in two's complement, rounded to nearest, ties to even. Below 2^-1022 it is rounded once only if exp is
// at least -1074.
func Float64(x []uint64, exp int) float64 {
	sign := uint64(int64(x[len(x)-1]) >> 63) // all ones for a negative x
	low := 0                                 // the lowest word that is not 0: the magnitude has it negated, and those above it complemented
	for low < len(x) && x[low] == 0 {
		low++
	}
	word := func(i int) uint64 {
		switch {
		case i < low:
			return 0
		case i == low:
			return x[i] ^ sign - sign
		}
		return x[i] ^ sign
	}
	top := len(x) - 1
	for top > low && word(top) == 0 {
		top--
	}
	if top < low {
		return 0
	}
	// The 64 bits from the first one on, the last of them set if any bit follows: rounding these is rounding all.
	zeros := bits.LeadingZeros64(word(top))
	first, rest := word(top)<<zeros, uint64(0)
	if top > low {
		first |= word(top-1) >> (64 - zeros)
		rest = word(top-1) << zeros
	}
	if rest != 0 || low < top-1 {
		first |= 1
	}
	y := math.Ldexp(float64(first), exp+64*top-zeros)
	if sign != 0 {
		return -y
	}
	return y
}
