package session_test

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/kernelext/session"
)

// In a notebook the next cell, with the same first lines, goes on after step 20.
func Example() {
	root := session.NewScope(amp.Seed(1))
	defer root.Close()
	net := session.Model("example", func(s *amp.Scope) *nn.Sequential {
		return nn.NewSequential(nn.NewLinear(s, 2, 8), nn.Tanh, nn.NewLinear(s, 8, 1))
	})
	opt := session.Optimizer("example optimizer", func() *optim.SGD { return optim.NewSGD(net.Parameters(), optim.LR(0.1)) })
	losses := session.Value("example losses", []float64{})

	x, y := amp.From([]float32{0, 0, 0, 1, 1, 0, 1, 1}, 4, 2), amp.From([]float32{0, 1, 1, 2}, 4, 1)
	for s := range root.Steps(20) {
		loss := nn.MSELoss(s, net.Forward(s, x), y)
		opt.ZeroGrad()
		loss.Backward()
		opt.Step()
		*losses = append(*losses, loss.Item())
	}
	fmt.Println(len(*losses), (*losses)[19] < (*losses)[0])
	for _, e := range session.List() {
		fmt.Println(e.Name, e.Kind)
	}
	// Output:
	// 20 true
	// random 1 position
	// example model
	// example optimizer optimizer
	// example losses value
}
