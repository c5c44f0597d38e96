package nn_test

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// BenchmarkResNet18 is a training step on 16 images of 32×32.
func BenchmarkResNet18(b *testing.B) {
	for _, dt := range []amp.DType{amp.Float32, amp.Float16, amp.BFloat16} {
		b.Run(dt.String(), func(b *testing.B) {
			root := amp.NewScope()
			defer root.Close()
			net := nn.NewResNet18(root, 10, nn.SmallImages())
			opt := optim.NewSGD(net.Parameters(), optim.LR(0.01), optim.Momentum(0.9))
			scaler := amp.NewGradScaler(amp.ScalerEnabled(dt == amp.Float16))
			const batch = 16
			x, y := amp.Randn(root, amp.Float32, 0, 1, batch, 3, 32, 32), amp.From(make([]int64, batch))
			step := func() {
				for s := range root.Steps(1) {
					auto := s
					if dt != amp.Float32 {
						auto = s.Autocast(dt)
					}
					opt.ZeroGrad()
					loss := nn.CrossEntropyLoss(auto, net.Forward(auto, x), y)
					scaler.Scale(s, loss).Backward()
					scaler.Step(opt)
					scaler.Update()
				}
			}
			step()
			for b.Loop() {
				step()
			}
			b.ReportMetric(3*2*0.5556e9*batch*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
