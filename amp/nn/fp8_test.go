package nn_test

import (
	"fmt"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestFP8Trains: a GPT whose products read 8 bits learns by heart what it learns with bfloat16, in steady steps that take no buffer.
func TestFP8Trains(t *testing.T) {
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
	for _, r := range []*amp.FP8Recipe{{}, {E4M3: true}, {Granularity: amp.PerRow}, {Granularity: amp.PerBlock, Margin: 1}} {
		t.Run(fmt.Sprint(r), func(t *testing.T) {
			_, got, buffers := train(amp.FP8(r))
			if got == want || got > want+first/20 {
				t.Errorf("the loss goes from %v to %v, in bfloat16 to %v", first, got, want)
			}
			if buffers != 0 {
				t.Errorf("steady steps took %d buffers", buffers)
			}
		})
	}
}
