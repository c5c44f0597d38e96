package amp

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// TestGammaIdentities: factorials, the recurrences and the reflections that define the functions, in all dtypes and on both sides of 0.
func TestGammaIdentities(t *testing.T) {
	s := NewScope()
	defer s.Close()
	whole := From([]float64{1, 2, 3, 4, 5, 6})
	wantValues(t, "log Γ(n)", Lgamma(s, whole), 0, 0, math.Log(2), math.Log(6), math.Log(24), math.Log(120))
	x := From([]float64{-7.3, -2.5, -0.6, -1e-3, 1e-3, 0.4, 1.4616, 2, 9.99, 10, 11.5, 13, 150})
	next := AddScalar(s, x, 1)
	wantValues(t, "Γ(x+1) = x·Γ(x)", Sub(s, Lgamma(s, next), Lgamma(s, x)), Log(s, Abs(s, x)).Float64s()...)
	wantValues(t, "ψ(x+1) - ψ(x)", Sub(s, Digamma(s, next), Digamma(s, x)), Reciprocal(s, x).Float64s()...)
	for n := 1; n < 4; n++ {
		step := MulScalar(s, PowScalar(s, x, float64(-n-1)), math.Pow(-1, float64(n))*math.Gamma(float64(n+1)))
		wantValues(t, fmt.Sprint("polygamma ", n), Sub(s, Polygamma(s, n, next), Polygamma(s, n, x)), step.Float64s()...)
	}
	wantValues(t, "derivative 0", Polygamma(s, 0, x), Digamma(s, x).Float64s()...)
	one := Ones(s, Float64, 1)
	wantValues(t, "at 1", Cat(s, 0, Digamma(s, one), Polygamma(s, 1, one), Polygamma(s, 2, one), Polygamma(s, 170, one)),
		-0.5772156649015329, math.Pi*math.Pi/6, -2.4041138063191886, -7.257415615307999e+306) // -γ, ζ(2), -2·ζ(3), -170!
}

// TestGammaLimits: poles, infinities and NaN are those of PyTorch 2.15, but for polygamma(1, x) at negative whole numbers, which are poles.
func TestGammaLimits(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float64{0, math.Copysign(0, -1), -1, -40, inf, -inf, nan})
	wantValues(t, "lgamma", Lgamma(s, x), inf, inf, inf, inf, inf, inf, nan)
	wantValues(t, "digamma", Digamma(s, x), -inf, inf, nan, nan, inf, nan, nan)
	wantValues(t, "trigamma", Polygamma(s, 1, x), inf, inf, inf, inf, 0, nan, nan)
	wantValues(t, "polygamma 2", Polygamma(s, 2, x), -inf, -inf, -inf, -inf, 0, -inf, nan)
	if y := Lgamma(s, FromFloat64s(Float16, []float64{9000}, 1)); !math.IsInf(y.Item(), 1) {
		t.Errorf("float16 holds %v", y)
	}
	if y := Lgamma(s.Autocast(Float16), Ones(s, Float32, 1)); y.dt != Float32 {
		t.Errorf("autocast makes it %v", y.dt)
	}
	for _, n := range []int{-1, 171} {
		if err := Maybe(func() { Polygamma(s, n, x) }); !errors.Is(err, ErrArgument) {
			t.Errorf("derivative %d: %v", n, err)
		}
	}
}
