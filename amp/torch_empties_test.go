package amp

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// TestTorchEmpties: inputs without elements (empties.py) are taken where PyTorch takes them, with its results and gradients.
func TestTorchEmpties(t *testing.T) {
	var f torchFile
	readTorch(t, "testdata/torch/empties.json.gz", &f)
	if len(f.Cases) < 3600 {
		t.Errorf("only %d cases", len(f.Cases))
	}
	used := map[string]bool{}
	for i, c := range f.Cases {
		t.Run(strings.ReplaceAll(fmt.Sprintf("%s/%s/%d", c.Op, c.Name, i), " ", "_"), func(t *testing.T) {
			if said, difference := c.checkEmpty(); torchEmpties[c.Op+" "+said] != "" {
				used[c.Op+" "+said] = true
			} else if said != "" {
				t.Errorf("%s: %s", said, difference)
			}
		})
	}
	for name := range torchEmpties {
		if !used[name] {
			t.Errorf("%s is listed, and does not differ", name)
		}
	}
}

// What a case may differ in.
const (
	takesMore = "takes more"
	takesLess = "takes less"
	otherwise = "otherwise"
)

// checkEmpty says what differs from PyTorch, if anything, and how.
func (c *torchCase) checkEmpty() (said, difference string) {
	root := NewScope()
	defer root.Close()
	in := c.inputs(c.DType)
	of := ""
	for _, x := range in {
		if x != nil {
			of += fmt.Sprint(x.shape)
		}
	}
	var outs []*Tensor
	err := Maybe(settled(root, func() { outs = torchCalls[c.Op](root, c.Args, in) }))
	switch {
	case err == nil && c.Refused != "":
		return takesMore, fmt.Sprintf("%s, torch: %s", of, c.Refused)
	case err != nil && c.Refused == "":
		return takesLess, fmt.Sprintf("%s: %v", of, err)
	case err != nil:
		return "", ""
	}
	for k, y := range outs {
		if d := differs(y, c.Out[k], c.DType); d != "" {
			return otherwise, fmt.Sprintf("%s, result %d: %s", of, k, d)
		}
	}
	grads, wanted := c.gradients(root, outs, in)
	for i, g := range grads {
		if d := differs(g, wanted[i], c.DType); d != "" {
			return otherwise, fmt.Sprintf("%s, gradient %d: %s", of, i, d)
		}
	}
	return "", ""
}

// gradients returns the gradients of the inputs for those of the results, and PyTorch's, where it has some.
func (c *torchCase) gradients(root *Scope, outs, in []*Tensor) (grads []*Tensor, wanted []*torchTensor) {
	var ys, dys, leaves []*Tensor
	for k, y := range outs {
		if y.needs {
			ys, dys = append(ys, y), append(dys, c.DY[k].tensor(c.DType))
		}
	}
	for i, x := range in {
		if x != nil && x.needs && i < len(c.Grad) && c.Grad[i] != nil {
			leaves, wanted = append(leaves, x), append(wanted, c.Grad[i])
		}
	}
	if len(leaves) > 0 {
		grads = Grad(root, ys, leaves, GradOutputs(dys...))
	}
	return grads, wanted
}

// differs says where a tensor is not PyTorch's: in shape, in what is no number, or by more than rounding.
func differs(got *Tensor, want *torchTensor, dt DType) string {
	if !slices.Equal(got.shape, want.Shape) {
		return fmt.Sprintf("shape %v, torch %v", got.shape, want.Shape)
	}
	bits := want.Torch
	if want.DType != NoDType {
		dt, bits = want.DType, want.Bits
	}
	values := got.Float64s()
	for i, w := range bitsAs(dt, bits) {
		if v := values[i]; specialOf(v) != specialOf(w) || specialOf(v) == 0 && math.Abs(v-w) > 1e-5*math.Max(1, math.Abs(w)) {
			return fmt.Sprintf("element %d is %v, torch has %v", i, v, w)
		}
	}
	return ""
}

const (
	emptyResult  = "the result is empty here; PyTorch wants an empty batch, if anything"
	firstChannel = "the case looks at a first channel, which is not there"
	caseSays     = "the case gives PyTorch the normalized shape apart"
	noParameters = "PyTorch does not look at parameters of no elements' worth of x"
	noKernel     = "a kernel of no size"
	neverWritten = "PyTorch's result is memory that was never written"
	noChannels   = "of no input channels there is the bias, or 0; PyTorch makes the output channels none, too"
	atOnce       = "PyTorch gives zeros at once where an operand is empty, whatever the other shapes are"
)

// torchEmpties holds the differences that are meant.
var torchEmpties = map[string]string{
	"adaptive_avg_pool3d takes more": emptyResult, "adaptive_max_pool1d takes more": emptyResult, "adaptive_max_pool2d takes more": emptyResult,
	"adaptive_max_pool3d takes more": emptyResult, "avg_pool1d takes more": emptyResult, "avg_pool2d takes more": emptyResult,
	"avg_pool3d takes more": emptyResult, "max_pool1d takes more": emptyResult, "max_pool2d takes more": emptyResult, "max_pool3d takes more": emptyResult,
	"adaptive_max_pool1d_with_indices takes more": emptyResult, "adaptive_max_pool2d_with_indices takes more": emptyResult,
	"adaptive_max_pool3d_with_indices takes more": emptyResult, "max_pool1d_with_indices takes more": emptyResult,
	"max_pool2d_with_indices takes more": emptyResult, "max_pool3d_with_indices takes more": emptyResult,
	"max_unpool1d takes more": emptyResult, "max_unpool2d takes more": emptyResult, "max_unpool3d takes more": emptyResult,
	"bilinear takes more": emptyResult, "conv1d takes more": emptyResult, "conv2d takes more": emptyResult, "conv3d takes more": emptyResult,
	"conv_transpose1d takes more": emptyResult, "conv_transpose2d takes more": emptyResult, "fold takes more": emptyResult, "unfold takes more": emptyResult,
	"group_norm takes more": emptyResult, "interpolate takes more": emptyResult, "multilabel_margin_loss takes more": emptyResult,
	"pad takes more":        emptyResult,
	"batch_norm takes more": firstChannel, "batch_norm_eval takes more": firstChannel, "batch_norm_running takes more": firstChannel,
	"instance_norm takes more": firstChannel, "layer_norm takes more": caseSays, "rms_norm takes more": caseSays,

	"adaptive_avg_pool2d takes less": "one element is a mean for PyTorch, and NaN of nothing",
	"linalg_lu_factor takes less":    "square matrices only",
	"batch_norm takes less":          noParameters, "batch_norm_eval takes less": noParameters, "batch_norm_running takes less": noParameters,
	"instance_norm takes less": noParameters, "conv1d takes less": noKernel, "conv2d takes less": noKernel, "conv3d takes less": noKernel,
	"index_add takes less": "PyTorch does not look at an index where nothing is added", "scaled_dot_product_attention takes less": atOnce,

	"conv1d otherwise": noChannels, "conv2d otherwise": noChannels, "conv3d otherwise": noChannels,
	"multi_margin_loss otherwise": neverWritten, "multilabel_margin_loss otherwise": neverWritten,
	"pixel_unshuffle otherwise": "PyTorch returns what it was given", "scaled_dot_product_attention otherwise": atOnce,
}
