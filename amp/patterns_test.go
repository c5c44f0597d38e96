package amp_test

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// The patterns of PyTorch's AMP examples, each as a program that runs.

// problem is a small regression: a net, its inputs and targets.
func problem(root *amp.Scope) (net *nn.Sequential, x, y *amp.Tensor) {
	net = nn.NewSequential(nn.NewLinear(root, 8, 16), nn.Tanh, nn.NewLinear(root, 16, 1))
	return net, amp.Randn(root, amp.Float32, 0, 1, 32, 8), amp.Randn(root, amp.Float32, 0, 1, 32, 1)
}

// Gradient accumulation: divide each loss by the number of micro-batches, and step, update and zero once. The scale must not
// change in between.
func ExampleGradScaler_accumulation() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net, x, y := problem(root)
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.1))
	scaler := amp.NewGradScaler()
	const parts = 4
	for s := range root.Steps(2) {
		half := s.Autocast(amp.Float16)
		opt.ZeroGrad()
		for i := range parts {
			xi, yi := amp.Narrow(s, x, 0, i*8, 8), amp.Narrow(s, y, 0, i*8, 8)
			loss := nn.MSELoss(half, net.Forward(half, xi), yi)
			scaler.Scale(s, amp.MulScalar(s, loss, 1.0/parts)).Backward()
		}
		accumulated := net.Parameters()[0].Grad().Float64s()[0] / scaler.CurrentScale()
		opt.ZeroGrad()
		loss := nn.MSELoss(half, net.Forward(half, x), y) // the whole batch at once, to compare
		scaler.Scale(s, loss).Backward()
		whole := net.Parameters()[0].Grad().Float64s()[0] / scaler.CurrentScale()
		fmt.Println("agree within half precision:", math.Abs(accumulated-whole) < 1e-3)
		scaler.Step(opt)
		scaler.Update()
	}
	// Output:
	// agree within half precision: true
	// agree within half precision: true
}

// Clipping: unscale first, so that the norm is that of the true gradients.
func ExampleGradScaler_Unscale() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net, x, y := problem(root)
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.1))
	scaler := amp.NewGradScaler(amp.InitScale(1024))
	for s := range root.Steps(1) {
		half := s.Autocast(amp.Float16)
		loss := nn.MSELoss(half, net.Forward(half, x), y)
		scaler.Scale(s, loss).Backward()
		scaler.Unscale(opt)
		norm := optim.ClipGradNorm(net.Parameters(), 0.1).Value()
		clipped := optim.ClipGradNorm(net.Parameters(), math.Inf(1)).Value()
		fmt.Println(norm > 0.1, math.Abs(clipped-0.1) < 1e-5)
		scaler.Step(opt) // does not unscale again
		scaler.Update()
	}
	// Output: true true
}

// Clipping without unscaling: clip the scaled gradients at the scaled norm.
func ExampleGradScaler_clipScaled() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net, x, y := problem(root)
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.1))
	scaler := amp.NewGradScaler(amp.InitScale(1024))
	for s := range root.Steps(1) {
		half := s.Autocast(amp.Float16)
		scaler.Scale(s, nn.MSELoss(half, net.Forward(half, x), y)).Backward()
		optim.ClipGradNorm(net.Parameters(), 0.1*scaler.CurrentScale())
		scaler.Step(opt)
		fmt.Printf("%.3f\n", optim.ClipGradNorm(net.Parameters(), math.Inf(1)).Value())
		scaler.Update()
	}
	// Output: 0.100
}

// Gradient penalty: gradients of the scaled loss are unscaled by an ordinary product, the penalty is computed under autocast, and
// the sum is scaled once more.
func ExampleGrad_penalty() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net, x, y := problem(root)
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.1))
	scaler := amp.NewGradScaler(amp.InitScale(256))
	for s := range root.Steps(3) {
		half := s.Autocast(amp.Float16)
		loss := nn.MSELoss(half, net.Forward(half, x), y)
		scaled := scaler.Scale(s, loss)
		grads := amp.Grad(s, []*amp.Tensor{scaled}, net.Parameters(), amp.CreateGraph())
		penalty := amp.Scalar[float32](0)
		for _, g := range grads {
			g = amp.MulScalar(s, g, 1/scaler.CurrentScale())
			penalty = amp.Add(half, penalty, amp.Sum(half, amp.Mul(half, g, g)))
		}
		opt.ZeroGrad()
		scaler.Scale(s, amp.Add(s, loss, amp.Sqrt(half, penalty))).Backward()
		fmt.Println(scaler.Step(opt).Applied(), finite(penalty.Item()))
		scaler.Update()
	}
	// Output:
	// true true
	// true true
	// true true
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Several models, losses and optimizers share one scaler: each optimizer is unscaled and stepped by itself, and skips by itself;
// Update comes once.
func ExampleGradScaler_several() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	a, x, y := problem(root)
	b := nn.NewLinear(root, 8, 1)
	optA, optB := optim.NewSGD(a.Parameters(), optim.LR(0.1)), optim.NewAdam(b.Parameters())
	scaler := amp.NewGradScaler()
	for s := range root.Steps(1) {
		half := s.Autocast(amp.Float16)
		outA, outB := a.Forward(half, x), b.Forward(half, x)
		loss0 := nn.MSELoss(half, amp.Add(half, outA, outB), y)
		loss1 := amp.Mean(half, amp.MulScalar(half, outB, 64)) // its gradient overflows at 65536
		optA.ZeroGrad()
		optB.ZeroGrad()
		scaler.Scale(s, loss0).Backward(amp.RetainGraph())
		scaler.Scale(s, loss1).Backward()
		scaler.Unscale(optA) // only what is clipped or read needs it
		fmt.Println(scaler.Step(optA).Applied(), scaler.Step(optB).Applied())
		scaler.Update()
		fmt.Println(scaler.CurrentScale())
	}
	// Output:
	// true false
	// 32768
}

// Activation checkpointing keeps the inputs of a part and computes the rest again in backward, as it was the first time.
func ExampleCheckpoint() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net, x, y := problem(root)
	grad := func(forward func(s *amp.Scope) *amp.Tensor) float64 {
		s := root.Child()
		defer s.Close()
		half := s.Autocast(amp.Float16)
		loss := nn.MSELoss(half, forward(half), y)
		for _, p := range net.Parameters() {
			p.ZeroGrad()
		}
		loss.Backward()
		return net.Parameters()[0].Grad().Float64s()[0]
	}
	plain := grad(func(s *amp.Scope) *amp.Tensor { return net.Forward(s, x) })
	again := grad(func(s *amp.Scope) *amp.Tensor {
		return amp.Checkpoint(s, func(s *amp.Scope, in ...*amp.Tensor) *amp.Tensor { return net.Forward(s, in[0]) }, x)
	})
	fmt.Println(plain == again)
	// Output: true
}

// Inference: no graph, layers in evaluation mode, the same casts.
func ExampleScope_Eval() {
	root := amp.NewScope(amp.Seed(1))
	defer root.Close()
	net, x, _ := problem(root)
	s := root.Eval().NoGrad().Autocast(amp.BFloat16)
	y := net.Forward(s, x)
	fmt.Println(y.DType(), y.RequiresGrad(), s.Training())
	// Output: bfloat16 false false
}
