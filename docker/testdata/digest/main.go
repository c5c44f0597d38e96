// Command digest trains a small network in every float dtype and prints a hash of all losses and weights: the same program on two
// processors shows whether they compute the same bits.
package main

import (
	"crypto/sha256"
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

func main() {
	h := sha256.New()
	for _, dt := range []amp.DType{amp.Float64, amp.Float32, amp.Float16, amp.BFloat16} {
		root := amp.NewScope(amp.Seed(7))
		wide := amp.Float32
		if dt == amp.Float64 {
			wide = dt
		}
		x, y := amp.Randn(root, wide, 0, 1, 29, 13), amp.Randn(root, wide, 0, 1, 29, 3)
		net := nn.NewSequential(nn.NewLinear(root, 13, 17, nn.DType(wide)), nn.GELU, nn.NewLinear(root, 17, 17, nn.DType(wide)), nn.Tanh,
			nn.NewLinear(root, 17, 3, nn.DType(wide)))
		opt := optim.NewAdam(net.Parameters(), optim.LR(0.02))
		scaler := amp.NewGradScaler(amp.ScalerEnabled(dt == amp.Float16))
		for s := range root.Steps(12) {
			in := s
			if dt != wide {
				in = s.Autocast(dt)
			}
			loss := nn.MSELoss(in, net.Forward(in, x), y)
			opt.ZeroGrad()
			scaler.Scale(s, loss).Backward()
			scaler.Step(opt)
			scaler.Update()
			fmt.Fprintf(h, "%x\n", loss.Item())
		}
		for _, p := range net.Parameters() {
			fmt.Fprintf(h, "%x\n", p.Float64s())
		}
		root.Close()
	}
	fmt.Printf("%s %x\n", amp.CPUKernels(), h.Sum(nil))
}
