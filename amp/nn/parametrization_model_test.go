package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestParametrizationsOfAModel walks a model that is built: names are PyTorch's, and back again.
func TestParametrizationsOfAModel(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := nn.NewTransformerEncoderLayer(root, 4, 2, 8, nn.TransformerOptions{})
	before := nn.StateDict(net)
	for _, m := range nn.NamedModules(net) {
		if l, ok := m.(nn.Parametrizable); ok {
			nn.SpectralNorm(root, l)
		}
	}
	x := filled(1, 1, 3, 4)
	y := net.Forward(root.Eval(), x).Float64s()
	for _, layer := range []string{"self_attn.out_proj", "linear1", "linear2"} {
		for _, part := range []string{"original", "0._u", "0._v"} {
			if name := layer + ".parametrizations.weight." + part; nn.StateDict(net)[name] == nil {
				t.Errorf("there is no %s in %v", name, nn.StateDict(net))
			}
		}
	}
	rows := nn.Summary(root.Autocast(amp.Float16), net, x).Rows
	ends := nn.NewSequential(nn.ReLU, nn.WeightNorm(root, nn.NewLinear(root, 4, 2)))
	if out := nn.Summary(root.Autocast(amp.Float16), ends, x).Rows[0].Out; out.DType != amp.Float16 || !slices.Equal(out.Shape, []int{1, 3, 2}) {
		t.Errorf("the result of a model that ends in a parametrized layer is %v in its summary", out)
	}
	if at := slices.IndexFunc(rows, func(r nn.SummaryRow) bool { return r.Module == "linear1/parametrizations.weight" }); at < 0 || rows[at].Parameters != 32 || rows[at].Compute != amp.Float32 {
		t.Errorf("row %d of the weight of linear1 in %v", at, rows)
	}
	for text, l := range map[string]any{
		"Linear(bias=[8], original=[8 4], _u=[8], _v=[4], spectral_norm(dim=0, iterations=1))":     net.Linear1,
		"Bilinear(bias=[2], original=[2 3 3], _u=[3], _v=[6], spectral_norm(dim=1, iterations=1))": nn.SpectralNorm(root, nn.NewBilinear(root, 3, 3, 2), nn.NormDim(1)),
		"ConvTranspose2d(bias=[2], original0=[3 1 1 1], original1=[3 2 2 2], weight_norm(dim=0))":  nn.WeightNorm(root, nn.NewConvTranspose2d(root, 3, 2, 2)),
		"Conv1d(original1=[2 3 1], weight_norm(whole), stride=2)":                                  nn.WeightNorm(root, nn.NewConv1d(root, 3, 2, 1, nn.Stride(2), nn.NoBias()), nn.WholeNorm()),
	} {
		if got := fmt.Sprint(l); got != text {
			t.Errorf("it is %s, want %s", got, text)
		}
	}
	for _, m := range nn.NamedModules(net) {
		if l, ok := m.(nn.Parametrizable); ok {
			nn.RemoveParametrization(root, l)
		}
	}
	after := nn.StateDict(net)
	for name, p := range before {
		if after[name] != p {
			t.Errorf("%s is no more what it was", name)
		}
	}
	if got := net.Forward(root.Eval(), x).Float64s(); len(after) != len(before) || !near(got, y, 1e-6) {
		t.Errorf("%d tensors, %v; %d and %v with SpectralNorm", len(after), got, len(before), y)
	}
}

// TestWeightNormOfZeros: a row that stands for padding stays zeros, and gets no NaN from its norm, which is 0.
func TestWeightNormOfZeros(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	e := nn.WeightNorm(root, nn.NewEmbedding(root, 3, 2, nn.PaddingRow(-2)))
	index := amp.From([]int64{1, 0, 2})
	before := e.Forward(root, index)
	opt := optim.NewSGD(e.Parameters(), optim.LR(0.1))
	for range 2 {
		opt.ZeroGrad()
		amp.Sum(root, amp.Square(root, amp.AddScalar(root, e.Forward(root, index), 1))).Backward()
		opt.Step()
	}
	after := nn.RemoveParametrization(root, e).Forward(root, index).Float64s()
	if !slices.Equal(before.Float64s()[:2], after[:2]) || after[0] != 0 || slices.ContainsFunc(after, math.IsNaN) || slices.Equal(before.Float64s(), after) {
		t.Errorf("%v, after two steps %v", before.Float64s(), after)
	}
}

// TestStateOfOlderWeightNorm: a state with weight_g and weight_v is loaded, half of one and another layer's are not.
func TestStateOfOlderWeightNorm(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net := nn.NewSequential(nn.WeightNorm(root, nn.NewLinear(root, 2, 3, nn.NoBias())), nn.WeightNorm(root, nn.NewLinear(root, 3, 2)))
	state := func(names ...string) map[string]*amp.Tensor {
		out := map[string]*amp.Tensor{}
		for k, name := range names {
			shape := map[string][]int{"0.weight_g": {3, 1}, "0.weight_v": {3, 2}, "1.bias": {2}, "1.weight_g": {2, 1}, "1.weight_v": {2, 3}}[name]
			out[name] = filled(k, shape...)
		}
		return out
	}
	old := state("0.weight_g", "0.weight_v", "1.bias", "1.weight_g", "1.weight_v")
	if err := nn.LoadStateDict(net, old); err != nil || len(old) != 5 {
		t.Fatalf("%v, and the state has %d", err, len(old))
	}
	for name, from := range map[string]string{"0.parametrizations.weight.original0": "0.weight_g", "1.parametrizations.weight.original1": "1.weight_v"} {
		if got := nn.StateDict(net)[name].Float64s(); !slices.Equal(got, old[from].Float64s()) {
			t.Errorf("%s is %v, %s %v", name, got, from, old[from].Float64s())
		}
	}
	if err := nn.LoadStateDict(net, state("0.weight_g", "1.bias", "1.weight_g", "1.weight_v")); err == nil || !strings.Contains(err.Error(), "unexpected 0.weight_g") {
		t.Errorf("half of a layer's: %v", err)
	}
}

// TestParametrizationsOfSharedWeights: a weight that layers share is refused, by the names it has; a layer that is there twice is one.
func TestParametrizationsOfSharedWeights(t *testing.T) {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()
	pair := func() (a, b *nn.Linear) {
		a, b = nn.NewLinear(s, 3, 3, nn.NoBias()), nn.NewLinear(s, 3, 3, nn.NoBias())
		b.Weight = a.Weight
		return a, b
	}
	for want, f := range map[string]func(){
		"0.weight and 1.weight": func() { a, b := pair(); nn.NewSequential(a, b); nn.WeightNorm(s, b) },
		"wte.weight and lm_head": func() {
			nn.SpectralNorm(s, nn.NewGPT(s, nn.GPTConfig{Context: 4, Features: 4, Layers: 1, Heads: 1, Tied: true}).Tokens)
		},
		"use that layer in both":     func() { a, b := pair(); nn.WeightNorm(s, a); nn.WeightNorm(s, b) },
		"the weight is zeros, and σ": func() { a, _ := pair(); nn.Constant(s, a.Weight, 0); nn.SpectralNorm(s, a) },
		"part 2 of 3 of the weight": func() {
			a, _ := pair()
			amp.SetValues(a.Weight, []float32{1, 0, 0, 0, 1, 0, 0, 0, 0})
			nn.WeightNorm(s, a)
		},
		"part 1 of 3 of the weight i": func() {
			nn.WeightNorm(s, nn.NewEmbedding(s, 2, 3, nn.PaddingRow(0)))
			e := nn.NewEmbedding(s, 3, 1, nn.PaddingRow(0))
			nn.Constant(s, e.Weight, 0)
			nn.WeightNorm(s, e)
		},
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	twice := nn.WeightNorm(s, nn.NewLinear(s, 3, 3))
	net := nn.NewSequential(twice, nn.ReLU, twice)
	if own, all := nn.StateDict(net), nn.StateDict(net, nn.TiedNames()); len(own) != 3 || len(all) != 6 || all["2.parametrizations.weight.original0"] != own["0.parametrizations.weight.original0"] {
		t.Errorf("%v, with all names %v", own, all)
	}
}
