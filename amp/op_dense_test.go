package amp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestDenseValues(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a := From([]float64{4, 2, 2, 3}, 2, 2)
	wantValues(t, "Cholesky", Cholesky(s, a, false), 2, 0, 1, math.Sqrt2)
	wantValues(t, "Cholesky, upper", Cholesky(s, From([]float64{4, 2, 9, 3}, 2, 2), true), 2, 1, 0, math.Sqrt2)
	wantValues(t, "Cholesky reads one triangle", Cholesky(s, From([]float64{4, 9, 2, 3}, 2, 2), false), 2, 0, 1, math.Sqrt2)
	l := From([]float64{2, 7, 1, 4}, 2, 2)
	wantValues(t, "lower", SolveTriangular(s, l, From([]float64{2, 9}, 2, 1), Triangular{}), 1, 2)
	wantValues(t, "upper", SolveTriangular(s, l, From([]float64{16, 8}, 2, 1), Triangular{Upper: true}), 1, 2)
	wantValues(t, "unit", SolveTriangular(s, l, From([]float64{1, 3}, 2, 1), Triangular{Unit: true}), 1, 2)
	wantValues(t, "right", SolveTriangular(s, l, From([]float64{4, 8}, 1, 2), Triangular{Right: true}), 1, 2)
	wantValues(t, "CholeskySolve", CholeskySolve(s, From([]float64{8, 8}, 2, 1), Cholesky(s, a, false), false), 1, 2)
	wantValues(t, "CholeskyInverse", CholeskyInverse(s, From([]float64{2, 0, 1, 1}, 2, 2), false), 0.5, -0.5, -0.5, 1)
	b := From([]float64{0, 2, 1, 1, 2, 4, 3, 5}, 2, 2, 2)
	lu, pivots := LUFactor(s, b)
	wantValues(t, "LUFactor", lu, 1, 1, 0, 2, 3, 5, 2./3, 4-10./3)
	if got := Values[int64](pivots); !slices.Equal(got, []int64{2, 2, 2, 2}) {
		t.Errorf("pivots %v", got)
	}
	wantValues(t, "Det", Det(s, b), -2, -2)
	sign, logs := Slogdet(s, b)
	wantValues(t, "sign", sign, -1, -1)
	wantValues(t, "logarithm", logs, math.Ln2, math.Ln2)
	wantValues(t, "Solve", Solve(s, b, From([]float64{4, 3}, 2, 1)), 1, 2, -4, 3)
	wantValues(t, "Solve for vectors", Solve(s, b, From([]float64{4, 3, 10, 13}, 2, 2)), 1, 2, 1, 2)
	wantValues(t, "Inv", Inv(s, From([]float64{0, 2, 1, 1}, 2, 2)), -0.5, 1, 0.5, 0)
}

// TestDenseSingular: determinants of singular matrices are numbers, with the cofactors as their gradient; what needs an inverse is refused.
func TestDenseSingular(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a := From([]float64{1, 2, 2, 4}, 2, 2).RequireGrad()
	d := Det(s, a)
	wantValues(t, "Det", d, 0)
	d.Backward()
	wantValues(t, "cofactors", a.Grad(), 4, -2, -2, 1)
	sign, logs := Slogdet(s, a)
	if v := sign.Float64s()[0]; v != 0 || math.Signbit(v) || !math.IsInf(logs.Float64s()[0], -1) {
		t.Errorf("sign %v, logarithm %v", v, logs.Float64s())
	}
	lu, _ := LUFactor(s, a)
	wantValues(t, "LUFactor", lu, 2, 4, 0.5, 0)
	zero := From([]float64{0, 0, 0, 0, 0, 0, 0, 0, 0}, 3, 3).RequireGrad()
	Det(s, zero).Backward()
	for _, v := range zero.Grad().Float64s() {
		if math.Abs(v) > 1e-15 {
			t.Errorf("cofactors of zeros: %v", zero.Grad().Float64s())
			break
		}
	}
	empty := From([]float64{}, 0, 0)
	wantValues(t, "determinant of nothing", Det(s, empty), 1)
	for name, y := range map[string]*Tensor{"Cholesky": Cholesky(s, empty, false), "Inv": Inv(s, empty), "Solve": Solve(s, empty, empty)} {
		if !slices.Equal(y.Shape(), []int{0, 0}) {
			t.Errorf("%s of nothing: %v", name, y.Shape())
		}
	}
}

func TestDenseRefusals(t *testing.T) {
	s := NewScope()
	defer s.Close()
	two := From([]float32{1, 0, 0, 1, 1, 2, 2, 4}, 2, 2, 2)
	a, v := From([]float64{1, 2, 3, 4, 5, 6}, 2, 3), From([]float64{1, 2})
	sq := From([]float64{2, 0, 0, 2}, 2, 2)
	nan := From([]float64{math.NaN(), 0, 0, 1}, 2, 2)
	for name, c := range map[string]struct {
		kind error
		say  string
		f    func()
	}{
		"cholesky":       {ErrShape, "[… n n]", func() { Cholesky(s, a, false) }},
		"cholesky upper": {ErrShape, "[… n m]", func() { Cholesky(s, v, true) }},
		"indefinite":     {ErrSingular, "matrix 1: its leading minor of order 2 is not positive", func() { Cholesky(s, two, false) }},
		"singular":       {ErrSingular, "matrix 1: pivot 2 is 0", func() { Solve(s, two, From([]float32{1, 1}, 2, 1)) }},
		"singular inv":   {ErrSingular, "linalg_inv: no such factor or inverse: matrix 1: pivot 2 is 0", func() { Inv(s, two) }},
		"NaN":            {ErrSingular, "order 1", func() { Cholesky(s, nan, false) }},
		"integers":       {ErrDType, "linalg_cholesky", func() { Cholesky(s, From([]int64{1}, 1, 1), false) }},
		"triangular":     {ErrShape, "[… n m]", func() { SolveTriangular(s, sq, v, Triangular{}) }},
		"rows":           {ErrShape, "[… n m]", func() { SolveTriangular(s, sq, mT(s, a), Triangular{}) }},
		"dtypes":         {ErrDType, "amp.To", func() { SolveTriangular(s, sq, From([]float32{1, 2}, 2, 1), Triangular{}) }},
		"solve":          {ErrShape, "[… n n]", func() { Solve(s, a, v) }},
		"solve dtypes":   {ErrDType, "amp.To", func() { Solve(s, sq, From([]float32{1, 2})) }},
		"inv":            {ErrShape, "[… n n]", func() { Inv(s, a) }},
		"det":            {ErrShape, "[… n", func() { Det(s, v) }},
	} {
		if err := Maybe(settled(s, c.f)); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDenseResiduals: systems as large as several blocks of the kernels, well conditioned and as ill as Hilbert's matrices, have residuals of
// one rounding in float32, and of some units of the amounts that cancel in float64.
func TestDenseResiduals(t *testing.T) {
	s := NewScope(Seed(3))
	defer s.Close()
	const n = 130
	r := Randn(s, Float64, 0, 1, n, n)
	hilbert := make([]float64, 8*8)
	for i := range hilbert {
		hilbert[i] = 1 / float64(i/8+i%8+1)
	}
	for name, a := range map[string]*Tensor{"normal": r, "Hilbert": fromFloat64s(Float64, hilbert, []int{8, 8})} {
		k := a.Dim(0)
		b := Randn(s, Float64, 0, 1, k, 3)
		x := Solve(s, a, b)
		amounts := Add(s, MatMul(s, Abs(s, a), Abs(s, x)), Abs(s, b))
		if worst := worstOf(Div(s, Abs(s, Sub(s, MatMul(s, a, x), b)), amounts)); worst > float64(k)*0x1p-52 {
			t.Errorf("%s: residual of the system %v", name, worst)
		}
		spd := Add(s, MatMul(s, a, mT(s, a)), MulScalar(s, Eye(s, Float64, k, k), 1e-9))
		l := Cholesky(s, spd, false)
		amounts = MatMul(s, Abs(s, l), Abs(s, mT(s, l)))
		if worst := worstOf(Div(s, Abs(s, Sub(s, MatMul(s, l, mT(s, l)), spd)), amounts)); worst > float64(k)*0x1p-52 {
			t.Errorf("%s: residual of the factor %v", name, worst)
		}
	}
	a32, b32 := To(s, r, Float32), To(s, Randn(s, Float64, 0, 1, n, 3), Float32)
	x := To(s, Solve(s, To(s, a32, Float64), To(s, b32, Float64)), Float32)
	if got := Solve(s, a32, b32).Float64s(); !slices.Equal(got, x.Float64s()) {
		t.Error("the solution in float32 is not that in float64, rounded once")
	}
}

// worstOf is the largest element.
func worstOf(x *Tensor) float64 { return slices.Max(x.Float64s()) }

// TestFactorsHaveTheBitsOfTheCPU: on a device the factors of matrices are those of the CPU bit for bit, and so are pivots, also where
// amounts are equal.
func TestFactorsHaveTheBitsOfTheCPU(t *testing.T) {
	device := compared(t)
	factors := func(on string, n int, whole bool) (out [3][]float64) {
		defer SetDefaultDevice(SetDefaultDevice(on))
		s := NewScope(Seed(uint64(n)))
		defer s.Close()
		a := Randn(s, Float64, 0, 1, 2, n, n)
		if whole {
			a = Round(s, a)
		}
		lu, pivots := LUFactor(s, a)
		l := Cholesky(s, Add(s, Add(s, a, mT(s, a)), MulScalar(s, identities(s, a, n), 8*float64(n))), false)
		return [3][]float64{lu.Float64s(), pivots.Float64s(), l.Float64s()}
	}
	for _, n := range []int{1, 2, 5, 33, 70} {
		for _, whole := range []bool{false, true} {
			want, got := factors("cpu", n, whole), factors(device, n, whole)
			for k, name := range []string{"LU", "pivots", "Cholesky"} {
				if len(want[k]) == 0 || len(want[k]) != len(got[k]) {
					t.Fatalf("n %d: %s has %d numbers, on the CPU %d", n, name, len(got[k]), len(want[k]))
				}
				for i, v := range want[k] {
					if math.Float64bits(v) != math.Float64bits(got[k][i]) {
						t.Errorf("n %d, whole numbers %v: %s %d is %v, on the CPU %v", n, whole, name, i, got[k][i], v)
						break
					}
				}
			}
		}
	}
}
