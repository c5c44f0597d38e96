package cudart_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestReplayKnowsItsSettings: a replay follows the learning rate of a schedule, and refuses to go on with a momentum that a schedule has
// changed, which the recorded kernels hold.
func TestReplayKnowsItsSettings(t *testing.T) {
	device := gpu(t)
	for name, c := range map[string]struct {
		opt  func(p []*amp.Tensor) optim.Optimizer
		opts []optim.OneCycleOption
		want string
	}{
		"beta":     {func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdam(p) }, nil, "first beta is"},
		"momentum": {func(p []*amp.Tensor) optim.Optimizer { return optim.NewSGD(p, optim.Momentum(0.9)) }, nil, "momentum is"},
		"rate":     {func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdam(p) }, []optim.OneCycleOption{optim.KeepMomentum()}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(captured bool) (w []float64, err error) {
				root := amp.NewScope(amp.On(device))
				defer root.Close()
				p := amp.Ones(root, amp.Float32, 3).RequireGrad()
				opt := c.opt([]*amp.Tensor{p})
				schedule := optim.NewOneCycleLR(opt, 0.1, 10, c.opts...)
				step := func(s *amp.Scope) {
					opt.ZeroGrad()
					amp.Sum(s, amp.Mul(s, p, p)).Backward()
					opt.Step()
				}
				var g *amp.Graph
				for range 4 {
					switch {
					case !captured:
						s := root.Child()
						step(s)
						s.Close()
					case g == nil:
						g = root.Capture(step)
						defer g.Close()
					default:
						if err = amp.Maybe(g.Replay); err != nil {
							return nil, err
						}
					}
					schedule.Step()
				}
				return p.Float64s(), nil
			}
			got, err := run(true)
			if c.want != "" {
				if !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "KeepMomentum") {
					t.Errorf("%v, want %q", err, c.want)
				}
				return
			}
			want, _ := run(false)
			if err != nil || got[0] != want[0] {
				t.Errorf("%v, step by step %v: %v", got, want, err)
			}
		})
	}
}
