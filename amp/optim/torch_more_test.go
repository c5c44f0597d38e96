package optim_test

import (
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// moreVectors is testdata/torch_more.json, which testdata/generate_more.py made with torch.
type moreVectors struct {
	vectors
	Restarts []struct {
		Name    string
		N, Mult int
		Epochs  []float64 // -1 where the schedule steps by itself
		Rates   [][]float64
	}
}

func torchMoreVectors(t *testing.T) (v moreVectors) {
	t.Helper()
	readVectors(t, "torch_more.json", &v)
	if len(v.Optimizers) != 28 || len(v.Schedules) != 7 || len(v.Restarts) != 3 {
		t.Fatalf("%d optimizers, %d schedules, %d restarts", len(v.Optimizers), len(v.Schedules), len(v.Restarts))
	}
	return v
}

// TestTorchMoreOptimizers compares twelve steps, and the state after them, with torch's.
func TestTorchMoreOptimizers(t *testing.T) { compareOptimizers(t, torchMoreVectors(t).vectors) }

// TestTorchMoreSchedules compares forty steps with torch's.
func TestTorchMoreSchedules(t *testing.T) {
	build := map[string]func(o optim.Optimizer) optim.Scheduler{
		"CyclicLR": func(o optim.Optimizer) optim.Scheduler { return optim.NewCyclicLR(o, 0.1, 0.9, optim.CycleSteps(4, 4)) },
		"CyclicLR aslant": func(o optim.Optimizer) optim.Scheduler {
			return optim.NewCyclicLR(o, 0, 0, optim.GroupCycle([]float64{0.1, 0.02}, []float64{0.9, 0.3}), optim.CycleSteps(3, 5), optim.CycleMomenta(0.5, 0.7))
		},
		"CyclicLR triangular2": func(o optim.Optimizer) optim.Scheduler {
			return optim.NewCyclicLR(o, 0.1, 0.9, optim.CycleSteps(4, 2), optim.Triangular2())
		},
		"CyclicLR exp_range": func(o optim.Optimizer) optim.Scheduler {
			return optim.NewCyclicLR(o, 0.1, 0.9, optim.CycleSteps(4, 4), optim.ExpRange(0.9), optim.FixedMomentum())
		},
		"CyclicLR in a sequence": func(o optim.Optimizer) optim.Scheduler {
			return optim.NewSequentialLR([]int{3}, optim.NewConstantLR(o, 0.1, 4), optim.NewCyclicLR(o, 0.1, 0.9, optim.CycleSteps(4, 4)))
		},
		"CyclicLR of AdamW": func(o optim.Optimizer) optim.Scheduler { return optim.NewCyclicLR(o, 0.1, 0.9, optim.CycleSteps(4, 4)) },
		"SWALR by group":    func(o optim.Optimizer) optim.Scheduler { return optim.NewGroupSWALR(o, []float64{0.02, 0.3}, 7, false) },
	}
	for _, c := range torchMoreVectors(t).Schedules {
		var o optim.Optimizer = twoGroups()
		momentum := "momentum"
		if c.Name == "CyclicLR of AdamW" {
			leaf := func() []*amp.Tensor { return []*amp.Tensor{amp.From([]float32{1}).RequireGrad()} }
			o, momentum = optim.NewAdamW(leaf(), optim.LR(0.5)), "beta1"
			o.AddGroup(optim.Group{Params: leaf()})
		}
		s := build[c.Name](o)
		for step, want := range c.Rates {
			for i, g := range o.Groups() {
				if got := g.LR(); !(math.Abs(got-want[i]) <= 1e-13*(math.Abs(want[i])+0.1)) {
					t.Fatalf("%s step %d group %d: rate %v, torch has %v", c.Name, step, i, got, want[i])
				}
			}
			if m := o.State().Groups[1].Numbers[momentum]; !(math.Abs(m-c.Momenta[step]) <= 1e-15) {
				t.Fatalf("%s step %d: momentum %v, torch has %v", c.Name, step, m, c.Momenta[step])
			}
			s.Step()
		}
	}
}

// TestTorchFractions compares warm restarts at fractions of epochs, and whole steps between them, with torch's; after each the schedule is
// saved and another one loaded, which goes on in its place.
func TestTorchFractions(t *testing.T) {
	for _, c := range torchMoreVectors(t).Restarts {
		o := twoGroups()
		s := optim.NewCosineWarmRestarts(o, c.N, c.Mult, 0.01)
		for k, e := range c.Epochs {
			if e < 0 {
				s.Step()
			} else {
				s.StepTo(e)
			}
			for i, g := range o.Groups() {
				if got, want := g.LR(), c.Rates[k][i]; !(math.Abs(got-want) <= 1e-13) {
					t.Errorf("%s, step %d to epoch %v, group %d: rate %v, torch has %v", c.Name, k, e, i, got, want)
				}
			}
			next := optim.NewCosineWarmRestarts(o, 1, 1, 0)
			if err := next.LoadState(s.State()); err != nil {
				t.Fatal(err)
			}
			s = next
		}
	}
}

// TestScheduleMoreMisuse: what is out of range is refused.
func TestScheduleMoreMisuse(t *testing.T) {
	o := twoGroups()
	leaf := []*amp.Tensor{amp.From([]float32{1}).RequireGrad()}
	for name, f := range map[string]func(){
		"no momentum":    func() { optim.NewCyclicLR(optim.NewAdagrad(leaf), 0.1, 0.2) },
		"no optimizer":   func() { optim.NewCyclicLR(nil, 0.1, 0.2) },
		"negative rate":  func() { optim.NewCyclicLR(o, -0.1, 0.2) },
		"no way up":      func() { optim.NewCyclicLR(o, 0.1, 0.2, optim.CycleSteps(0, 3)) },
		"one rate":       func() { optim.NewCyclicLR(o, 0.1, 0.2, optim.GroupCycle([]float64{1}, []float64{1})) },
		"rates":          func() { optim.NewGroupSWALR(o, []float64{0.1}, 3, true) },
		"not a fraction": func() { optim.NewStepLR(o, 3, 0.1).StepTo(0.5) },
		"before 0":       func() { optim.NewCosineWarmRestarts(o, 3, 1, 0).StepTo(-0.5) },
		"NaN":            func() { optim.NewCosineWarmRestarts(o, 3, 1, 0).StepTo(math.NaN()) },
		"rho":            func() { optim.NewAdadelta(leaf, optim.Rho(1.5)) },
		"etas":           func() { optim.NewRprop(leaf, optim.Etas(1.5, 1.2)) },
		"step sizes":     func() { optim.NewRprop(leaf, optim.StepSizes(2, 1)) },
		"decay":          func() { optim.NewRprop(leaf, optim.WeightDecay(0.1)) },
		"alpha":          func() { optim.NewASGD(leaf, optim.Alpha(-1)) },
	} {
		if err := amp.Maybe(f); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}
