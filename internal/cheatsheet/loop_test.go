package cheatsheet

import (
	"fmt"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

func Example_loop() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net, x, y := problem(root)
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.1))
	scaler := amp.NewGradScaler(amp.InitScale(1024))
	first, last := 0.0, 0.0
	note := func(loss float64) {
		if last = loss; first == 0 {
			first = loss
		}
	}

	// torch: for step in range(20):
	// torch:     with torch.autocast("cuda", dtype=torch.float16):
	// torch:         loss = F.mse_loss(net(x), y)
	// torch:     opt.zero_grad()
	// torch:     scaler.scale(loss).backward()
	// torch:     scaler.step(opt)
	// torch:     scaler.update()
	for s := range root.Steps(20) {
		half := s.Autocast(amp.Float16)
		loss := nn.MSELoss(half, net.Forward(half, x), y)
		opt.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		scaler.Step(opt)
		scaler.Update()
		note(loss.Item())
	}
	fmt.Println(last < first)

	// torch: # gradient accumulation over 4 parts
	// torch: scaler.scale(loss / 4).backward()
	s := root.Child()
	half := s.Autocast(amp.Float16)
	opt.ZeroGrad()
	for _, part := range amp.Split(s, x, 8, 0) {
		loss := amp.Mean(half, net.Forward(half, part))
		scaler.Scale(s, amp.MulScalar(s, loss, 1.0/4)).Backward()
	}
	fmt.Println(scaler.Step(opt).Applied())

	scaler.Update()
	// torch: # gradient penalty
	// torch: g = torch.autograd.grad(scaler.scale(loss), net.parameters(), create_graph=True)
	// torch: g = [p / scaler.get_scale() for p in g]
	// torch: with torch.autocast("cuda", dtype=torch.float16):
	// torch:     loss = loss + sum(p.pow(2).sum() for p in g).sqrt()
	fit := nn.MSELoss(half, net.Forward(half, x), y)
	squares := amp.Full(s, amp.Float32, 0)
	for _, g := range amp.Grad(s, []*amp.Tensor{scaler.Scale(s, fit)}, net.Parameters(), amp.CreateGraph()) {
		g = amp.MulScalar(s, g, 1/scaler.CurrentScale())
		squares = amp.Add(half, squares, amp.Sum(half, amp.Square(half, g)))
	}
	opt.ZeroGrad()
	scaler.Scale(s, amp.Add(half, fit, amp.Sqrt(half, squares))).Backward()
	fmt.Println(scaler.Step(opt).Applied())

	scaler.Update()
	// torch: # two optimizers: step each, update once
	optA, optB := optim.NewSGD(net.Parameters()[:2]), optim.NewSGD(net.Parameters()[2:])
	scaler.Scale(s, nn.MSELoss(half, net.Forward(half, x), y)).Backward()
	a, b := scaler.Step(optA), scaler.Step(optB)
	scaler.Update()
	fmt.Println(a.Applied(), b.Applied())

	// torch: torch.utils.checkpoint.checkpoint(block, x)
	cheap := amp.Checkpoint(half, func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor { return net.Forward(s, in[0]) }, x)
	fmt.Println(cheap.Shape())

	// torch: net.eval()
	// torch: with torch.inference_mode(), torch.autocast("cuda", dtype=torch.float16):
	eval := root.Eval().NoGrad().Autocast(amp.Float16)
	prediction := net.Forward(eval, x)
	fmt.Println(prediction.DType(), prediction.RequiresGrad())

	// torch: g = torch.cuda.CUDAGraph()
	// torch: with torch.cuda.graph(g): step()
	// torch: g.replay()
	step := func(s *amp.Scope) {
		opt.ZeroGrad()
		nn.MSELoss(s, net.Forward(s, x), y).Backward()
		opt.Step()
	}
	graph := root.Capture(step)
	graph.Replay()
	fmt.Println(graph.Close())

	// torch: net, opt = apex.amp.initialize(net, opt, opt_level="O2")
	// torch: with apex.amp.scale_loss(loss, opt) as scaled: scaled.backward()
	model, masters := amp.Initialize(net, opt, amp.O2)
	loss := nn.MSELoss(s, model.Forward(s, x), y)
	masters.ScaleLoss(s, loss, func(scaled *amp.Tensor) { scaled.Backward() })
	masters.Step()
	fmt.Println(net.Parameters()[0].DType(), masters.Parameters()[0].DType(), masters.LossScale(0))
	// Output:
	// true
	// true
	// true
	// true true
	// [32 1]
	// float16 false
	// <nil>
	// float16 float32 65536
}
