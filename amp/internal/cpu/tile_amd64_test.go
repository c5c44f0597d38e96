package cpu

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// Tiles below or beside each other in one call are those that as many calls give.
func TestTilesTogether(t *testing.T) {
	if best() < AVX2 {
		t.Skip("no AVX2")
	}
	t.Run("float32", func(t *testing.T) { tilesTogether(t, &ymmF32) })
	t.Run("float64", func(t *testing.T) { tilesTogether(t, &ymmF64) })
}

func tilesTogether[T Float](t *testing.T, kn *kernel[T]) {
	r := rand.New(rand.NewPCG(1, 2))
	numbers := func(n int) []T {
		x := make([]T, n)
		for i := range x {
			x[i] = T(r.NormFloat64())
		}
		return x
	}
	check := func(name string, got, want []T) {
		t.Helper()
		if !slices.Equal(got, want) {
			t.Errorf("%s: not what single tiles give", name)
		}
	}
	for _, k := range []int{1, 2, 3, 4, 5, 7, 8, 23, 24, 28, 64, 65} {
		for _, n := range []int{1, 2, 5} {
			for _, more := range []bool{false, true} {
				apart := kn.cols*k + 3 // of panels, which need not follow each other
				a, b := numbers(n*kn.rows*k), numbers(n*apart)
				name := fmt.Sprintf("k %d, %d tiles, more %v", k, n, more)
				for _, ldb := range []int{kn.cols, kn.cols + 5} {
					ldc := kn.cols + 3
					b := numbers((k-1)*ldb + kn.cols)
					want := numbers(n * kn.rows * ldc)
					got := slices.Clone(want)
					for i := range n {
						kn.tile(kn.rows, kn.cols, k, a[i*kn.rows*k:], b, ldb, want[i*kn.rows*ldc:], ldc, more, unsafe.Pointer(&b[0]))
					}
					kn.tilesDown(n, k, a, b, ldb, got, ldc, more, b[:r.IntN(len(b))])
					check(fmt.Sprintf("down, %s, ldb %d", name, ldb), got, want)
				}
				if kn.tilesAcross == nil {
					continue
				}
				ldc := n*kn.cols + 1
				want := numbers(kn.rows * ldc)
				got := slices.Clone(want)
				for i := range n {
					kn.tile(kn.rows, kn.cols, k, a, b[i*apart:], kn.cols, want[i*kn.cols:], ldc, more, unsafe.Pointer(&b[0]))
				}
				kn.tilesAcross(n, k, a, b, apart, got, ldc, more)
				check("across, "+name, got, want)
			}
		}
	}
}
