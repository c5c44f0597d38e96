package nn_test

import (
	"errors"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/internal/remote"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// vitStep trains one step of a vision transformer and returns the most memory it used at once.
func vitStep(dt amp.DType, limit int64) (peak int64, err error) {
	before := amp.MemStats()[remote.Home()].Bytes
	if limit > 0 {
		defer amp.MemoryLimit(remote.Home(), amp.MemoryLimit(remote.Home(), before+limit))
	}
	err = amp.Maybe(func() {
		root := amp.NewScope(amp.Seed(1))
		defer root.Close()
		net := nn.NewViT(root, nn.ViTConfig{Image: 32, Patch: 4, Classes: 10, Features: 64, Layers: 3, Heads: 4})
		defer func() {
			for _, p := range net.Parameters() {
				p.ZeroGrad()
				p.Free()
			}
		}()
		x := amp.Randn(root, amp.Float32, 0, 1, 24, 3, 32, 32)
		defer x.Free()
		y := make([]int64, 24)
		amp.ResetPeakMemory()
		for s := range root.Steps(1) {
			half := s
			if dt != amp.Float32 {
				half = s.Autocast(dt)
			}
			nn.CrossEntropyLoss(half, net.Forward(half, x), amp.From(y)).Backward()
			optim.NewSGD(net.Parameters()).Step()
		}
		peak = amp.MemStats()[remote.Home()].Peak - before
	})
	return peak, err
}

// TestViTFitsUnderAutocast: with a limit on memory between the two, a step fails in float32 and fits under autocast.
func TestViTFitsUnderAutocast(t *testing.T) {
	full, err := vitStep(amp.Float32, 0)
	if err != nil {
		t.Fatal(err)
	}
	half, err := vitStep(amp.BFloat16, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("float32 %d bytes, bfloat16 %d", full, half)
	limit := (full + half) / 2
	if _, err := vitStep(amp.Float32, limit); !errors.Is(err, amp.ErrMemory) {
		t.Errorf("float32 within %d bytes: %v", limit, err)
	}
	if _, err := vitStep(amp.BFloat16, limit); err != nil {
		t.Errorf("bfloat16 within %d bytes: %v", limit, err)
	}
}
