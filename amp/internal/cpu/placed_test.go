package cpu

import (
	"math"
	"slices"
	"testing"
)

// TestPlacedMaxima compares the vectors of every variant with the plain twin, and that with its definition: odd sizes, unaligned starts, rows apart,
// equal elements, zeros of both signs, NaN of both signs, infinities.
func TestPlacedMaxima(t *testing.T) {
	defer SetMode(Current())
	nan := float32(math.NaN())
	odd := []float32{0, float32(math.Copysign(0, -1)), nan, -nan, float32(math.Inf(1)), float32(math.Inf(-1)), 1, 1, -1, math.SmallestNonzeroFloat32}
	src := splitNumbers(1200)
	for i := 0; i < len(src); i += 3 {
		src[i] = odd[i/3*7%len(odd)]
	}
	for i := range 130 { // columns of the least number alone, and of few values
		src[i] = float32(math.Inf(-1))
		src[500+i] = odd[i%2]
	}
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for n := range 42 {
			for rows := 1; rows < 6; rows++ {
				for _, lds := range []int{n, n + 5, 121} {
					comparePlaced(t, rows, n, src[n%7+rows*50:], lds, 3*n)
				}
			}
		}
	}
}

func comparePlaced(t *testing.T, rows, n int, src []float32, lds, first int) {
	t.Helper()
	got, want := make([]int64, n+1), make([]int64, n+1)
	got[n], want[n] = 7, 7
	PlacedMaxima(rows, n, src, lds, first, got)
	placedMaximaPlain(rows, n, src, lds, first, want)
	if !slices.Equal(got, want) {
		t.Fatalf("%v, %d×%d rows %d apart: %x, want %x", Current(), rows, n, lds, got, want)
	}
	for i, key := range want[:n] {
		best, most := 0, src[i]
		for r := 1; r < rows; r++ {
			if v := src[r*lds+i]; v > most || v != v {
				best, most = r, v
			}
		}
		if at := PlaceOfKey(key); at != int64(first+best*lds+i) {
			t.Fatalf("%d×%d rows %d apart: the largest of column %d at %d, want %d", rows, n, lds, i, at, first+best*lds+i)
		}
	}
}
