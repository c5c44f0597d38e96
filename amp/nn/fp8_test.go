package nn_test

import (
	"fmt"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestShortTrains: a GPT whose products read 8 or 4 bits learns by heart what it learns with bfloat16, in steady steps that take no buffer.
func TestShortTrains(t *testing.T) {
	const steps = 30
	train := func(opts ...amp.AutocastOption) (first, last float64, buffers int64) {
		root := amp.NewScope(amp.Seed(1))
		defer root.Close()
		net := nn.NewGPT(root, nn.GPTConfig{Vocabulary: 32, Context: 16, Features: 32, Layers: 2, Heads: 2})
		opt := optim.NewAdamW(net.Parameters(), optim.LR(0.01))
		x, y := amp.RandInt(root, 0, 32, 4, 16), amp.RandInt(root, 0, 32, 4, 16)
		for s := range root.Steps(steps) {
			loss := net.Loss(s.Autocast(amp.BFloat16, opts...), x, y)
			opt.ZeroGrad()
			loss.Backward()
			opt.Step()
			if last = loss.Item(); s.Step() == 0 {
				first = last
			}
			if s.Step() == 2 {
				buffers = amp.MemStats()[root.Device()].NewBuffers
			}
		}
		return first, last, amp.MemStats()[root.Device()].NewBuffers - buffers
	}
	first, want, _ := train()
	if want > first/4 {
		t.Fatalf("bfloat16 goes from %v to %v only", first, want)
	}
	recipes := map[string]amp.AutocastOption{}
	for _, r := range []*amp.FP8Recipe{{}, {E4M3: true}, {Granularity: amp.PerRow}, {Granularity: amp.PerBlock, Margin: 1}} {
		recipes[fmt.Sprint(r)] = amp.FP8(r)
	}
	for _, r := range []*amp.FP4Recipe{{}, {MX: true}, {DisableRHT: true, DisableStochasticRounding: true, Disable2DQuantization: true}} {
		recipes[fmt.Sprint(r)] = amp.FP4(r)
	}
	for name, recipe := range recipes {
		t.Run(name, func(t *testing.T) {
			_, got, buffers := train(recipe)
			if got == want || got > want+first/20 {
				t.Errorf("the loss goes from %v to %v, in bfloat16 to %v", first, got, want)
			}
			if buffers != 0 {
				t.Errorf("steady steps took %d buffers", buffers)
			}
		})
	}
}
