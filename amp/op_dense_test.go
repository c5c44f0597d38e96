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

// TestDenseSmallDeterminants: cofactors are right where the determinant of the dtype is 0 by underflow, or would be of a pivot that is 0.
func TestDenseSmallDeterminants(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for dt, scale := range map[DType]float64{Float16: 0x1p-13, BFloat16: 0x1p-70, Float32: 0x1p-70, Float64: 0x1p-400} {
		for _, v := range [][]float64{{1, 2, 2, 4}, {1, 2, 2, 8}} {
			a := fromFloat64s(dt, []float64{v[0] * scale, v[1] * scale, v[2] * scale, v[3] * scale}, []int{2, 2}).RequireGrad()
			d := Det(s, a)
			g := Grad(s, []*Tensor{d}, []*Tensor{a})[0].Float64s()
			for i, want := range []float64{v[3], -v[2], -v[1], v[0]} {
				if !(math.Abs(g[i]/scale-want) <= 1e-2) {
					t.Errorf("%v: cofactors %v of %v·2^%v, whose determinant is %v", dt, g, v, math.Log2(scale), d.Item())
					break
				}
			}
		}
	}
}

// TestDenseZeros: a 0 on a diagonal keeps its sign, and is told even where no right-hand sides are.
func TestDenseZeros(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, zero := range []float64{0, math.Copysign(0, -1)} {
		a := From([]float64{1, 1, 1, zero}, 2, 2)
		for _, upper := range []bool{false, true} {
			x := SolveTriangular(s, a, From([]float64{1, 3}, 2, 1), Triangular{Upper: upper}).Float64s()
			if want := math.Copysign(math.Inf(1), zero); x[1] != want {
				t.Errorf("upper %v, a diagonal with %v: %v", upper, zero, x)
			}
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
	half, whole := From([]float64{1, 0, 1, 0}, 2, 2), From([]int64{1}, 1, 1)
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
		"nothing":        {ErrSingular, "linalg_solve: no such factor or inverse: matrix 1: pivot 2 is 0", func() { Solve(s, two, Zeros(s, Float32, 2, 0)) }},
		"zero":           {ErrSingular, "cholesky_inverse: no such factor or inverse: matrix 0: element 2 of its diagonal is 0", func() { CholeskyInverse(s, half, false) }},
		"zero upper":     {ErrSingular, "cholesky_inverse: no such factor or inverse: matrix 0: element 2 of its diagonal is 0", func() { CholeskyInverse(s, half, true) }},
		"integers":       {ErrDType, "linalg_cholesky", func() { Cholesky(s, whole, false) }},
		"integers det":   {ErrDType, "linalg_det: ", func() { Det(s, whole) }},
		"integers solve": {ErrDType, "linalg_solve: ", func() { Solve(s, whole, whole) }},
		"triangular":     {ErrShape, "[… n m]", func() { SolveTriangular(s, sq, v, Triangular{}) }},
		"rows":           {ErrShape, "linalg_solve_triangular: ", func() { SolveTriangular(s, sq, mT(s, a), Triangular{}) }},
		"right":          {ErrShape, "a is [2 2], b [2 3]", func() { SolveTriangular(s, sq, a, Triangular{Right: true}) }},
		"dtypes":         {ErrDType, "amp.To", func() { SolveTriangular(s, sq, From([]float32{1, 2}, 2, 1), Triangular{}) }},
		"cholesky solve": {ErrShape, "cholesky_solve: ", func() { CholeskySolve(s, mT(s, a), sq, false) }},
		"factor":         {ErrShape, "cholesky_inverse: shape mismatch: factor is [2 3]", func() { CholeskyInverse(s, a, false) }},
		"solve":          {ErrShape, "linalg_solve: shape mismatch: a is [2 3]", func() { Solve(s, a, v) }},
		"solve rows":     {ErrShape, "linalg_solve: shape mismatch: a float64 [2 2], b float64 [3 2]", func() { Solve(s, sq, mT(s, a)) }},
		"solve vector":   {ErrShape, "linalg_solve: shape mismatch: a float64 [2 2], b float64 [3]", func() { Solve(s, sq, Zeros(s, Float64, 3)) }},
		"solve number":   {ErrShape, "linalg_solve: ", func() { Solve(s, sq, Zeros(s, Float64)) }},
		"solve dtypes":   {ErrDType, "amp.To", func() { Solve(s, sq, From([]float32{1, 2})) }},
		"lu":             {ErrShape, "linalg_lu_factor: shape mismatch: x is [2 3]", func() { LUFactor(s, a) }},
		"inv":            {ErrShape, "linalg_inv: shape mismatch: x is [2 3]", func() { Inv(s, a) }},
		"det":            {ErrShape, "[… n", func() { Det(s, v) }},
		"slogdet":        {ErrShape, "linalg_slogdet: ", func() { Slogdet(s, a) }},
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

// TestFactorsHaveTheBitsOfTheCPU: on a device the factors of matrices, and the solutions of systems, are those of the CPU bit for bit, and so
// are pivots, also where amounts are equal.
func TestFactorsHaveTheBitsOfTheCPU(t *testing.T) {
	device := compared(t)
	names := []string{"LU", "pivots", "Cholesky", "lower", "upper, transposed", "system", "inverse"}
	factors := func(on string, n int, whole bool) (out [][]float64) {
		defer SetDefaultDevice(SetDefaultDevice(on))
		s := NewScope(Seed(uint64(n)))
		defer s.Close()
		a := Randn(s, Float64, 0, 1, 2, n, n)
		if whole {
			a = Round(s, a)
		}
		lu, pivots := LUFactor(s, a)
		l := Cholesky(s, Add(s, Add(s, a, mT(s, a)), MulScalar(s, identities(s, a, n), 8*float64(n))), false)
		b := Randn(s, Float64, 0, 1, n, 19)
		regular := Add(s, a, MulScalar(s, Eye(s, Float64, n, n), 2.5))
		x := Solve(s, regular, b)
		lower := SolveTriangular(s, l, b, Triangular{})
		upper := SolveTriangular(s, mT(s, l), b, Triangular{Upper: true})
		for _, y := range []*Tensor{lu, pivots, l, lower, upper, x, Inv(s, regular)} {
			out = append(out, y.Float64s())
		}
		return out
	}
	for _, n := range []int{1, 2, 5, 33, 70} {
		for _, whole := range []bool{false, true} {
			want, got := factors("cpu", n, whole), factors(device, n, whole)
			for k, name := range names {
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
