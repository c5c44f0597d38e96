package amp

import (
	"errors"
	"slices"
	"testing"
)

// TestIntegersAreSaid gives every row that users call integers: one that says nothing of them refuses them.
func TestIntegersAreSaid(t *testing.T) {
	asked, called := map[string]bool{}, caseNames()
	defer aroundChecks(func(o *Op, c *Call, check func(c *Call) []int) []int {
		if o.InPlace || !slices.Contains(called, o.Name) || !c.In[0].isWhole() {
			return check(c)
		}
		asked[o.Name] = true
		shape := check(c)
		if !o.Ints {
			t.Errorf("%s took %v", o.Name, c.shapes())
		}
		return shape
	})()
	eachCase(t, func(t *testing.T, o *Op, c opCase) {
		s := NewScope()
		defer s.Close()
		in := c.draws(s, Float64, 1)
		for i, x := range in {
			in[i] = To(s, x, Int64)
		}
		_ = Maybe(func() { c.call(s.NoGrad(), in) }) // refused, or a division by 0
	})
	if len(asked) < 140 {
		t.Errorf("only %d rows were given integers", len(asked))
	}
}

// TestProductsOfIntegers: numbers of PyTorch's CPU, exact beyond what float64 holds of them.
func TestProductsOfIntegers(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, w, b := From([]int64{1, -2, 3, 4, 5, -6}, 2, 3), From([]int64{1, 2, 3, -1, 0, 1 << 40}, 2, 3), From([]int64{10, 20})
	turned, batch := Transpose(s, w, 0, 1), func(t *Tensor) *Tensor { return Reshape(s, t, append([]int{1}, t.Shape()...)...) }
	scaled := []int64{2, -9895604649941, 32, 19791209300020}
	for name, c := range map[string]struct {
		got  *Tensor
		want []int64
	}{
		"linear":         {Linear(s, x, w, b), []int64{16, 3298534883347, 6, -6597069766640}},
		"without a bias": {Linear(s, x, w, nil), []int64{6, 3298534883327, -4, -6597069766660}},
		"of a vector":    {Linear(s, Select(s, x, 0, 0), w, b), []int64{16, 3298534883347}},
		"autocast":       {Linear(s.Autocast(Float16), x, w, b), []int64{16, 3298534883347, 6, -6597069766640}},
		"addmm":          {Addmm(s, b, x, turned, 2, -3), scaled},
		"baddbmm":        {Baddbmm(s, b, batch(x), batch(turned), 2, -3), scaled},
		"addmv":          {Addmv(s, b, x, Select(s, w, 0, 0), 1, 1), []int64{16, 16}},
		"odd":            {Linear(s, From([]int64{1<<53 + 1}, 1, 1), From([]int64{1}, 1, 1), nil), []int64{1<<53 + 1}},
	} {
		if c.got.DType() != Int64 || !slices.Equal(Values[int64](c.got), c.want) {
			t.Errorf("%s: %v %v, want %v", name, c.got.DType(), Values[int64](c.got), c.want)
		}
	}
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"features":     {ErrShape, func() { Linear(s, w, turned, nil) }},
		"bias":         {ErrShape, func() { Linear(s, x, w, From([]int64{1})) }},
		"float bias":   {ErrDType, func() { Linear(s, x, w, From([]float32{1, 2})) }},
		"booleans":     {ErrDType, func() { Linear(s, From([]bool{true}), From([]bool{true}, 1, 1), nil) }},
		"half a sum":   {ErrDType, func() { Addmm(s, b, x, turned, 0.5, 1) }},
		"a float sum":  {ErrDType, func() { Addmm(s, From([]float32{1, 2}), x, turned, 1, 1) }},
		"another size": {ErrShape, func() { Addmm(s, From([]int64{1, 2, 3}), x, turned, 1, 1) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
