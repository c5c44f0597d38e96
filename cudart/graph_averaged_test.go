package cudart_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestCapturedAverages: a captured step moves an exponential average, and its count, as the same steps one by one do; a mean of all models, whose
// weight is another at each update, is refused there.
func TestCapturedAverages(t *testing.T) {
	device := gpu(t)
	run := func(captured bool, opts ...nn.AverageOption) (out []float64, err error) {
		root := amp.NewScope(amp.On(device), amp.Seed(3))
		defer root.Close()
		net, x := nn.NewLinear(root, 2, 3), amp.Randn(root, amp.Float32, 0, 1, 4, 2)
		average := nn.NewAveragedModel(nn.NewLinear(root, 2, 3), net, opts...)
		opt := optim.NewSGD(net.Parameters(), optim.LR(0.1))
		step := func(s *amp.Scope) {
			opt.ZeroGrad()
			amp.Mean(s, amp.Square(s, net.Forward(s, x))).Backward()
			opt.Step()
			average.Update(s)
		}
		replay := func() { step(root) }
		if captured {
			var g *amp.Graph
			if err = amp.Maybe(func() { g = root.Capture(step) }); err != nil {
				return nil, err
			}
			defer g.Close()
			replay = g.Replay
		} else {
			step(root)
		}
		for range 4 {
			replay()
		}
		for _, p := range average.Parameters() {
			out = append(out, p.Float64s()...)
		}
		return append(out, float64(average.Averaged()), average.Buffers()[0].Item()), nil
	}
	want, err := run(false, nn.EMA(0.75))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run(true, nn.EMA(0.75)); err != nil || !slices.Equal(want, got) || got[len(got)-1] != 5 {
		t.Errorf("%v, %v; step by step %v", got, err, want)
	}
	if got, err := run(true); !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), "nn.EMA") {
		t.Errorf("a mean: %v, %v", got, err)
	}
}
