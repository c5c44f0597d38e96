package optim_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// twoGroups is an optimizer with rates 0.5 and 0.05.
func twoGroups() *optim.SGD {
	o := optim.NewSGD([]*amp.Tensor{amp.From([]float32{1}).RequireGrad()}, optim.LR(0.5), optim.Momentum(0.9))
	o.AddGroup(optim.Group{Params: []*amp.Tensor{amp.From([]float32{1}).RequireGrad()}, Options: []optim.Option{optim.LR(0.05)}})
	return o
}

func cosineTo(base, low, t float64) float64 { return low + (base-low)*(1+math.Cos(math.Pi*t))/2 }

// schedules holds every scheduler with torch's closed formula of its rate at step t.
var schedules = map[string]struct {
	make func(o optim.Optimizer) optim.Scheduler
	at   func(base float64, t int) float64
}{
	"StepLR": {func(o optim.Optimizer) optim.Scheduler { return optim.NewStepLR(o, 3, 0.1) },
		func(b float64, t int) float64 { return b * math.Pow(0.1, float64(t/3)) }},
	"MultiStepLR": {func(o optim.Optimizer) optim.Scheduler { return optim.NewMultiStepLR(o, []int{9, 2, 5, 9}, 0.5) },
		func(b float64, t int) float64 {
			for _, m := range []int{2, 5, 9, 9} {
				if t >= m {
					b *= 0.5
				}
			}
			return b
		}},
	"ExponentialLR": {func(o optim.Optimizer) optim.Scheduler { return optim.NewExponentialLR(o, 0.9) },
		func(b float64, t int) float64 { return b * math.Pow(0.9, float64(t)) }},
	"ConstantLR": {func(o optim.Optimizer) optim.Scheduler { return optim.NewConstantLR(o, 0.25, 4) },
		func(b float64, t int) float64 {
			if t < 4 {
				return b / 4
			}
			return b
		}},
	"LinearLR": {func(o optim.Optimizer) optim.Scheduler { return optim.NewLinearLR(o, 0.1, 0.8, 7) },
		func(b float64, t int) float64 { return b * (0.1 + 0.7*math.Min(1, float64(t)/7)) }},
	"PolynomialLR": {func(o optim.Optimizer) optim.Scheduler { return optim.NewPolynomialLR(o, 8, 1.5) },
		func(b float64, t int) float64 { return b * math.Pow(1-math.Min(1, float64(t)/8), 1.5) }},
	"CosineAnnealingLR": {func(o optim.Optimizer) optim.Scheduler { return optim.NewCosineAnnealingLR(o, 5, 0.01) },
		func(b float64, t int) float64 { return cosineTo(b, 0.01, float64(t)/5) }},
	"CosineAnnealingWarmRestarts": {func(o optim.Optimizer) optim.Scheduler { return optim.NewCosineWarmRestarts(o, 3, 2, 0.01) },
		func(b float64, t int) float64 {
			switch {
			case t < 3:
				return cosineTo(b, 0.01, float64(t)/3)
			case t < 9:
				return cosineTo(b, 0.01, float64(t-3)/6)
			case t < 21:
				return cosineTo(b, 0.01, float64(t-9)/12)
			}
			return cosineTo(b, 0.01, float64(t-21)/24)
		}},
	"SWALR": {func(o optim.Optimizer) optim.Scheduler { return optim.NewSWALR(o, 0.02, 7, false) },
		func(b float64, t int) float64 { return cosineTo(b, 0.02, math.Min(1, float64(t)/7)) }},
	"LambdaLR": {func(o optim.Optimizer) optim.Scheduler {
		return optim.NewLambdaLR(o, func(t int) float64 { return 1 / float64(1+t) })
	}, func(b float64, t int) float64 { return b / float64(1+t) }},
	"MultiplicativeLR": {func(o optim.Optimizer) optim.Scheduler {
		return optim.NewMultiplicativeLR(o, func(t int) float64 { return 0.95 })
	}, func(b float64, t int) float64 { return b * math.Pow(0.95, float64(t)) }},
	"SequentialLR": {func(o optim.Optimizer) optim.Scheduler {
		return optim.NewSequentialLR([]int{4, 10}, optim.NewConstantLR(o, 0.1, 4), optim.NewExponentialLR(o, 0.9), optim.NewStepLR(o, 2, 0.5))
	}, func(b float64, t int) float64 {
		switch {
		case t < 4:
			return b * 0.1
		case t < 10:
			return b * math.Pow(0.9, float64(t-4))
		}
		return b * math.Pow(0.5, float64((t-10)/2))
	}},
	"warm-up and cosine": {func(o optim.Optimizer) optim.Scheduler { return optim.NewWarmupCosine(o, 4, 12, 0.1, 0.002) },
		func(b float64, t int) float64 {
			if t < 4 {
				return b * (0.1 + 0.9*float64(t)/4)
			}
			return cosineTo(b, 0.002, float64(t-4)/8)
		}},
	"ChainedScheduler": {func(o optim.Optimizer) optim.Scheduler {
		return optim.NewChained(optim.NewConstantLR(o, 0.1, 6), optim.NewExponentialLR(o, 0.9))
	}, func(b float64, t int) float64 {
		if t < 6 {
			b *= 0.1
		}
		return b * math.Pow(0.9, float64(t))
	}},
	"sequence in a chain in a sequence": {func(o optim.Optimizer) optim.Scheduler {
		inner := optim.NewSequentialLR([]int{2}, optim.NewConstantLR(o, 0.5, 2), optim.NewExponentialLR(o, 0.9))
		return optim.NewSequentialLR([]int{5}, optim.NewStepLR(o, 1, 0.8), optim.NewChained(inner))
	}, func(b float64, t int) float64 {
		switch {
		case t < 5:
			return b * math.Pow(0.8, float64(t))
		case t < 7:
			return b * 0.5
		}
		return b * math.Pow(0.9, float64(t-7))
	}},
	"OneCycleLR": {func(o optim.Optimizer) optim.Scheduler {
		return optim.NewOneCycleLR(o, 25, 40, optim.DivFactors(25, 2))
	},
		func(_ float64, t int) float64 { // the optimizer's own rates do not matter
			if t <= 11 {
				return cosineTo(1, 25, float64(t)/11)
			}
			return cosineTo(25, 0.5, float64(t-11)/28)
		}},
}

func TestSchedules(t *testing.T) {
	for name, c := range schedules {
		t.Run(name, func(t *testing.T) {
			o := twoGroups()
			s := c.make(o)
			for step := range 30 {
				for i, base := range []float64{0.5, 0.05} {
					got, want := o.Groups()[i].LR(), c.at(base, step)
					if math.Abs(got-want) > 1e-12*math.Max(1, want) || s.LastLR()[i] != got {
						t.Fatalf("step %d group %d: rate %v (LastLR %v), want %v", step, i, got, s.LastLR()[i], want)
					}
				}
				s.Step()
			}
		})
	}
}

// TestScheduleState: a schedule restored through JSON, into one made with other settings where there are any, goes on bit for bit.
func TestScheduleState(t *testing.T) {
	other := map[string]func(o optim.Optimizer) optim.Scheduler{
		"StepLR":            func(o optim.Optimizer) optim.Scheduler { return optim.NewStepLR(o, 7, 0.3) },
		"OneCycleLR":        func(o optim.Optimizer) optim.Scheduler { return optim.NewOneCycleLR(o, 1, 5, optim.ThreePhase()) },
		"CosineAnnealingLR": func(o optim.Optimizer) optim.Scheduler { return optim.NewCosineAnnealingLR(o, 50, 0) },
		"SWALR":             func(o optim.Optimizer) optim.Scheduler { return optim.NewSWALR(o, 0.3, 2, true) },
	}
	for name, c := range schedules {
		for _, at := range []int{0, 3, 8} {
			t.Run(fmt.Sprint(name, at), func(t *testing.T) {
				o := twoGroups()
				s := c.make(o)
				for range at {
					s.Step()
				}
				text, err := json.Marshal(s.State())
				if err != nil {
					t.Fatal(err)
				}
				var st optim.ScheduleState
				if err := json.Unmarshal(text, &st); err != nil {
					t.Fatal(err)
				}
				build := c.make
				if f := other[name]; f != nil {
					build = f
				}
				p := twoGroups()
				fresh := build(p)
				if err := errors.Join(p.LoadState(o.State()), fresh.LoadState(&st)); err != nil {
					t.Fatal(err)
				}
				for step := range 15 {
					if a, b := s.LastLR(), fresh.LastLR(); !slices.Equal(a, b) || p.Groups()[1].LR() != o.Groups()[1].LR() {
						t.Fatalf("%d steps after %d: %v, restored %v", step, at, a, b)
					}
					if a, b := o.State().Groups[0].Numbers, p.State().Groups[0].Numbers; a["momentum"] != b["momentum"] {
						t.Fatalf("momentum %v, restored %v", a, b)
					}
					s.Step()
					fresh.Step()
				}
			})
		}
	}
}

// TestOneCycleMomentum has the targets of PyTorch's own tests; their momenta 22…1 are written m/100 here, being shares.
func TestOneCycleMomentum(t *testing.T) {
	for _, c := range []struct {
		name     string
		opts     []optim.OneCycleOption
		lr       []float64
		momentum []float64
	}{
		{"linear", []optim.OneCycleOption{optim.DivFactors(25, 2), optim.LinearAnneal()},
			[]float64{1, 13, 25, 21.5, 18, 14.5, 11, 7.5, 4, 0.5}, []float64{22, 11.5, 1, 4, 7, 10, 13, 16, 19, 22}},
		{"three phases", []optim.OneCycleOption{optim.DivFactors(25, 4), optim.LinearAnneal(), optim.PctStart(0.4), optim.ThreePhase()},
			[]float64{1, 9, 17, 25, 17, 9, 1, 0.75, 0.5, 0.25}, []float64{22, 15, 8, 1, 8, 15, 22, 22, 22, 22}},
	} {
		leaf := func() []*amp.Tensor { return []*amp.Tensor{amp.From([]float32{1}).RequireGrad()} }
		for key, o := range map[string]optim.Optimizer{"momentum": optim.NewRMSprop(leaf()), "beta1": optim.NewAdamW(leaf())} {
			s := optim.NewOneCycleLR(o, 25, 10, append(c.opts, optim.MomentumRange(0.01, 0.22))...)
			for step := range c.lr {
				got := o.State().Groups[0].Numbers
				if math.Abs(got["lr"]-c.lr[step]) > 1e-12 || math.Abs(got[key]-c.momentum[step]/100) > 1e-12 {
					t.Errorf("%s step %d: rate %v, %s %v; want %v, %v", c.name, step, got["lr"], key, got[key], c.lr[step], c.momentum[step]/100)
				}
				s.Step()
			}
			if err := amp.Maybe(s.Step); !errors.Is(err, amp.ErrArgument) {
				t.Errorf("a step past the end: %v", err)
			}
		}
	}
	o := twoGroups()
	optim.NewOneCycleLR(o, 1, 10, optim.KeepMomentum(), optim.GroupMaxLR(50, 25))
	if got := o.State().Groups[1].Numbers; got["lr"] != 1 || got["momentum"] != 0.9 || o.LearningRate() != 2 {
		t.Error(got)
	}
}

// TestPlateau has the targets of PyTorch's own tests.
func TestPlateau(t *testing.T) {
	repeat := func(pairs ...float64) (out []float64) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, slices.Repeat(pairs[i:i+1], int(pairs[i+1]))...)
		}
		return out
	}
	series := func(n int, f func(i int) float64) (out []float64) {
		for i := range n {
			out = append(out, f(i))
		}
		return out
	}
	for _, c := range []struct {
		name    string
		opts    []optim.PlateauOption
		measure []float64
		want    []float64
	}{
		{"1", []optim.PlateauOption{optim.AbsoluteThreshold(0.01), optim.Patience(5), optim.Cooldown(5)},
			series(20, func(i int) float64 { return 10 - float64(i)*0.0167 }), repeat(0.5, 20)},
		{"2", []optim.PlateauOption{optim.AbsoluteThreshold(0.1), optim.Patience(5)},
			series(22, func(i int) float64 { return 10 - float64(i)*0.0165 }), repeat(0.5, 6, 0.05, 7, 0.005, 7, 0.0005, 2)},
		{"3", []optim.PlateauOption{optim.Rising(), optim.AbsoluteThreshold(1e-4), optim.Patience(5), optim.Cooldown(5)},
			repeat(-0.8, 2, -0.234, 20), repeat(0.5, 8, 0.05, 11, 0.005, 3)},
		{"4", []optim.PlateauOption{optim.Rising(), optim.Threshold(0.1), optim.Patience(3)},
			series(20, func(i int) float64 { return 1.5 * math.Pow(1.025, float64(i)) }), repeat(0.5, 20)},
		{"NaN is no better, and there is a floor", []optim.PlateauOption{optim.Patience(1), optim.Factor(0.5), optim.MinLR(0.2, 0)},
			repeat(math.NaN(), 7), []float64{0.5, 0.25, 0.25, 0.2, 0.2, 0.2, 0.2}},
	} {
		o := twoGroups()
		s := optim.NewReduceLROnPlateau(o, c.opts...)
		for i, m := range c.measure {
			if i == len(c.measure)/2 { // a restart in the middle changes nothing
				st := s.State()
				text, err := json.Marshal(st)
				if err != nil {
					t.Fatal(err)
				}
				var back optim.ScheduleState
				if err := json.Unmarshal(text, &back); err != nil {
					t.Fatal(err)
				}
				s = optim.NewReduceLROnPlateau(o)
				if err := s.LoadState(&back); err != nil {
					t.Fatal(err)
				}
			}
			s.Step(m)
			if got := s.LastLR()[0]; !(math.Abs(got-c.want[i]) <= 1e-15) {
				t.Fatalf("%s measure %d: rate %v, want %v", c.name, i, got, c.want[i])
			}
		}
	}
}

// TestCountApplied: the schedule follows the steps that were taken, and a restart in between keeps the count.
func TestCountApplied(t *testing.T) {
	build := func() (*amp.Tensor, *optim.SGD, *optim.Applied) {
		p := amp.From([]float32{1}).SetName("p").RequireGrad()
		o := optim.NewSGD([]*amp.Tensor{p}, optim.LR(1), optim.Fused())
		return p, o, optim.CountApplied(optim.NewStepLR(o, 1, 0.5))
	}
	root := amp.NewScope()
	defer root.Close()
	p, o, s := build()
	scaler := amp.NewGradScaler()
	want := 1.0
	for step := range 8 {
		o.ZeroGrad()
		scaler.Scale(root, amp.Sum(root, p)).Backward()
		if step%3 == 1 {
			p.SetGrad(amp.From([]float32{float32(math.NaN())}))
		}
		if scaler.Step(o).Applied() {
			want /= 2
		}
		scaler.Update()
		s.Step()
		s.Step() // calling it again is harmless
		if o.LearningRate() != want {
			t.Fatalf("step %d: rate %v, want %v", step, o.LearningRate(), want)
		}
		if step == 4 {
			p2, o2, s2 := build()
			if err := errors.Join(o2.LoadState(o.State()), s2.LoadState(s.State())); err != nil {
				t.Fatal(err)
			}
			p, o, s = p2, o2, s2
		}
	}
	if want != 1.0/32 {
		t.Error("no step was skipped")
	}
}

func TestScheduleRefusals(t *testing.T) {
	o, p := twoGroups(), twoGroups()
	adagrad := optim.NewAdagrad([]*amp.Tensor{amp.From([]float32{1}).RequireGrad()})
	for name, f := range map[string]func(){
		"no optimizer":      func() { optim.NewStepLR(nil, 1, 0.1) },
		"step of 0":         func() { optim.NewStepLR(o, 0, 0.1) },
		"NaN":               func() { optim.NewExponentialLR(o, math.NaN()) },
		"factor of 0":       func() { optim.NewConstantLR(o, 0, 3) },
		"warm-up from 0":    func() { optim.NewLinearWarmup(o, 0, 3) },
		"cosine of 0":       func() { optim.NewCosineAnnealingLR(o, 0, 0) },
		"negative rate":     func() { optim.NewSWALR(o, -1, 3, false) },
		"negative steps":    func() { optim.NewSWALR(o, 1, -1, true) },
		"restarts":          func() { optim.NewCosineWarmRestarts(o, 3, 0, 0) },
		"power":             func() { optim.NewPolynomialLR(o, 3, -1) },
		"three functions":   func() { f := func(int) float64 { return 1 }; optim.NewLambdaLR(o, f, f, f) },
		"nil function":      func() { optim.NewLambdaLR(o, nil) },
		"warm-up too long":  func() { optim.NewWarmupCosine(o, 10, 10, 0.1, 0) },
		"one milestone":     func() { optim.NewSequentialLR(nil, optim.NewStepLR(o, 1, 1), optim.NewStepLR(o, 1, 1)) },
		"no schedulers":     func() { optim.NewChained() },
		"two optimizers":    func() { optim.NewChained(optim.NewStepLR(o, 1, 1), optim.NewStepLR(p, 1, 1)) },
		"one cycle":         func() { optim.NewOneCycleLR(o, -1, 10) },
		"divided by 0":      func() { optim.NewOneCycleLR(o, 1, 10, optim.DivFactors(0, 1)) },
		"no momentum":       func() { optim.NewOneCycleLR(adagrad, 1, 10) },
		"plateau of factor": func() { optim.NewReduceLROnPlateau(o, optim.Factor(1)) },
		"three floors":      func() { optim.NewReduceLROnPlateau(o, optim.MinLR(1, 2, 3)) },
		"added group": func() {
			q := twoGroups()
			s := optim.NewStepLR(q, 1, 0.5)
			q.AddGroup(optim.Group{Params: []*amp.Tensor{amp.From([]float32{1}).RequireGrad()}})
			s.Step()
		},
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := optim.NewStepLR(o, 2, 0.5)
	chain := optim.NewChained(optim.NewStepLR(o, 2, 0.5), optim.NewExponentialLR(o, 0.5))
	before, _ := json.Marshal(chain.State())
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nil":    {s.LoadState(nil), "no state"},
		"kind":   {s.LoadState(optim.NewExponentialLR(o, 0.5).State()), `saved by "ExponentialLR"`},
		"groups": {optim.NewStepLR(adagrad, 2, 0.5).LoadState(s.State()), "2 groups"},
		"range":  {s.LoadState(changed(s.State(), func(st *optim.ScheduleState) { st.Settings = []byte(`{"step_size":0,"gamma":1}`) })), "step_size is 0"},
		"key":    {s.LoadState(changed(s.State(), func(st *optim.ScheduleState) { st.Settings = []byte(`{"size":1}`) })), "unknown field"},
		"text":   {s.LoadState(changed(s.State(), func(st *optim.ScheduleState) { st.Settings = []byte(`{} {}`) })), "after their end"},
		"none":   {s.LoadState(changed(s.State(), func(st *optim.ScheduleState) { st.Settings = nil })), "can't be read"},
		"epoch":  {s.LoadState(changed(s.State(), func(st *optim.ScheduleState) { st.Epoch = -2 })), "step -2"},
		"parts":  {chain.LoadState(changed(chain.State(), func(st *optim.ScheduleState) { st.Parts = st.Parts[:1] })), "1 schedulers"},
		"part": {chain.LoadState(changed(chain.State(), func(st *optim.ScheduleState) {
			st.Parts[0].Epoch, st.Parts[1].Epoch = 7, -9
		})), "scheduler 1: "},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	if after, _ := json.Marshal(chain.State()); string(before) != string(after) {
		t.Errorf("a refused state changed the chain from %s to %s", before, after)
	}
}

func changed(st *optim.ScheduleState, f func(st *optim.ScheduleState)) *optim.ScheduleState {
	f(st)
	return st
}
