package amp

import (
	"math"
	"testing"
)

// TestHalvesStayBelow: no half is rounded to the end of its interval, and the numbers that would be become the last one before it; all others are
// those of the stream, as are those of wider dtypes.
func TestHalvesStayBelow(t *testing.T) {
	const n = 1 << 16
	for _, dt := range []DType{Float16, BFloat16} {
		for _, c := range []struct{ lo, hi, below16, belowB16 float64 }{
			{0, 1, 1 - 0x1p-11, 1 - 0x1p-8},
			{-1, 0, -0x1p-24, -0x1p-133},
			{3, 4, 4 - 0x1p-9, 4 - 0x1p-6},
			{-4, -3, -3 - 0x1p-9, -3 - 0x1p-6},
			{0, 0.3, 0.2998046875, 0.298828125},
		} {
			s, wide := NewScope(Seed(3)), NewScope(Seed(3))
			below := c.below16
			if dt == BFloat16 {
				below = c.belowB16
			}
			got, real := Rand(s, dt, c.lo, c.hi, n).Float64s(), To(wide, Rand(wide, Float64, c.lo, c.hi, n), dt).Float64s()
			ends := 0
			for i, v := range got {
				want := real[i]
				if want >= c.hi {
					want = below
					ends++
				}
				if v != want || v < c.lo {
					t.Fatalf("%v in [%v,%v): number %d is %v, not %v", dt, c.lo, c.hi, i, v, want)
				}
			}
			if c.hi != 0.3 && c.hi != 0 && ends == 0 {
				t.Errorf("%v in [%v,%v): none of %d numbers was at the end", dt, c.lo, c.hi, n)
			}
			s.Close()
			wide.Close()
		}
	}
	s := NewScope()
	defer s.Close()
	if v := Rand(s, Float16, 2, 2, 1).Float64s(); v[0] != 2 {
		t.Errorf("in [2,2): %v", v)
	}
	if v := (Numbers{High: 1, B: 1}).Most(Float32); !math.IsInf(v, 1) {
		t.Errorf("float32 numbers are held at %v", v)
	}
}
