package amp

import "fmt"

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
// off again in a nested scope, and so does FP4: of several the last one holds. A layer whose sizes an 8-bit product of a GPU would not take (in, out and rows multiples of 16, of 32 PerBlock)
// stays in the lower dtype; the trace gives the reason. It panics with ErrArgument for a recipe that is none.
func FP8(r *FP8Recipe) AutocastOption {
	if r == nil {
		return func(a *autocast) { a.without(&rulesFP8) }
	}
	r.Granularity.check("FP8")
	if r.Granularity > PerBlock {
		fail("FP8", ErrArgument, "use amp.FP4, or amp.PerBlock", "a scale per %v is for 4 bits", r.Granularity)
	}
	if r.Margin < 0 || r.Margin > 8 {
		fail("FP8", ErrArgument, "use 0, or as many powers of two as numbers may grow", "a margin of %d is not from 0 to 8", r.Margin)
	}
	recipe := *r
	return func(a *autocast) { a.short = &recipe }
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

func (r *FP8Recipe) rules() *shortRules { return &rulesFP8 }

var rulesFP8 = shortRules{run: ruleFP8, left: ruleFP8Left, sizes: ruleFP8Sizes, cast: ruleCastFP8, back: ruleCastFP8Back, bits: "8 bits"}

func (r *FP8Recipe) turns() bool { return false }

// cast says how the recipe rounds operand i of a product that sums over dim.
func (r *FP8Recipe) cast(i, dim int) casting {
	f := FormatE4M3
	if i == ofResult {
		f = r.gradients()
	}
	return casting{format: f, granularity: r.Granularity, margin: r.Margin, dim: dim}
}
