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

// TestCaptureRefusesSchedules: a schedule that moves on in the step that is recorded would stand still in its replays. It has moved once then,
// in the step's first run.
func TestCaptureRefusesSchedules(t *testing.T) {
	device := gpu(t)
	for name, f := range map[string]func(o optim.Optimizer) optim.Scheduler{
		"one": func(o optim.Optimizer) optim.Scheduler { return optim.NewStepLR(o, 1, 0.5) },
		"sequence": func(o optim.Optimizer) optim.Scheduler {
			return optim.NewSequentialLR([]int{2}, optim.NewStepLR(o, 1, 0.5), optim.NewStepLR(o, 1, 0.5))
		},
		"chain":   func(o optim.Optimizer) optim.Scheduler { return optim.NewChained(optim.NewStepLR(o, 1, 0.5)) },
		"applied": func(o optim.Optimizer) optim.Scheduler { return optim.CountApplied(optim.NewStepLR(o, 1, 0.5)) },
	} {
		root := amp.NewScope(amp.On(device))
		p := amp.Ones(root, amp.Float32, 3).RequireGrad()
		opt := optim.NewSGD([]*amp.Tensor{p}, optim.LR(1))
		schedule := f(opt)
		err := amp.Maybe(func() {
			root.Capture(func(s *amp.Scope) {
				opt.ZeroGrad()
				amp.Sum(s, amp.Mul(s, p, p)).Backward()
				opt.Step()
				schedule.Step()
			})
		})
		if lr := opt.Groups()[0].LR(); !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), "after each Replay") || lr != 0.5 {
			t.Errorf("%s: rate %v, %v", name, lr, err)
		}
		root.Close()
	}
	root := amp.NewScope(amp.On(device))
	defer root.Close()
	plateau := optim.NewReduceLROnPlateau(optim.NewSGD([]*amp.Tensor{amp.Ones(root, amp.Float32, 3).RequireGrad()}))
	if err := amp.Maybe(func() { root.Capture(func(s *amp.Scope) { plateau.Step(1) }) }); !errors.Is(err, amp.ErrCapture) {
		t.Errorf("plateau: %v", err)
	}
}
