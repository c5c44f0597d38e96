// Command traincell is what GoNB makes of a cell that trains under autocast with a scaler and shows a figure.
package main

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/widgets"
)

func main() {
	root := amp.NewScope(amp.Seed(1), amp.Record(amp.Decisions))
	defer root.Close()

	x := amp.Randn(root, amp.Float32, 0, 1, 20, 10)
	y := amp.Randn(root, amp.Float32, 0, 1, 20, 1)
	net := nn.NewLinear(root, 10, 1)
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.1))
	scaler := amp.NewGradScaler()

	for s := range root.Steps(3) {
		half := s.Autocast(amp.Float16)
		loss := nn.MSELoss(half, net.Forward(half.In("net"), x), y)
		opt.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		report := scaler.Step(opt)
		scaler.Update()
		fmt.Printf("loss %.4f   %v\n", loss.Item(), report)
	}
	widgets.Show(widgets.Decisions(root.Trace()))
}
