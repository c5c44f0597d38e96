package widgets

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/widgets/internal/sample"
)

// TestRoundingRecipes: products by a recipe need no casts of their own, all else stays, and rows that were left out count.
func TestRoundingRecipes(t *testing.T) {
	for _, dt := range []amp.DType{amp.Float16, amp.Float32} {
		d := Rounding(sample.Rounding(dt)).Rounding
		products := d.Products()
		if len(products) != 5 || len(d.Recipes) != 5 {
			t.Fatalf("%v: %d products, %+v", dt, len(products), d.Recipes)
		}
		want, all := float64(d.MoreSpread), 0.0
		for i, r := range d.Rows {
			o, ok := r.Recipe("fp8-row")
			switch {
			case ok:
				want, all = math.Hypot(want, float64(o.Spread)), math.Hypot(all, float64(o.Spread))
			case r.For == "linear":
			default:
				want = math.Hypot(want, float64(d.Rows[i].Spread))
			}
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if math.Abs(got/want-1) > 2e-3 {
				t.Errorf("%v, %s: %v, want %v", dt, what, got, want)
			}
		}
		near("all", d.WithRecipe("fp8-row"), want)
		near("total", all, float64(d.Recipes[1].Spread))
		near("none", d.WithRecipe("fp8-row", products...), d.With(amp.Float32)) // as the program ran
		head := products[len(products)-1]
		o, _ := d.Rows[head].Recipe("fp8-row")
		now, _ := d.AsNow(head)
		if dt == amp.Float32 {
			now = float64(d.Rows[head].Spread)
		}
		near("without the head", math.Hypot(math.Sqrt(max(0, math.Pow(want, 2)-math.Pow(float64(o.Spread), 2))), now), d.WithRecipe("fp8-row", head))
		for k := range d.RecipeHeads() {
			sum := 0.0
			for _, i := range products {
				texts, parts := d.RecipeCells(i)
				if sum += parts[k]; texts[k] == "" {
					t.Errorf("%v: %q", dt, texts)
				}
			}
			near("parts", sum, 1)
		}
		before := d.WithRecipe("fp8")
		d.cut(3)
		near("after a cut", d.WithRecipe("fp8"), before)
	}
}

// TestRoundingShorter: the finding names the layer that most of the error comes from, recipes that do the same together, and how it ran.
func TestRoundingShorter(t *testing.T) {
	trace := sample.Rounding(amp.Float16)
	for i := range trace.Events {
		for k := range trace.Events[i].Recipes {
			if o := &trace.Events[i].Recipes[k]; k == 1 {
				o.Spread = trace.Events[i].Recipes[0].Spread
			}
		}
	}
	f := Rounding(trace)
	for _, want := range []string{"With its 5 products in fp8 or fp8-row an error of about ", ", in fp8-block ", "; now ", " in fp8 comes from [3]:44 linear in gpt/head; with that module left as it is, "} {
		if !strings.Contains(f.Rounding.Shorter, want) {
			t.Errorf("%q lacks %q", f.Rounding.Shorter, want)
		}
	}
	if text := f.Text(); !strings.Contains(text, recipesTitle) || !slices.Contains(f.Rounding.Notes(), f.Rounding.Shorter) {
		t.Error(text)
	}
	if d := Rounding(sample.Rounding(amp.Float32)).Rounding; !strings.Contains(d.Shorter, "; in bfloat16 ") || d.RecipeHeads()[0] != "bf16" {
		t.Errorf("%q, %q", d.Shorter, d.RecipeHeads())
	}
	trace = sample.Rounding(amp.Float16)
	for i := range trace.Events {
		trace.Events[i].Recipes = nil
	}
	if f := Rounding(trace); f.Rounding.Shorter != "" || strings.Contains(f.Text(), recipesTitle) {
		t.Errorf("of no products: %q", f.Rounding.Shorter)
	}
	if d := Rounding(sample.RoundingBroken()).Rounding; d.Shorter != "" {
		t.Errorf("of a loss that is not finite: %q", d.Shorter)
	}
}
