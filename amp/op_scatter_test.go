package amp

import (
	"errors"
	"slices"
	"testing"
)

// TestScatterValues compares the scatter family with loops over the elements, in every dtype.
func TestScatterValues(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	src := []float64{-1, -2, -3, -4, -5, -6}
	index := []int64{2, 0, 2, 0, 1, 0}
	at := From(index, 3, 2)
	for _, dt := range allDTypes[:5] {
		a, b := fromFloat64s(dt, x, []int{3, 4}), fromFloat64s(dt, src, []int{3, 2})
		for name, c := range map[string]struct {
			y    *Tensor
			dim  int
			each func(out []float64, to int, v float64)
		}{
			"scatter":           {Scatter(s, a, 0, at, b), 0, func(out []float64, to int, v float64) { out[to] = v }},
			"scatter last":      {Scatter(s, a, 1, at, b), 1, func(out []float64, to int, v float64) { out[to] = v }},
			"scatter_value":     {ScatterValue(s, a, 0, at, 7), 0, func(out []float64, to int, v float64) { out[to] = 7 }},
			"scatter_add":       {ScatterAdd(s, a, 0, at, b), 0, func(out []float64, to int, v float64) { out[to] += v }},
			"scatter_add last":  {ScatterAdd(s, a, -1, at, b), 1, func(out []float64, to int, v float64) { out[to] += v }},
			"scatter of a view": {Scatter(s, Transpose(s, Contiguous(s, Transpose(s, a, 0, 1)), 0, 1), 0, at, b), 0, func(out []float64, to int, v float64) { out[to] = v }},
		} {
			want := slices.Clone(x)
			for i, p := range index {
				row, col := i/2, i%2
				to := int(p)*4 + col
				if c.dim == 1 {
					to = row*4 + int(p)
				}
				c.each(want, to, src[i])
			}
			if c.y.dt != dt || !slices.Equal(c.y.Float64s(), want) {
				t.Errorf("%v %s: %v, want %v", dt, name, c.y.Float64s(), want)
			}
		}
	}
	// A sum of many halves is rounded once: one by one it would stop at 2048, whose neighbor is 2050.
	many := ScatterAdd(s, fromFloat64s(Float16, []float64{1}, []int{1}), 0, From(make([]int64, 4095)), Full(s, Float16, 1, 4095))
	if many.Item() != 4096 {
		t.Errorf("4096 halves sum to %v", many.Item())
	}
	w := fromFloat64s(Float16, []float64{1}, []int{1}).RequireGrad()
	SumAs(s, Gather(s, w, 0, From(make([]int64, 4095))), Float32).Backward()
	if g := w.Grad().Item(); g != 4096 { // 4095 rounds to 4096
		t.Errorf("gradient of 4095 gathered halves: %v", g)
	}
	if m := Scatter(s, From([]bool{false, false}), 0, From([]int64{1}), From([]bool{true})); m.dt != Bool || !slices.Equal(Values[bool](m), []bool{false, true}) {
		t.Errorf("booleans: %v", m.Float64s())
	}
}

// TestScatterGradientOfDuplicates: of several elements that go to one place the last one alone has a gradient.
func TestScatterGradientOfDuplicates(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := FromFloat64s(Float64, []float64{1, 2, 3}).RequireGrad()
	src := FromFloat64s(Float64, []float64{4, 5, 6, 7}).RequireGrad()
	dy := FromFloat64s(Float64, []float64{10, 20, 30})
	g := Grad(s, []*Tensor{Scatter(s, x, 0, From([]int64{2, 0, 2}), src)}, []*Tensor{x, src}, GradOutputs(dy))
	if !slices.Equal(g[0].Float64s(), []float64{0, 20, 0}) || !slices.Equal(g[1].Float64s(), []float64{0, 10, 30, 0}) {
		t.Errorf("gradients %v and %v", g[0].Float64s(), g[1].Float64s())
	}
	v := FromFloat64s(Float64, []float64{5, 6}).RequireGrad()
	g = Grad(s, []*Tensor{IndexPut(s, x, []*Tensor{From([]int64{1, -2})}, v, false)}, []*Tensor{x, v}, GradOutputs(dy))
	if !slices.Equal(g[0].Float64s(), []float64{10, 0, 30}) || !slices.Equal(g[1].Float64s(), []float64{0, 20}) {
		t.Errorf("index_put: %v and %v", g[0].Float64s(), g[1].Float64s())
	}
}

func TestIndexLists(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := FromFloat64s(Float32, []float64{0, 1, 2, 3, 4, 5}, 3, 2)
	src := FromFloat64s(Float32, []float64{10, 20, 30, 40}, 2, 2)
	i, j := From([]int64{2, 0}), From([]int64{-1, 1})
	for name, c := range map[string]struct {
		y     *Tensor
		shape []int
		want  []float64
	}{
		"add":              {IndexAdd(s, x, 0, i, src, 0.5), []int{3, 2}, []float64{15, 21, 2, 3, 9, 15}},
		"copy":             {IndexCopy(s, x, 0, i, src), []int{3, 2}, []float64{30, 40, 2, 3, 10, 20}},
		"fill":             {IndexFill(s, x, 1, From([]int64{1}), -1), []int{3, 2}, []float64{0, -1, 2, -1, 4, -1}},
		"index":            {Index(s, x, i, j), []int{2}, []float64{5, 1}},
		"index rows":       {Index(s, x, Reshape(s, i, 2, 1)), []int{2, 1, 2}, []float64{4, 5, 0, 1}},
		"put":              {IndexPut(s, x, []*Tensor{i, j}, From([]float32{8, 9}), false), []int{3, 2}, []float64{0, 9, 2, 3, 4, 8}},
		"put rows":         {IndexPut(s, x, []*Tensor{i}, From([]float32{8, 9}), true), []int{3, 2}, []float64{8, 10, 2, 3, 12, 14}},
		"put a number":     {IndexPut(s, x, []*Tensor{From([]int64{1, 1}), From([]int64{0, 0})}, Scalar(float32(1)), true), []int{3, 2}, []float64{0, 1, 4, 3, 4, 5}},
		"take_along_dim":   {TakeAlongDim(s, x, From([]int64{1}, 1, 1), 1), []int{3, 1}, []float64{1, 3, 5}},
		"take along wide":  {TakeAlongDim(s, Reshape(s, From([]float32{7, 8}), 1, 2), From([]int64{1, 0, 1}, 3, 1), 1), []int{3, 1}, []float64{8, 7, 8}},
		"nothing is taken": {IndexSelect(s, x, 0, From([]int64{}, 0)), []int{0, 2}, []float64{}},
	} {
		if !slices.Equal(c.y.shape, c.shape) || !slices.Equal(c.y.Float64s(), c.want) {
			t.Errorf("%s: %v %v, want %v %v", name, c.y.shape, c.y.Float64s(), c.shape, c.want)
		}
	}
	// index_copy promotes on the CPU lists, and asks for one dtype otherwise.
	low := To(s, x, BFloat16)
	if y := IndexCopy(s.Autocast(BFloat16, UseLists(CPULists)), low, 0, i, src); y.dt != Float32 {
		t.Errorf("index_copy on the CPU lists gives %v", y.dt)
	}
	if err := Maybe(func() { IndexCopy(s.Autocast(BFloat16), low, 0, i, src) }); !errors.Is(err, ErrDType) {
		t.Error(err)
	}
	if y := IndexPut(s.Autocast(BFloat16), low, []*Tensor{i, j}, From([]float32{8, 9}), true); y.dt != Float32 {
		t.Errorf("index_put gives %v", y.dt)
	}
}

func TestScatterRefuses(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, src := Full(s, Float32, 1, 3, 2), Full(s, Float32, 1, 2, 2)
	at := From([]int64{0, 1, 2, 0}, 2, 2)
	list := From([]int64{0, 1})
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"index above":       {ErrArgument, func() { Scatter(s, x, 0, From([]int64{3}, 1, 1), src) }},
		"index below":       {ErrArgument, func() { ScatterAdd(s, x, 0, From([]int64{-1}, 1, 1), src) }},
		"index of floats":   {ErrDType, func() { ScatterValue(s, x, 0, src, 1) }},
		"rank":              {ErrShape, func() { Scatter(s, x, 0, list, src) }},
		"src too small":     {ErrShape, func() { Scatter(s, x, 1, From(make([]int64, 6), 3, 2), src) }},
		"index too wide":    {ErrShape, func() { Scatter(s, Full(s, Float32, 1, 3, 1), 0, at, src) }},
		"dtypes":            {ErrDType, func() { Scatter(s, x, 0, at, To(s, src, Float64)) }},
		"value":             {ErrArgument, func() { ScatterValue(s, Full(s, Float16, 1, 2, 2), 0, at, 1e9) }},
		"index_add shape":   {ErrShape, func() { IndexAdd(s, x, 0, list, Full(s, Float32, 1, 3, 2), 1) }},
		"index_add index":   {ErrShape, func() { IndexAdd(s, x, 0, at, src, 1) }},
		"index_fill":        {ErrShape, func() { IndexFill(s, x, 0, at, 1) }},
		"index none":        {ErrArgument, func() { Index(s, x) }},
		"index many":        {ErrArgument, func() { Index(s, x, list, list, list) }},
		"index shapes":      {ErrShape, func() { Index(s, x, list, From([]int64{0, 0, 0})) }},
		"index outside":     {ErrArgument, func() { Index(s, x, From([]int64{-4})) }},
		"index of numbers":  {ErrDType, func() { Index(s, x, From([]float32{1, 0, 1})) }},
		"index_put shape":   {ErrShape, func() { IndexPut(s, x, []*Tensor{list}, From([]float32{1, 2, 3}), false) }},
		"take_along rank":   {ErrShape, func() { TakeAlongDim(s, x, list, 0) }},
		"take_along shapes": {ErrShape, func() { TakeAlongDim(s, x, From(make([]int64, 9), 3, 3), 0) }},
		"gather index":      {ErrArgument, func() { Gather(s, x, 0, From([]int64{3, 0}, 1, 2)) }},
	} {
		if err := Maybe(settled(s, c.f)); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
