package amp

import (
	"errors"
	"slices"
	"testing"
)

// TestTorchAutocast compares the dtypes that rows give under autocast by the CPU lists with what PyTorch gave on the CPU, for inputs in
// one dtype and mixed.
func TestTorchAutocast(t *testing.T) {
	n := 0
	for _, f := range torchFiles(t) {
		for _, c := range f.Cases {
			call := torchCalls[c.Op]
			if call == nil || torchDecidesOtherwise[c.Op] != "" {
				continue
			}
			for _, a := range c.Autocast {
				n++
				c.checkAutocast(t, call, a, BFloat16, UseLists(CPULists))
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d decisions", n)
	}
}

// TestTorchDecisions compares the dtypes that rows give under autocast to both dtypes by the CUDA lists with what PyTorch decides for CUDA
// tensors (decisions.py), for inputs in one dtype and mixed.
func TestTorchDecisions(t *testing.T) {
	var decided struct {
		Cases []struct {
			Op, Name  string
			To        DType
			Decisions []torchDecision
		}
	}
	readTorch(t, "testdata/torch/decisions.json.gz", &decided)
	cases := map[string]*torchCase{}
	for _, f := range torchFiles(t) {
		for i, c := range f.Cases {
			if c.DType == Float32 {
				cases[c.Op+"/"+c.Name] = &f.Cases[i]
			}
		}
	}
	n := 0
	for _, d := range decided.Cases {
		c, call := cases[d.Op+"/"+d.Name], torchCalls[d.Op]
		if c == nil || call == nil {
			continue
		}
		for _, a := range d.Decisions {
			n++
			c.checkAutocast(t, call, a, d.To)
		}
	}
	if n < 5000 {
		t.Errorf("only %d decisions", n)
	}
}

func (c *torchCase) checkAutocast(t *testing.T, call torchCall, a torchDecision, to DType, opts ...AutocastOption) {
	root := NewScope()
	defer root.Close()
	x := make([]*Tensor, len(c.In))
	next := 0
	for i, v := range c.In {
		if v == nil || !v.DType.IsFloat() {
			x[i] = v.tensor(NoDType)
			continue
		}
		x[i] = v.tensor(a.In[next])
		next++
	}
	var got []DType
	err := Maybe(func() {
		for _, y := range call(root.Autocast(to, opts...), c.Args, x) {
			got = append(got, y.dt)
		}
	})
	switch {
	case len(a.Out) == 0 && (errors.Is(err, ErrDType) || errors.Is(err, ErrBanned)) || errors.Is(err, ErrDType) && c.mayRefuse(a.In):
	case err != nil:
		t.Errorf("%s/%s of %v to %v: %v", c.Op, c.Name, a.In, to, err)
	case !slices.Equal(got, a.Out) && !(firstOfMixed[c.Op] && slices.Contains(a.In, Float64)):
		t.Errorf("%s/%s of %v to %v gives %v, torch %v", c.Op, c.Name, a.In, to, got, a.Out)
	}
}

// firstOfMixed are rows that PyTorch gives the dtype of one input where a float64 tensor, which autocast leaves alone, is among several.
var firstOfMixed = map[string]bool{"cross": true, "binary_cross_entropy_with_logits": true}

// mayRefuse says whether a mix of dtypes is one that kernels refuse, PyTorch's too, while its fake tensors do not ask: a float64 tensor, which
// autocast leaves alone, among others, or several floats in a row that autocast leaves alone.
func (c *torchCase) mayRefuse(in []DType) bool {
	if len(slices.Compact(slices.Sorted(slices.Values(in)))) == 1 {
		return false
	}
	alone := []string{"index_add", "index_copy", "batch_norm", "batch_norm_running", "batch_norm_eval", "instance_norm"}
	return slices.Contains(in, Float64) || slices.Contains(alone, c.Op)
}

const decomposed = "PyTorch takes cells apart on the CPU, so that their products alone are lowered; here a cell is decided as a whole"

// torchDecidesOtherwise holds the rows whose dtype under CPU autocast is another on purpose, with the reason.
var torchDecidesOtherwise = map[string]string{
	"addr":                    "PyTorch promotes inputs of several dtypes; here it is a product, which refuses them",
	"max_pool3d_with_indices": "PyTorch's lists name max_pool3d, and not this one, of which it makes that; here both are one pool",
	"linalg_pinv":             "PyTorch's lists do not name it, and its products of factors are lowered; here it is one op, in the dtype of its input",
	"rnn_tanh_cell":           decomposed, "rnn_relu_cell": decomposed, "gru_cell": decomposed, "lstm_cell": decomposed,
	"rnn_tanh": decomposed, "rnn_relu": decomposed, "gru": decomposed, "lstm": decomposed,
}
