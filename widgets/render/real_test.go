package render

import (
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/widgets"
)

// trainSmall runs a small network under float16 autocast, with an overflow in the middle, and returns what it recorded.
func trainSmall(t *testing.T, steps int) (*amp.Trace, amp.ScaleHistory, []float64) {
	t.Helper()
	root := amp.NewScope(amp.On("cpu"), amp.Seed(1), amp.Record(amp.Decisions))
	defer root.Close()
	net := nn.NewSequential(nn.NewLinear(root, 8, 16), nn.ReLU, nn.NewLinear(root, 16, 16), nn.ReLU, nn.NewLinear(root, 16, 1))
	opt := optim.NewSGD(net.Parameters(), optim.LR(0.01))
	scaler := amp.NewGradScaler(amp.GrowthInterval(5))
	x, y := make([]float32, 64*8), make([]float32, 64)
	for i := range x {
		x[i] = float32(math.Sin(float64(i)))
	}
	for i := range y {
		y[i] = float32(math.Cos(float64(i)))
	}
	in, want := amp.From(x, 64, 8), amp.From(y, 64, 1)
	var losses []float64
	for s := range root.Steps(steps) {
		half := s.Autocast(amp.Float16)
		loss := nn.MSELoss(half, net.Forward(half, in), want)
		opt.ZeroGrad()
		scaler.Scale(s, loss).Backward()
		scaler.Step(opt)
		scaler.Update()
		losses = append(losses, float64(amp.Values[float32](loss)[0]))
	}
	return root.Trace(), scaler.History(), losses
}

func TestRealRun(t *testing.T) {
	trace, history, losses := trainSmall(t, 20)
	d := widgets.Decisions(trace)
	t.Log("\n" + d.Text())
	t.Log("\n" + widgets.ScaleHistory(history).Text())
	t.Log("\n" + widgets.Compare(widgets.Run{Name: "float16", DType: amp.Float16, Loss: losses}).Text())
}
