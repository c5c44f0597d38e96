package cudart_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
	"github.com/halftone-ml/halftone/cudart"
)

// An absentee is a model of two weights, matrices for Muon's sake, of which the loss of some steps depends on the first alone.
type absentee struct {
	root    *amp.Scope
	w       []*amp.Tensor
	x       *amp.Tensor
	opt     optim.Optimizer
	scaler  *amp.GradScaler
	without bool // the second weight
}

func newAbsentee(device string, opt func(w []*amp.Tensor) optim.Optimizer) *absentee {
	m := &absentee{root: amp.NewScope(amp.On(device), amp.Seed(3)), scaler: amp.NewGradScaler(amp.InitScale(4), amp.GrowthInterval(3))}
	m.w = []*amp.Tensor{amp.Randn(m.root, amp.Float32, 0, 1, 1, 5).RequireGrad().SetName("a"), amp.Randn(m.root, amp.Float32, 0, 1, 1, 5).RequireGrad().SetName("b")}
	m.x, m.opt = amp.Ones(m.root, amp.Float32, 5), opt(m.w)
	return m
}

// feed gives step i its data, which overflow in every fifth.
func (m *absentee) feed(i int) {
	v := []float32{1, float32(i), -2, 3, 0.5}
	if i%5 == 4 {
		v[0] = math.MaxFloat32
	}
	amp.SetValues(m.x, v)
}

func (m *absentee) step(s *amp.Scope) {
	h := amp.Mul(s, amp.Mul(s, m.w[0], m.x), m.x)
	if !m.without {
		h = amp.Add(s, h, amp.Square(s, m.w[1]))
	}
	m.opt.ZeroGrad()
	m.scaler.Scale(s, amp.Mean(s, amp.Square(s, h))).Backward()
	m.scaler.Step(m.opt)
	m.scaler.Update()
}

var absentees = map[string]func(w []*amp.Tensor) optim.Optimizer{
	"momentum":   func(w []*amp.Tensor) optim.Optimizer { return optim.NewSGD(w, optim.LR(1e-3), optim.Momentum(0.9)) },
	"adam":       func(w []*amp.Tensor) optim.Optimizer { return optim.NewAdam(w, optim.LR(0.01)) },
	"fused adam": func(w []*amp.Tensor) optim.Optimizer { return optim.NewAdam(w, optim.LR(0.01), optim.Fused()) },
	"adagrad":    func(w []*amp.Tensor) optim.Optimizer { return optim.NewAdagrad(w, optim.LR(0.01)) },
	"rmsprop":    func(w []*amp.Tensor) optim.Optimizer { return optim.NewRMSprop(w, optim.LR(0.01), optim.Centered()) },
	"nadam":      func(w []*amp.Tensor) optim.Optimizer { return optim.NewNAdam(w, optim.LR(0.01)) },
	"radam":      func(w []*amp.Tensor) optim.Optimizer { return optim.NewRAdam(w, optim.LR(0.01), optim.Betas(0.8, 0.7)) },
	"muon":       func(w []*amp.Tensor) optim.Optimizer { return optim.NewMuon(w) }, // at a small rate: devices round bfloat16 sums of another order
	"adafactor":  func(w []*amp.Tensor) optim.Optimizer { return optim.NewAdafactor(w, optim.LR(0.01)) },
	"asgd":       func(w []*amp.Tensor) optim.Optimizer { return optim.NewASGD(w, optim.LR(0.01), optim.T0(1)) },
	"rprop":      func(w []*amp.Tensor) optim.Optimizer { return optim.NewRprop(w, optim.LR(0.01)) },
}

// same compares weights, and the states with every parameter's own number of updates.
func (m *absentee) same(t *testing.T, want *absentee) {
	t.Helper()
	a, b := want.opt.State(), m.opt.State()
	for i, p := range a.Groups[0].Params {
		if got := b.Groups[0].Params[i]; got != p || a.Steps != b.Steps {
			t.Errorf("%+v of %d steps, want %+v of %d", got, b.Steps, p, a.Steps)
		}
	}
	for i, w := range want.w {
		for j, v := range w.Float64s() {
			if got := m.w[i].Float64s()[j]; math.Abs(got-v) > 1e-4*(1+math.Abs(v)) {
				t.Errorf("weight %d[%d] is %v, want %v", i, j, got, v)
			}
		}
	}
}

// TestParametersComeAndGo: a parameter that some steps are taken without has its own number of updates, skipped steps left out, and the host
// does not wait to know it.
func TestParametersComeAndGo(t *testing.T) {
	device := gpu(t)
	for name, opt := range absentees {
		t.Run(name, func(t *testing.T) {
			var ms []*absentee
			for _, on := range []string{"cpu", device} {
				m := newAbsentee(on, opt)
				defer m.root.Close()
				ms = append(ms, m)
				var before int64
				for s := range m.root.Steps(24) {
					i := s.Step()
					m.feed(i)
					m.without = i%4 != 1 && i > 6 || i == 0
					if i == 2 { // the state is made
						before = cudart.CountsOf(device).Syncs
					}
					m.step(s)
				}
				if now := cudart.CountsOf(device).Syncs; on == device && now != before {
					t.Errorf("the host waited %d times", now-before)
				}
			}
			ms[1].same(t, ms[0])
			saved := ms[1].opt.State()
			if err := ms[1].opt.LoadState(saved); err != nil {
				t.Fatal(err)
			}
			for _, m := range ms { // from the state that was loaded
				for s := range m.root.Steps(6) {
					m.feed(s.Step())
					m.without = s.Step()%2 == 0
					m.step(s)
				}
			}
			ms[1].same(t, ms[0])
		})
	}
}

// TestCaptureWithoutAParameter: a captured step may be without a parameter that was updated before; every replay counts for those that it has.
func TestCaptureWithoutAParameter(t *testing.T) {
	device := gpu(t)
	for name, opt := range absentees {
		t.Run(name, func(t *testing.T) {
			eager, m := newAbsentee(device, opt), newAbsentee(device, opt)
			defer eager.root.Close()
			defer m.root.Close()
			for _, m := range []*absentee{eager, m} {
				for s := range m.root.Steps(3) {
					m.feed(s.Step())
					m.step(s)
				}
				m.without = true
			}
			for s := range eager.root.Steps(9) {
				eager.feed(s.Step())
				eager.step(s)
			}
			m.feed(3)
			g := m.root.Capture(m.step)
			for i := 4; i < 12; i++ {
				m.feed(i)
				g.Replay()
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
			for _, m := range []*absentee{eager, m} { // it comes back
				m.without = false
				for s := range m.root.Steps(2) {
					m.feed(0)
					m.step(s)
				}
			}
			m.same(t, eager)
		})
	}
}

// TestCaptureOfAStepThatChanges: the run that is recorded may not be without a parameter that the one before it had.
func TestCaptureOfAStepThatChanges(t *testing.T) {
	m := newAbsentee(gpu(t), absentees["adam"])
	defer m.root.Close()
	err := amp.Maybe(func() {
		m.root.Capture(func(s *amp.Scope) {
			m.step(s)
			m.without = true
		})
	})
	if !errors.Is(err, amp.ErrCapture) || err == nil {
		t.Error(err)
	}
}

// TestStatesLaterOfThoseThatComeAndGo is TestStatesLater for parameters with numbers of updates of their own.
func TestStatesLaterOfThoseThatComeAndGo(t *testing.T) {
	d, _, _ := snapshotter(t, 64)
	for name, opt := range absentees {
		t.Run(name, func(t *testing.T) {
			var now []*optim.State
			run := func(see func(m *absentee)) {
				m := newAbsentee("cuda:0", opt)
				defer m.root.Close()
				for s := range m.root.Steps(14) {
					m.feed(s.Step())
					m.without = s.Step()%4 > 1
					m.step(s)
					see(m)
				}
			}
			run(func(m *absentee) { now = append(now, m.opt.LiveState()) })
			var later []func() *optim.State
			run(func(m *absentee) {
				l := m.opt.LiveStateLater()
				snap, err := d.Snapshot(nil, l.Counters)
				if err != nil {
					t.Fatal(err)
				}
				later = append(later, func() *optim.State {
					defer snap.Drop()
					if err := snap.Wait(); err != nil {
						t.Fatal(err)
					}
					return l.State(snap.Elements())
				})
			})
			for i, f := range later {
				got, want := f(), now[i]
				if got.Steps != want.Steps || !slices.Equal(got.Groups[0].Params, want.Groups[0].Params) {
					t.Errorf("step %d: %d steps, %+v, want %d, %+v", i, got.Steps, got.Groups[0].Params, want.Steps, want.Groups[0].Params)
				}
			}
		})
	}
}
