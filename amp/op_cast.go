package amp

import (
	"github.com/halftone-ml/halftone/amp/bfloat16"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/x448/float16"
)

var opCast *Op

func init() {
	opCast = define(Op{
		Name: "cast", Doc: "x converted to another dtype, rounded once to nearest even", Args: []string{"x"}, Why: "the conversion itself",
		Ints: true, CUDA: "cast",
		Check:    func(c *Call) []int { return c.In[0].shape },
		Result:   func(c *Call) DType { return c.DType },
		CPU:      castCPU,
		Backward: func(b *Back) { b.Set(0, To(b.S, b.DY, b.DType(0))) },
	})
}

// To returns x as dtype, and x itself if it is of that dtype already. Gradients flow back converted to x's dtype. Floats become
// integers by truncation and booleans by a test against zero.
func To(s *Scope, x *Tensor, dtype DType) *Tensor {
	s.alive("cast")
	s.admit(opCast, 0, x)
	if dtype == NoDType || int(dtype) >= len(dtypes) {
		fail("cast", ErrDType, "use amp.Float16, amp.BFloat16, amp.Float32, amp.Float64, amp.Int64 or amp.Bool", "%v", dtype)
	}
	if x.dt == dtype {
		return x
	}
	r := ruleCastUser
	switch {
	case s.phase == backwardPhase:
		r = ruleBackward
	case s.phase == optimizerPhase && s.part != nil:
		r = ruleOptimizerPart
	}
	var pc uintptr
	if s.root.rec != nil {
		pc = s.callSite()
	}
	return s.cast(x, dtype, r, nil, 0, pc)
}

// castCPU goes through the wider type, so that each value is rounded once.
func castCPU(c *Call) {
	switch in := c.In[0]; {
	case in.dt == Int64 && c.DType == Int64:
		unaryOn(c.Out, in, copyK[int64])
	case in.dt == Float64 || in.dt == Int64 || in.dt == Bool || c.DType == Int64:
		unaryOn(c.Out, in, copyK[float64])
	case convertHalf(c.Out, in):
	default:
		unaryOn(c.Out, in, copyK[float32])
	}
}

// convertHalf converts between float32 and a half without a stop in a scratch, at the speed of the memory, where x is contiguous; it says
// whether it has.
func convertHalf(out, x *Tensor) bool {
	if !x.IsContiguous() {
		return false
	}
	n := x.Len()
	wide, half := out, x
	if x.dt == Float32 {
		wide, half = x, out
	}
	var bits []uint16
	switch half.dt {
	case Float16:
		bits = raw16(elements[float16.Float16](half)[half.off : half.off+n])
	case BFloat16:
		bits = raw16(elements[bfloat16.BFloat16](half)[half.off : half.off+n])
	}
	if bits == nil || wide.dt != Float32 {
		return false
	}
	numbers := elements[float32](wide)[wide.off : wide.off+n]
	cpu.Parallel(n, 2*grain, func(lo, hi int) {
		switch {
		case wide == x && half.dt == Float16:
			cpu.NarrowF16(bits[lo:hi], numbers[lo:hi])
		case wide == x:
			cpu.NarrowBF16(bits[lo:hi], numbers[lo:hi])
		case half.dt == Float16:
			cpu.WidenF16(numbers[lo:hi], bits[lo:hi])
		default:
			cpu.WidenBF16(numbers[lo:hi], bits[lo:hi])
		}
	})
	return true
}

func copyK[T number](dst, x []T) { copy(dst, x) }
