package amp

import "math"

// What a product that reads 8-bit or 4-bit numbers would do to the loss: TraceRounding's answer to which layers a recipe should leave.

// roundingRecipes are those that are tried.
var roundingRecipes = []shortRecipe{
	&FP8Recipe{Granularity: PerTensor}, &FP8Recipe{Granularity: PerRow}, &FP8Recipe{Granularity: PerBlock},
	&FP4Recipe{}, &FP4Recipe{MX: true},
}

// recipesFor lists those whose products a call's sizes suit; none of what is no such product.
func recipesFor(c *Call) (all []shortRecipe) {
	if c.Op.Short == nil {
		return nil
	}
	for _, r := range roundingRecipes {
		if c.Op.Short(c, r.sizes()) {
			all = append(all, r)
		}
	}
	return all
}

// lower is the dtype in which a recipe's numbers would be kept: that of autocast, bfloat16 without.
func (e *roundingEvent) lower() DType {
	if e.Autocast.IsHalf() {
		return e.Autocast
	}
	return BFloat16
}

// read works out what reading the operands by each recipe would do. The result is rounded in dt as it would be without: what that does is known.
func (e *roundingEvent) read(s *Scope, dt DType, operands []*Tensor, result roundingSum, grads []*Tensor) {
	for _, r := range e.recipes {
		sum := result
		for k, t := range operands[:2] {
			sum.by(grads, k, t, To(s, s.quantizeScaled(To(s, t, dt), r.cast(k, -1)), Float64))
		}
		e.Recipes = append(e.Recipes, RoundingRecipe{r.Name(), plain(math.Sqrt(sum.squares)), sum.over})
	}
}
