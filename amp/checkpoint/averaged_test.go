package checkpoint_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/checkpoint"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestAveragedModel: a run with averages goes on bit for bit from a checkpoint, and counts on.
func TestAveragedModel(t *testing.T) {
	root := amp.NewScope(amp.Seed(1))
	t.Cleanup(root.Close)
	type run struct {
		net   nn.Module
		ema   *nn.AveragedModel
		opt   optim.Optimizer
		parts checkpoint.Parts
	}
	build := func() nn.Module { return nn.NewSequential(nn.NewLinear(root, 4, 4), nn.NewBatchNorm1d(root, 4)) }
	start := func() run {
		r := run{net: build()}
		r.ema = nn.NewAveragedModel(build(), r.net)
		r.opt = optim.NewSGD(r.net.Parameters(), optim.LR(0.1), optim.Momentum(0.9))
		r.parts = checkpoint.Parts{Model: r.net, Optimizer: r.opt, More: map[string]checkpoint.Parts{"ema": {Model: r.ema}}}
		return r
	}
	x := amp.Randn(root, amp.Float32, 0, 1, 8, 4)
	train := func(r run, steps int) {
		for s := range root.Steps(steps) {
			y := r.net.Forward(s, x)
			r.opt.ZeroGrad()
			amp.Mean(s, amp.Mul(s, amp.AddScalar(s, y, -1), y)).Backward()
			r.opt.Step()
			r.ema.Update(s)
		}
	}
	first, second := start(), start()
	train(first, 5)
	path := filepath.Join(t.TempDir(), "run.safetensors")
	if err := checkpoint.Save(path, first.parts); err != nil {
		t.Fatal(err)
	}
	if err := checkpoint.Load(path, second.parts); err != nil {
		t.Fatal(err)
	}
	train(first, 3)
	train(second, 3)
	if first.ema.Averaged() != 8 || second.ema.Averaged() != 8 {
		t.Errorf("%d and %d updates, want 8", first.ema.Averaged(), second.ema.Averaged())
	}
	for name, p := range nn.StateDict(first.ema) {
		if got := nn.StateDict(second.ema)[name]; !slices.Equal(got.Float64s(), p.Float64s()) {
			t.Errorf("%s is %v, without a checkpoint %v", name, got.Float64s(), p.Float64s())
		}
	}
}
