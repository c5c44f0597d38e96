package amp

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestDistancesAtZero: where a distance is 0 its gradient is 0, and so is its second derivative; never NaN.
func TestDistancesAtZero(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for name, f := range map[string]func(x *Tensor) *Tensor{
		"norm":      func(x *Tensor) *Tensor { return Norm(s, x, 1) },
		"norm 3":    func(x *Tensor) *Tensor { return NormP(s, x, 3, 1) },
		"norm 1.5":  func(x *Tensor) *Tensor { return NormP(s, x, 1.5, 1) },
		"norm 0.5":  func(x *Tensor) *Tensor { return NormP(s, x, 0.5, 1) },
		"norm 1":    func(x *Tensor) *Tensor { return NormP(s, x, 1, 1) },
		"norm 0":    func(x *Tensor) *Tensor { return NormP(s, x, 0, 1) },
		"norm inf":  func(x *Tensor) *Tensor { return NormP(s, x, math.Inf(1), 1) },
		"cdist":     func(x *Tensor) *Tensor { return Cdist(s, x, x, 2) },
		"cdist 3":   func(x *Tensor) *Tensor { return Cdist(s, x, x, 3) },
		"pdist":     func(x *Tensor) *Tensor { return Pdist(s, x, 2) },
		"dist":      func(x *Tensor) *Tensor { return Dist(s, x, x, 2) },
		"cosine":    func(x *Tensor) *Tensor { return CosineSimilarity(s, x, x, 1, 1e-8) },
		"normalize": func(x *Tensor) *Tensor { return Normalize(s, x, 2, 1, 1e-12) },
		"renorm":    func(x *Tensor) *Tensor { return Renorm(s, x, 2, 0, 1) },
		"frobenius": func(x *Tensor) *Tensor { return FrobeniusNorm(s, x) },
	} {
		x := From([]float64{0, 0, 0, 0, 0, 0}, 2, 3).RequireGrad()
		g := Grad(s, []*Tensor{project(s, f(x), 7)}, []*Tensor{x}, CreateGraph())[0]
		zero := name != "normalize" && name != "renorm"
		for _, v := range g.Float64s() {
			if !finite(v) || zero && v != 0 {
				t.Errorf("%s: gradient %v", name, g.Float64s())
				break
			}
		}
		if !g.RequiresGrad() {
			continue
		}
		h := Grad(s, []*Tensor{project(s, g, 9)}, []*Tensor{x}, AllowUnused())[0]
		if h == nil {
			continue
		}
		for _, v := range h.Float64s() {
			if !finite(v) || v != 0 && name != "cosine" { // which is a product of the two, over eps², there
				t.Errorf("%s: second derivative %v", name, h.Float64s())
				break
			}
		}
	}
}

func TestDistanceValues(t *testing.T) {
	s := NewScope()
	defer s.Close()
	inf := math.Inf(1)
	x := From([]float64{3, -4, 0, 1, 2, -2}, 2, 3)
	for p, want := range map[float64][]float64{
		2: {5, 3}, 1: {7, 5}, 0: {2, 3}, inf: {4, 2}, -inf: {0, 1}, 3: {math.Cbrt(91), math.Cbrt(17)}, 0.5: {math.Pow(math.Sqrt(3)+2, 2), math.Pow(1+2*math.Sqrt2, 2)},
	} {
		wantValues(t, "norm", NormP(s, x, p, 1), want...)
		wantValues(t, "linalg_vector_norm", VectorNorm(s, Transpose(s, x, 0, 1), p, []int{0}, true), want...)
		if p >= 0 {
			wantValues(t, "cdist from 0", Cdist(s, x, From([]float64{0, 0, 0}, 1, 3), p), want...)
		}
	}
	wantValues(t, "fro", MatrixNorm(s, x, "fro", nil, false), math.Sqrt(34))
	wantValues(t, "1", MatrixNorm(s, x, "1", nil, false), 6)
	wantValues(t, "-1", MatrixNorm(s, x, "-1", nil, true), 2)
	wantValues(t, "inf", MatrixNorm(s, x, "inf", nil, false), 7)
	wantValues(t, "-inf", MatrixNorm(s, x, "-inf", []int{0, 1}, false), 5)
	wantValues(t, "1 of the transposed", MatrixNorm(s, x, "1", []int{1, 0}, false), 7)
	wantValues(t, "pdist", Pdist(s, From([]float64{0, 0, 3, 4, 6, 8}, 3, 2), 2), 5, 10, 5)
	wantValues(t, "dist", Dist(s, From([]float64{1, 2}), From([]float64{4}), inf), 3)
	wantValues(t, "cosine", CosineSimilarity(s, From([]float64{1, 0, 0, 0}, 2, 2), From([]float64{1, 1}, 1, 2), 1, 1e-8), math.Sqrt2/2, 0)
	wantValues(t, "pairwise", PairwiseDistance(s, From([]float64{1, 1}, 1, 2), From([]float64{-2, 5}, 1, 2), 2, 0, true), 5)
	wantValues(t, "normalize", Normalize(s, x, 2, 1, 1e-12), 0.6, -0.8, 0, 1.0/3, 2.0/3, -2.0/3)
	// A gradient shared by several largest elements.
	w := From([]float64{2, -2, 1}).RequireGrad()
	NormP(s, w, inf).Backward()
	wantValues(t, "slope of the largest", w.Grad(), 0.5, -0.5, 0)
	// Near points keep their digits: 1e8 and 1e8 + 1.
	if v := Cdist(s, From([]float64{1e8, 0}, 1, 2), From([]float64{1e8 + 1, 0}, 1, 2), 2).Item(); v != 1 {
		t.Errorf("distance of near points %v", v)
	}
	y := Renorm(s, From([]float64{3, 4, 0.3, 0.4}, 2, 2), 2, 0, 1).Float64s()
	if math.Abs(y[0]-0.6) > 1e-7 || y[2] != 0.3 || y[3] != 0.4 {
		t.Errorf("renorm %v", y)
	}
	for name, c := range map[string]struct {
		kind error
		say  string
		f    func()
	}{
		"matrix":     {ErrArgument, `order "3"`, func() { MatrixNorm(s, x, "3", nil, false) }},
		"one dim":    {ErrShape, "amp.VectorNorm", func() { MatrixNorm(s, x, "fro", []int{0}, false) }},
		"order":      {ErrArgument, "order NaN", func() { NormP(s, x, math.NaN()) }},
		"integers":   {ErrDType, "need a float", func() { Norm(s, From([]int64{1})) }},
		"result":     {ErrDType, "result dtype int64", func() { VectorNorm(s, x, 2, nil, false, Int64) }},
		"empty":      {ErrShape, "no largest", func() { NormP(s, From([]float64{}, 2, 0), inf, 1) }},
		"cdist p":    {ErrArgument, "p -1", func() { Cdist(s, x, x, -1) }},
		"cdist dims": {ErrShape, "features", func() { Cdist(s, x, From([]float64{1, 2}, 1, 2), 2) }},
		"pdist rank": {ErrShape, "2 dimensions", func() { Pdist(s, From([]float64{1}), 2) }},
		"renorm p":   {ErrArgument, "p 0", func() { Renorm(s, x, 0, 0, 1) }},
		"renorm":     {ErrShape, "no slices", func() { Renorm(s, From([]float64{1}), 2, 0, 1) }},
		"cosine":     {ErrShape, "broadcast", func() { CosineSimilarity(s, x, From([]float64{1, 2}), 1, 1e-8) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNormDTypes: what is asked for wins over autocast.
func TestNormDTypes(t *testing.T) {
	s := NewScope()
	defer s.Close()
	half := s.Autocast(Float16)
	x := FromFloat64s(Float16, []float64{300, 400, 0, 0}, 2, 2)
	for name, c := range map[string]struct {
		y    *Tensor
		want DType
	}{
		"vector norm": {VectorNorm(half, x, 2, nil, false), Float32}, "vector norm, float64": {VectorNorm(half, x, 2, nil, false, Float64), Float64},
		"matrix norm": {MatrixNorm(half, x, "1", nil, false), Float32}, "matrix norm, half": {MatrixNorm(half, x, "fro", nil, false, Float16), Float16},
		"outside": {VectorNorm(s, x, 2, nil, false), Float16}, "frobenius": {FrobeniusNorm(half, x), Float32}, "normalize": {Normalize(half, x, 2, 1, 1e-12), Float32},
	} {
		if c.y.dt != c.want {
			t.Errorf("%s: %v, want %v", name, c.y.dt, c.want)
		}
	}
	wantValues(t, "norm", VectorNorm(half, x, 2, nil, false), 500)
}
