package amp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// likely fails unless counts of n draws are what the probabilities say: χ² of the categories, each 5 standard deviations or less from its mean.
func likely(t *testing.T, what string, counts, p []float64) {
	t.Helper()
	n, sum := 0.0, 0.0
	for i := range p {
		n, sum = n+counts[i], sum+p[i]
	}
	for i := range p {
		q := p[i] / sum
		if d := math.Abs(counts[i] - n*q); d > 5*math.Sqrt(n*q*(1-q)) {
			t.Errorf("%s: %v of %v draws are %d, probability %v", what, counts[i], n, i, q)
		}
	}
}

// TestBernoulliIsAsLikely: 0 and 1 are certain, what lies between is as often as it says, in the dtype of the probabilities.
func TestBernoulliIsAsLikely(t *testing.T) {
	s := NewScope(Seed(7))
	defer s.Close()
	const n = 40000
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
		for _, p := range []float64{0, 0.125, 0.5, 0.875, 1} {
			y := Bernoulli(s.Autocast(Float16), Full(s, dt, p, 4, n/4))
			if y.DType() != dt || !slices.Equal(y.Shape(), []int{4, n / 4}) || y.RequiresGrad() {
				t.Fatalf("%v %v of probabilities %v [4 %d]", y.DType(), y.Shape(), dt, n/4)
			}
			ones := 0.0
			for _, v := range y.Float64s() {
				if v != 0 && v != 1 {
					t.Fatalf("drew %v", v)
				}
				ones += v
			}
			likely(t, dt.String(), []float64{n - ones, ones}, []float64{1 - p, p})
		}
	}
	a, b := Bernoulli(NewScope(Seed(1)), Full(s, Float32, 0.5, 100)), Bernoulli(NewScope(Seed(1)), Full(s, Float32, 0.5, 100))
	if !slices.Equal(a.Float64s(), b.Float64s()) {
		t.Error("the same seed draws otherwise")
	}
}

// TestMultinomialIsAsLikely: single draws, draws with replacement of lists and rows, weights that do not sum to 1, and none of probability 0.
func TestMultinomialIsAsLikely(t *testing.T) {
	s := NewScope(Seed(3))
	defer s.Close()
	p := []float64{0, 1, 4, 0, 2.5, 0.5, 0}
	const n = 30000
	count := func(index *Tensor) []float64 {
		counts := make([]float64, len(p))
		for _, i := range Values[int64](index) {
			counts[i]++
		}
		return counts
	}
	list := From([]float32{0, 1, 4, 0, 2.5, 0.5, 0})
	likely(t, "with replacement", count(Multinomial(s, list, n, true)), p)
	many := Contiguous(s, Expand(s, Reshape(s, list, 1, 7), n, 7))
	likely(t, "one draw each", count(Multinomial(s, many, 1, true)), p)
	likely(t, "one draw each without replacement", count(Multinomial(s, To(s, many, Float16), 1, false)), p)
	few := Multinomial(s, Narrow(s, many, 0, 0, 3), n, true)
	if !slices.Equal(few.Shape(), []int{3, n}) {
		t.Fatalf("shape %v", few.Shape())
	}
	for r := range 3 {
		likely(t, "rows", count(Select(s, few, 0, r)), p)
	}
}

// TestMultinomialWithoutReplacement: no index twice, and pairs in order as likely as p₁/Σp · p₂/(Σp - p₁).
func TestMultinomialWithoutReplacement(t *testing.T) {
	s := NewScope(Seed(5))
	defer s.Close()
	p := []float64{1, 2, 5}
	const n = 30000
	rows := Expand(s, FromFloat64s(Float64, p, 1, 3), n, 3)
	counts, chances := make([]float64, 9), make([]float64, 9)
	drawn := Values[int64](Multinomial(s, rows, 2, false))
	for i := 0; i < len(drawn); i += 2 {
		counts[3*drawn[i]+drawn[i+1]]++
	}
	for i := range 3 {
		for j := range 3 {
			if i != j {
				chances[3*i+j] = p[i] / 8 * p[j] / (8 - p[i])
			}
		}
	}
	likely(t, "pairs", counts, chances)
	all := Values[int64](Multinomial(s, FromFloat64s(Float32, p), 3, false))
	if slices.Sort(all); !slices.Equal(all, []int64{0, 1, 2}) {
		t.Errorf("all of them: %v", all)
	}
}

// TestDrawsRefuse: what PyTorch refuses on the CPU.
func TestDrawsRefuse(t *testing.T) {
	s := NewScope(On("cpu"))
	defer s.Close()
	here := func(t *Tensor) *Tensor { return t.To(s) } // another device is not waited for
	for name, c := range map[string]struct {
		kind error
		says string
		f    func()
	}{
		"above 1":        {ErrArgument, "probability 1 is 2", func() { Bernoulli(s, here(From([]float32{1, 2}))) }},
		"NaN":            {ErrArgument, "is NaN", func() { Bernoulli(s, here(From([]float64{math.NaN()}))) }},
		"integers":       {ErrDType, "int64", func() { Bernoulli(s, here(From([]int64{1}))) }},
		"negative":       {ErrArgument, "probability 1 is -1", func() { Multinomial(s, here(From([]float32{1, -1})), 1, true) }},
		"infinite":       {ErrArgument, "is +Inf", func() { Multinomial(s, here(From([]float64{math.Inf(1)})), 1, true) }},
		"all 0":          {ErrArgument, "row 1 of p of shape [2 2] has 0", func() { Multinomial(s, here(From([]float32{1, 0, 0, 0}, 2, 2)), 1, true) }},
		"too few":        {ErrArgument, "give 2 probabilities above 0", func() { Multinomial(s, here(From([]float32{1, 0})), 2, false) }},
		"too many":       {ErrArgument, "draw up to 2", func() { Multinomial(s, here(From([]float32{1, 1})), 3, false) }},
		"no draw":        {ErrArgument, "0 draws", func() { Multinomial(s, here(From([]float32{1, 1})), 0, true) }},
		"three dims":     {ErrShape, "[1 1 2]", func() { Multinomial(s, here(From([]float32{1, 1}, 1, 1, 2)), 1, true) }},
		"integers drawn": {ErrDType, "int64", func() { Multinomial(s, here(From([]int64{1})), 1, true) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
