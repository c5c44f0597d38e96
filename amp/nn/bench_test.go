package nn_test

import (
	"fmt"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// BenchmarkGPTStep is a training step of a model of 4 layers, 128 features and 4 heads on 16 sequences of 64 tokens.
func BenchmarkGPTStep(b *testing.B) {
	for _, dt := range []amp.DType{amp.Float32, amp.Float16, amp.BFloat16} {
		b.Run(dt.String(), func(b *testing.B) {
			root := amp.NewScope(amp.Seed(1))
			defer root.Close()
			g := nn.NewGPT(root, nn.GPTConfig{Context: 64, Features: 128, Layers: 4, Heads: 4, Tied: true})
			opt := optim.NewAdamW(g.Parameters(), optim.LR(1e-3))
			scaler := amp.NewGradScaler(amp.ScalerEnabled(dt == amp.Float16))
			x, y := windows("mixed precision you can see; ", 16, 64)
			b.ReportAllocs()
			for s := range root.Steps(b.N + 1) {
				if s.Step() == 1 {
					b.ResetTimer()
				}
				loss := g.Loss(s.Autocast(dt, amp.Enabled(dt != amp.Float32)), x, y)
				opt.ZeroGrad()
				scaler.Scale(s, loss).Backward()
				scaler.Step(opt)
				scaler.Update()
			}
		})
	}
}

// BenchmarkLSTMStep is forward and backward of a layer of 128 over 32 steps of 16 sequences.
func BenchmarkLSTMStep(b *testing.B) {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	l := nn.NewLSTM(root, 128, 128, nn.RecurrentOptions{})
	x := amp.Randn(root, amp.Float32, 0, 1, 32, 16, 128)
	b.ReportAllocs()
	for s := range root.Steps(b.N + 1) {
		if s.Step() == 1 {
			b.ResetTimer()
		}
		amp.Mean(s, l.Forward(s, x)).Backward()
	}
}

// BenchmarkGPTGenerate makes 240 tokens behind 16, with and without kept keys and values, by a model of 4 layers, 128 features and 4 heads.
func BenchmarkGPTGenerate(b *testing.B) {
	for _, dt := range []amp.DType{amp.Float32, amp.Float16, amp.BFloat16} {
		for _, cached := range []bool{false, true} {
			b.Run(fmt.Sprintf("%v/cached=%v", dt, cached), func(b *testing.B) {
				root := amp.NewScope(amp.Seed(1))
				defer root.Close()
				g := nn.NewGPT(root, nn.GPTConfig{Context: 256, Features: 128, Layers: 4, Heads: 4, Tied: true})
				s := root
				if dt != amp.Float32 {
					s = root.Autocast(dt)
				}
				prompts := amp.RandInt(root, 0, 256, 1, 16)
				for b.Loop() {
					g.Continue(s, prompts, 240, nn.Sampling{Temperature: 1, NoCache: !cached})
				}
			})
		}
	}
}
