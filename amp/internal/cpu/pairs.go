package cpu

// Products of pairs of bfloat16 whose right operand is read where it lies, as those of StepProduct in float32: an element is a pair along k,
// the earlier one in its low half, and each sum is what VDPBF16PS gives over the steps in their order (see Dot).

// PairProducts says that products of bfloat16 are computed by VDPBF16PS: PairProduct is there, and GemmTo takes folded matrices of them.
func PairProducts() bool { return CurrentDot() == Pairs }
