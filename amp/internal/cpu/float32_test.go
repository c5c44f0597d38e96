package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// float32Bounds are the errors of the functions in float32 that asmgen/functions_float32.go states: in ulps of the result, and in
// absolute terms beside that, for slopes near their zeros and for subnormal results.
var float32Bounds = map[string]struct{ ulps, absolute float64 }{
	"exp": {1, 0}, "log": {1, 0}, "sin": {2, 0}, "cos": {2, 0}, "tanh": {2, 0}, "sigmoid": {2, 0},
	"silu": {3, 0x1p-142}, "gelu": {5.5, 0x1p-145}, "geluTanh": {4, 0x1p-145},
	"siluSlope": {4, 0x1p-22}, "geluSlope": {4, 0x1p-23}, "geluTanhSlope": {4, 0x1p-22},
}

// checkFloat32 compares n results with the function in float64, and returns the largest error of any in ulps.
func checkFloat32(t *testing.T, name string, n int, next func(i int) float32) float64 {
	f, bound := functionsByName[name].f, float32Bounds[name]
	const block = 4096
	x, y := make([]float32, block), make([]float32, block)
	wide := make([]float64, block)
	worst := 0.0
	for done := 0; done < n; done += block {
		for i := range x {
			x[i] = next(done + i)
			wide[i] = float64(x[i])
		}
		f.F32(y, x)
		f.F64(wide, wide)
		for i, want := range wide {
			got := float64(y[i])
			rounded := float32(want)
			if got != got && want != want || math.Float32bits(rounded) == math.Float32bits(y[i]) {
				continue
			}
			a := float32(math.Abs(want))
			ulp := float64(math.Nextafter32(a, float32(math.Inf(1)))) - float64(a)
			if math.IsInf(float64(rounded), 0) || a == math.MaxFloat32 {
				ulp = 0x1p104
				got = min(max(got, -0x1p128), 0x1p128)
			}
			e := math.Abs(got-want) / ulp
			if !(e <= bound.ulps || math.Abs(got-want) <= bound.absolute) {
				t.Errorf("%s(%v) = %v, want %v: %.2f ulp", name, x[i], got, want, e)
				return e
			}
			if math.Abs(want) >= 0x1p-126 && math.Abs(got-want) > bound.absolute {
				worst = max(worst, e)
			}
		}
	}
	return worst
}

// TestFloat32Functions samples all numbers, and those near 1 more densely.
func TestFloat32Functions(t *testing.T) {
	for name := range float32Bounds {
		r := rand.New(rand.NewPCG(6, 7))
		worst := checkFloat32(t, name, 1<<21, func(i int) float32 {
			switch i % 4 {
			case 0:
				return math.Float32frombits(r.Uint32())
			case 1:
				return float32(r.NormFloat64())
			case 2:
				return float32(r.Float64()*220 - 120) // where results vanish and overflow
			}
			return float32(r.NormFloat64() * 8)
		})
		t.Logf("%s: %.2f ulp", name, worst)
	}
	for name, f := range functionsByName {
		if _, ok := float32Bounds[name]; (f.f.of32 != nil) != ok {
			t.Errorf("%s is computed in float32 and has no bound, or the other way", name)
		}
	}
}

// TestFloat32Limits: signs of zero, infinities, NaN and subnormal numbers.
func TestFloat32Limits(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	tiny := float32(0x1p-149)
	for name, cases := range map[string]map[float32]float32{
		"exp":      {0: 1, inf: inf, -inf: 0, tiny: 1, -104: 0, 89: inf, -103: 0x1p-149},
		"sin":      {0: 0, inf: nan, -inf: nan, tiny: tiny, 1e30: -0.79116344, 1 << 15: 0.92785633, 3e38: 0.8749049},
		"cos":      {0: 1, inf: nan, -inf: nan, tiny: 1, 1e22: 0.67906134, -3e38: -0.48429478},
		"log":      {0: -inf, inf: inf, -1: nan, -inf: nan, 1: 0, tiny: -103.27893},
		"tanh":     {0: 0, inf: 1, -inf: -1, tiny: tiny, 0x1p-126: 0x1p-126, 40: 1},
		"sigmoid":  {0: 0.5, inf: 1, -inf: 0, tiny: 0.5, -200: 0, 200: 1},
		"silu":     {0: 0, inf: inf, -inf: nan, -1000: 0, 3e38: 3e38, 0x1p-148: tiny},
		"gelu":     {0: 0, inf: inf, -inf: nan, -1000: 0, 3e38: 3e38, 0x1p-148: tiny},
		"geluTanh": {0: 0, inf: inf, -inf: nan, -1000: 0, 3e38: 3e38, 0x1p-148: tiny},
	} {
		f := functionsByName[name].f
		if y := f.single(nan); y == y {
			t.Errorf("%s(NaN) = %v", name, y)
		}
		for x, want := range cases {
			if got := f.single(x); got != want && (got == got || want == want) {
				t.Errorf("%s(%v) = %v, want %v", name, x, got, want)
			}
		}
	}
	for _, name := range []string{"tanh", "sin", "silu", "gelu", "geluTanh"} {
		if y := functionsByName[name].f.single(float32(math.Copysign(0, -1))); y != 0 || !math.Signbit(float64(y)) {
			t.Errorf("%s(-0) = %v", name, y)
		}
	}
}

// TestScale32: halfway cases of subnormal results go to the even neighbor.
func TestScale32(t *testing.T) {
	for _, c := range []struct{ y, k, want float32 }{{1.5, -149, 0x1p-148}, {1.25, -149, 0x1p-149}, {1, -150, 0}, {1.0000001, -150, 0x1p-149}, {1.5, 127, 0x1.8p127}, {1, 128, float32(math.Inf(1))}} {
		if got := scale32(c.y, c.k); got != c.want {
			t.Errorf("scale32(%v, %v) = %v, want %v", c.y, c.k, got, c.want)
		}
	}
}

// TestFarArguments: where the form in float32 of sine and cosine does not reach, slices have the values rounded from float64, between others and in
// place too.
func TestFarArguments(t *testing.T) {
	eachMode(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(2, 5))
		for name, f := range map[string]*Function{"sin": Sin, "cos": Cos} {
			for n := range 80 {
				n += n * n / 2
				x, y := make([]float32, n+1)[n%2:][:n], make([]float32, n)
				for i := range x {
					x[i] = float32(r.NormFloat64())
					switch r.IntN(9) {
					case 0:
						x[i] = math.Float32frombits(r.Uint32())
					case 1:
						x[i] = float32(math.Ldexp(r.NormFloat64(), 18+r.IntN(109)))
					}
				}
				f.F32(y, x)
				for i, v := range x {
					want := f.of32(v)
					if math.Abs(float64(v)) > trigReach {
						want = float32(f.of(float64(v)))
					}
					if y[i] != want && (y[i] == y[i] || want == want) {
						t.Fatalf("%s(%v) = %v at %d of %d, want %v", name, v, y[i], i, n, want)
					}
				}
				f.F32(x, x)
				for i, v := range x {
					if math.Float32bits(v) != math.Float32bits(y[i]) {
						t.Fatalf("%s in place: %v at %d of %d, want %v", name, v, i, n, y[i])
					}
				}
			}
		}
	})
}
