package cpu

import (
	"math"
	"slices"
	"testing"
)

// TestMaxRows compares the vectors of every variant with the plain twin: all lengths, NaN, infinities, and rows of nothing else.
func TestMaxRows(t *testing.T) {
	defer SetMode(Current())
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		t.Run(v.String(), testMaxRows)
	}
}

func testMaxRows(t *testing.T) {
	const rows, lds = 3, 109
	src := splitNumbers(rows * lds)
	for i := range 40 { // a row of NaN at first, then infinities
		src[i] = float32(math.NaN())
		src[lds+i] = float32(math.Inf(-1))
	}
	got, want := make([]float32, rows), make([]float32, rows)
	for n := range lds {
		MaxRows(rows, n, src[:(rows-1)*lds+n], lds, got)
		maxRowsPlain(rows, n, src, lds, want)
		if !slices.Equal(got, want) {
			t.Fatalf("%d elements: %v, want %v", n, got, want)
		}
	}
	for n := 1; n < 70; n++ { // the largest at each place of a row that is a slice of its own
		for i := range n {
			row := slices.Repeat([]float32{-3}, n)
			row[i] = -2
			if MaxRows(1, n, row, n, got); got[0] != -2 {
				t.Fatalf("element %d of %d: %v", i, n, got[0])
			}
		}
	}
}

// TestMaxTileRows compares copies and maxima with those of the rows.
func TestMaxTileRows(t *testing.T) {
	if !TileSteps(BF16) {
		t.Skip("this processor or mode has no tile registers for halves")
	}
	const most = 100
	for _, high := range []int{16, 32} {
		tiles := splitNumbers(4 * 32 * high)
		for rows := high - 15; rows <= high; rows++ {
			for n := 1; n <= most; n++ {
				got, largest := make([]float32, rows*(n+3)), make([]float32, rows)
				MaxTileRows(rows, n, tiles, high, got, n+3, largest)
				for r := range rows {
					want, m := make([]float32, n+3), make([]float32, 1)
					for i := range n {
						want[i] = tiles[i/32*32*high+r*32+i%32]
					}
					maxRowsPlain(1, n, want, n, m)
					for i, w := range want {
						if g := got[r*(n+3)+i]; math.Float32bits(g) != math.Float32bits(w) {
							t.Fatalf("%d rows of %d: row %d element %d: %v, want %v", rows, n, r, i, g, w)
						}
					}
					if largest[r] != m[0] {
						t.Fatalf("%d rows of %d: row %d: largest %v, want %v", rows, n, r, largest[r], m[0])
					}
				}
			}
		}
	}
}

// TestWidenBools holds every variant to the definition, at all lengths and an unaligned start.
func TestWidenBools(t *testing.T) {
	defer SetMode(Current())
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		t.Run(v.String(), testWidenBools)
	}
}

func testWidenBools(t *testing.T) {
	src := make([]byte, 80)
	for i := range src {
		src[i] = byte(i * i % 3 * (1 + i%5*60)) // 0, 1 and others
	}
	for n := range len(src) {
		got := make([]float32, n+1)
		got[n] = 7
		WidenBools(got[:n], src)
		for i, g := range got[:n] {
			if g != float32(min(src[i], 1)) {
				t.Fatalf("%d: element %d: %v of %d", n, i, g, src[i])
			}
		}
		if got[n] != 7 {
			t.Fatalf("%d: wrote beyond", n)
		}
	}
}
