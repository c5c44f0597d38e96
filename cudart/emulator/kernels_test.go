//go:build linux && (amd64 || arm64)

package emulator

import (
	"fmt"
	"math"
	"testing"

	"github.com/x448/float16"

	"github.com/halftone-ml/halftone/cudart/driver"
)

func halves(v []float32) []uint16 {
	out := make([]uint16, len(v))
	for i, x := range v {
		out[i] = float16.Fromfloat32(x).Bits()
	}
	return out
}

func waves(n int, step float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float16.Fromfloat32(float32(math.Sin(float64(i) * step))).Float32()
	}
	return v
}

// orders are settings under which a right kernel gives the same result.
var orders = []string{"order=forward", "order=reversed", "order=shuffled,seed=5", "order=shuffled,seed=6,threads=1"}

func TestRowSum(t *testing.T) {
	d := opened(t)
	const rows, columns = 64, 3000
	x := waves(rows*columns, 0.37)
	for _, order := range orders {
		b := newBench(t, d, order)
		p := struct {
			x, y    driver.DevicePtr
			columns int32
			scale   float32
		}{upload(b, halves(x)), upload(b, make([]float32, rows)), columns, 0.5}
		b.launch("row_sum_f16", rows, 256, 0, structArgs(&p))
		for r, got := range download[float32](b, p.y, rows) {
			var want float64
			for _, v := range x[r*columns : (r+1)*columns] {
				want += float64(v)
			}
			if math.Abs(float64(got)-want/2) > 1e-3 {
				t.Fatalf("%s: row %d sums to %g, want %g", order, r, got, want/2)
			}
		}
	}
}

func TestTensorCoreProduct(t *testing.T) {
	d := opened(t)
	const m, n, k = 32, 24, 80
	a, bt := waves(m*k, 0.11), waves(n*k, 0.23)
	for _, order := range orders {
		b := newBench(t, d, order)
		pa, pb, pc := upload(b, halves(a)), upload(b, halves(bt)), upload(b, make([]float32, m*n))
		f, err := d.Function(b.module, "gemm_mma_f16")
		b.check(err)
		args := driver.GetArgs("").Ptr(pa).Ptr(pb).Ptr(pc).Int32(n).Int32(k)
		b.check(d.Launch(f, [3]uint32{n / 8, m / 16, 1}, [3]uint32{32, 1, 1}, 0, b.stream, args))
		c := download[float32](b, pc, m*n)
		for i := range m {
			for j := range n {
				var want float64
				for l := range k {
					want += float64(a[i*k+l]) * float64(bt[j*k+l])
				}
				if math.Abs(float64(c[i*n+j])-want) > 1e-4 {
					t.Fatalf("%s: element %d,%d is %g, want %g", order, i, j, c[i*n+j], want)
				}
			}
		}
	}
}

func TestUnscaleCheck(t *testing.T) {
	d := opened(t)
	const n = 10000
	for _, bad := range []int{-1, 0, 4321, n - 1} {
		b := newBench(t, d, "order=shuffled,seed=9")
		x := waves(n, 0.5)
		if bad >= 0 {
			x[bad] = float32(math.Inf(1))
		}
		p, flag := upload(b, halves(x)), upload(b, []int32{0})
		b.launch("unscale_check_f16", (n+255)/256, 256, 0, driver.GetArgs("").Ptr(p).Float32(0.25).Int32(n).Ptr(flag))
		if got := download[int32](b, flag, 1)[0] == 1; got != (bad >= 0) {
			t.Errorf("with element %d infinite, found is %v", bad, got)
		}
		if got := download[uint16](b, p, n); got[17] != float16.Fromfloat32(x[17]*0.25).Bits() {
			t.Errorf("element 17 is %#x", got[17])
		}
	}
}

func TestWarpOperations(t *testing.T) {
	d := opened(t)
	for _, order := range orders {
		b := newBench(t, d, order)
		p := upload(b, make([]int64, 32))
		b.launch("warp_words", 1, 32, 0, driver.GetArgs("").Ptr(p))
		for i, got := range download[int64](b, p, 32) {
			want := int64(i^1)<<40 + 0x49249249 + 5
			if i >= 16 {
				want += 15
			}
			if got != want {
				t.Errorf("%s: lane %d has %#x, want %#x", order, i, got, want)
			}
		}
	}
}

// TestConversions compares the emulator's halves with the reference package's, for all of them and for float32 values around.
func TestConversions(t *testing.T) {
	d := opened(t)
	b := newBench(t, d, "")
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	p, flag := upload(b, all), upload(b, []int32{0})
	b.launch("unscale_check_f16", 256, 256, 0, driver.GetArgs("").Ptr(p).Float32(0.3).Int32(1<<16).Ptr(flag))
	for i, got := range download[uint16](b, p, 1<<16) {
		v := float16.Frombits(uint16(i)).Float32() * float32(0.3)
		want := float16.Fromfloat32(v).Bits()
		if v != v {
			want = 0x7fff
		}
		if got != want {
			t.Fatalf("%s", fmt.Sprintf("%#04x · 0.3 is %#04x, want %#04x", i, got, want))
		}
	}
}
