package amp

// Products of 4-bit numbers under autocast: Transformer Engine's NVFP4 recipe for training, and MXFP4, on any machine and in the trace.
//
// A number of E2M1 times its scales is a number of the lower dtype, too: 2 significant bits times 4 of a scale in E4M3, times powers of two. A
// product that reads operands rounded so and adds up in float32 gives the numbers of one in 4 bits, but for the order of sums.

// An FP4Recipe says which 4-bit numbers products read in an autocast scope with the option FP4. The zero value is Transformer Engine's
// NVFP4BlockScaling (NVIDIA, "Pretraining Large Language Models with NVFP4", 2025): numbers of E2M1 with a scale in E4M3 for each 16 neighbors
// along the dimension that a product sums over, or for each 16×16 of a weight, times one scale per tensor, which is a power of two here
// ([QuantizeScaled] says why); gradients are rounded stochastically, everything else to nearest; and both operands of the weight's gradient go
// through a random Hadamard transform ([Hadamard]) along the rows first, which spreads what lies far out over 16 numbers and leaves the
// product as it is but for rounding. The transform's numbers are rounded to the lower dtype; in float16 they may be infinite where a gradient was
// above 16376, which a GradScaler sees.
type FP4Recipe struct {
	// MX takes the format MXFP4 of the OCP Microscaling Formats (MX), version 1.0: a power of two, the smallest with which nothing overflows (torchao's
	// ScaleCalculationMode.RCEIL), for each 32 neighbors, or 32×32 of a weight, and none per tensor. With all three switches below it rounds as
	// torchao's MX training does; with gradients rounded stochastically and transformed as in Tseng et al., "Training LLMs with MXFP4", 2025.
	MX bool
	// DisableRHT leaves the random Hadamard transforms out.
	DisableRHT bool
	// DisableStochasticRounding rounds gradients to nearest, too.
	DisableStochasticRounding bool
	// Disable2DQuantization gives weights scales along the dimension that a product sums over, as everything else has: forward and backward then read
	// different numbers of a weight.
	Disable2DQuantization bool
	// Leave says which modules stay in the lower dtype, by their path, such as "net/head"; nil leaves none. It is called for each product, by
	// the goroutine that asks for it. NVIDIA leaves the last few blocks and what surrounds the blocks.
	Leave func(module string) bool
}

// FP4 makes products of the op linear in the scope read operands that are rounded to 4 bits, forward and backward, by a recipe. nil turns that
// off again in a nested scope, and so does FP8: of several the last one holds. A layer whose sizes a 4-bit product of a GPU would not take (in,
// out and rows multiples of 32: it reads 16 bytes at a time) stays in the lower dtype; the trace gives the reason. The numbers that gradients are
// rounded with are drawn in the backward pass, from the stream of the scope that runs it.
func FP4(r *FP4Recipe) AutocastOption {
	if r == nil {
		return func(a *autocast) { a.without(&rulesFP4) }
	}
	recipe := *r
	return func(a *autocast) { a.short = &recipe }
}

// String returns "fp4 e2m1, a scale in e4m3 per block of 16, per 16×16 of weights, gradients rounded stochastically, Hadamard transforms".
func (r FP4Recipe) String() string {
	text, square := "fp4 e2m1, a scale in e4m3 per block of 16", ", per 16×16 of weights"
	if r.MX {
		text, square = "fp4 e2m1, a scale per block of 32", ", per 32×32 of weights"
	}
	if !r.Disable2DQuantization {
		text += square
	}
	if !r.DisableStochasticRounding {
		text += ", gradients rounded stochastically"
	}
	if !r.DisableRHT {
		text += ", Hadamard transforms"
	}
	return text
}

// Name returns what the recipe's numbers are called: "nvfp4" or "mxfp4".
func (r *FP4Recipe) Name() string {
	if r.MX {
		return "mxfp4"
	}
	return "nvfp4"
}

// product4 is what the sizes of a product of 4 bits must be multiples of: Blackwell's read 16 bytes at a time, and each size is summed over once,
// forward or backward.
const product4 = 32

func (r *FP4Recipe) leaves(module string) bool { return r.Leave != nil && r.Leave(module) }

func (r *FP4Recipe) sizes() int { return product4 }

func (r *FP4Recipe) rules() *shortRules { return &rulesFP4 }

var rulesFP4 = shortRules{run: ruleFP4, left: ruleFP4Left, sizes: ruleFP4Sizes, cast: ruleCastFP4, back: ruleCastFP4Back, bits: "4 bits"}

func (r *FP4Recipe) turns() bool { return !r.DisableRHT }

// cast says how the recipe rounds operand i of a product that sums over dim: operand 1 is the weight.
func (r *FP4Recipe) cast(i, dim int) casting {
	to := casting{format: FormatE2M1, granularity: PerBlock16, dim: dim}
	if r.MX {
		to.granularity = PerBlock
	}
	to.square = i == 1 && !r.Disable2DQuantization
	to.random = i == ofResult && !r.DisableStochasticRounding
	return to
}
