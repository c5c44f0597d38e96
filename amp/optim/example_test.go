package optim_test

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// A warm-up that counts the steps the scaler let through: the first scales are too high for float16, and the rate waits.
func ExampleCountApplied() {
	root := amp.NewScope()
	defer root.Close()
	w := amp.From([]float32{1}).SetName("w").RequireGrad()
	opt := optim.NewSGD([]*amp.Tensor{w}, optim.LR(0.1))
	schedule := optim.CountApplied(optim.NewLinearWarmup(opt, 0.25, 3))
	scaler := amp.NewGradScaler(amp.InitScale(1 << 17))
	for s := range root.Steps(6) {
		opt.ZeroGrad()
		half := amp.To(s, w, amp.Float16)
		scaler.Scale(s, amp.Sum(s, amp.MulScalar(s, half, 0.75))).Backward()
		rate := opt.LearningRate()
		report := scaler.Step(opt)
		scaler.Update()
		schedule.Step()
		fmt.Printf("scale %6.0f  rate %.3f  applied %v\n", report.Scale, rate, report.Applied())
	}
	// Output:
	// scale 131072  rate 0.025  applied false
	// scale  65536  rate 0.025  applied false
	// scale  32768  rate 0.025  applied true
	// scale  32768  rate 0.050  applied true
	// scale  32768  rate 0.075  applied true
	// scale  32768  rate 0.100  applied true
}

// Several optimizers share one scaler. Each decides for itself whether it steps; Update is called once.
func Example_severalOptimizers() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	encoder, decoder := nn.NewLinear(root, 4, 3), nn.NewLinear(root, 3, 4)
	slow, fast := optim.NewSGD(encoder.Parameters(), optim.LR(0.01)), optim.NewAdamW(decoder.Parameters(), optim.LR(0.1))
	scaler := amp.NewGradScaler()
	x := amp.Randn(root, amp.Float32, 0, 1, 8, 4)
	for s := range root.Steps(3) {
		half := s.Autocast(amp.Float16)
		loss := nn.MSELoss(half, decoder.Forward(half, encoder.Forward(half, x)), x)
		slow.ZeroGrad()
		fast.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		if s.Step() == 1 { // an overflow in the encoder alone
			encoder.Bias.SetGrad(amp.From([]float32{float32(math.Inf(1)), 0, 0}))
		}
		fmt.Println(scaler.Step(slow).Applied(), scaler.Step(fast).Applied(), scaler.CurrentScale())
		scaler.Update()
	}
	fmt.Println(slow.Steps(), fast.Steps(), scaler.CurrentScale())
	// Output:
	// true true 65536
	// false true 65536
	// true true 32768
	// 2 3 32768
}

// Weight decay for matrices, none for biases.
func ExampleGroup() {
	root := amp.NewScope()
	defer root.Close()
	net := nn.NewSequential(nn.NewLinear(root, 2, 3), nn.ReLU, nn.NewLinear(root, 3, 1))
	var matrices, others []*amp.Tensor
	for _, p := range net.Parameters() {
		if p.Rank() > 1 {
			matrices = append(matrices, p)
		} else {
			others = append(others, p)
		}
	}
	opt := optim.NewAdamW(matrices, optim.LR(3e-4), optim.WeightDecay(0.1))
	opt.AddGroup(optim.Group{Name: "biases", Params: others, Options: []optim.Option{optim.WeightDecay(0)}})
	for _, g := range opt.State().Groups {
		fmt.Println(g.Params[0].Name, g.Numbers["lr"], g.Numbers["weight_decay"])
	}
	// Output:
	// 0.weight 0.0003 0.1
	// 0.bias 0.0003 0
}

// Muon for the weights of hidden layers, AdamW for what is no matrix and for the last layer. One scaler serves both, and the trace shows the
// products of bfloat16 that Muon's step is made of.
func ExampleNewMuon() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	first, hidden, last := nn.NewLinear(root, 8, 32), nn.NewLinear(root, 32, 32), nn.NewLinear(root, 32, 2)
	net := nn.NewSequential(first, nn.ReLU, hidden, nn.ReLU, last)
	muon := optim.NewMuon([]*amp.Tensor{first.Weight, hidden.Weight}, optim.LR(0.02))
	adamw := optim.NewAdamW(append(last.Parameters(), first.Bias, hidden.Bias), optim.LR(3e-3))
	scaler := amp.NewGradScaler(amp.InitScale(1024))
	x := amp.Randn(root, amp.Float32, 0, 1, 64, 8)
	y := amp.Narrow(root, x, 1, 0, 2)
	var losses []float64
	for s := range root.Steps(20) {
		half := s.Autocast(amp.Float16)
		loss := nn.MSELoss(half, net.Forward(half, x), y)
		muon.ZeroGrad()
		adamw.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		scaler.Step(muon)
		scaler.Step(adamw)
		scaler.Update()
		losses = append(losses, loss.Item())
	}
	fmt.Println(losses[19] < losses[0]/2, muon.Steps(), adamw.Steps())
	// Output:
	// true 20 20
}
