package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
)

// naive multiplies the way a page of a textbook does, in float64.
func naive(m, n, k int, a, b []float64) []float64 {
	c := make([]float64, m*n)
	for i := range m {
		for j := range n {
			for p := range k {
				c[i*n+j] += a[i*k+p] * b[p*n+j]
			}
		}
	}
	return c
}

// view lays a row-major matrix out in memory with the given strides and returns it as an operand.
func view[T Float](data []float64, rows, cols int, transposed bool, gap int) Matrix[T] {
	mem := make([]T, 3+rows*cols*gap)
	x := Matrix[T]{Off: 3, Row: cols * gap, Col: gap}
	if transposed {
		x.Row, x.Col = gap, rows*gap
	}
	for i := range rows {
		for j := range cols {
			mem[3+i*x.Row+j*x.Col] = T(data[i*cols+j])
		}
	}
	x.Load = func(dst []T, off, stride int) {
		for i := range dst {
			dst[i] = mem[off+i*stride]
		}
	}
	return x
}

func checkGemm[T Float](t *testing.T, m, n, k int, ta, tb bool, gap int, tol float64) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(m), uint64(n*100+k)))
	a, b := make([]float64, m*k), make([]float64, k*n)
	for _, v := range [][]float64{a, b} {
		for i := range v {
			v[i] = float64(r.IntN(17) - 8) // exact in every type
		}
	}
	want, got := naive(m, n, k, a, b), make([]float64, m*n)
	rows := make([]atomic.Int32, m)
	Gemm(m, n, k, view[T](a, m, k, ta, gap), view[T](b, k, n, tb, gap), func(i int, row []T) {
		rows[i].Add(1)
		for j, v := range row {
			got[i*n+j] = float64(v)
		}
	})
	for i := range rows {
		if c := rows[i].Load(); n > 0 && c != 1 {
			t.Fatalf("%d×%d×%d: row %d stored %d times", m, n, k, i, c)
		}
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol) {
			t.Fatalf("%d×%d×%d transposed %v %v gap %d: element %d is %v, want %v", m, n, k, ta, tb, gap, i, got[i], want[i])
		}
	}
}

// TestGemmShapes covers every small shape, where tails and empty loops hide, and some that are split over workers.
func TestGemmShapes(t *testing.T) {
	for m := range 10 {
		for n := range 10 {
			for k := range 10 {
				flip := (m + n + k) % 4
				checkGemm[float32](t, m, n, k, flip&1 != 0, flip&2 != 0, 1+k%3, 0)
			}
		}
	}
	for _, s := range [][3]int{{1, 1, 600}, {65, 3, 257}, {3, 65, 513}, {300, 70, 300}, {512, 16, 8}} {
		for flip := range 4 {
			checkGemm[float32](t, s[0], s[1], s[2], flip&1 != 0, flip&2 != 0, 1, 0)
			checkGemm[float64](t, s[0], s[1], s[2], flip&1 != 0, flip&2 != 0, 2, 0)
			checkGemm[int64](t, s[0], s[1], s[2], flip&1 != 0, flip&2 != 0, 1, 0)
		}
	}
}

func TestParallelCoversOnce(t *testing.T) {
	for _, c := range [][2]int{{0, 1}, {1, 1}, {10, 3}, {1000, 7}, {100000, 1000}, {5, 100}} {
		seen := make([]atomic.Int32, c[0])
		Parallel(c[0], c[1], func(lo, hi int) {
			if hi-lo > c[1] || lo%c[1] != 0 {
				t.Errorf("range %d…%d of grain %d", lo, hi, c[1])
			}
			for i := lo; i < hi; i++ {
				seen[i].Add(1)
			}
		})
		for i := range seen {
			if seen[i].Load() != 1 {
				t.Fatalf("%v: item %d done %d times", c, i, seen[i].Load())
			}
		}
	}
}

// TestParallelNests: a worker that splits its own part must not wait for itself.
func TestParallelNests(t *testing.T) {
	var n atomic.Int64
	Parallel(64, 1, func(lo, hi int) {
		Parallel(64, 1, func(lo, hi int) { n.Add(int64(hi - lo)) })
	})
	if n.Load() != 64*64 {
		t.Error(n.Load())
	}
}

func TestParallelPanicReachesTheCaller(t *testing.T) {
	defer func() {
		if r := recover(); fmt.Sprint(r) != "boom" {
			t.Errorf("recovered %v", r)
		}
		Parallel(100, 1, func(lo, hi int) {}) // the workers are still there
	}()
	Parallel(100, 1, func(lo, hi int) {
		if lo == 50 {
			panic("boom")
		}
	})
	t.Error("returned")
}

func TestF64ToHalfRoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		// Numbers beside the midpoint of two float16 neighbors, where a second rounding goes wrong.
		h := uint16(r.IntN(0x7bff))
		lo, hi := float64(F16ToF32(h)), float64(F16ToF32(h+1))
		if h+1 == 0x7c00 {
			hi = 65536
		}
		mid := (lo + hi) / 2
		for _, c := range []struct {
			x    float64
			want uint16
		}{{math.Nextafter(mid, lo), h}, {math.Nextafter(mid, hi), h + 1}, {mid, h + h&1}} {
			if got := F64ToF16(c.x); got != c.want {
				t.Fatalf("%v: %04x, want %04x", c.x, got, c.want)
			}
			if got := F64ToF16(-c.x); got != c.want|0x8000 {
				t.Fatalf("%v: %04x", -c.x, got)
			}
		}
	}
	if F64ToF16(math.NaN())&0x7fff <= 0x7c00 || F64ToBF16(math.NaN())&0x7fff <= 0x7f80 {
		t.Error("NaN lost")
	}
	if F64ToBF16(1e300) != 0x7f80 || F64ToF16(math.Inf(-1)) != 0xfc00 || F64ToBF16(math.Inf(1)) != 0x7f80 {
		t.Error("infinities")
	}
}

// TestWide: float32 in float64, as sums and products of every variant, for lengths that leave parts of a register.
func TestWide(t *testing.T) {
	now := Current()
	defer SetMode(now)
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), 1e-45, -1e-40, math.MaxFloat32}
	for name, f := range map[string]struct {
		all func(dst []float64, src []float32)
		one func(y float64, x float32) float64
	}{
		"AddWide":  {AddWide, func(y float64, x float32) float64 { return y + float64(x) }},
		"MulWide":  {MulWide, func(y float64, x float32) float64 { return y * float64(x) }},
		"WidenF64": {WidenF64, func(_ float64, x float32) float64 { return float64(x) }},
	} {
		for n := range 70 {
			src, dst := make([]float32, n+1)[1:], make([]float64, n+1)
			for i := range src {
				src[i], dst[i] = float32(i)/3, float64(i)*1e-9
				if i%5 == 4 {
					src[i] = special[i/5%len(special)]
				}
			}
			for _, v := range Variants() {
				SetMode(Mode{Variant: v})
				got := slices.Clone(dst)
				f.all(got[:n], src)
				for i := range src {
					if want := f.one(dst[i], src[i]); math.Float64bits(got[i]) != math.Float64bits(want) && (got[i] == got[i] || want == want) {
						t.Fatalf("%s, %v, %d elements: element %d is %v, want %v", name, v, n, i, got[i], want)
					}
				}
				if got[n] != dst[n] {
					t.Fatalf("%s, %v: wrote behind %d elements", name, v, n)
				}
			}
		}
	}
}
