package cudart_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
)

// bits returns the parameters' bits.
func bits(m nn.Module) (out [][]float32) {
	for _, p := range m.Parameters() {
		out = append(out, amp.Values[float32](p))
	}
	return out
}

// TestReplaysAreSteps trains 100 steps twice, eager and captured, with an overflow on the way and a learning rate that moves: the same bits,
// reports and scales.
func TestReplaysAreSteps(t *testing.T) {
	device := gpu(t)
	for name, make := range map[string]func(p []*amp.Tensor) optim.Optimizer{
		"sgd": func(p []*amp.Tensor) optim.Optimizer {
			return optim.NewSGD(p, optim.Momentum(0.9), optim.Dampening(0.5))
		},
		"adam": func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdamW(p, optim.Fused()) },
	} {
		t.Run(name, func(t *testing.T) {
			const steps = 100
			run := func(captured bool) (weights [][]float32, losses []float64, m *step) {
				m = mlp(device)
				m.opt = make(m.net.Parameters())
				x, y := amp.Randn(m.root, amp.Float32, 0, 1, 16, 8), amp.Randn(m.root, amp.Float32, 0, 1, 16, 1)
				m.loss = func(s *amp.Scope) *amp.Tensor {
					d := amp.Sub(s, m.net.Forward(s, x), y)
					return amp.Mean(s, amp.Mul(s, d, d))
				}
				batch := func(step int) {
					v := amp.Values[float32](amp.Randn(amp.NewScope(amp.On("cpu"), amp.Seed(uint64(step))), amp.Float32, 0, 1, 16, 8))
					if step == 37 {
						v[5] = 1e30
					}
					amp.SetValues(x, v)
					m.opt.SetLR(0.01 / float64(1+step/25))
				}
				var loss *amp.Tensor
				one := func(s *amp.Scope) { loss = m.run(s) }
				batch(0)
				if !captured {
					for s := range m.root.Steps(steps) {
						batch(s.Step())
						one(s)
						losses = append(losses, loss.Item())
					}
				} else {
					g := m.root.Capture(one)
					losses = append(losses, math.NaN()) // the first run's tensors are gone
					for i := 1; i < steps; i++ {
						batch(i)
						g.Replay()
						losses = append(losses, loss.Item())
					}
					defer func() {
						if err := g.Close(); err != nil {
							t.Error(err)
						}
					}()
				}
				return bits(m.net), losses, m
			}
			want, losses, eager := run(false)
			got, replayed, captured := run(true)
			for i := 1; i < steps; i++ {
				if a, b := losses[i], replayed[i]; a != b && (a == a || b == b) {
					t.Fatalf("step %d: loss %v, captured %v", i, a, b)
				}
			}
			for i := range want {
				if !slices.Equal(want[i], got[i]) {
					t.Errorf("parameter %d differs", i)
				}
			}
			a, b := eager.scaler.History(), captured.scaler.History()
			if len(a.Steps) != steps || len(b.Steps) != steps || a.Scale != b.Scale || a.Skipped != b.Skipped || b.Steps[37].Applied || b.Steps[37].Culprit != "0.weight" {
				t.Errorf("history %d steps, scale %v, skipped %d; captured %d, %v, %d: %+v", len(a.Steps), a.Scale, a.Skipped, len(b.Steps), b.Scale, b.Skipped, b.Steps[min(37, len(b.Steps)-1)])
			}
			if !slices.EqualFunc(a.Steps, b.Steps, func(x, y amp.ScaleStep) bool { return x.Next == y.Next && x.Applied == y.Applied && x.Step == y.Step }) {
				t.Error("other steps in the history")
			}
			if n := steps - a.Skipped; eager.opt.Steps() != n || captured.opt.Steps() != n {
				t.Errorf("%d steps, captured %d", eager.opt.Steps(), captured.opt.Steps())
			}
			if r := captured.reports[len(captured.reports)-1]; r.Applied() != b.Steps[steps-1].Applied || r.Step != steps-1 {
				t.Errorf("the recorded step's report: %+v", r)
			}
			eager.root.Close()
			captured.root.Close()
		})
	}
}

// TestReplayIsOneCall: the host queues a replay with one call and waits for nothing.
func TestReplayIsOneCall(t *testing.T) {
	device := gpu(t)
	root := amp.NewScope(amp.On(device), amp.Seed(1))
	defer root.Close()
	w := amp.Randn(root, amp.Float32, 0, 1, 8, 8).RequireGrad()
	opt := optim.NewSGD([]*amp.Tensor{w}, optim.LR(0.1))
	g := root.Capture(func(s *amp.Scope) {
		opt.ZeroGrad()
		amp.Sum(s, amp.Mul(s, w, w)).Backward()
		opt.Step()
	})
	version, before := w.Version(), cudart.CountsOf(device)
	for range 5 {
		g.Replay()
	}
	now := cudart.CountsOf(device)
	if n := now.Launches - before.Launches; n != 5 || now.Syncs != before.Syncs || now.Ops != before.Ops || now.Uploads != before.Uploads {
		t.Errorf("%+v before, %+v after 5 replays", before, now)
	}
	if w.Version() == version {
		t.Error("a replay changes weights without a new version: cached casts would be stale")
	}
	if opt.Steps() != 6 {
		t.Errorf("%d steps", opt.Steps())
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if err := amp.Maybe(g.Replay); !errors.Is(err, amp.ErrClosed) {
		t.Error(err)
	}
}

// TestCaptureRefuses: what a graph can't hold is said when it is recorded, and the device goes on.
func TestCaptureRefuses(t *testing.T) {
	device := gpu(t)
	root := amp.NewScope(amp.On(device))
	defer root.Close()
	x := amp.Full(root, amp.Float32, 2, 4)
	recording := func() bool { g := amp.CapturingOn(x); return g != nil && g.Recording() }
	for name, c := range map[string]struct {
		f    func(s *amp.Scope)
		want string
	}{
		"reading":  {func(s *amp.Scope) { amp.Mul(s, x, x).Float64s() }, "after Replay"},
		"data":     {func(s *amp.Scope) { amp.From([]float32{1}).To(s) }, "before Capture"},
		"the host": {func(s *amp.Scope) { amp.Map(s, x, math.Sqrt) }, "after Replay"},
		"a panic": {func(s *amp.Scope) {
			if recording() {
				panic(&amp.Error{Op: "mine", Kind: amp.ErrCapture, Detail: "of the step's own"})
			}
		}, "of the step's own"},
	} {
		err := amp.Maybe(func() { root.Capture(c.f) })
		if !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if v := amp.Sum(root, x).Item(); v != 8 {
		t.Errorf("the device computes %v afterwards", v)
	}
}

// TestCaptureWithoutGraphs: on a device that records nothing, a replay is the step itself.
func TestCaptureWithoutGraphs(t *testing.T) {
	root := amp.NewScope(amp.On("cpu"))
	defer root.Close()
	w := amp.Full(root, amp.Float32, 1, 2).RequireGrad()
	opt := optim.NewSGD([]*amp.Tensor{w}, optim.LR(0.25))
	g := root.Capture(func(s *amp.Scope) {
		opt.ZeroGrad()
		amp.Sum(s, amp.Mul(s, w, w)).Backward()
		opt.Step()
	})
	g.Replay()
	if got := amp.Values[float32](w); got[0] != 0.25 || opt.Steps() != 2 {
		t.Errorf("%v after %d steps", got, opt.Steps())
	}
}

// TestCloseWhileCapturing: closing a graph waits for the device, which a capture forbids; it says so, frees nothing and breaks nothing.
func TestCloseWhileCapturing(t *testing.T) {
	s := amp.NewScope(amp.On(gpu(t)))
	defer s.Close()
	x := placed(s, amp.Float32, numbers(4), 4)
	first := s.Capture(func(s *amp.Scope) { amp.AddInPlace(s.NoGrad(), x, x) })
	runs := 0
	second := s.Capture(func(c *amp.Scope) {
		if runs++; runs == 2 { // the recording
			if err := first.Close(); !errors.Is(err, amp.ErrCapture) {
				t.Errorf("closed in a captured step: %v", err)
			}
		}
		amp.AddInPlace(c.NoGrad(), x, x)
	})
	before := amp.Values[float32](x)
	first.Replay()
	second.Replay()
	for i, v := range amp.Values[float32](x) {
		if v != 4*before[i] {
			t.Fatalf("element %d is %v, was %v", i, v, before[i])
		}
	}
	for _, g := range []*amp.Graph{first, second} {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNoGraphWithinAnother: a captured step is no part of another one, since what the host does for each replay can't be recorded. Both are
// as good as before.
func TestNoGraphWithinAnother(t *testing.T) {
	root := amp.NewScope(amp.On(gpu(t))).NoGrad()
	defer root.Close()
	x := amp.Zeros(root, amp.Float32, 3)
	g := root.Capture(func(s *amp.Scope) { amp.AddInPlace(s, x, amp.Full(s, amp.Float32, 1, 3)) })
	defer g.Close()
	for _, first := range []bool{true, false} { // run of the other one
		runs := 0
		err := amp.Maybe(func() {
			root.Capture(func(s *amp.Scope) {
				if runs++; runs == 1 && first || runs == 2 {
					g.Replay()
				}
			})
		})
		if !errors.Is(err, amp.ErrCapture) || !strings.Contains(err.Error(), "can't be a part") {
			t.Errorf("%v", err)
		}
	}
	g.Replay()
	if got := x.Float64s()[0]; got != 2 {
		t.Errorf("after the first run and one replay: %v", got)
	}
}
