package cpu

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestSumColumns compares every variant with plain additions in the order of the rows, bit for bit, NaN being one value.
func TestSumColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	was := Current()
	defer SetMode(was)
	for _, n := range []int{1, 15, 16, 17, 47, 128, 131, 144, 300} {
		for _, rows := range []int{0, 1, 2, 64, 65} {
			stride, from := n+rng.IntN(5), rng.IntN(9)
			x := someLine(rng, from+max(rows, 1)*stride, true).F32[0]
			f16, bf16 := make([]uint16, len(x)), make([]uint16, len(x))
			NarrowF16(f16, x)
			NarrowBF16(bf16, x)
			w16, wbf := make([]float32, len(x)), make([]float32, len(x))
			WidenF16(w16, f16)
			WidenBF16(wbf, bf16)
			want := func(x []float32) []float32 {
				sums := make([]float32, n)
				for i := range rows {
					for k := range sums {
						sums[k] += x[from+i*stride+k]
					}
				}
				return sums
			}
			for _, v := range Variants() {
				SetMode(Mode{Variant: v})
				got := make([]float32, n+1)
				check := func(name string, x []float32) {
					t.Helper()
					for k, w := range want(x) {
						if g := got[k]; !same32(g, w) {
							t.Fatalf("%v %s %d rows of %d, stride %d: column %d is %v, want %v", v, name, rows, n, stride, k, g, w)
						}
					}
					if got[n] != -1 {
						t.Fatalf("%v %s: wrote beyond %d columns", v, name, n)
					}
				}
				got[n] = -1
				SumColumns(got[:n], x[from:], rows, stride)
				check("float32", x)
				SumColumnsF16(got[:n], f16[from:], rows, stride)
				check("float16", w16)
				SumColumnsBF16(got[:n], bf16[from:], rows, stride)
				check("bfloat16", wbf)
			}
		}
	}
}

// TestAddToRows: every variant adds as Go does, and nothing beyond the rows.
func TestAddToRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	was := Current()
	defer SetMode(was)
	for n := range 70 {
		rows, stride := rng.IntN(4), n+rng.IntN(3)
		io := someLine(rng, rows*stride+n+1, true)
		for _, v := range Variants() {
			SetMode(Mode{Variant: v})
			c := append([]float32(nil), io.F32[0]...)
			addToRows(c, rows, stride, io.F32[1][:n])
			want := append([]float32(nil), io.F32[0]...)
			for i := range rows {
				for k, x := range io.F32[1][:n] {
					want[i*stride+k] += x
				}
			}
			for i, w := range want {
				if !same32(c[i], w) {
					t.Fatalf("%v, %d rows of %d, stride %d: element %d is %v, want %v", v, rows, n, stride, i, c[i], w)
				}
			}
		}
	}
}

func BenchmarkSumColumns(b *testing.B) {
	for _, n := range []int{16, 256, 1024} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			x, sums := make([]float32, 512*n), make([]float32, n)
			b.SetBytes(int64(4 * len(x)))
			for b.Loop() {
				SumColumns(sums, x, 512, n)
			}
		})
	}
}

func same32(a, b float32) bool { return a == b && (a != 0 || 1/a == 1/b) || a != a && b != b }
