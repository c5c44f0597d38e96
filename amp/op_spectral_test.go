package amp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestSpectralValues(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a := From([]float64{3, 0, 4, 5}, 2, 2)
	q, r := QR(s, a, "reduced")
	wantValues(t, "Q", q, -0.6, -0.8, -0.8, 0.6)
	wantValues(t, "R", r, -5, -4, 0, 3)
	none, alone := QR(s, a, "r")
	wantValues(t, "R alone", alone, -5, -4, 0, 3)
	if none != nil {
		t.Error(`mode "r" has a Q`)
	}
	w, v := Eigh(s, From([]float64{2, 9, 1, 2}, 2, 2), false)
	h := math.Sqrt2 / 2
	wantValues(t, "eigenvalues", w, 1, 3)
	wantValues(t, "eigenvectors", v, h, h, -h, h)
	wantValues(t, "upper", Eigvalsh(s, From([]float64{2, 1, 9, 2}, 2, 2), true), 1, 3)
	u, values, vh := SVD(s, From([]float64{0, 0, 2, 0, -3, 0}, 2, 3), true)
	wantValues(t, "U", u, 0, 1, -1, 0)
	wantValues(t, "S", values, 3, 2)
	wantValues(t, "Vᵀ", Narrow(s, vh, 0, 0, 2), 0, 1, 0, 0, 0, 1)
	wantValues(t, "SVDVals", SVDVals(s, a), math.Sqrt(45), math.Sqrt(5))
	line := From([]float64{1, 0, 1, 1, 1, 2, 1, 3}, 4, 2)
	fit := Lstsq(s, line, From([]float64{1, 3, 5, 8}), Tolerance{})
	wantValues(t, "Lstsq", fit.Solution, 0.8, 2.3)
	wantValues(t, "residuals", fit.Residuals, 0.3)
	if got := Values[int64](fit.Rank)[0]; got != 2 || !slices.Equal(fit.SingularValues.Shape(), []int{2}) {
		t.Errorf("rank %d, values %v", got, fit.SingularValues.Shape())
	}
	flat := From([]float64{1, 1, 1, 1}, 2, 2)
	wantValues(t, "the smallest solution", Lstsq(s, flat, From([]float64{2, 4}), Tolerance{}).Solution, 1.5, 1.5)
	wantValues(t, "Pinv", Pinv(s, flat, Tolerance{}), 0.25, 0.25, 0.25, 0.25)
	if got := Values[int64](MatrixRank(s, Stack(s, 0, flat, a, Zeros(s, Float64, 2, 2)), Tolerance{})); !slices.Equal(got, []int64{1, 2, 0}) {
		t.Errorf("ranks %v", got)
	}
	if got := Values[int64](MatrixRank(s, a, Tolerance{Atol: 3})); !slices.Equal(got, []int64{1}) {
		t.Errorf("rank with values up to 3 left out: %v", got)
	}
	wantValues(t, "Cond", Cond(s, a, "2"), 3)
	wantValues(t, "Cond, 1", Cond(s, a, "1"), 7*9.0/15)
	wantValues(t, "2", MatrixNorm(s, a, "2", nil, false), math.Sqrt(45))
	wantValues(t, "-2", MatrixNorm(s, a, "-2", []int{1, 0}, true), math.Sqrt(5))
	wantValues(t, "nuc", MatrixNorm(s, a, "nuc", nil, false), 4*math.Sqrt(5))
	wantValues(t, "NuclearNorm", NuclearNorm(s, a), 4*math.Sqrt(5))
	if c := Cond(s, flat, "2").Item(); !(c > 1e15) {
		t.Errorf("condition of a singular matrix %v", c)
	}
}

// TestSpectralEqual: equal eigenvalues and singular values divide nothing, so that functions of values alone have gradients.
func TestSpectralEqual(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float64{2, 0, 0, 2}, 2, 2).RequireGrad()
	Add(s, NuclearNorm(s, x), Sum(s, Eigvalsh(s, x, false))).Backward()
	wantValues(t, "gradient", x.Grad(), 2, 0, 0, 2)
}

func TestSpectralRefusals(t *testing.T) {
	s := NewScope()
	defer s.Close()
	v, whole := From([]float64{1, 2}), From([]int64{1}, 1, 1)
	a := From([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	nan := From([]float64{1, 0, 0, 1, 1, 0, math.NaN(), math.Inf(1)}, 2, 2, 2)
	tall := From([]float64{1, 2, 3, 4, 5, 6}, 3, 2).RequireGrad()
	backward := func(mode string) func() {
		return func() {
			_, r := QR(s, tall, mode)
			Sum(s, r).Backward()
		}
	}
	for name, c := range map[string]struct {
		kind error
		say  string
		f    func()
	}{
		"mode":          {ErrArgument, `mode "full"`, func() { QR(s, a, "full") }},
		"vector":        {ErrShape, "linalg_qr: ", func() { QR(s, v, "r") }},
		"integers":      {ErrDType, "linalg_svd: ", func() { SVD(s, whole, false) }},
		"rows":          {ErrShape, "linalg_eigh: shape mismatch: x is [2 3]", func() { Eigh(s, a, false) }},
		"values":        {ErrShape, "linalg_eigvalsh: shape mismatch: x is [2 3]", func() { Eigvalsh(s, a, false) }},
		"eigh NaN":      {ErrSingular, "matrix 1: not finite, or no convergence, in row 1", func() { Eigh(s, nan, false) }},
		"svd NaN":       {ErrSingular, "matrix 1: not finite, or no convergence, in row 2", func() { SVD(s, nan, false) }},
		"r's gradient":  {ErrGrad, `mode "r" has no Q`, backward("r")},
		"all of Q":      {ErrGrad, `in mode "complete" Q of [3 2]`, backward("complete")},
		"lstsq rows":    {ErrShape, "linalg_lstsq: ", func() { Lstsq(s, a, mT(s, a), Tolerance{}) }},
		"lstsq dtypes":  {ErrDType, "linalg_lstsq: ", func() { Lstsq(s, a, From([]float32{1, 2}), Tolerance{}) }},
		"tolerance":     {ErrArgument, "tolerance {-1 0}", func() { Pinv(s, a, Tolerance{Atol: -1}) }},
		"condition":     {ErrShape, "linalg_cond: ", func() { Cond(s, a, "fro") }},
		"nothing":       {ErrShape, "with elements", func() { Cond(s, Zeros(s, Float64, 0, 2), "2") }},
		"largest":       {ErrShape, "no largest", func() { MatrixNorm(s, Zeros(s, Float64, 0, 2), "2", nil, false) }},
		"nuclear":       {ErrShape, "nuclear_norm: ", func() { NuclearNorm(s, v) }},
		"singular norm": {ErrSingular, "linalg_inv: ", func() { Cond(s, From([]float64{1, 1, 1, 1}, 2, 2), "1") }},
	} {
		if err := Maybe(settled(s, c.f)); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSpectralHasTheBitsOfTheCPU: on a device factors, values and vectors are those of the CPU bit for bit.
func TestSpectralHasTheBitsOfTheCPU(t *testing.T) {
	device := compared(t)
	of := func(on string, m, n int) (out [][]float64) {
		defer SetDefaultDevice(SetDefaultDevice(on))
		s := NewScope(Seed(uint64(100*m + n)))
		defer s.Close()
		a := Randn(s, Float64, 0, 1, 2, m, n)
		k := min(m, n)
		q, r := QR(s, a, "complete")
		u, values, vh := SVD(s, a, true)
		w, v := Eigh(s, Reshape(s, Narrow(s, Reshape(s, a, 2, -1), 1, 0, k*k), 2, k, k), false)
		for _, y := range []*Tensor{q, r, u, values, vh, w, v, Pinv(s, a, Tolerance{})} {
			out = append(out, y.Float64s())
		}
		return out
	}
	for _, size := range [][2]int{{1, 1}, {2, 5}, {5, 2}, {33, 33}, {40, 17}, {17, 40}} {
		want, got := of("cpu", size[0], size[1]), of(device, size[0], size[1])
		for k, list := range want {
			if i := differ(list, got[k]); i >= 0 {
				t.Errorf("%v, result %d element %d: %v, on the CPU %v", size, k, i, got[k][i], list[i])
			}
		}
	}
}
