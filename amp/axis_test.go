package amp

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestNumbersHaveDimension0 holds what goes along a dimension to PyTorch 2.15 for a tensor without dimensions: it takes 0 and -1 for a single
// element, with these values and gradients of 2.5, and refuses 1.
func TestNumbersHaveDimension0(t *testing.T) {
	one := func(f func(s *Scope, x *Tensor, d int) *Tensor) func(s *Scope, x *Tensor, d int) []*Tensor {
		return func(s *Scope, x *Tensor, d int) []*Tensor { return []*Tensor{f(s, x, d)} }
	}
	two := func(f func(s *Scope, x *Tensor, d int) (*Tensor, *Tensor)) func(s *Scope, x *Tensor, d int) []*Tensor {
		return func(s *Scope, x *Tensor, d int) []*Tensor {
			y, i := f(s, x, d)
			return []*Tensor{y, i}
		}
	}
	along := func(f func(s *Scope, x *Tensor, dims ...int) *Tensor) func(s *Scope, x *Tensor, d int) []*Tensor {
		return one(func(s *Scope, x *Tensor, d int) *Tensor { return f(s, x, d) })
	}
	typed := func(f func(s *Scope, x *Tensor, d int, dt ...DType) *Tensor) func(s *Scope, x *Tensor, d int) []*Tensor {
		return one(func(s *Scope, x *Tensor, d int) *Tensor { return f(s, x, d) })
	}
	at, list := Scalar[int64](0), From([]int64{0})
	for name, c := range map[string]struct {
		f    func(s *Scope, x *Tensor, d int) []*Tensor
		want []float64 // of the results, of one element each
		grad float64
		line bool // the first result keeps a dimension
	}{
		"sum": {along(Sum), []float64{2.5}, 1, false}, "sum, kept": {along(SumKeep), []float64{2.5}, 1, false}, "mean": {along(Mean), []float64{2.5}, 1, false},
		"logsumexp": {along(LogSumExp), []float64{2.5}, 1, false}, "amax": {along(Amax), []float64{2.5}, 1, false}, "amin": {along(Amin), []float64{2.5}, 1, false},
		"any": {along(Any), []float64{1}, 0, false}, "all": {along(All), []float64{1}, 0, false}, "norm": {along(Norm), []float64{2.5}, 1, false},
		"squeeze": {along(Squeeze), []float64{2.5}, 1, false}, "flip": {along(Flip), []float64{2.5}, 1, false},
		"variance": {one(func(s *Scope, x *Tensor, d int) *Tensor { return VarCorrection(s, x, 0, d) }), []float64{0}, 0, false},
		"prod":     {typed(ProdDim), []float64{2.5}, 1, false}, "softmax": {typed(Softmax), []float64{1}, 0, false}, "log_softmax": {typed(LogSoftmax), []float64{0}, 0, false},
		"softmin": {typed(Softmin), []float64{1}, 0, false}, "cumsum": {typed(Cumsum), []float64{2.5}, 1, false}, "cumprod": {typed(Cumprod), []float64{2.5}, 1, false},
		"logcumsumexp": {one(LogCumSumExp), []float64{2.5}, 1, false}, "argmax": {one(ArgMax), []float64{0}, 0, false}, "argmin": {one(ArgMin), []float64{0}, 0, false},
		"max": {two(Max), []float64{2.5, 0}, 1, false}, "min": {two(Min), []float64{2.5, 0}, 1, false}, "median": {two(Median), []float64{2.5, 0}, 1, false},
		"cummax": {two(Cummax), []float64{2.5, 0}, 1, false}, "cummin": {two(Cummin), []float64{2.5, 0}, 1, false},
		"kthvalue":          {two(func(s *Scope, x *Tensor, d int) (*Tensor, *Tensor) { return Kthvalue(s, x, 1, d) }), []float64{2.5, 0}, 1, false},
		"topk":              {two(func(s *Scope, x *Tensor, d int) (*Tensor, *Tensor) { return Topk(s, x, 1, d, true) }), []float64{2.5, 0}, 1, false},
		"sort":              {two(func(s *Scope, x *Tensor, d int) (*Tensor, *Tensor) { return Sort(s, x, d, true) }), []float64{2.5, 0}, 1, false},
		"argsort":           {one(func(s *Scope, x *Tensor, d int) *Tensor { return Argsort(s, x, d, false) }), []float64{0}, 0, false},
		"quantile":          {one(func(s *Scope, x *Tensor, d int) *Tensor { return Quantile(s, x, []float64{0.5}, d) }), []float64{2.5}, 1, true},
		"normalize":         {one(func(s *Scope, x *Tensor, d int) *Tensor { return Normalize(s, x, 2, d, 1e-12) }), []float64{1}, 0, false},
		"cosine_similarity": {one(func(s *Scope, x *Tensor, d int) *Tensor { return CosineSimilarity(s, x, x, d, 1e-8) }), []float64{1}, 0, false},
		"vecdot":            {one(func(s *Scope, x *Tensor, d int) *Tensor { return Vecdot(s, x, x, d) }), []float64{6.25}, 5, false},
		"transpose":         {one(func(s *Scope, x *Tensor, d int) *Tensor { return Transpose(s, x, d, d) }), []float64{2.5}, 1, false},
		"gather":            {one(func(s *Scope, x *Tensor, d int) *Tensor { return Gather(s, x, d, at) }), []float64{2.5}, 1, false},
		"gather, a list":    {one(func(s *Scope, x *Tensor, d int) *Tensor { return Gather(s, x, d, list) }), []float64{2.5}, 1, true},
		"index_select":      {one(func(s *Scope, x *Tensor, d int) *Tensor { return IndexSelect(s, x, d, at) }), []float64{2.5}, 1, false},
		"index_select list": {one(func(s *Scope, x *Tensor, d int) *Tensor { return IndexSelect(s, x, d, list) }), []float64{2.5}, 1, false},
		"scatter":           {one(func(s *Scope, x *Tensor, d int) *Tensor { return Scatter(s, x, d, at, x) }), []float64{2.5}, 1, false},
		"scatter a list":    {one(func(s *Scope, x *Tensor, d int) *Tensor { return Scatter(s, x, d, list, Reshape(s, x, 1)) }), []float64{2.5}, 1, false},
		"scatter_value":     {one(func(s *Scope, x *Tensor, d int) *Tensor { return ScatterValue(s, x, d, at, 5) }), []float64{5}, 0, false},
		"scatter_add":       {one(func(s *Scope, x *Tensor, d int) *Tensor { return ScatterAdd(s, x, d, at, x) }), []float64{5}, 2, false},
		"index_add":         {one(func(s *Scope, x *Tensor, d int) *Tensor { return IndexAdd(s, x, d, at, x, 1) }), []float64{5}, 2, false},
		"index_copy":        {one(func(s *Scope, x *Tensor, d int) *Tensor { return IndexCopy(s, x, d, at, x) }), []float64{2.5}, 1, false},
		"index_fill":        {one(func(s *Scope, x *Tensor, d int) *Tensor { return IndexFill(s, x, d, list, 3) }), []float64{3}, 0, false},
	} {
		s := NewScope()
		for _, d := range []int{0, -1} {
			x := Scalar(2.5).RequireGrad()
			what := fmt.Sprintf("%s along %d", name, d)
			out := c.f(s, x, d)
			for i, y := range out {
				wantValues(t, what, y, c.want[i])
				if line := c.line && i == 0; len(y.shape) != map[bool]int{true: 1}[line] {
					t.Errorf("%s: result %d has the shape %v", what, i, y.shape)
				}
			}
			if out[0].needs {
				wantValues(t, what+", gradient", Grad(s, []*Tensor{Sum(s, out[0])}, []*Tensor{x})[0], c.grad)
			} else if c.grad != 0 {
				t.Errorf("%s: no gradient", what)
			}
		}
		for _, d := range []int{1, -2} {
			if err := Maybe(func() { c.f(s, Scalar(2.5), d) }); !errors.Is(err, ErrShape) {
				t.Errorf("%s along %d: %v", name, d, err)
			}
		}
		s.Close()
	}
}

// TestNumbersWithoutDimensions checks what makes no sense along a dimension that is not there, as in PyTorch.
func TestNumbersWithoutDimensions(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, two := Scalar(2.5), From([]int64{0, 0})
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"narrow": {ErrShape, func() { Narrow(s, x, 0, 0, 1) }}, "select": {ErrShape, func() { Select(s, x, 0, 0) }}, "slice": {ErrShape, func() { Slice(s, x, 0, 0, 1, 1) }},
		"unbind": {ErrShape, func() { Unbind(s, x, 0) }}, "chunk": {ErrShape, func() { Chunk(s, x, 1, 0) }}, "split": {ErrShape, func() { Split(s, x, 1, 0) }},
		"cat": {ErrShape, func() { Cat(s, 0, x, x) }}, "roll": {ErrShape, func() { Roll(s, x, []int{1}, []int{0}) }}, "glu": {ErrShape, func() { GLU(s, x, 0) }},
		"renorm": {ErrShape, func() { Renorm(s, x, 2, 0, 1) }}, "diagonal": {ErrShape, func() { Diagonal(s, x, 0, 0, 0) }}, "rot90": {ErrShape, func() { Rot90(s, x, 1, 0, 0) }},
		"permute": {ErrShape, func() { Permute(s, x, 0) }}, "size": {ErrShape, func() { x.Dim(0) }}, "layer_norm": {ErrShape, func() { LayerNorm(s, x, nil, nil, 1e-5) }},
		"a dimension twice": {ErrShape, func() { Sum(s, x, 0, -1) }}, "two of one": {ErrShape, func() { IndexSelect(s, x, 0, two) }},
		"the second": {ErrArgument, func() { Kthvalue(s, x, 2, 0) }}, "the first two": {ErrArgument, func() { Topk(s, x, 2, 0, true) }},
		"take along": {ErrShape, func() { TakeAlongDim(s, x, Scalar[int64](0), 0) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
	line := From([]float64{1, 2, 3})
	for name, c := range map[string]struct {
		got   *Tensor
		shape []int
		want  []float64
	}{
		"gather one":       {Gather(s, line, 0, Scalar[int64](1)), []int{}, []float64{2}},
		"select one":       {IndexSelect(s, line, 0, Scalar[int64](1)), []int{1}, []float64{2}},
		"scatter one":      {Scatter(s, line, 0, Scalar[int64](1), x), []int{3}, []float64{1, 2.5, 3}},
		"add one":          {ScatterAdd(s, line, 0, Scalar[int64](2), x), []int{3}, []float64{1, 2, 5.5}},
		"write one":        {ScatterValue(s, line, 0, Scalar[int64](0), 7), []int{3}, []float64{7, 2, 3}},
		"gather a number":  {Gather(s, x, 0, two), []int{2}, []float64{2.5, 2.5}},
		"fill one":         {IndexFill(s, line, 0, Scalar[int64](2), 9), []int{3}, []float64{1, 2, 9}},
		"copy one":         {IndexCopy(s, line, 0, Scalar[int64](0), x), []int{3}, []float64{2.5, 2, 3}},
		"sums of integers": {Cumsum(s, Scalar(true), 0), []int{}, []float64{1}},
	} {
		if wantValues(t, name, c.got, c.want...); !slices.Equal(c.got.shape, c.shape) {
			t.Errorf("%s: shape %v, want %v", name, c.got.shape, c.shape)
		}
	}
}
