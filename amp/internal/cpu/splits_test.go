package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// part is a part of x as a half, and as a number.
func splitPart(f Format, x float32) (uint16, float32) {
	if f == F16 {
		h := F32ToF16(x)
		return h, F16ToF32(h)
	}
	if a := math.Abs(float64(x)); a < 0x1p-126 { // the instruction takes subnormal numbers as zero
		x = float32(math.Copysign(0, float64(x)))
	}
	h := F32ToBF16(x)
	return h, BF16ToF32(h)
}

// splitParts are the parts of x by the definition.
func splitParts(f Format, parts int, x float32) []uint16 {
	out := make([]uint16, parts)
	for p := range out {
		h, v := splitPart(f, x)
		out[p] = h
		if x -= v; x != x {
			x = 0
		}
	}
	return out
}

// splitNumbers are n numbers of all sizes and kinds.
func splitNumbers(n int) []float32 {
	r := rand.New(rand.NewPCG(3, 4))
	special := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.SmallestNonzeroFloat32, 0x1p-127, 0x1p-126, math.MaxFloat32, 65504, 65520, 1 - 0x1p-24, 1 + 0x1p-23, 0x1p-24}
	x := make([]float32, n)
	for i := range x {
		switch {
		case i%9 == 0:
			x[i] = special[r.IntN(len(special))]
		default:
			x[i] = float32(r.NormFloat64()) * float32(math.Ldexp(1, r.IntN(40)-30))
		}
	}
	return x
}

// sameHalf compares bits, but those of NaN.
func sameHalf(f Format, a, b uint16) bool {
	nan := func(h uint16) bool {
		if f == F16 {
			return h&0x7fff > 0x7c00
		}
		return h&0x7fff > 0x7f80
	}
	return a == b || nan(a) && nan(b)
}

// TestSplitRows compares parts with the definition for all lengths up to some blocks, and sees that nothing else is written.
func TestSplitRows(t *testing.T) {
	if !TileSteps(BF16) {
		t.Skip("this processor or mode has no tile registers for halves")
	}
	const lds, rows, stale = 101, 3, 0x7fc1
	src := splitNumbers(rows * lds)
	for _, f := range []Format{F16, BF16} {
		for parts := 2; parts <= 3 && (f == BF16 || parts == 2); parts++ {
			for n := 1; n <= 100; n++ {
				ldd := up(n, 32) + 7
				part := rows*ldd + 5
				dst := make([]uint16, parts*part)
				for i := range dst {
					dst[i] = stale
				}
				SplitRows(f, parts, rows, n, 0.5, src, lds, dst, ldd, part)
				for at, got := range dst {
					p, r, i := at/part, at%part/ldd, at%part%ldd
					want := uint16(stale)
					switch {
					case r >= rows || i >= up(n, 32):
					case i >= n:
						want = 0
					default:
						want = splitParts(f, parts, src[r*lds+i]*0.5)[p]
					}
					if !sameHalf(f, got, want) {
						t.Fatalf("format %d, %d parts of %d: part %d of element %d %d, %v: %#x, want %#x", f, parts, n, p, r, i, src[(r*lds+i)%len(src)], got, want)
					}
				}
			}
		}
	}
}

// TestSplitPairs is the same for pairs.
func TestSplitPairs(t *testing.T) {
	if !TileSteps(BF16) {
		t.Skip("this processor or mode has no tile registers for halves")
	}
	const lds, pairs, stale = 53, 3, 0x7fc17fc1
	src := splitNumbers(2 * pairs * lds)
	for n := 1; n <= 52; n++ {
		ldd := up(n, 16) + 3
		part := pairs*ldd + 5
		dst := make([]uint32, 2*part)
		for i := range dst {
			dst[i] = stale
		}
		SplitPairs(pairs, n, src, lds, dst, ldd, part)
		for at, got := range dst {
			p, r, i := at/part, at%part/ldd, at%part%ldd
			want := [2]uint16{stale & 0xffff, stale >> 16}
			switch {
			case r >= pairs || i >= up(n, 16):
			case i >= n:
				want = [2]uint16{}
			default:
				want = [2]uint16{splitParts(BF16, 2, src[2*r*lds+i])[p], splitParts(BF16, 2, src[(2*r+1)*lds+i])[p]}
			}
			if !sameHalf(BF16, uint16(got), want[0]) || !sameHalf(BF16, uint16(got>>16), want[1]) {
				t.Fatalf("%d numbers: part %d of pair %d, element %d: %#x, want %#x", n, p, r, i, got, want)
			}
		}
	}
}

// TestHalveF16 takes every float16 apart: the sum of the parts is the number, neither is subnormal, and the low one is zero for zeros alone.
func TestHalveF16(t *testing.T) {
	if !TileSteps(BF16) {
		t.Skip("this processor or mode has no tile registers for halves")
	}
	x := make([]uint16, 1<<16)
	for i := range x {
		x[i] = uint16(i)
	}
	high, low := make([]uint16, len(x)), make([]uint16, len(x))
	for from := 0; from < len(x); {
		n := min(1+from%67, len(x)-from)
		HalveF16(high[from:from+n], low[from:from+n], x[from:from+n])
		from += n
	}
	for i, f := range x {
		v := F16ToF32(f)
		h, l := BF16ToF32(high[i]), BF16ToF32(low[i])
		switch {
		case v != v:
			if l == l {
				t.Fatalf("%#04x: %v + %v is no NaN", i, h, l)
			}
		case h+l != v, flushed(h) != h, flushed(l) != l, l == 0 && v != 0, v == 0 && (h != 0 || l != 0), v != 0 && (math.Signbit(float64(h)) != math.Signbit(float64(v)) || math.Signbit(float64(l)) != math.Signbit(float64(v))):
			t.Fatalf("%#04x, %v: parts %v and %v", i, v, h, l)
		}
	}
}
