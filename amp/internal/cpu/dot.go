package cpu

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
)

// Products of matrices of halves may use the instructions made for them. They multiply exactly and add in float32 as a multiply-add
// does, but in another order: VDPBF16PS adds the second element of each pair along k before the first one; TDPBF16PS and TDPFP16PS sum
// the first and the second elements of up to 16 pairs apart, each from zero, add the two sums, and add that to what they had. And those
// for bfloat16 take subnormal numbers, given or computed, as zero; for float16 there are none among the sums, and those given count.
// (twinPair and twinTile in dot_test.go are all this to the bit.)
//
// Tile registers that know bfloat16 alone multiply float16 in parts (see HalveF16): the products of parts, four of them, add up to the exact one. That is
// done with at least leastInParts rows, columns and steps of k; smaller matrices are widened.
//
// Which instruction it is depends on the processor alone, and the bits of an element on its row, its column and k, for float16 in parts also on
// whether the product is that large. Where the same bits are wanted everywhere, HALFTONE_DOT=strict and HALFTONE_CPU=reproducible give float32
// multiply-adds in the order of k.

// leastInParts is the least number of rows, columns and steps of k from which products of float16 are taken apart.
const leastInParts = 192

// A Dot is a way to multiply matrices of halves.
type Dot int32

// The ways.
const (
	Strict Dot = iota // widened to float32
	Pairs             // VDPBF16PS, of AVX512-BF16; float16 is widened
	Tiles             // TDPBF16PS and, where the processor has it, TDPFP16PS, of AMX; else float16 is taken apart
)

func (d Dot) String() string { return [...]string{"strict", "pairs", "tiles"}[d] }

var dot atomic.Int32

func init() {
	d, err := parseDot(os.Getenv("HALFTONE_DOT"), defaultDot(), mostDot())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	SetDot(d)
}

// parseDot reads HALFTONE_DOT: strict, pairs or tiles.
func parseDot(s string, otherwise, most Dot) (Dot, error) {
	for d := Strict; d <= Tiles; d++ {
		if !strings.EqualFold(s, d.String()) {
			continue
		}
		if d > most {
			return otherwise, fmt.Errorf("halftone: HALFTONE_DOT=%s: this processor or system lacks it, using %v", s, otherwise)
		}
		return d, nil
	}
	if s != "" {
		return otherwise, fmt.Errorf("halftone: HALFTONE_DOT=%s: unknown word ignored; use strict, pairs or tiles", s)
	}
	return otherwise, nil
}

// SetDot chooses how matrices of halves are multiplied, at most by what the machine has, and returns how they were. It is for tests.
func SetDot(d Dot) (was Dot) { return Dot(dot.Swap(int32(min(d, mostDot())))) }

// CurrentDot is how matrices of halves are multiplied under the current mode.
func CurrentDot() Dot {
	if variant() != AVX512 || reproducible() {
		return Strict
	}
	return Dot(dot.Load())
}
