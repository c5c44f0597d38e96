package checkpoint_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/checkpoint"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// A run that is stopped after three steps and resumed by another process ends where an uninterrupted one does.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "run.safetensors")

	// run makes everything afresh, loads what is there, and trains until step `until`.
	run := func(path string, until int) (loss float64, err error) {
		root := amp.NewScope(amp.Seed(7))
		defer root.Close()
		net := nn.NewSequential(nn.NewLinear(root, 4, 8), nn.ReLU, nn.NewDropout(0.1), nn.NewLinear(root, 8, 1))
		opt := optim.NewAdamW(net.Parameters(), optim.LR(0.05))
		scaler := amp.NewGradScaler()
		schedule := optim.CountApplied(optim.NewWarmupCosine(opt, 2, 6, 0.1, 0))
		step := 0
		parts := checkpoint.Parts{
			Model: net, Optimizer: opt, Scheduler: schedule, Scaler: scaler, Random: root.Random(),
			Values: map[string]any{"step": &step},
		}
		if _, err := os.Stat(path); err == nil {
			if err := checkpoint.Load(path, parts); err != nil {
				return 0, err
			}
		}
		for s := range root.Steps(until - step) {
			half := s.Autocast(amp.Float16)
			x := amp.Randn(s, amp.Float32, 0, 1, 16, 4)
			y := nn.MSELoss(half, net.Forward(half, x), amp.SumKeep(s, x, 1))
			opt.ZeroGrad()
			scaler.Scale(s, y).Backward()
			scaler.Step(opt)
			scaler.Update()
			schedule.Step()
			step++
			loss = y.Item()
		}
		return loss, checkpoint.Save(path, parts)
	}

	if _, err := run(path, 3); err != nil { // stopped here
		fmt.Println(err)
	}
	resumed, err := run(path, 6)
	if err != nil {
		fmt.Println(err)
	}
	whole, err := run(filepath.Join(dir, "other.safetensors"), 6)
	fmt.Println(resumed == whole, err)
	// Output: true <nil>
}
