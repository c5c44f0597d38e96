package amp

import (
	"fmt"
	"slices"
	"strings"
)

// A Granularity says how many numbers share one scale when they are rounded to a short format.
type Granularity uint8

// The granularities. PerBlock is that of the OCP Microscaling Formats (MX), version 1.0, PerBlock16 that of NVFP4, whose scales are numbers of E4M3.
const (
	PerTensor  Granularity = iota // one scale for all
	PerRow                        // one for each line along a dimension: in a product the one that it sums over
	PerBlock                      // one for each 32 neighbors along it
	PerBlock16                    // one in E4M3 for each 16 neighbors along it, times a power of two for all
)

var granularityNames = [...]string{"tensor", "row", "block", "block16"}

// How many neighbors share a scale PerBlock, the block size k of the MX formats, and PerBlock16.
const (
	scaleBlock  = 32
	e4m3Block   = 16
	e4m3Largest = 448 * 6 // what E2M1 times a scale in E4M3 holds
)

// block returns how many neighbors share a scale, 0 where it is no fixed number.
func (g Granularity) block() int {
	switch g {
	case PerBlock:
		return scaleBlock
	case PerBlock16:
		return e4m3Block
	}
	return 0
}

// String returns "tensor", "row", "block" or "block16".
func (g Granularity) String() string {
	if int(g) >= len(granularityNames) {
		return fmt.Sprintf("granularity(%d)", uint8(g))
	}
	return granularityNames[g]
}

// ParseGranularity returns the granularity of a name, as Granularity.String gives it.
func ParseGranularity(name string) (Granularity, error) {
	if i := slices.Index(granularityNames[:], name); i >= 0 {
		return Granularity(i), nil
	}
	return 0, fmt.Errorf("amp: unknown granularity %q; use %s", name, strings.Join(granularityNames[:], ", "))
}

// check panics with ErrArgument for a number that is no granularity.
func (g Granularity) check(op string) {
	if int(g) >= len(granularityNames) {
		fail(op, ErrArgument, "use amp.PerTensor, amp.PerRow, amp.PerBlock or amp.PerBlock16", "there is no granularity number %d", uint8(g))
	}
}
