package amp

import (
	"fmt"
	"slices"
)

// Products of 8-bit numbers under autocast: torchao's float8 training and Transformer Engine's recipes, on any machine and in the trace.
//
// An 8-bit number with its scale, a power of two, is a number of the lower dtype, too. A product that reads operands rounded so and adds up in
// float32 gives the numbers of one in 8 bits that adds up in float32, but for the order of sums; what it does not have is that one's speed.

// An FP8Recipe says which 8-bit numbers products read in an autocast scope with the option FP8. The zero value is Transformer Engine's
// Float8CurrentScaling with Format.HYBRID and torchao's "tensorwise": E4M3 forward, E5M2 for gradients, one scale per tensor, taken from its
// largest number. Scales are powers of two, which those two recipes have as an option: use_power_2_scales, round_scales_to_power_of_2.
type FP8Recipe struct {
	// Granularity says what shares a scale: PerTensor, PerRow (with E4M3 torchao's "rowwise") or PerBlock (with E4M3 Transformer Engine's
	// MXFP8BlockScaling).
	Granularity Granularity
	// E4M3 rounds gradients to E4M3, too, as Transformer Engine's Format.E4M3: more digits, less range.
	E4M3 bool
	// Margin leaves room for 2^Margin times the largest number, from 0 to 8: Transformer Engine's DelayedScaling has one.
	Margin int
	// Leave says which modules stay in the lower dtype, by their path, such as "net/head"; nil leaves none. It is called for each product, by
	// the goroutine that asks for it.
	Leave func(module string) bool
}

// FP8 makes products of the op linear in the scope read operands that are rounded to 8 bits, forward and backward, by a recipe. nil turns that
// off again in a nested scope. A layer whose sizes an 8-bit product of a GPU would not take (in, out and rows multiples of 16, of 32 PerBlock)
// stays in the lower dtype; the trace gives the reason. It panics with ErrArgument for a recipe that is none.
func FP8(r *FP8Recipe) AutocastOption {
	if r == nil {
		return func(a *autocast) { a.fp8 = nil }
	}
	r.Granularity.check("FP8")
	if r.Margin < 0 || r.Margin > 8 {
		fail("FP8", ErrArgument, "use 0, or as many powers of two as numbers may grow", "a margin of %d is not from 0 to 8", r.Margin)
	}
	recipe := *r
	return func(a *autocast) { a.fp8 = &recipe }
}

// String returns "fp8 e4m3, gradients e5m2, a scale per tensor".
func (r FP8Recipe) String() string {
	text := fmt.Sprintf("fp8 %v, gradients %v, a scale per %v", FormatE4M3, r.gradients(), r.Granularity)
	if r.Granularity == PerBlock {
		text += fmt.Sprintf(" of %d", scaleBlock)
	}
	if r.Margin > 0 {
		text += fmt.Sprintf(", margin %d", r.Margin)
	}
	return text
}

// Name returns what the recipe is called in a line: "fp8", "fp8-row" or "fp8-block".
func (r *FP8Recipe) Name() string {
	if r.Granularity == PerTensor {
		return "fp8"
	}
	return "fp8-" + r.Granularity.String()
}

// gradients returns the format of gradients.
func (r *FP8Recipe) gradients() Format {
	if r.E4M3 {
		return FormatE4M3
	}
	return FormatE5M2
}

// leaves says whether a module stays in the lower dtype.
func (r *FP8Recipe) leaves(module string) bool { return r.Leave != nil && r.Leave(module) }

// product8 is what the sizes of a product of 8 bits must be multiples of: Hopper's and Blackwell's read 16 bytes at a time.
const product8 = 16

// sizes returns what the sizes of a product must be multiples of.
func (r *FP8Recipe) sizes() int {
	if r.Granularity == PerBlock {
		return scaleBlock
	}
	return product8
}

// chooseFP8 makes a product that autocast runs in the lower dtype one of 8-bit numbers where the scope's recipe has it, and words why not; s has a
// recipe.
func (s *Scope) chooseFP8(c *Call, d *decision) {
	if c.Op.FP8 == nil || !d.lower() {
		return
	}
	r := s.auto.fp8
	c.Op.Check(c) // what the op refuses it does itself, before anything is rounded
	flags := d.rule - ruleLower
	switch {
	case r.leaves(s.path):
		d.rule = ruleFP8Left | flags
	case !c.Op.FP8(c, r.sizes()):
		d.rule = ruleFP8Sizes | flags
	default:
		d.rule = ruleFP8 | flags
		c.FP8 = r
	}
}

// readFP8 makes the operands that the kernel of a product in 8 bits reads: x and weight with scales along the dimension it sums over. What is
// kept for backward are the operands themselves, since its products sum over other dimensions. in are the call's inputs before their casts.
func (s *Scope) readFP8(c *Call, in []*Tensor) {
	if c.FP8 == nil {
		return
	}
	quiet := s.derive()
	quiet.noGrad = true
	c.reads = slices.Clone(c.In)
	for i := range 2 {
		to := c.FP8.cast(FormatE4M3, -1)
		to.rule, to.by, to.operand, to.name = ruleCastFP8, c.Op, i, in[i].name
		c.reads[i] = quiet.quantizeScaled(c.In[i], to)
	}
}

// dropFP8 frees what readFP8 made.
func (c *Call) dropFP8() {
	for i, t := range c.reads {
		if t != c.In[i] {
			t.release()
		}
	}
	c.reads = nil
}

// ofResult stands for b.DY, the gradient of the result, where Back.short is asked for an operand.
const ofResult = -1

// short returns what a product of backward reads of t, saved operand i or, in the recipe's format for gradients, ofResult: t itself unless the
// forward product read 8-bit numbers. The product sums over dim.
func (b *Back) short(t *Tensor, i, dim int) *Tensor {
	if b.n.attrs == nil || b.n.attrs.FP8 == nil || b.exact {
		return t
	}
	r := b.n.attrs.FP8
	if i != ofResult {
		to := r.cast(FormatE4M3, dim)
		to.name = tensorName(b.n.in[i])
		return b.S.quantizeScaled(t, to)
	}
	to := r.cast(r.gradients(), dim)
	if r.Granularity != PerTensor {
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

// cast says how the recipe rounds what a product sums over dim; as backward does it.
func (r *FP8Recipe) cast(f Format, dim int) casting {
	return casting{format: f, granularity: r.Granularity, margin: r.Margin, dim: dim, rule: ruleCastFP8Back}
}
