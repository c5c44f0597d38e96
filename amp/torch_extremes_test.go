package amp

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestTorchExtremes: an overflow is where PyTorch has it. The cases of all families, with zeros, infinities, NaN and numbers near the end of
// float16 among their inputs (extremes.py), have NaN where PyTorch has NaN, the same infinities, and numbers elsewhere. Gradients are compared in
// float32: in halves PyTorch's formulas overflow between their ops, where ours compute in float32.
func TestTorchExtremes(t *testing.T) {
	var f torchFile
	readTorch(t, "testdata/torch/extremes.json.gz", &f)
	if len(f.Cases) < 2300 {
		t.Errorf("only %d cases", len(f.Cases))
	}
	used := map[string]bool{}
	for _, c := range f.Cases {
		t.Run(strings.ReplaceAll(fmt.Sprintf("%s/%s/%v", c.Op, c.Name, c.DType), " ", "_"), func(t *testing.T) { c.checkExtremes(t, used) })
	}
	for name := range torchExtremes {
		if !used[name] && home() == "cpu" {
			t.Errorf("%s is listed, and does not differ", name)
		}
	}
}

func (c *torchCase) checkExtremes(t *testing.T, used map[string]bool) {
	root := NewScope()
	defer root.Close()
	in := c.inputs(c.DType)
	if c.Refused != "" { // a matrix has no factor
		if err := Maybe(settled(root, func() { torchCalls[c.Op](root, c.Args, in) })); !errors.Is(err, ErrSingular) {
			c.allow(t, "refusal", used, "%v, torch says %s", err, c.Refused)
		}
		return
	}
	outs := torchCalls[c.Op](root, c.Args, in)
	for k, y := range outs {
		c.sameExtremes(t, "result", k, y, c.Out[k], used)
	}
	if c.DType != Float32 {
		return
	}
	grads, wanted := c.gradients(root, outs, in)
	for i, g := range grads {
		c.sameExtremes(t, "gradient", i, g, wanted[i], used)
	}
}

// sameExtremes compares a result or gradient with PyTorch's.
func (c *torchCase) sameExtremes(t *testing.T, kind string, k int, got *Tensor, want *torchTensor, used map[string]bool) {
	t.Helper()
	dt, bits := want.DType, want.Bits
	if dt == NoDType {
		dt, bits = c.DType, want.Torch
	}
	values := got.Float64s()
	for i, w := range bitsAs(dt, bits) {
		v := values[i]
		if specialOf(v) == specialOf(w) && (dt.IsFloat() || v == w) {
			continue
		}
		c.allow(t, kind, used, "%s %d element %d: %v, torch has %v", kind, k, i, v, w)
		return
	}
}

// allow notes which entry of torchExtremes allows a difference of the kind, or tells of it.
func (c *torchCase) allow(t *testing.T, kind string, used map[string]bool, format string, args ...any) {
	t.Helper()
	for _, name := range []string{c.Op + " " + kind, fmt.Sprintf("%s %s %v", c.Op, kind, c.DType)} {
		if torchExtremes[name] != "" {
			used[name] = true
			return
		}
	}
	t.Errorf(format, args...)
}

// Why a row's numbers are finite, infinite or NaN where PyTorch's are not.
const (
	choiceOfNaN   = "where x is NaN PyTorch gives what a comparison happens to choose"
	limitTaken    = "PyTorch's formula is ∞-∞ or 0·∞ there, and ours has the limit"
	signOfNaN     = "the sign of NaN is NaN here, and 0 in PyTorch"
	anyOfEqual    = "which of equal numbers, NaN too, comes first is not said"
	stepsInHalves = "PyTorch rounds between its steps, which overflow in halves or in float32; ours are wide"
	meanFirst     = "ours takes the mean off before it multiplies by an infinite weight"
	zeroPadding   = "the kernel multiplies the zeros of the padding by an infinite weight too; PyTorch's leaves them out"
	blockedSums   = "PyTorch's blocks lose NaN of ∞-∞"
	infiniteParts = "factors hold ∞, and what is ∞-∞ or 0·∞ of it depends on the order of sums, and on whether a or aᵀ was factored"
	maskedKeys    = "ours leaves out keys that are masked, and has NaN for a row of NaN, which PyTorch makes 0"
)

// torchExtremes holds the differences that are meant.
var torchExtremes = map[string]string{
	"pow gradient": choiceOfNaN, "abs gradient": signOfNaN, "sign result": signOfNaN, "remainder gradient": limitTaken,
	"pow_scalar result float16": "roots of -Inf as PyTorch takes them in float32 and bfloat16; its float16 uses pow",
	"silu gradient":             limitTaken, "mish gradient": limitTaken, "softsign gradient": limitTaken, "gelu gradient": limitTaken,
	"hardswish result": limitTaken, "hardswish gradient": choiceOfNaN,
	"selu gradient": choiceOfNaN, "elu gradient": choiceOfNaN, "celu gradient": choiceOfNaN,
	"norm gradient": signOfNaN, "linalg_matrix_norm gradient": choiceOfNaN, "l1_loss gradient": signOfNaN,
	"prod gradient": choiceOfNaN, "cumprod gradient": choiceOfNaN, "topk result": anyOfEqual,
	"addr result float16": stepsInHalves, "bilinear result float16": stepsInHalves, "cross_entropy result float16": stepsInHalves,
	"nll_loss result float16": stepsInHalves, "cosine_embedding_loss result float16": stepsInHalves, "triplet_margin_loss result float16": stepsInHalves,
	"soft_margin_loss result": stepsInHalves, "soft_margin_loss gradient": stepsInHalves,
	"layer_norm gradient": limitTaken, "group_norm result": meanFirst, "group_norm gradient": meanFirst, "batch_norm_running result": blockedSums,
	"interpolate result": limitTaken, "kl_div result": limitTaken, "kl_div gradient": limitTaken, "poisson_nll_loss result float16": limitTaken,
	"conv1d gradient": zeroPadding, "conv2d gradient": zeroPadding, "conv3d gradient": zeroPadding, "conv3d result": zeroPadding,
	"conv_transpose1d result": zeroPadding, "conv_transpose2d result": zeroPadding, "conv_transpose3d result": zeroPadding,
	"digamma gradient": trigammaAtPoles, "polygamma result": trigammaAtPoles,
	"cholesky_solve gradient": infiniteParts, "linalg_lu_factor gradient": infiniteParts, "linalg_det gradient": infiniteParts,
	"linalg_slogdet gradient": infiniteParts, "linalg_slogdet result": signOfNaN,
	"scaled_dot_product_attention result": maskedKeys, "scaled_dot_product_attention gradient": maskedKeys,
}
