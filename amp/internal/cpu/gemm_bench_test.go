package cpu

import (
	"fmt"
	"testing"
)

// BenchmarkGemm times square products of every format, each into memory of its own format.
func BenchmarkGemm(b *testing.B) {
	for _, n := range []int{16, 64, 256, 512, 1024} {
		f32, half := make([]float32, n*n), make([]uint16, n*n)
		for i := range f32 {
			f32[i] = float32(i%7) - 3
		}
		NarrowF16(half, f32)
		out := make([]float32, n*n)
		bench := func(name string, run func()) {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				for b.Loop() {
					run()
				}
				b.ReportMetric(2*float64(n*n*n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
		x := Matrix[float32]{Row: n, Col: 1, Elems: f32}
		t := Matrix[float32]{Row: 1, Col: n, Elems: f32}
		bench("float32", func() { GemmTo(n, n, n, x, x, Result[float32]{Row: n, Elems: out}) })
		bench("float32-bT", func() { GemmTo(n, n, n, x, t, Result[float32]{Row: n, Elems: out}) })
		bench("float32-aT", func() { GemmTo(n, n, n, t, x, Result[float32]{Row: n, Elems: out}) })
		h := Matrix[float32]{Row: n, Col: 1, F16: half}
		dst := make([]uint16, n*n)
		bench("float16", func() {
			GemmTo(n, n, n, h, h, Result[float32]{F16: dst, Row: n})
		})
		g := Matrix[float32]{Row: n, Col: 1, BF16: half}
		bench("bfloat16", func() {
			GemmTo(n, n, n, g, g, Result[float32]{BF16: dst, Row: n})
		})
		l := Matrix[float32]{Row: n, Col: 1, Load: func(dst []float32, off, stride int) {
			if stride == 1 {
				copy(dst, f32[off:])
				return
			}
			for i := range dst {
				dst[i] = f32[off+i*stride]
			}
		}}
		bench("load", func() { Gemm(n, n, n, l, l, func(i int, row []float32) { copy(out[i*n:], row) }) })
	}
}
