// Package bfloat16 is the number type of bfloat16 tensors, with the method set of github.com/x448/float16.
package bfloat16

import (
	"math"
	"strconv"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// BFloat16 is the upper half of a float32: 1 sign bit, 8 exponent bits, 7 fraction bits. It has the methods of
// github.com/x448/float16's Float16.
type BFloat16 uint16

// Frombits returns the number with the given bits.
func Frombits(u16 uint16) BFloat16 { return BFloat16(u16) }

// Fromfloat32 rounds to nearest, ties to even.
func Fromfloat32(f32 float32) BFloat16 { return BFloat16(cpu.F32ToBF16(f32)) }

// NaN returns a quiet NaN.
func NaN() BFloat16 { return 0x7fc0 }

// Inf returns +Inf for sign ≥ 0, -Inf for sign < 0.
func Inf(sign int) BFloat16 {
	if sign < 0 {
		return 0xff80
	}
	return 0x7f80
}

// Float32 widens exactly.
func (f BFloat16) Float32() float32 { return cpu.BF16ToF32(uint16(f)) }

// Bits returns the IEEE-like bit pattern.
func (f BFloat16) Bits() uint16 { return uint16(f) }

// IsNaN says whether f is not a number.
func (f BFloat16) IsNaN() bool { return f&0x7fff > 0x7f80 }

// IsQuietNaN says whether f is a NaN with its quiet bit set.
func (f BFloat16) IsQuietNaN() bool { return f.IsNaN() && f&0x40 != 0 }

// IsInf says whether f is +Inf (sign > 0), -Inf (sign < 0) or either (sign 0).
func (f BFloat16) IsInf(sign int) bool { return math.IsInf(float64(f.Float32()), sign) }

// IsFinite says whether f is neither infinite nor NaN.
func (f BFloat16) IsFinite() bool { return f&0x7f80 != 0x7f80 }

// IsNormal says whether f is neither zero, subnormal, infinite nor NaN.
func (f BFloat16) IsNormal() bool { return f.IsFinite() && f&0x7f80 != 0 }

// Signbit says whether f is negative or negative zero.
func (f BFloat16) Signbit() bool { return f&0x8000 != 0 }

// String formats f as the shortest decimal of its float32 value.
func (f BFloat16) String() string { return strconv.FormatFloat(float64(f.Float32()), 'f', -1, 32) }
