package cpu

import (
	"math"
	"slices"
	"testing"
)

// TestPackTable compares the vectors of every variant with single elements: runs of every length, rows that are not full, single ones at both ends of
// the source, NaN with their bits, and nothing written behind the last row.
func TestPackTable(t *testing.T) {
	defer SetMode(Current())
	src := splitNumbers(400)
	src[17], src[18], src[40] = float32(math.NaN()), math.Float32frombits(0xffc01234), float32(math.Inf(-1))
	for _, v := range Variants() {
		SetMode(Mode{Variant: v})
		for _, width := range []int{6, 8, 16, 32} {
			for run := 1; run <= 17; run++ {
				for have := 1; have <= width; have++ {
					for _, k := range []int{1, 2, 9, 13, 40} {
						comparePackTable(t, width, run, have, k, src)
					}
				}
			}
		}
	}
}

func comparePackTable(t *testing.T, width, run, have, k int, src []float32) {
	t.Helper()
	along, across := make([]int32, k), make([]int32, have)
	for p := range along {
		along[p] = int32(p*5%k + 30)
	}
	for y := range across {
		across[y] = int32(y/run*(run+3) + y%run - 30)
	}
	slices.Reverse(across[:have/3/run*run]) // some that are no neighbors
	most := slices.Max(across) + slices.Max(along)
	dst := slices.Repeat([]float32{7}, k*width+8)
	packTable(dst, width, src[:most+1], along, across)
	for i, v := range dst {
		want := float32(7)
		if i < k*width {
			want = 0
			if p, y := i/width, i%width; y < have {
				want = src[along[p]+across[y]]
			}
		}
		if math.Float32bits(v) != math.Float32bits(want) {
			t.Fatalf("%v: %d rows of %d of %d, runs of %d: element %d is %v, want %v", Current(), k, have, width, run, i, v, want)
		}
	}
}
