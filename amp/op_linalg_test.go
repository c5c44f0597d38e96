package amp

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestTensorProductValues(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a, b := From([]float64{1, 2, 3, 4, 5, 6}, 2, 3), From([]float64{1, 0, -1, 2, 1, 0}, 2, 3)
	wantValues(t, "vecdot", Vecdot(s, a, b, 1), -2, 13)
	wantValues(t, "vecdot of columns", Vecdot(s, a, b, 0), 9, 5, -3)
	wantValues(t, "vecdot, broadcast", Vecdot(s, a, From([]float64{1, 1, 2}), 1), 9, 21)
	wantValues(t, "vdot", Vdot(s, From([]float64{1, 2}), From([]float64{3, 4})), 11)
	wantValues(t, "cross", Cross(s, a, b, 1), -2, 4, -2, -6, 12, -6)
	wantValues(t, "cross of units", Cross(s, From([]float64{1, 0, 0}), From([]float64{0, 1, 0}), 0), 0, 0, 1)
	wantValues(t, "cross, other way", Cross(s, Transpose(s, a, 0, 1), Transpose(s, b, 0, 1), 0), -2, -6, 4, 12, -2, -6)
	wantValues(t, "tensordot", TensordotN(s, a, b, 2), -2+8+5)
	wantValues(t, "tensordot of rows", Tensordot(s, a, b, []int{1}, []int{1}), -2, 4, -2, 13)
	wantValues(t, "multi_dot", MultiDot(s, From([]float64{1, 1}), a, Transpose(s, b, 0, 1), From([]float64{2, 1})), 2*(5-9)+(10+7))
	wantValues(t, "outer", Outer(s, From([]float64{1, 2}), From([]float64{3, 4})), 3, 4, 6, 8)
	wantValues(t, "inner", Inner(s, a, b), -2, 4, -2, 13)
	wantValues(t, "inner of numbers", Inner(s, Scalar(2.0), Scalar(3.0)), 6)
	wantValues(t, "kron", Kron(s, From([]float64{1, 2}, 1, 2), From([]float64{3, 4, 5, 6}, 2, 2)), 3, 4, 6, 8, 5, 6, 10, 12)
	wantValues(t, "bilinear", Bilinear(s, From([]float64{1, 2}), From([]float64{3, 4, 5}), From([]float64{1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0}, 2, 2, 3), From([]float64{10, 20})), 10+3+8, 20+5+6)
	wantValues(t, "trace", MatrixTrace(s, a), 6)
	wantValues(t, "diagonal above", Diagonal(s, a, 1, 0, 1), 2, 6)
	wantValues(t, "diagonal below", Diagonal(s, a, -1, 0, 1), 4)
	wantValues(t, "diagonal turned", Diagonal(s, a, 1, 1, 0), 4)
	if d := Diagonal(s, a, 7, 0, 1); !slices.Equal(d.Shape(), []int{0}) {
		t.Errorf("diagonal beyond the corner %v", d.Shape())
	}
	if got := Values[int64](Diagonal(s, From([]int64{1, 2, 3, 4}, 2, 2), 0, 0, 1)); !slices.Equal(got, []int64{1, 4}) {
		t.Errorf("diagonal of integers %v", got)
	}
	wantValues(t, "maximum", Maximum(s, From([]float64{1, 5}), From([]float64{3})), 3, 5)
	wantValues(t, "minimum", Minimum(s, From([]float64{1, 5}), From([]float64{3})), 1, 3)
	x, y := From([]float64{1, 2, 3}).RequireGrad(), From([]float64{1, 1, 4}).RequireGrad()
	Sum(s, Maximum(s, x, y)).Backward()
	wantValues(t, "share of the equal", x.Grad(), 0.5, 1, 0)
	wantValues(t, "share of the other", y.Grad(), 0.5, 0, 1)
	wantValues(t, "lerp", Lerp(s, From([]float64{0, 10}), From([]float64{4, 20}), From([]float64{0.25, 1})), 1, 20)
	wantValues(t, "lerp by a number", LerpScalar(s, From([]float64{0, 10}), From([]float64{4, 20}), 0.5), 2, 15)
}

func TestTensorProductRefusals(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a, v := From([]float64{1, 2, 3, 4, 5, 6}, 2, 3), From([]float64{1, 2})
	for name, c := range map[string]struct {
		kind error
		say  string
		f    func()
	}{
		"vecdot dimension": {ErrShape, "dimension", func() { Vecdot(s, a, a, 2) }},
		"vecdot shapes":    {ErrShape, "broadcast", func() { Vecdot(s, a, v, 1) }},
		"cross of numbers": {ErrShape, "a dimension that both have", func() { Cross(s, Scalar(int64(2)), Scalar(int64(3)), 0) }},
		"cross of two":     {ErrShape, "has 2 elements", func() { Cross(s, a, a, 0) }},
		"tensordot lists":  {ErrArgument, "as many dimensions", func() { Tensordot(s, a, a, []int{0}, nil) }},
		"tensordot sizes":  {ErrShape, "dimension 1 has 3 elements, dimension 0 has 2", func() { Tensordot(s, a, v, []int{1}, []int{0}) }},
		"tensordot twice":  {ErrShape, "once", func() { Tensordot(s, a, a, []int{0, 0}, []int{0, 1}) }},
		"tensordot number": {ErrArgument, "3 dimensions", func() { TensordotN(s, a, a, 3) }},
		"multi_dot one":    {ErrArgument, "1 tensors", func() { MultiDot(s, a) }},
		"multi_dot middle": {ErrShape, "multi_dot", func() { MultiDot(s, a, v, a) }},
		"multi_dot sizes":  {ErrShape, "matrix 0 is [2 3], matrix 1 is [2 3]", func() { MultiDot(s, a, a) }},
		"bilinear":         {ErrShape, "weight [out n m]", func() { Bilinear(s, a, a, a, nil) }},
		"bilinear bias":    {ErrShape, "bias [out]", func() { Bilinear(s, v, v, Reshape(s, From([]float64{1, 2, 3, 4}), 1, 2, 2), v) }},
		"outer":            {ErrShape, "outer", func() { Outer(s, a, v) }},
		"trace":            {ErrShape, "trace", func() { MatrixTrace(s, v) }},
		"diagonal":         {ErrShape, "two dimensions", func() { Diagonal(s, a, 0, 1, -1) }},
		"minimum":          {ErrShape, "broadcast", func() { Minimum(s, a, v) }},
		"lerp":             {ErrDType, "amp.To", func() { Lerp(s, a, a, From([]float32{1})) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
