package amp

import "slices"

// Products of short numbers under autocast: what FP8 and FP4 have in common. Their operands are rounded to numbers of 8 or 4 bits times a scale and
// stay in the lower dtype; the products run as ever.

// A shortRecipe says what a product that autocast runs in the lower dtype reads.
type shortRecipe interface {
	String() string
	Name() string
	leaves(module string) bool
	// sizes is what the sizes of a product must be multiples of.
	sizes() int
	rules() *shortRules
	// cast says how operand i of a product that sums over dim is rounded, or ofResult, the gradient of the result.
	cast(i, dim int) casting
	// turns says whether the operands of the weight's gradient are transformed first, along what the product sums over.
	turns() bool
}

// shortRules are what a recipe's decisions are called.
type shortRules struct {
	run, left, sizes rule // of a product: on short numbers, left out by the recipe, of other sizes
	cast, back       rule // of a rounding, forward and backward
	bits             string
}

// casts says whether a rule is that of a rounding for a product of short numbers.
func (r rule) casts() bool {
	return r == ruleCastFP8 || r == ruleCastFP8Back || r == ruleCastFP4 || r == ruleCastFP4Back || r == ruleCastFP4Random
}

// without takes a recipe of a kind away.
func (a *autocast) without(rules *shortRules) {
	if a.short != nil && a.short.rules() == rules {
		a.short = nil
	}
}

// chooseShort makes a product that autocast runs in the lower dtype one of short numbers where the scope's recipe has it, and words why not; s has a
// recipe.
func (s *Scope) chooseShort(c *Call, d *decision) {
	if c.Op.Short == nil || !d.lower() {
		return
	}
	r := s.auto.short
	c.Op.Check(c) // what the op refuses it does itself, before anything is rounded
	flags := d.rule - ruleLower
	switch {
	case r.leaves(s.path):
		d.rule = r.rules().left | flags
	case !c.Op.Short(c, r.sizes()):
		d.rule = r.rules().sizes | flags
	default:
		d.rule = r.rules().run | flags
		c.Short = r
	}
}

// readShort makes the operands that the kernel of a product of short numbers reads: x and weight with scales along the dimension it sums over. What is
// kept for backward are the operands themselves, since its products sum over other dimensions. in are the call's inputs before their casts.
func (s *Scope) readShort(c *Call, in []*Tensor) {
	if c.Short == nil {
		return
	}
	quiet := s.derive()
	quiet.noGrad = true
	c.reads = slices.Clone(c.In)
	for i := range 2 {
		to := c.Short.cast(i, -1)
		to.rule, to.by, to.operand, to.name = c.Short.rules().cast, c.Op, i, in[i].name
		c.reads[i] = quiet.quantizeScaled(c.In[i], to)
	}
}

// dropShort frees what readShort made.
func (c *Call) dropShort() {
	for i, t := range c.reads {
		if t != c.In[i] {
			t.release()
		}
	}
	c.reads = nil
}

// ofResult stands for b.DY, the gradient of the result, where Back.short is asked for an operand.
const ofResult = -1

// recipe returns that of the forward product, nil if it read none.
func (b *Back) recipe() shortRecipe {
	if b.n.attrs == nil || b.exact {
		return nil
	}
	return b.n.attrs.Short
}

// short returns what a product of backward reads of t, saved operand i or, as the recipe rounds gradients, ofResult: t itself unless the forward
// product read short numbers. The product sums over dim.
func (b *Back) short(t *Tensor, i, dim int) *Tensor {
	r := b.recipe()
	if r == nil {
		return t
	}
	to := r.cast(i, dim)
	to.rule = r.rules().back
	if to.random {
		to.rule = ruleCastFP4Random
	}
	if i != ofResult {
		to.name = tensorName(b.n.in[i])
		return b.S.quantizeScaled(t, to)
	}
	if to.granularity != PerTensor {
		return b.S.quantizeScaled(t, to)
	}
	if b.dy8 == nil { // one scale whatever the shape: rounded once for all products
		b.dy8 = b.S.quantizeScaled(b.DY, to)
	}
	if len(t.shape) == len(b.DY.shape) {
		return b.dy8
	}
	return Reshape(b.S, b.dy8, t.shape...)
}

// shortTurned is short of an operand of the weight's gradient, a product that sums over dimension 0.
func (b *Back) shortTurned(t *Tensor, i int) *Tensor {
	if r := b.recipe(); r != nil && r.turns() {
		t = Hadamard(b.S, t, 0)
	}
	return b.short(t, i, 0)
}
