package cpu

import (
	"math"
	"testing"
)

// TestExpRows compares rows with LineExpScale, whose exponentials are exact to float32, and parts with what SplitRows makes of the numbers.
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
			if top[r] > 1e4 {
				top[r] = 60 // infinities, and what is much larger, overflow then
			}
		}
		want := append([]float32(nil), src...)
		var io Line
		for r := range rows {
			row := want[r*lds:][:n]
			io.F32[0], io.F32[1], io.Arg[0], io.Arg[1] = row, row, top[r], scale
			LineExpScale.Run(n, &io)
		}
		got, sum := append([]float32(nil), src...), make([]float32, rows)
		var job ExpRows
		job.Run(NoHalf, rows, n, scale, 1, got, lds, top, sum, nil, 0, 0)
		for i, w := range want {
			g, bound := float64(got[i]), 0.0
			if r, x := i/lds, i%lds; x < n {
				// The series, and in units of 2^-24: x·scale once, its difference from top twice, and its product with log2 e once.
				most := math.Abs(float64(top[r])) + math.Abs(scale*float64(src[i]))
				bound = (0x1p-22 + 0x1p-22*most) * float64(w)
				if w < 0x1p-125 {
					bound = 0x1p-125 // zero from another number on
				}
			}
			if w != w && g != g || g == float64(w) {
				continue
			}
			if !(math.Abs(g-float64(w)) <= bound) {
				t.Fatalf("%d: element %d: e^(%v·%v - %v): %v, want %v", n, i, src[i], float32(scale), top[i/lds], g, w)
			}
		}
		check := func(what string, sum []float32) {
			t.Helper()
			for r := range rows {
				w := 0.0
				for _, v := range got[r*lds:][:n] {
					w += float64(v)
				}
				if s := float64(sum[r]); !(math.Abs(s-w) <= 1e-5*w) && s != w && !(s != s && w != w) && !(math.IsInf(s, 1) && w > math.MaxFloat32) {
					t.Fatalf("%s, %d: sum %d: %v, want %v", what, n, r, s, w)
				}
			}
		}
		check("numbers", sum)
		for _, f := range []Format{F16, BF16} {
			const ldd, part, factor = 300, 2000, 1 << 14
			halves, exact := make([]uint16, 2*part), make([]uint16, 2*part)
			clear(sum)
			job.Run(f, rows, n, scale, factor, src, lds, top, sum, halves, ldd, part)
			check("parts", sum)
			times := float32(1)
			if f == F16 {
				times = factor
			}
			SplitRows(f, 2, rows, n, times, got, lds, exact, ldd, part)
			for i, w := range exact {
				if r, x := i%part/ldd, i%part%ldd; r < rows && x < n {
					if v := got[r*lds+x] * times; v-v != 0 || f == F16 && v > 65504 {
						continue // the second part of an infinity is of no use
					}
				}
				if !sameHalf(f, halves[i], w) {
					t.Fatalf("format %d, %d: element %d: %#x, want %#x", f, n, i, halves[i], w)
				}
			}
		}
	}
}
