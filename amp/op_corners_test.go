package amp

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// TestGradientsOfUnchosen checks that what a result does not depend on gets 0, as in PyTorch, and not the NaN of 0·∞ where a gradient
// has overflowed: a GradScaler would skip the step for a number that takes no part in it.
func TestGradientsOfUnchosen(t *testing.T) {
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		f    func(s *Scope, x *Tensor) *Tensor
		want []float64
	}{
		"where, one side": {func(s *Scope, x *Tensor) *Tensor {
			return Where(s, From([]bool{true, false, true}), x, Scalar(float32(1)))
		}, []float64{inf, 0, 2}},
		"where, the other": {func(s *Scope, x *Tensor) *Tensor {
			return Where(s, From([]bool{true, true, false}), Scalar(float32(1)), x)
		}, []float64{0, 0, 2}},
		"clamp":             {func(s *Scope, x *Tensor) *Tensor { return Clamp(s, x, 0, 1) }, []float64{0, 0, 2}},
		"sign":              {Sign, []float64{0, 0, 0}},
		"floor":             {Floor, []float64{0, 0, 0}},
		"a power of 0":      {func(s *Scope, x *Tensor) *Tensor { return PowScalar(s, x, 0) }, []float64{0, 0, 0}},
		"the 0-norm's sign": {func(s *Scope, x *Tensor) *Tensor { return s.apply(opSignedPow, Attrs{Scalar: 0}, x) }, []float64{0, 0, 0}},
	} {
		for _, dt := range []DType{Float32, Float64} {
			s := NewScope()
			x := FromFloat64s(dt, []float64{3, -2, 0.5}).RequireGrad()
			f := c.f(s, x)
			g := Grad(s, []*Tensor{f}, []*Tensor{x}, GradOutputs(FromFloat64s(f.DType(), []float64{inf, -inf, 2})))[0].Float64s()
			if !slices.Equal(g, c.want) {
				t.Errorf("%s in %v: %v, want %v", name, dt, g, c.want)
			}
			s.Close()
		}
	}
}

// TestCrossEntropyOfNoTargets checks that a batch of nothing but left out targets has no gradient, with smoothed targets too: its mean
// is NaN, 0/0.
func TestCrossEntropyOfNoTargets(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, smoothing := range []float64{0, 0.1, 1} {
		x := From([]float32{1, 2, 3, 4, 5, 6}, 2, 3).RequireGrad()
		loss := CrossEntropy(s, x, From([]int64{IgnoreIndex, IgnoreIndex}), LabelSmoothing(smoothing))
		g := Grad(s, []*Tensor{loss}, []*Tensor{x})[0].Float64s()
		if !math.IsNaN(loss.Item()) || !slices.Equal(g, make([]float64, 6)) {
			t.Errorf("smoothing %v: loss %v, gradient %v", smoothing, loss.Item(), g)
		}
	}
}

// TestWhereOfSmallConditions checks that a condition is not 0 however small it is in the dtype of the others.
func TestWhereOfSmallConditions(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, dt := range []DType{Float16, Float32, Int64, Bool} {
		y := Where(s, From([]float64{1e-300, 0, math.NaN(), -0.5}), FromFloat64s(dt, []float64{1}), FromFloat64s(dt, []float64{0}))
		if got := y.Float64s(); !slices.Equal(got, []float64{1, 0, 1, 1}) {
			t.Errorf("%v: %v", dt, got)
		}
	}
}

// TestSpreadOfFew checks var and std where the correction leaves nothing to divide by: never a negative variance.
func TestSpreadOfFew(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, c := range []struct {
		values     []float64
		correction float64
		want       float64
	}{
		{[]float64{1, 3}, 2, math.Inf(1)},
		{[]float64{1, 3}, 7, math.Inf(1)},
		{[]float64{1}, 1, math.NaN()},
		{[]float64{1}, 3, math.NaN()},
		{nil, 0, math.NaN()},
		{nil, 1, math.NaN()},
	} {
		for _, dt := range []DType{Float16, Float32, Float64} {
			x := FromFloat64s(dt, c.values, len(c.values))
			v, d := VarCorrection(s, x, c.correction).Item(), StdCorrection(s, x, c.correction, 0).Item()
			if same := func(a, b float64) bool { return a == b || a != a && b != b }; !same(v, c.want) || !same(d, c.want) {
				t.Errorf("%v of %v corrected by %v: var %v, std %v, want %v", dt, c.values, c.correction, v, d, c.want)
			}
		}
	}
}

// TestGradientsOfNothing differentiates rows of tensors without elements whose gradients have formulas of their own.
func TestGradientsOfNothing(t *testing.T) {
	for name, f := range map[string]func(s *Scope, x *Tensor) *Tensor{
		"cumprod":              func(s *Scope, x *Tensor) *Tensor { return Cumprod(s, x, 0) },
		"logcumsumexp":         func(s *Scope, x *Tensor) *Tensor { return LogCumSumExp(s, x, 0) },
		"vecdot with a number": func(s *Scope, x *Tensor) *Tensor { return Vecdot(s, Ones(s, Float32, 1, 3).RequireGrad(), x, 0) },
		"prod along a line":    func(s *Scope, x *Tensor) *Tensor { return ProdDim(s, x, 0) },
		"batch norm in evaluation": func(s *Scope, x *Tensor) *Tensor {
			st := BatchNormState{RunningMean: Zeros(s, Float32, 3), RunningVar: Ones(s, Float32, 3), Eps: 1e-5}
			return BatchNorm(s.Eval(), x, Ones(s, Float32, 3).RequireGrad(), Zeros(s, Float32, 3).RequireGrad(), st)
		},
	} {
		s := NewScope()
		x := Zeros(s, Float32, 0, 3).RequireGrad()
		if err := Maybe(func() { Sum(s, f(s, x)).Backward() }); err != nil || x.Grad() == nil || x.Grad().Len() != 0 {
			t.Errorf("%s: %v, gradient %v", name, err, x.Grad())
		}
		s.Close()
	}
}

// TestShapeCorners checks sizes and places that count from the end, empty dimensions and tensors without any.
func TestShapeCorners(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, none, number := Arange(s, Float32, 0, 6, 1), Zeros(s, Float32, 0, 3), Scalar(float32(1))
	for name, c := range map[string]struct {
		f    func() *Tensor
		want []int // shape; nil for an *Error of kind ErrShape
	}{
		"expand keeps a size":    {func() *Tensor { return Expand(s, Reshape(s, x, 6, 1), 2, -1, 4) }, []int{2, 6, 4}},
		"expand by -1":           {func() *Tensor { return Expand(s, x, -1, 6) }, nil},
		"expand by -2":           {func() *Tensor { return Expand(s, number, -2) }, nil},
		"narrow from the end":    {func() *Tensor { return Narrow(s, x, 0, -2, 2) }, []int{2}},
		"narrow beyond the end":  {func() *Tensor { return Narrow(s, x, 0, -2, 3) }, nil},
		"narrow without end":     {func() *Tensor { return Narrow(s, x, 0, 1, math.MaxInt) }, nil},
		"a slice of large steps": {func() *Tensor { return Slice(s, x, 0, 0, 4, math.MaxInt) }, []int{1}},
		"split of nothing":       {func() *Tensor { return Split(s, none, 2, 0)[0] }, []int{0, 3}},
		"a number's softmax":     {func() *Tensor { return Softmax(s, number, -1) }, []int{}},
		"a number's first":       {func() *Tensor { return Select(s, number, 0, 0) }, nil},
		"embedding of rows back": {func() *Tensor { return EmbeddingPadded(s, Zeros(s, Float32, 3, 2), From([]int64{0, 2}), -1) }, []int{2, 2}},
	} {
		var y *Tensor
		switch err := Maybe(func() { y = c.f() }); {
		case c.want == nil && !errors.Is(err, ErrShape):
			t.Errorf("%s: %v", name, err)
		case c.want != nil && (err != nil || !slices.Equal(y.Shape(), c.want)):
			t.Errorf("%s: %v, %v", name, y, err)
		}
	}
	if got := Narrow(s, x, 0, -2, 2).Float64s(); !slices.Equal(got, []float64{4, 5}) {
		t.Errorf("the last two are %v", got)
	}
	w := Ones(s, Float32, 3, 2).RequireGrad()
	if g := Grad(s, []*Tensor{Sum(s, EmbeddingPadded(s, w, From([]int64{0, 2}), -1))}, []*Tensor{w})[0].Float64s(); !slices.Equal(g, []float64{1, 1, 0, 0, 0, 0}) {
		t.Errorf("the gradient of a table padded by its last row is %v", g)
	}
}

// TestRunningStatisticsInViews checks that batch norm does not move statistics that are every other number of a tensor: the row would
// write the numbers between them.
func TestRunningStatisticsInViews(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, both := From([]float32{1, 10, 3, 30}, 2, 2), From([]float32{0, 9, 0, 9})
	st := BatchNormState{RunningMean: Slice(s, both, 0, 0, 4, 2), RunningVar: Ones(s, Float32, 2), Momentum: 0.5, Eps: 1e-5}
	if err := Maybe(func() { BatchNorm(s, x, nil, nil, st) }); !errors.Is(err, ErrShape) || !slices.Equal(both.Float64s(), []float64{0, 9, 0, 9}) {
		t.Errorf("%v, means %v", err, both.Float64s())
	}
	st.RunningMean, st.RunningVar = st.RunningVar, st.RunningMean
	if err := Maybe(func() { BatchNorm(s, x, nil, nil, st) }); !errors.Is(err, ErrShape) {
		t.Errorf("variances: %v", err)
	}
	if y := BatchNorm(s.Eval(), x, nil, nil, st); y.Len() != 4 { // reading them is another matter
		t.Error(y)
	}
}

// TestVecdotBroadcastAlongItself checks the gradients of a Vecdot one of whose operands has a single number along the dimension.
func TestVecdotBroadcastAlongItself(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a, b := From([]float32{1, 2, 3}, 1, 3).RequireGrad(), From([]float32{1, 2, 3, 4, 5, 6}, 2, 3).RequireGrad()
	y := Vecdot(s, a, b, 0)
	g := Grad(s, []*Tensor{Sum(s, y)}, []*Tensor{a, b})
	for i, want := range [][]float64{{5, 14, 27}, {5, 7, 9}, {1, 2, 3, 1, 2, 3}} {
		if got := [][]float64{y.Float64s(), g[0].Float64s(), g[1].Float64s()}[i]; !slices.Equal(got, want) {
			t.Errorf("number %d: %v, want %v", i, got, want)
		}
	}
}
