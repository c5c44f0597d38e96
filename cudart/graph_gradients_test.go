package cudart_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// TestCaptureKnowsItsGradients: a step that adds to the gradients that it finds is replayed as it would be taken, and refused where it leaves
// others to the next one, which a replay, adding to the old ones for ever, would not know of. The view keeps the old one's memory.
func TestCaptureKnowsItsGradients(t *testing.T) {
	device := gpu(t)
	for name, c := range map[string]struct {
		step func(s *amp.Scope, p *amp.Tensor) *amp.Tensor
		want string
	}{
		"adding": {step: func(s *amp.Scope, p *amp.Tensor) *amp.Tensor {
			amp.Sum(s, amp.Mul(s, p, p)).Backward()
			return amp.Select(s, p.Grad(), 0, 1)
		}},
		"zeros first": {step: func(s *amp.Scope, p *amp.Tensor) *amp.Tensor {
			p.ZeroGrad()
			amp.Sum(s, amp.Mul(s, p, p)).Backward()
			amp.Sum(s, p).Backward()
			return amp.Select(s, p.Grad(), 0, 1)
		}},
		"zeros between": {step: func(s *amp.Scope, p *amp.Tensor) *amp.Tensor {
			amp.Sum(s, amp.Mul(s, p, p)).Backward()
			y := amp.Select(s, p.Grad(), 0, 1)
			p.ZeroGrad()
			amp.Sum(s, p).Backward()
			return y
		}, want: "ZeroGrad"},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(captured bool) (out []float64, err error) {
				root := amp.NewScope(amp.On(device))
				defer root.Close()
				p := amp.From([]float32{1, 2, 3}).To(root).RequireGrad().SetName("p")
				var y *amp.Tensor
				step := func(s *amp.Scope) { y = c.step(s, p) }
				if !captured {
					for range 2 {
						step(root)
					}
				} else {
					var g *amp.Graph
					if err = amp.Maybe(func() { g = root.Capture(step) }); err != nil {
						return nil, err
					}
					defer g.Close()
					g.Replay()
				}
				return slices.Concat(y.Float64s(), p.Grad().Float64s()), nil
			}
			got, err := run(true)
			if c.want != "" {
				if !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `"p"`) {
					t.Errorf("%v %v, want %q", got, err, c.want)
				}
				return
			}
			if want, _ := run(false); err != nil || !slices.Equal(want, got) {
				t.Errorf("%v, %v; step by step %v", got, err, want)
			}
		})
	}
}

// TestCaptureKnowsItsState: a parameter that gets its first gradient in the run that is recorded has no state yet, which each replay would make
// anew; where it has had a step before, replays are steps.
func TestCaptureKnowsItsState(t *testing.T) {
	device := gpu(t)
	run := func(captured, before bool) (out []float64, err error) {
		root := amp.NewScope(amp.On(device))
		defer root.Close()
		p, late := amp.Ones(root, amp.Float32, 3).RequireGrad(), amp.Ones(root, amp.Float32, 2).RequireGrad().SetName("late")
		opt := optim.NewAdam([]*amp.Tensor{p, late}, optim.LR(0.1))
		pass := func(s *amp.Scope) {
			amp.Add(s, amp.Sum(s, amp.Mul(s, p, p)), amp.Sum(s, amp.Exp(s, late))).Backward()
		}
		amp.Sum(root, p).Backward()
		if before {
			pass(root)
			opt.Step()
		}
		step := func(s *amp.Scope) { // with the gradients of the step before
			opt.Step()
			pass(s)
		}
		if !captured {
			for range 4 {
				step(root)
			}
			return late.Float64s(), nil
		}
		var g *amp.Graph
		if err = amp.Maybe(func() { g = root.Capture(step) }); err != nil {
			return nil, err
		}
		defer g.Close()
		for range 3 {
			g.Replay()
		}
		return late.Float64s(), nil
	}
	if got, err := run(true, false); !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), `"late"`) {
		t.Errorf("%v, %v", got, err)
	}
	got, err := run(true, true)
	if want, _ := run(false, true); err != nil || !slices.Equal(want, got) {
		t.Errorf("%v, %v; step by step %v", got, err, want)
	}
}
