package amp

import (
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
				c.checkAutocast(t, call, a.In, a.Out)
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d decisions", n)
	}
}

func (c *torchCase) checkAutocast(t *testing.T, call torchCall, in, out []DType) {
	root := NewScope()
	defer root.Close()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s/%s of %v: %v", c.Op, c.Name, in, r)
		}
	}()
	x := make([]*Tensor, len(c.In))
	next := 0
	for i, v := range c.In {
		if v == nil || !v.DType.IsFloat() {
			x[i] = v.tensor(NoDType)
			continue
		}
		x[i] = v.tensor(in[next])
		next++
	}
	var got []DType
	for _, y := range call(root.Autocast(BFloat16, UseLists(CPULists)), c.Args, x) {
		got = append(got, y.dt)
	}
	if !slices.Equal(got, out) {
		t.Errorf("%s/%s of %v gives %v, torch %v", c.Op, c.Name, in, got, out)
	}
}

const decomposed = "PyTorch takes cells apart on the CPU, so that their products alone are lowered; here a cell is decided as a whole"

// torchDecidesOtherwise holds the rows whose dtype under CPU autocast is another on purpose, with the reason.
var torchDecidesOtherwise = map[string]string{
	"addr":          "PyTorch promotes inputs of several dtypes; here it is a product, which refuses them",
	"rnn_tanh_cell": decomposed, "rnn_relu_cell": decomposed, "gru_cell": decomposed, "lstm_cell": decomposed,
	"rnn_tanh": decomposed, "rnn_relu": decomposed, "gru": decomposed, "lstm": decomposed,
}
