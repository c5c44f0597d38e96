package amp

import (
	"math"
	"slices"
	"testing"
)

// TestRoundingRecipes: what a trace says of a layer in 8 or 4 bits is what they do to it, on the average over many draws, whether the program
// runs in float32, in 16 bits or in 8 bits already.
func TestRoundingRecipes(t *testing.T) {
	scopes := []func(s *Scope) *Scope{
		func(s *Scope) *Scope { return s },
		func(s *Scope) *Scope { return s.Autocast(BFloat16) },
		func(s *Scope) *Scope { return s.Autocast(Float16) },
		func(s *Scope) *Scope { return s.Autocast(BFloat16, FP8(&FP8Recipe{Granularity: PerBlock})) },
	}
	for g := range PerBlock + 1 {
		r := &FP8Recipe{Granularity: g}
		for k, under := range scopes {
			var said, did float64
			for seed := range uint64(64) {
				s := NewScope(Seed(seed))
				x, w := Randn(s, Float32, 0, 1, 32, 32), Randn(s, Float32, 0, 0.2, 32, 64).RequireGrad()
				v := Randn(s, Float32, 0, 1, 32, 32)
				rest := func(s *Scope, y *Tensor) *Tensor {
					s = s.Autocast(BFloat16, Enabled(false))
					return Sum(s, Mul(s, Softmax(s, To(s, y, Float32), -1), v))
				}
				w = Narrow(s, w, 1, 0, 32)
				_, trace := TraceRounding(s, func(s *Scope) *Tensor { return rest(s, Linear(under(s), x, w, nil)) })
				e := trace.Events[slices.IndexFunc(trace.Events, func(e RoundingEvent) bool { return e.Op == "linear" })]
				if len(e.Recipes) != len(roundingRecipes) || e.Recipes[g].Recipe != r.Name() {
					t.Fatalf("%+v", e.Recipes)
				}
				said += e.Recipes[g].Spread * e.Recipes[g].Spread
				loss := rest(s, Linear(s.Autocast(e.lowerOf(), func(a *autocast) { a.short = r }), x, w, nil)).Item()
				did += math.Pow(loss-trace.Exact, 2)
				s.Close()
			}
			if ratio := math.Sqrt(said / did); !(ratio > 0.75 && ratio < 1.35) {
				t.Errorf("%s, scope %d: said %g, did %g: %g", r.Name(), k, math.Sqrt(said/64), math.Sqrt(did/64), ratio)
			}
		}
	}
}

// lowerOf is roundingEvent.lower.
func (e RoundingEvent) lowerOf() DType { return (&roundingEvent{RoundingEvent: e}).lower() }

// TestRoundingRecipesFit: a recipe is tried where its products have the sizes that 8-bit products take, and on products alone.
func TestRoundingRecipesFit(t *testing.T) {
	for _, c := range []struct {
		rows, in, out int
		want          []string
	}{
		{32, 32, 32, []string{"fp8", "fp8-row", "fp8-block", "nvfp4", "mxfp4"}},
		{16, 48, 32, []string{"fp8", "fp8-row"}},
		{16, 40, 32, nil},
		{8, 32, 32, nil},
	} {
		s := NewScope()
		x, w := Randn(s, Float32, 0, 1, c.rows, c.in), Randn(s, Float32, 0, 1, c.out, c.in).RequireGrad()
		_, trace := TraceRounding(s, func(s *Scope) *Tensor { return Mean(s, Square(s, Linear(s, x, w, nil))) })
		for _, e := range trace.Events {
			var got []string
			for _, r := range e.Recipes {
				got = append(got, r.Recipe)
				if !(r.Spread > 0) || r.Over > 0 {
					t.Errorf("%s: %+v", e.Op, r)
				}
			}
			if want := c.want; e.Op == "linear" && !slices.Equal(got, want) || e.Op != "linear" && got != nil {
				t.Errorf("%s of %d×%d×%d: %q, want %q", e.Op, c.rows, c.in, c.out, got, want)
			}
		}
		s.Close()
	}
}

// TestRoundingRecipesOver: what the lower dtype cannot hold is said.
func TestRoundingRecipesOver(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, w := Full(s, Float32, 1e4, 16, 16), Full(s, Float32, 1, 16, 16).RequireGrad()
	_, trace := TraceRounding(s, func(s *Scope) *Tensor {
		return Mean(s, Linear(s.Autocast(Float16, Force("linear", FP32)), x, w, nil))
	})
	if e := trace.Events[0]; e.Op != "linear" || len(e.Recipes) == 0 || e.Recipes[0].Over != 256 {
		t.Errorf("%+v", trace.Events[0])
	}
}
