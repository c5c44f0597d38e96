package checkpoint_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/checkpoint"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/amp/safetensors"
)

// TestParametrizedLayers: six steps of a model with WeightNorm and SpectralNorm, in one go and with a checkpoint after the third, come to the
// same bits; a file of its weights has torch's names, and gives them to a third model.
func TestParametrizedLayers(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	x := amp.Randn(root, amp.Float32, 0, 1, 2, 3, 6)
	build := func() (checkpoint.Parts, *nn.Sequential) {
		net := nn.NewSequential(nn.SpectralNorm(root, nn.NewConv1d(root, 3, 4, 3)), nn.Tanh, nn.WeightNorm(root, nn.NewConvTranspose1d(root, 4, 2, 2)),
			nn.WeightNorm(root, nn.NewLinear(root, 5, 2), nn.WholeNorm()))
		return checkpoint.Parts{Model: net, Optimizer: optim.NewAdamW(net.Parameters(), optim.LR(0.05))}, net
	}
	train := func(p checkpoint.Parts, net *nn.Sequential) map[string][]float64 {
		for s := range root.Steps(3) {
			half := s.Autocast(amp.BFloat16)
			p.Optimizer.(optim.Optimizer).ZeroGrad()
			nn.MSELoss(half, net.Forward(half, x), amp.Ones(s, amp.Float32, 2, 2, 2)).Backward()
			p.Optimizer.(optim.Optimizer).Step()
		}
		return numbersOf(nn.StateDict(net))
	}
	first, net := build()
	middle := train(first, net)
	dir := t.TempDir()
	run, weights := filepath.Join(dir, "run.safetensors"), filepath.Join(dir, "net.safetensors")
	if err := checkpoint.Save(run, first); err != nil {
		t.Fatal(err)
	}
	if err := safetensors.Save(weights, nn.StateDict(net), nil); err != nil {
		t.Fatal(err)
	}
	end := train(first, net)
	second, again := build()
	if err := checkpoint.Load(run, second); err != nil {
		t.Fatal(err)
	}
	same := func(what string, got, want map[string][]float64) {
		t.Helper()
		if !maps.EqualFunc(got, want, slices.Equal[[]float64]) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	same("loaded", numbersOf(nn.StateDict(again)), middle)
	same("in two parts", train(second, again), end)
	state, _, err := safetensors.Load(weights)
	if err != nil {
		t.Fatal(err)
	}
	if names := slices.Sorted(maps.Keys(state)); !slices.Equal(names, []string{"0.bias", "0.parametrizations.weight.0._u", "0.parametrizations.weight.0._v",
		"0.parametrizations.weight.original", "2.bias", "2.parametrizations.weight.original0", "2.parametrizations.weight.original1",
		"3.bias", "3.parametrizations.weight.original0", "3.parametrizations.weight.original1"}) {
		t.Errorf("the file has %v", names)
	}
	_, third := build()
	if err := nn.LoadStateDict(third, state); err != nil {
		t.Fatal(err)
	}
	same("weights alone", numbersOf(nn.StateDict(third)), middle)
}

// numbersOf are the numbers of tensors.
func numbersOf(tensors map[string]*amp.Tensor) map[string][]float64 {
	out := map[string][]float64{}
	for name, p := range tensors {
		out[name] = p.Float64s()
	}
	return out
}
