package cheatsheet

import (
	"fmt"
	"math"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// problem is a small network with data.
func problem(root *amp.Scope) (net *nn.Sequential, x, y *amp.Tensor) {
	net = nn.NewSequential(nn.NewLinear(root, 8, 16), nn.Tanh, nn.NewLinear(root, 16, 1))
	return net, amp.Randn(root, amp.Float32, 0, 1, 32, 8), amp.Randn(root, amp.Float32, 0, 1, 32, 1)
}

func Example_scaler() {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()
	net, x, y := problem(s)
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.1))
	half := s.Autocast(amp.Float16)

	// torch: scaler = torch.amp.GradScaler("cuda")
	scaler := amp.NewGradScaler()
	fmt.Println(scaler.CurrentScale(), scaler.GrowthInterval())

	// torch: GradScaler(init_scale=1024, growth_interval=100, enabled=True)
	other := amp.NewGradScaler(amp.InitScale(1024), amp.GrowthInterval(100), amp.ScalerEnabled(true))
	fmt.Println(other.CurrentScale(), other.Enabled())

	// torch: scaler.scale(loss).backward()
	loss := nn.MSELoss(half, net.Forward(half, x), y)
	scaler.Scale(s, loss).Backward()
	fmt.Println(net.Parameters()[0].Grad().DType())

	// torch: scaler.scale([loss0, loss1])
	scaled := scaler.ScaleAll(s, amp.Scalar[float32](1), amp.Scalar[float32](2))
	fmt.Println(scaled[0].Item(), scaled[1].Item())

	// torch: scaler.unscale_(opt)
	// torch: torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
	scaler.Unscale(opt)
	norm := optim.ClipGradNorm(net.Parameters(), 1)
	fmt.Println(norm.Value() > 0)

	// torch: scaler.step(opt)
	// torch: scaler.update()
	report := scaler.Step(opt)
	scaler.Update()
	fmt.Println(report)

	// torch: skipped = scale_before > scaler.get_scale()  # afterwards
	applied, culprit := report.Applied(), report.Culprit()
	fmt.Printf("%v %q\n", applied, culprit)

	// torch: scaler.get_scale(), scaler.get_growth_interval()
	scale, interval := scaler.CurrentScale(), scaler.GrowthInterval()
	fmt.Println(scale, interval)

	// torch: state = scaler.state_dict()
	// torch: scaler.load_state_dict(state)
	state := scaler.State()
	err := other.LoadState(state)
	fmt.Println(other.CurrentScale(), err)

	// torch: scaler.update(new_scale=512.)
	scaler.UpdateTo(512)
	fmt.Println(scaler.CurrentScale())

	// torch: # no such thing: a floor, which stops a scale that collapses
	floored := amp.NewGradScaler(amp.MinScale(1))
	fmt.Println(floored.History().MinScale)

	// torch: # no such thing: scale and skips of every step
	history := scaler.History()
	fmt.Println(history.Nominal, history.Skipped)
	// Output:
	// 65536 2000
	// 1024 true
	// float32
	// 65536 131072
	// true
	// step 0 applied at scale 65536
	// true ""
	// 65536 2000
	// 65536 <nil>
	// 512
	// 1
	// 1 0
}

func Example_overflow() {
	s := amp.NewScope(amp.Seed(1))
	defer s.Close()
	net, x, y := problem(s)
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.1))
	half := s.Autocast(amp.Float16)
	scaler := amp.NewGradScaler()

	// torch: # a gradient overflows: the step is skipped, the scale halves
	huge := amp.MulScalar(s, nn.MSELoss(half, net.Forward(half, x), y), 1e6)
	scaler.Scale(s, huge).Backward()
	report := scaler.Step(opt)
	scaler.Update()
	fmt.Println(report.Applied(), report.Culprit(), scaler.CurrentScale(), math.IsInf(huge.Item(), 0))
	// Output: false 0.weight 32768 false
}
