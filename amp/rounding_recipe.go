package amp

import "math"

// What a product that reads 8-bit numbers would do to the loss: TraceRounding's answer to which layers a recipe should leave.

// A roundingRecipe is a recipe that is tried.
type roundingRecipe struct {
	name  string
	sizes int                                      // what a product's sizes must be multiples of
	read  func(s *Scope, x *Tensor, k int) *Tensor // operand k as the forward product reads it
}

// roundingRecipes are those that are tried: with every granularity, E4M3 forward.
var roundingRecipes = func() (all []*roundingRecipe) {
	for g := range PerBlock + 1 {
		r := &FP8Recipe{Granularity: g}
		all = append(all, &roundingRecipe{r.Name(), r.sizes(), func(s *Scope, x *Tensor, k int) *Tensor {
			return s.quantizeScaled(x, r.cast(k, -1))
		}})
	}
	return all
}()

// recipesFor lists those whose products a call's sizes suit; none of what is no such product.
func recipesFor(c *Call) (all []*roundingRecipe) {
	if c.Op.Short == nil {
		return nil
	}
	for _, r := range roundingRecipes {
		if c.Op.Short(c, r.sizes) {
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
			sum.by(grads, k, t, To(s, r.read(s, To(s, t, dt), k), Float64))
		}
		e.Recipes = append(e.Recipes, RoundingRecipe{r.name, plain(math.Sqrt(sum.squares)), sum.over})
	}
}
