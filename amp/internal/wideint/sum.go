package wideint

import (
	"math"
	"math/bits"
)

// A Sum is a sum of float64 without any rounding: a multiple of 2^-1074 in two's complement. Its 2176 bits hold 2^77 of the largest
// numbers. The zero value is an empty sum.
type Sum [34]uint64

// Add adds v, which must be finite.
func (s *Sum) Add(v float64) {
	b := math.Float64bits(v)
	exp, mantissa := b>>52&0x7ff, b&(1<<52-1)
	if exp > 0 { // not subnormal
		exp--
		mantissa |= 1 << 52
	}
	at, shift := exp/64, exp%64
	sign := uint64(int64(b) >> 63) // all ones for a negative v, which is added as its complement and 1
	carry := sign & 1
	s[at], carry = bits.Add64(s[at], mantissa<<shift^sign, carry)
	s[at+1], carry = bits.Add64(s[at+1], mantissa>>(64-shift)^sign, carry)
	for at += 2; carry != sign&1 && at < uint64(len(s)); at++ {
		s[at], carry = bits.Add64(s[at], sign, carry)
	}
}

// Float64 returns the sum, rounded to nearest, ties to even: infinity beyond float64, and never -0.
func (s *Sum) Float64() float64 { return Float64(s[:], -1074) }
