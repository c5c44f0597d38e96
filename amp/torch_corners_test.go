package amp

import (
	"math"
	"slices"
	"testing"
)

// TestCornersOfPyTorch holds gradients where several are right to those that PyTorch 2.15 takes: at a margin, with ties, and below an eps.
func TestCornersOfPyTorch(t *testing.T) {
	s := NewScope()
	defer s.Close()
	inf := math.Inf(1)
	hinge := func(target, margin float64) func(in []*Tensor) *Tensor {
		return func(in []*Tensor) *Tensor {
			return HingeEmbeddingLoss(s, in[0], FullLike(s, in[0], target), margin, ReduceSum)
		}
	}
	cdist := func(in []*Tensor) *Tensor { return Sum(s, Cdist(s, in[0], in[1], inf)) }
	pdist := func(in []*Tensor) *Tensor { return Sum(s, Pdist(s, in[0], inf)) }
	cosine := func(eps float64) func(in []*Tensor) *Tensor {
		return func(in []*Tensor) *Tensor { return Sum(s, CosineSimilarity(s, in[0], in[1], 1, eps)) }
	}
	for name, c := range map[string]struct {
		f    func(in []*Tensor) *Tensor
		in   [][]float64 // rows of two, or of three where there are three numbers
		want [][]float64
	}{
		"hinge, different":   {hinge(-1, 2), [][]float64{{1, 2, 3}}, [][]float64{{-1, 0, 0}}},
		"hinge, similar":     {hinge(1, 2), [][]float64{{1, 2, 3}}, [][]float64{{1, 1, 1}}},
		"hinge, neither":     {hinge(0, 2), [][]float64{{1, 2, 3}}, [][]float64{{0, 1, 1}}},
		"cdist, two largest": {cdist, [][]float64{{0, 0}, {1, 1}}, [][]float64{{-1, -1}, {1, 1}}},
		"cdist, of three":    {cdist, [][]float64{{0, 0, 0}, {1, -1, 0.5}}, [][]float64{{-1, 1, 0}, {1, -1, 0}}},
		"cdist, equal":       {cdist, [][]float64{{0, 0}, {0, 0}}, [][]float64{{0, 0}, {0, 0}}},
		"cdist, many":        {cdist, [][]float64{{0, 0, 1, 2}, {1, 1, 2, 3, 0, 1}}, [][]float64{{-1, -3, 0, 1}, {1, 0, 1, 2, -1, 0}}},
		"pdist":              {pdist, [][]float64{{0, 0, 1, 2, 1, 1, 2, 3, 0, 1}}, [][]float64{{-1, -4, 0, 2, 2, -1, 2, 4, -3, -1}}},
		"cosine below eps":   {cosine(1e-3), [][]float64{{5e-4, 1e-4}, {1, 2}}, [][]float64{{140.24328874249767, 833.0331296484238}, {0.16099689437998488, -0.08049844718999241}}},
		"cosine of 0":        {cosine(1e-8), [][]float64{{0, 0}, {1, 2}}, [][]float64{{44721359.549995795, 89442719.09999159}, {0, 0}}},
	} {
		in := make([]*Tensor, len(c.in))
		for i, v := range c.in {
			columns := 2
			if len(v) == 3 {
				columns = 3
			}
			in[i] = FromFloat64s(Float64, v, len(v)/columns, columns).RequireGrad()
		}
		for i, g := range Grad(s, []*Tensor{c.f(in)}, in) {
			if got := g.Float64s(); !slices.EqualFunc(got, c.want[i], func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }) {
				t.Errorf("%s: gradient %d is %v, want %v", name, i, got, c.want[i])
			}
		}
	}
}

// TestTiesOfCdistTwice: the gradient of the gradient for dy, with ties.
func TestTiesOfCdistTwice(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a, b := From([]float64{0, 0}, 1, 2).RequireGrad(), From([]float64{1, 1}, 1, 2)
	w := From([]float64{3}, 1, 1).RequireGrad()
	g := Grad(s, []*Tensor{Sum(s, Mul(s, w, Cdist(s, a, b, math.Inf(1))))}, []*Tensor{a}, CreateGraph())[0]
	wantValues(t, "gradient", g, -3, -3)
	wantValues(t, "of the weight", Grad(s, []*Tensor{Sum(s, g)}, []*Tensor{w})[0], -2)
}

// TestProductsOnCPUList: what ends in a number, or sums nothing but sizes of 1, is no product of matrices, which PyTorch's list for the CPU runs
// in the lower dtype.
func TestProductsOnCPUList(t *testing.T) {
	s := NewScope()
	defer s.Close()
	half := s.Autocast(BFloat16, UseLists(CPULists))
	ones := func(shape ...int) *Tensor { return Ones(s, Float32, shape...) }
	scalar := Scalar[float32](1)
	for name, c := range map[string]struct {
		got  *Tensor
		want DType
	}{
		"tensordot of all":       {TensordotN(half, ones(2, 3), ones(2, 3), 2), Float32},
		"tensordot of vectors":   {TensordotN(half, ones(3), ones(3), 1), Float32},
		"tensordot of ones":      {TensordotN(half, ones(1, 1), ones(1, 1), 2), Float32},
		"tensordot of numbers":   {TensordotN(half, scalar, scalar, 0), Float32},
		"tensordot to ones":      {TensordotN(half, ones(1, 3), ones(3, 1, 1), 1), Float32},
		"inner of one row":       {Inner(half, ones(1, 3), ones(3)), Float32},
		"tensordot of one":       {TensordotN(half, ones(2, 3), ones(3, 2), 1), BFloat16},
		"tensordot of none":      {TensordotN(half, ones(2, 3), ones(2, 3), 0), BFloat16},
		"tensordot, vector":      {TensordotN(half, ones(3), ones(3, 2), 1), BFloat16},
		"inner":                  {Inner(half, ones(3), ones(3)), Float32},
		"inner of rows":          {Inner(half, ones(2, 3), ones(3)), BFloat16},
		"einsum ij,jk->ik, 1":    {Einsum(half, "ij,jk->ik", ones(2, 1), ones(1, 3)), Float32},
		"einsum ij,jk->ik, 3":    {Einsum(half, "ij,jk->ik", ones(2, 3), ones(3, 3)), BFloat16},
		"einsum ij,jk->ik, 1, 3": {Einsum(half, "ij,jk->ik", ones(2, 1), ones(3, 3)), Float32},
		"einsum i,i->, 1":        {Einsum(half, "i,i->", ones(1), ones(1)), Float32},
		"einsum i,i->, 3":        {Einsum(half, "i,i->", ones(3), ones(3)), BFloat16},
		"einsum bij,bjk->bik":    {Einsum(half, "bij,bjk->bik", ones(2, 2, 1), ones(2, 1, 3)), Float32},
		"einsum ijk,jk->i":       {Einsum(half, "ijk,jk->i", ones(2, 1, 3), ones(1, 3)), BFloat16},
		"einsum ij,ij->, 1":      {Einsum(half, "ij,ij->", ones(1, 1), ones(1, 1)), Float32},
		"einsum ij,ij->":         {Einsum(half, "ij,ij->", ones(2, 3), ones(2, 3)), BFloat16},
		"einsum i,ij,j->, 1":     {Einsum(half, "i,ij,j->", ones(1), ones(1, 1), ones(1)), Float32},
		"einsum ij,kj->ik":       {Einsum(half, "ij,kj->ik", ones(2, 3), ones(1, 3)), BFloat16},
	} {
		if c.got.DType() != c.want {
			t.Errorf("%s: %v, want %v", name, c.got.DType(), c.want)
		}
	}
	wantValues(t, "einsum", Einsum(s, "ij,jk->ik", From([]float64{2, 3}, 2, 1), From([]float64{5, 7}, 1, 2)), 10, 14, 15, 21)
	wantValues(t, "einsum ij,ij->", Einsum(s, "ij,ij->", From([]float64{2}, 1, 1), From([]float64{5}, 1, 1)), 10)
	wantValues(t, "tensordot", Tensordot(s, From([]float64{1, 2, 3, 4}, 2, 2), From([]float64{5, 6, 7, 8}, 2, 2), []int{0, 1}, []int{1, 0}), 1*5+2*7+3*6+4*8)
}
