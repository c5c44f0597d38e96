package optim_test

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// beyond holds schedules that take an optimizer's numbers out of the ranges of its options, as torch's do.
var beyond = map[string]func(o optim.Optimizer) optim.Scheduler{
	"line to 0": func(o optim.Optimizer) optim.Scheduler { return optim.NewLinearLR(o, 1, 0, 3) },
	"cosine in a chain": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewChained(optim.NewCosineAnnealingLR(o, 10, 0.001), optim.NewStepLR(o, 3, 0.1))
	},
	"momentum above 1": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewOneCycleLR(o, 0.1, 5, optim.LinearAnneal(), optim.PctStart(0.9))
	},
	"no momentum": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewOneCycleLR(o, 0.1, 20, optim.MomentumRange(0, 0))
	},
}

// TestStateOfAnyStep: what a live optimizer holds after any step of a schedule, its state may hold; it goes on bit for bit.
func TestStateOfAnyStep(t *testing.T) {
	makers := map[string]func(p []*amp.Tensor) optim.Optimizer{
		"SGD":      func(p []*amp.Tensor) optim.Optimizer { return optim.NewSGD(p, optim.Momentum(0.9)) },
		"Nesterov": func(p []*amp.Tensor) optim.Optimizer { return optim.NewSGD(p, optim.Momentum(0.9), optim.Nesterov()) },
		"Adam":     func(p []*amp.Tensor) optim.Optimizer { return optim.NewAdam(p) },
	}
	for kind, build := range makers {
		for name, schedule := range beyond {
			p := weightsOf(amp.Float32)
			o := build(p)
			s := schedule(o)
			for step := range 5 {
				q := weightsOf(amp.Float32)
				for i := range q {
					amp.Assign(q[i], p[i])
				}
				text, err := json.Marshal(o.State())
				if err != nil {
					t.Fatal(err)
				}
				var st optim.State
				if err := json.Unmarshal(text, &st); err != nil {
					t.Fatal(err)
				}
				st.Tensors = o.State().Tensors
				loaded, taken := build(q), build(weightsOf(amp.Float32))
				schedule(loaded)
				if err := errors.Join(loaded.LoadState(&st), taken.TakeState(o.State())); err != nil {
					t.Fatalf("%s, %s, step %d: %v", kind, name, step, err)
				}
				train(o, step, step+1)
				train(loaded, step, step+1)
				for i := range p {
					if a, b := p[i].Float64s(), q[i].Float64s(); !sameBits(a, b) {
						t.Fatalf("%s, %s, step %d: %v, loaded %v", kind, name, step, a, b)
					}
				}
				s.Step()
			}
		}
	}
}

func sameBits(a, b []float64) bool {
	for i := range a {
		if math.Float64bits(a[i]) != math.Float64bits(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// TestSWALRAfterOthers has PyTorch 2.15's rates: SWALR goes from where another schedule has left them, not from the initial ones.
func TestSWALRAfterOthers(t *testing.T) {
	for name, c := range map[string]struct {
		make func(o optim.Optimizer) optim.Scheduler
		want [2][]float64 // of the groups that begin at 0.5 and 0.05
	}{
		"cosine in a sequence": {func(o optim.Optimizer) optim.Scheduler {
			return optim.NewSequentialLR([]int{3}, optim.NewExponentialLR(o, 0.5), optim.NewSWALR(o, 0.02, 4, false))
		}, [2][]float64{
			{0.5, 0.25, 0.125, 0.125, 0.10962310601229375, 0.0725, 0.03537689398770626, 0.02, 0.02},
			{0.05, 0.025, 0.0125, 0.0125, 0.013598349570550446, 0.01625, 0.018901650429449555, 0.02, 0.02},
		}},
		"line within a sequence": {func(o optim.Optimizer) optim.Scheduler {
			return optim.NewSequentialLR([]int{4, 9}, optim.NewStepLR(o, 2, 0.1), optim.NewSWALR(o, 0.02, 3, true), optim.NewConstantLR(o, 0.5, 2))
		}, [2][]float64{
			{0.5, 0.5, 0.05, 0.05, 0.05, 0.04, 0.03, 0.02, 0.02, 0.25, 0.25, 0.5},
			{0.05, 0.05, 0.005, 0.005, 0.005, 0.01, 0.015, 0.02, 0.02, 0.025, 0.025, 0.05},
		}},
		"without a way": {func(o optim.Optimizer) optim.Scheduler {
			return optim.NewSequentialLR([]int{3}, optim.NewExponentialLR(o, 0.5), optim.NewSWALR(o, 0.02, 0, true))
		}, [2][]float64{{0.5, 0.25, 0.125, 0.02, 0.02}, {0.05, 0.025, 0.0125, 0.02, 0.02}}},
		"last in a chain": {func(o optim.Optimizer) optim.Scheduler {
			return optim.NewChained(optim.NewExponentialLR(o, 0.9), optim.NewSWALR(o, 0.02, 5, true))
		}, [2][]float64{
			{0.5, 0.364, 0.2507, 0.15708666666666668, 0.080689, 0.02, 0.02},
			{0.05, 0.04, 0.032, 0.025866666666666673, 0.02164, 0.02, 0.02},
		}},
		"first in a chain": {func(o optim.Optimizer) optim.Scheduler {
			return optim.NewChained(optim.NewSWALR(o, 0.02, 5, false), optim.NewExponentialLR(o, 0.9))
		}, [2][]float64{
			{0.5, 0.40874767078498864, 0.27117041147053983, 0.1373254464449333, 0.04718516026349562, 0.018, 0.018},
			{0.05, 0.0424217294240618, 0.03260206424570565, 0.023986958947284025, 0.018991771515611284, 0.018, 0.018},
		}},
	} {
		for at := range c.want[0] { // where the states are saved and loaded
			o := twoGroups()
			s := c.make(o)
			for step := range c.want[0] {
				if step == at {
					p := twoGroups()
					fresh := c.make(p)
					if err := errors.Join(fresh.LoadState(s.State()), p.LoadState(o.State())); err != nil {
						t.Fatal(err)
					}
					o, s = p, fresh
				}
				for i, g := range o.Groups() {
					if want := c.want[i][step]; math.Abs(g.LR()-want) > 1e-14 {
						t.Fatalf("%s, loaded at %d, step %d, group %d: rate %v, want %v", name, at, step, i, g.LR(), want)
					}
				}
				s.Step()
			}
		}
	}
}
