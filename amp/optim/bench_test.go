package optim_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// BenchmarkScaledStep times unscaling and stepping a million parameters, fused and not.
func BenchmarkScaledStep(b *testing.B) {
	for _, c := range []struct {
		name string
		opts []optim.Option
	}{{"plain", nil}, {"fused", []optim.Option{optim.Fused()}}} {
		for kind, build := range makers {
			b.Run(kind+"/"+c.name, func(b *testing.B) {
				root := amp.NewScope()
				defer root.Close()
				p := amp.Randn(root, amp.Float32, 0, 1, 1<<20).RequireGrad()
				p.SetGrad(amp.Randn(root, amp.Float32, 0, 1, 1<<20))
				o := build([]*amp.Tensor{p}, c.opts...)
				scaler := amp.NewGradScaler(amp.InitScale(1.0001), amp.GrowthInterval(1<<30))
				scaler.Scale(root, amp.Scalar(float32(1))) // a scale so near to 1 that the gradients do not fade
				b.SetBytes(p.Bytes())
				b.ReportAllocs()
				for b.Loop() {
					scaler.Step(o)
					scaler.Update()
				}
			})
		}
	}
}
