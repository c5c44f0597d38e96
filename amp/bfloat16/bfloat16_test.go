package bfloat16_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp/bfloat16"
	"github.com/x448/float16"
)

// number is the method set that bfloat16 shares with x448/float16.
type number interface {
	Float32() float32
	Bits() uint16
	IsNaN() bool
	IsQuietNaN() bool
	IsInf(sign int) bool
	IsFinite() bool
	IsNormal() bool
	Signbit() bool
	String() string
}

var (
	_ number = float16.Float16(0)
	_ number = bfloat16.BFloat16(0)
)

func TestPredicates(t *testing.T) {
	for _, c := range []struct {
		f                               bfloat16.BFloat16
		nan, quiet, inf, finite, normal bool
		sign                            bool
	}{
		{bfloat16.Fromfloat32(1.5), false, false, false, true, true, false},
		{bfloat16.Frombits(0x8000), false, false, false, true, false, true},
		{bfloat16.Frombits(0x0001), false, false, false, true, false, false},
		{bfloat16.Inf(1), false, false, true, false, false, false},
		{bfloat16.Inf(-1), false, false, true, false, false, true},
		{bfloat16.NaN(), true, true, false, false, false, false},
		{bfloat16.Frombits(0xff81), true, false, false, false, false, true},
	} {
		f := c.f
		if f.IsNaN() != c.nan || f.IsQuietNaN() != c.quiet || f.IsInf(0) != c.inf || f.IsFinite() != c.finite || f.IsNormal() != c.normal || f.Signbit() != c.sign {
			t.Errorf("%04x: NaN %v quiet %v inf %v finite %v normal %v sign %v", f.Bits(), f.IsNaN(), f.IsQuietNaN(), f.IsInf(0), f.IsFinite(), f.IsNormal(), f.Signbit())
		}
	}
}

func TestRoundTrip(t *testing.T) {
	for b := range 1 << 16 {
		f := bfloat16.Frombits(uint16(b))
		if back := bfloat16.Fromfloat32(f.Float32()); back != f && !(f.IsNaN() && back.IsNaN()) {
			t.Fatalf("%04x → %v → %04x", b, f.Float32(), back.Bits())
		}
	}
	// The trap: adding the rounding term to this NaN carries into the sign.
	if f := bfloat16.Fromfloat32(math.Float32frombits(0x7fffffff)); !f.IsNaN() {
		t.Errorf("a NaN became %v", f)
	}
}

func ExampleFromfloat32() {
	fmt.Println(bfloat16.Fromfloat32(3.14159), bfloat16.Fromfloat32(257))
	// Output: 3.140625 256
}
