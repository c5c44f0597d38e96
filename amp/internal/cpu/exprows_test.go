package cpu

import (
	"math"
	"testing"
)

// TestExpRows compares rows with LineExpScale, element for element, and parts with those of SplitRows; sums agree but for the order.
func TestExpRows(t *testing.T) {
	if !TileSteps(BF16) {
		t.Skip("this processor or mode has no tile registers for halves")
	}
	const rows, lds, scale = 5, 301, 0.3
	for n := 32; n <= 288; n += 32 {
		src := splitNumbers(rows * lds)
		top := make([]float32, rows)
		MaxRows(rows, n, src, lds, top)
		for r := range top {
			top[r] *= scale
			if math.IsInf(float64(top[r]), 1) {
				top[r] = 60 // infinities overflow then
			}
		}
		want, sums := append([]float32(nil), src...), make([]float32, rows)
		var io Line
		for r := range rows {
			row := want[r*lds:][:n]
			io.F32[0], io.F32[1], io.Arg[0], io.Arg[1], io.Acc[0] = row, row, top[r], scale, Lanes{}
			LineExpScale.Run(n, &io)
			sums[r] = float32(io.Acc[0].Sum())
		}
		check := func(what string, sum []float32) {
			t.Helper()
			for r, w := range sums {
				if d := math.Abs(float64(sum[r] - w)); !(d <= 1e-5*float64(w)) && !(w != w && sum[r] != sum[r]) && w != sum[r] {
					t.Fatalf("%s, %d: sum %d: %v, want %v", what, n, r, sum[r], w)
				}
			}
		}
		var job ExpRows
		for _, f := range []Format{F16, BF16} {
			const ldd, part, factor = 300, 2000, 1 << 14
			got, exact, sum := make([]uint16, 2*part), make([]uint16, 2*part), make([]float32, rows)
			job.Run(f, rows, n, scale, factor, src, lds, top, sum, got, ldd, part)
			check("parts", sum)
			times := float32(1)
			if f == F16 {
				times = factor
			}
			SplitRows(f, 2, rows, n, times, want, lds, exact, ldd, part)
			for i, w := range exact {
				if r, x := i%part/ldd, i%part%ldd; r < rows && x < n {
					if v := want[r*lds+x]; v-v != 0 {
						continue // the second part of an infinity is of no use
					}
				}
				if !sameHalf(f, got[i], w) {
					t.Fatalf("format %d, %d: element %d: %#x, want %#x", f, n, i, got[i], w)
				}
			}
		}
		sum := make([]float32, rows)
		job.Run(NoHalf, rows, n, scale, 1, src, lds, top, sum, nil, 0, 0)
		check("numbers", sum)
		for i, w := range want {
			if g := src[i]; math.Float32bits(g) != math.Float32bits(w) && !(w != w && g != g) {
				t.Fatalf("%d: element %d: %v, want %v", n, i, g, w)
			}
		}
	}
}
