package amp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestRefusedAsInPyTorch: what PyTorch 2.15 refuses is refused, with a word on what is wrong.
func TestRefusedAsInPyTorch(t *testing.T) {
	s := NewScope()
	defer s.Close()
	inf, nan := math.Inf(1), math.NaN()
	ones := func(shape ...int) *Tensor { return Ones(s, Float32, shape...) }
	yes, number, whole, none := From([]bool{true}), Scalar[float32](1), From([]int64{1, 2}), Zeros(s, Float32, 0)
	norm := func(eps float64, running bool) func() {
		st := BatchNormState{Eps: eps}
		in := s
		if running {
			st.RunningMean, st.RunningVar = Zeros(s, Float32, 2), Ones(s, Float32, 2)
			in = s.Eval()
		}
		return func() { BatchNorm(in, ones(3, 2), nil, nil, st) }
	}
	for name, c := range map[string]struct {
		kind error
		say  string
		f    func()
	}{
		"flatten of a number from 100": {ErrShape, "dimension 100", func() { Flatten(s, number, 100, -7) }},
		"flatten of a number to 1":     {ErrShape, "dimension 1 ", func() { Flatten(s, number, 0, 1) }},
		"full":                         {ErrArgument, "1e+300 as int64", func() { Full(s, Int64, 1e300, 1) }},
		"full of NaN":                  {ErrArgument, "NaN", func() { Full(s, Int64, nan, 1) }},
		"full of 2^63":                 {ErrArgument, "as int64", func() { Full(s, Int64, 1<<63, 1) }},
		"full like":                    {ErrArgument, "+Inf as int64", func() { FullLike(s, whole, inf) }},
		"linspace":                     {ErrArgument, "1e+300 as int64", func() { Linspace(s, Int64, 1e300, 1, 2) }},
		"linspace to NaN":              {ErrArgument, "NaN", func() { Linspace(s, Int64, 1, nan, 2) }},
		"arange by -Inf":               {ErrArgument, "finite", func() { Arange(s, Float32, 0, -5, -inf) }},
		"arange by +Inf":               {ErrArgument, "finite", func() { Arange(s, Float32, 0, 5, inf) }},
		"arange to +Inf":               {ErrArgument, "finite", func() { Arange(s, Float32, 0, inf, 1) }},
		"arange from 1e300":            {ErrArgument, "as int64", func() { Arange(s, Int64, 1e300, 2e300, 1e300) }},
		"rand":                         {ErrArgument, "from 3 to 1", func() { Rand(s, Float32, 3, 1, 2) }},
		"randn":                        {ErrArgument, "deviation -1", func() { Randn(s, Float32, 0, -1, 2) }},
		"randn of NaN":                 {ErrArgument, "deviation NaN", func() { Randn(s, Float32, 0, nan, 2) }},
		"batch norm, eps -1":           {ErrArgument, "eps -1", norm(-1, false)},
		"batch norm, eps 0":            {ErrArgument, "eps 0", norm(0, false)},
		"batch norm, running, eps -1":  {ErrArgument, "eps -1", norm(-1, true)},
		"group norm":                   {ErrShape, "groups of one number", func() { GroupNorm(s, ones(1, 2), 2, nil, nil, 1e-5) }},
		"group norm, image":            {ErrShape, "groups of one number", func() { GroupNorm(s, ones(1, 2, 1), 2, nil, nil, 1e-5) }},
		"cosine":                       {ErrArgument, "eps -1", func() { CosineSimilarity(s, ones(1, 2), ones(1, 2), 1, -1) }},
		"rrelu":                        {ErrArgument, "finite", func() { RReLU(s, ones(2), 0.1, inf) }},
		"rrelu, below":                 {ErrArgument, "finite", func() { RReLU(s.Eval(), ones(2), -inf, 1) }},
		"triplets":                     {ErrArgument, "margin 0", func() { TripletMarginLoss(s, ones(1, 2), ones(1, 2), ones(1, 2), 0, 2, 1e-6) }},
		"sub, bool and float":          {ErrDType, "LogicalXor", func() { Sub(s, yes, ones(1)) }},
		"sub, float and bool":          {ErrDType, "LogicalXor", func() { Sub(s, ones(1), yes) }},
		"sub, booleans":                {ErrDType, "LogicalXor", func() { Sub(s, yes, yes) }},
		"kl div":                       {ErrDType, "int64", func() { KLDiv(s, whole, ones(2)) }},
		"kl div, target":               {ErrDType, "int64", func() { KLDiv(s, ones(2), whole) }},
		"norm of order -1":             {ErrShape, "order -1", func() { VectorNorm(s, none, -1, nil, false) }},
		"norm of order -1, rows":       {ErrShape, "order -1", func() { VectorNorm(s, Zeros(s, Float32, 2, 0), -1, []int{1}, false) }},
		"quantile":                     {ErrArgument, "elements", func() { Quantile(s, Zeros(s, Float32, 2, 0), []float64{0.5}, 0) }},
		"cross":                        {ErrShape, "as many dimensions", func() { Cross(s, ones(2, 3), ones(3), -1) }},
		"topk of a number":             {ErrArgument, "k is 2", func() { Topk(s, number, 2, 0, true) }},
		"addmv":                        {ErrShape, "addm", func() { Addmv(s, ones(3), ones(2, 2), ones(2), 1, 1) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTakenAsInPyTorch: what PyTorch 2.15 takes is taken.
func TestTakenAsInPyTorch(t *testing.T) {
	s := NewScope()
	defer s.Close()
	number := Scalar[float32](3)
	wantValues(t, "flatten of a number", Flatten(s, number, -1, 0), 3)
	wantValues(t, "full", Full(s, Int64, 1.5, 1), 1)
	wantValues(t, "full of booleans", Full(s, Bool, math.NaN(), 1), 1)
	wantValues(t, "randn", Randn(s, Float32, 2, 0, 2), 2, 2)
	wantValues(t, "rand", Rand(s, Float32, 2, 2, 1), 2)
	wantValues(t, "addmv", Addmv(s, number, Ones(s, Float32, 2, 2), Ones(s, Float32, 2), 1, 1), 5, 5)
	values, at := Topk(s, number, 0, 0, true)
	wantValues(t, "topk of a number", values, 3)
	wantValues(t, "topk of a number, its place", at, 0)
	wantValues(t, "group norm", GroupNorm(s, Ones(s, Float32, 2, 2), 2, nil, nil, 1e-5), 0, 0, 0, 0)
	wantValues(t, "norm over no rows", VectorNorm(s, Zeros(s, Float32, 2, 0), -1, []int{0}, false))
	if got := AddScalar(s, From([]int64{1}), 1<<54); got.DType() != Int64 || Values[int64](got)[0] != 1<<54+1 {
		t.Errorf("a large number added: %v", got)
	}
	if got := AddScalar(s, From([]int64{1}), 1<<63); got.DType() != Float32 {
		t.Errorf("2^63 added: %v", got)
	}
	for _, c := range []struct {
		lo, hi float64
		want   []int64
	}{{-0.5, 2, []int64{0, 0, 1, 2}}, {-1.5, 2.7, []int64{-1, 0, 1, 2}}, {0.5, 2.7, []int64{0, 0, 1, 2}}} {
		if got := Hardtanh(s, From([]int64{-3, 0, 1, 5}), c.lo, c.hi); got.DType() != Int64 || !slices.Equal(Values[int64](got), c.want) {
			t.Errorf("hardtanh of integers from %v to %v: %v, want %v", c.lo, c.hi, got, c.want)
		}
	}
}
