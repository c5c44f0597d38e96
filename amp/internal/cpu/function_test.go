package cpu

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// functionsByName are all functions, with package math's where it has one.
var functionsByName = map[string]struct {
	f   *Function
	std func(float64) float64
}{
	"exp": {Exp, math.Exp}, "expm1": {Expm1, math.Expm1}, "log": {Log, math.Log}, "log1p": {Log1p, math.Log1p}, "log2": {Log2, math.Log2},
	"log10": {Log10, math.Log10}, "tanh": {Tanh, math.Tanh}, "sinh": {Sinh, math.Sinh}, "cosh": {Cosh, math.Cosh},
	"sigmoid": {Sigmoid, func(x float64) float64 {
		if x < -40 {
			return math.Exp(x)
		}
		return 1 / (1 + math.Exp(-x))
	}}, "silu": {Silu, nil}, "gelu": {Gelu, nil},
	"geluSlope": {GeluSlope, nil}, "geluTanh": {GeluTanh, nil}, "geluTanhSlope": {GeluTanhSlope, nil}, "siluSlope": {SiluSlope, nil},
	"exp2": {Exp2, math.Exp2}, "asinh": {Asinh, math.Asinh}, "acosh": {Acosh, math.Acosh}, "atanh": {Atanh, math.Atanh}, "erfinv": {Erfinv, math.Erfinv},
	"softplus": {Softplus, func(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }},
	"erf":      {Erf, math.Erf}, "erfc": {Erfc, math.Erfc}, "sin": {Sin, math.Sin}, "cos": {Cos, math.Cos}, "tan": {Tan, math.Tan},
	"asin": {Asin, math.Asin}, "acos": {Acos, math.Acos}, "atan": {Atan, math.Atan},
	"lgamma": {Lgamma, func(x float64) float64 {
		y, _ := math.Lgamma(math.Max(x, -math.MaxFloat64)) // of -∞ it is -∞
		return y
	}},
	"digamma": {Digamma, nil}, "polygamma1": {polygammaOf(1), nil}, "polygamma2": {polygammaOf(2), nil}, "polygamma7": {polygammaOf(7), nil},
}

func polygammaOf(n int) *Function {
	return &Function{of: func(x float64) float64 { return Polygamma(n, x) }}
}

// steps returns how many float64 lie between a and b.
func steps(a, b float64) uint64 {
	order := func(x float64) int64 {
		if i := int64(math.Float64bits(x)); i >= 0 {
			return i
		} else {
			return math.MinInt64 - i
		}
	}
	d := order(a) - order(b)
	return uint64(max(d, -d))
}

// allowed is how many float64 a result may be off. The slopes and digamma are sums that cancel, and gelu takes a rounded multiple of x far
// out on the bell curve.
var allowed = map[string]uint64{"exp": 1, "expm1": 1, "log": 1, "log1p": 1, "log2": 1, "log10": 1, "tanh": 1, "sinh": 1, "cosh": 1, "sigmoid": 1, "erf": 1, "erfc": 1,
	"sin": 1, "cos": 1, "tan": 1, "asin": 1, "acos": 1, "atan": 1, "exp2": 1, "softplus": 2, "silu": 2, "asinh": 3, "acosh": 3, "atanh": 3, "erfinv": 3,
	"lgamma": 2, "digamma": 64, "polygamma1": 4, "polygamma2": 5, "polygamma7": 5,
	"gelu": 60, "geluSlope": 400, "geluTanh": 60, "geluTanhSlope": 400, "siluSlope": 60}

// TestFunctionVectors holds the functions to values computed with 400 bits (mpmath) and rounded: the neighbor is allowed.
func TestFunctionVectors(t *testing.T) {
	raw, err := os.ReadFile("testdata/functions.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string][]string
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for name, f := range functionsByName {
		if len(cases[name]) < 50 {
			t.Errorf("%s: %d vectors", name, len(cases[name]))
		}
		for _, line := range cases[name] {
			a, b, _ := strings.Cut(line, " ")
			u, err1 := strconv.ParseUint(a, 16, 64)
			v, err2 := strconv.ParseUint(b, 16, 64)
			if err1 != nil || err2 != nil {
				t.Fatal(line)
			}
			x, want := math.Float64frombits(u), math.Float64frombits(v)
			if got := f.f.Of(x); steps(got, want) > allowed[name] {
				t.Errorf("%s(%v) = %v, want %v, %d steps away", name, x, got, want, steps(got, want))
			}
		}
	}
}

// better holds values where package math is off, computed with 400 bits (mpmath).
var better = map[string]map[float64]float64{
	"log":    {5e-324: -744.4400719213812, 1e-310: -713.8013788281542},
	"log10":  {5e-324: -323.3062153431158, 1e-310: -310},
	"log2":   {1 + 0x1p-52: 3.203426503814917e-16},
	"lgamma": {5e-324: 744.4400719213812, 1e-310: 713.8013788281542},
}

// TestFunctionLimits compares with package math where formulas break: zeros, infinities, NaN, the ends of the ranges.
func TestFunctionLimits(t *testing.T) {
	inf := math.Inf(1)
	values := []float64{0, 5e-324, 1e-310, 0x1p-1022, 1e-300, 1e-20, 1e-17, 1e-8, 0.25, 0.5, 0.52, 1, math.Nextafter(1, 2), 2, 20, 40, 300, 708, 709.5, 709.79,
		710.3, 711, 745, 746, 800, 1e5, 1 << 20, 1<<20 + 1, 1e10, 1e22, 1e300, inf}
	for name, f := range functionsByName {
		if f.std == nil {
			continue
		}
		for _, v := range values {
			for _, x := range []float64{v, -v} {
				got, want := f.f.Of(x), f.std(x)
				if exact, ok := better[name][v]; ok && (x > 0 || name == "lgamma") {
					want = exact
				}
				if got != got && want != want {
					continue
				}
				tiny := math.Abs(got-want) <= 2*0x1p-1074
				if steps(got, want) > 4 && !tiny && math.Abs(got-want) > 1e-15*math.Abs(want) || math.Signbit(got) != math.Signbit(want) && want == 0 {
					t.Errorf("%s(%v) = %v, want %v", name, x, got, want)
				}
			}
		}
		if y := f.f.Of(math.NaN()); y == y {
			t.Errorf("%s(NaN) = %v", name, y)
		}
	}
	for x, want := range map[float64]float64{-inf: 0, -1000: 0, -50: 0, 0: 0, 50: 50, inf: inf} {
		if got := Silu.Of(x); math.Abs(got-want) > 1e-19 && x != -inf {
			t.Errorf("silu(%v) = %v", x, got)
		}
		if got := Gelu.Of(x); got != want && x != -inf {
			t.Errorf("gelu(%v) = %v", x, got)
		}
	}
}

// single is one element of F32, without vectors.
func (f *Function) single(x float32) float32 {
	if f.of32 != nil {
		return f.of32(x)
	}
	return float32(f.of(float64(x)))
}

// shorter are the programs in float64 to the digits of float32, which CUDA kernels are made of.
var shorter = map[string]func(float64) float64{"exp": exp32, "tanh": tanh32, "sigmoid": sigmoid32, "silu": silu32, "gelu": gelu32, "geluTanh": geluTanh32}

// TestShorterFunctions: what is computed to fewer digits for float32 is the rounded float64 function, or, once in many
// thousands of times, its neighbor.
func TestShorterFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 7))
	for name, short := range shorter {
		off := 0
		const n = 200000
		for i := range n {
			x := float32(r.NormFloat64() * 8)
			switch i % 4 {
			case 0:
				x = math.Float32frombits(r.Uint32())
			case 1:
				x = float32(r.NormFloat64())
			case 2:
				x = float32(r.Float64()*220 - 120) // where results vanish and overflow
			}
			got, want := float32(short(float64(x))), float32(functionsByName[name].f.Of(float64(x)))
			if math.Float32bits(got) == math.Float32bits(want) || want != want && got != got {
				continue
			}
			off++
			if d := int64(math.Float32bits(got)) - int64(math.Float32bits(want)); d < -1 || d > 1 {
				t.Errorf("%s(%v) = %v, want %v", name, x, got, want)
			}
		}
		if off > n/500 {
			t.Errorf("%s: %d of %d results are not the nearest", name, off, n)
		}
	}
}

// TestFunctionsOnEveryVariant: slices have the bits of single values, whatever the variant, the type and the length.
func TestFunctionsOnEveryVariant(t *testing.T) {
	eachMode(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4))
		for name, f := range functionsByName {
			for round := range 12 {
				n := 1 + r.IntN(300)
				x, y := make([]float64, n), make([]float64, n)
				x32, y32 := make([]float32, n), make([]float32, n)
				for i := range x {
					x[i], x32[i] = r.NormFloat64()*4, float32(r.NormFloat64()*4)
					if round%3 == 0 {
						x[i], x32[i] = math.Float64frombits(r.Uint64()), math.Float32frombits(r.Uint32())
					}
				}
				f.f.F64(y, x)
				f.f.F32(y32, x32)
				for i := range x {
					if w := f.f.Of(x[i]); math.Float64bits(y[i]) != math.Float64bits(w) && w == w {
						t.Fatalf("%s(%x): %x, alone %x", name, x[i], y[i], w)
					}
					if w := f.f.single(x32[i]); math.Float32bits(y32[i]) != math.Float32bits(w) && w == w {
						t.Fatalf("%s(%x) in float32: %x, alone %x", name, x32[i], y32[i], w)
					}
				}
			}
		}
	})
}

func TestPow(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	special := []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 0.5, -0.5, 3, 1e300, -1e300, 1e-300, 5e-324, math.Inf(1), math.Inf(-1), math.NaN(), 1 << 62, 1e19, 1 + 0x1p-52}
	same := func(x, y float64) {
		got, want := Pow(x, y), math.Pow(x, y)
		if got != got && want != want {
			return
		}
		if math.Abs(got-want) > 4e-14*math.Abs(want) && steps(got, want) > 2 || math.Signbit(got) != math.Signbit(want) {
			t.Errorf("Pow(%v, %v) = %v, want %v", x, y, got, want)
		}
	}
	for _, x := range special {
		for _, y := range special {
			same(x, y)
		}
	}
	for range 20000 {
		same(r.ExpFloat64(), r.NormFloat64()*20)
		same(r.NormFloat64()*3, float64(r.IntN(41)-20))
	}
}

func TestAtan2(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 10))
	special := []float64{0, math.Copysign(0, -1), 1, -1, 1e-300, -1e300, math.Inf(1), math.Inf(-1), math.NaN()}
	same := func(y, x float64) {
		got, want := Atan2(y, x), math.Atan2(y, x)
		if steps(got, want) > 3 && (got == got || want == want) {
			t.Errorf("Atan2(%v, %v) = %v, want %v", y, x, got, want)
		}
	}
	for _, x := range special {
		for _, y := range special {
			same(y, x)
		}
	}
	for range 10000 {
		same(r.NormFloat64(), r.NormFloat64())
	}
}
