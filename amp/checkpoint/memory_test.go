package checkpoint_test

import (
	"path/filepath"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/checkpoint"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestNothingIsLeft: saving and loading take no memory that stays, on the device or on the host, for any kind of optimizer, two of them too.
func TestNothingIsLeft(t *testing.T) {
	for name, build := range map[string]func(p []*amp.Tensor) optim.Optimizer{
		"SGD":     func(p []*amp.Tensor) optim.Optimizer { return optim.NewSGD(p, optim.Momentum(0.9)) },
		"Adam":    func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdam(p, optim.AMSGrad()) },
		"AdamW":   func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdamW(p) },
		"RMSprop": func(p []*amp.Tensor) optim.Optimizer { return optim.NewRMSprop(p, optim.Centered()) },
		"Adagrad": func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdagrad(p) },
	} {
		t.Run(name, func(t *testing.T) {
			root := amp.NewScope(amp.Seed(1))
			defer root.Close()
			parts := func() checkpoint.Parts {
				net := nn.NewLinear(root, 16, 16)
				opt := build(net.Parameters())
				for s := range root.Steps(2) {
					amp.Sum(s, net.Forward(s, amp.Ones(s, amp.Float32, 2, 16))).Backward()
					opt.Step()
				}
				return checkpoint.Parts{Model: net, Optimizer: opt}
			}
			run := parts()
			run.More = map[string]checkpoint.Parts{"other": parts()}
			path := filepath.Join(t.TempDir(), "run.safetensors")
			bytes := func() (sum int64) {
				for _, m := range amp.MemStats() {
					sum += m.Bytes
				}
				return sum
			}
			before := bytes()
			for range 30 {
				if err := checkpoint.Save(path, run); err != nil {
					t.Fatal(err)
				}
			}
			if now := bytes(); now != before {
				t.Errorf("%d bytes after 30 saves, %d before", now, before)
			}
			for range 3 {
				if err := checkpoint.Load(path, run); err != nil {
					t.Fatal(err)
				}
			}
			if now := bytes(); now != before {
				t.Errorf("%d bytes after 3 loads, %d before", now, before)
			}
		})
	}
}
