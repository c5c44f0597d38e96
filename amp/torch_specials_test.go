package amp

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestTorchSpecials compares what rows make of zeros, infinities, NaN and the ends of each dtype's range with PyTorch, in the dtype
// itself (specials.py): NaN where it has NaN, the same infinity, and otherwise numbers to four units in the last place or 2^-12, as
// the others hold values to closer bounds and PyTorch's vector functions are no better.
//
// Gradients are compared in float32: in halves PyTorch's formulas overflow between their ops, where ours compute in float32. They are not
// where the input is NaN, since there PyTorch gives what a comparison with NaN happens to choose, nor where PyTorch's formula is ∞-∞ or
// 0·∞ and ours has the limit.
func TestTorchSpecials(t *testing.T) {
	var f torchFile
	readTorch(t, "testdata/torch/specials.json.gz", &f)
	if len(f.Cases) < 300 {
		t.Errorf("only %d cases", len(f.Cases))
	}
	for _, c := range f.Cases {
		call := torchCalls[c.Op]
		if call == nil {
			continue
		}
		t.Run(strings.ReplaceAll(fmt.Sprintf("%s/%s/%v", c.Op, c.Name, c.DType), " ", "_"), func(t *testing.T) { c.checkSpecials(t, call) })
	}
}

func (c *torchCase) checkSpecials(t *testing.T, call torchCall) {
	root := NewScope()
	defer root.Close()
	in := c.inputs(c.DType)
	outs := call(root, c.Args, in)
	for k, y := range outs {
		c.sameSpecials(t, fmt.Sprintf("result %d", k), y, c.Out[k], in)
	}
	if c.DType != Float32 || len(c.Grad) == 0 || c.Grad[0] == nil {
		return
	}
	var leaves []*Tensor
	for _, x := range in {
		if x.needs {
			leaves = append(leaves, x)
		}
	}
	for i, g := range Grad(root, outs[:1], leaves, GradOutputs(c.DY[0].tensor(c.DType))) {
		c.sameSpecials(t, fmt.Sprintf("gradient of input %d", i), g, c.Grad[i], in)
	}
}

func (c *torchCase) sameSpecials(t *testing.T, what string, got *Tensor, want *torchTensor, in []*Tensor) {
	t.Helper()
	dt := want.DType
	theirs := want.Torch
	if dt == NoDType {
		dt = c.DType
	} else {
		theirs = want.Bits
	}
	kind, _, _ := strings.Cut(what, " ")
	meant := torchSpecial[c.Op+" "+kind] != "" || torchSpecial[fmt.Sprintf("%s %s %v", c.Op, kind, c.DType)] != ""
	for i, w := range bitsAs(dt, theirs) {
		v := got.Float64s()[i]
		size := math.Max(math.Abs(v), math.Abs(w))
		if distance(v, w) <= math.Max(8*halfULP(c.DType, size), 0x1p-12*size)+2*c.DType.MinNormal()+torchCancels[c.Op+" "+kind] && !math.IsInf(size, 1) || distance(v, w) == 0 {
			continue
		}
		at, nan := "", false
		for _, x := range in {
			if x.Len() == got.Len() {
				at += fmt.Sprintf(" %v", x.Float64s()[i])
				nan = nan || math.IsNaN(x.Float64s()[i])
			}
		}
		if meant || kind == "gradient" && (nan || w != w) || torchOverflows[c.Op] != "" && !finite(w) && finite(v) {
			continue
		}
		t.Errorf("%s element %d (%s ): %v, torch has %v", what, i, at, v, w)
	}
}

// torchOverflows holds the rows that are finite where PyTorch is not, and why.
var torchOverflows = map[string]string{
	"fmod": exactRemainder, "remainder": exactRemainder,
	"hardswish": factorFirst, "gelu": factorFirst,
	"mean": wideSum, "var": wideSum, "std": wideSum, "prod": wideSum, "cumprod": wideSum,
}

const (
	exactRemainder  = "PyTorch's vector code divides, and the quotient overflows; here the remainder is exact"
	factorFirst     = "PyTorch multiplies x by a number above 1 before it divides, or infinity by 0; here the limit is taken"
	trigammaAtPoles = "PyTorch's polygamma(1, x) divides by sin² of a rounded multiple of π at negative whole numbers, and of float32 at those too large to have others; here it is infinite at all"
	wideSum         = "sums and products are accumulated in float64 here"
)

// torchCancels holds results that are differences of numbers near 1, of which PyTorch rounds each: what is left is no more exact than that.
var torchCancels = map[string]float64{"log_softmax gradient": 0x1p-23}

// torchSpecial holds other differences that are meant.
var torchSpecial = map[string]string{
	"sign result":               "NaN stays NaN here; PyTorch makes it 0",
	"gelu result":               "the limit at infinity, where PyTorch multiplies it by 0",
	"remainder gradient":        "the quotient by infinity is 0 here; PyTorch rounds it down to -1 where the signs differ",
	"pow_scalar result float16": "roots of -Inf and -0 as PyTorch takes them in float32 and bfloat16; its float16 uses pow",
	"digamma gradient":          trigammaAtPoles,
	"polygamma result":          trigammaAtPoles + "; of more derivatives it has NaN at ∞, where the limit is 0",
	"std gradient":              "PyTorch's sum of squares overflows, by which it divides; here it is float64",
}
