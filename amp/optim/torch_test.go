package optim_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// vectors is testdata/torch.json, which testdata/generate.py made with torch.
type vectors struct {
	Start      [][]float64
	Grads      [][][]float64
	Optimizers []torchRun
	Schedules  []struct {
		Name    string
		Rates   [][]float64
		Momenta []float64
	}
	Plateau []struct {
		Config   map[string]any
		Measures []float64
		Rates    [][]float64
	}
}

func torchVectors(t *testing.T) (v vectors) {
	t.Helper()
	readVectors(t, "torch.json", &v)
	if len(v.Optimizers) != 40 || len(v.Schedules) != 24 || len(v.Plateau) != 6 {
		t.Fatalf("%d optimizers, %d schedules, %d plateaus", len(v.Optimizers), len(v.Schedules), len(v.Plateau))
	}
	return v
}

func readVectors(t *testing.T, file string, to any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		t.Fatal(err)
	}
}

// options turns torch's keywords into options.
func options(t *testing.T, config map[string]any) (out []optim.Option) {
	t.Helper()
	for key, v := range config {
		var o optim.Option
		switch v := v.(type) {
		case bool:
			o = torchFlags[fmt.Sprintf("%s=%v", key, v)]
		case string:
			o = torchFlags[key+"="+v]
		case float64:
			if f := torchNumbers[key]; f != nil {
				o = f(v)
			}
		case []any:
			var tuple []float64
			for _, x := range v {
				tuple = append(tuple, x.(float64))
			}
			if f := torchTuples[key]; f != nil {
				o = f(tuple)
			}
		}
		if o == nil {
			t.Fatalf("no option for %s=%v", key, v)
		}
		out = append(out, o)
	}
	return out
}

// Torch's keywords, by what their values are.
var (
	torchFlags = map[string]optim.Option{
		"nesterov=true": optim.Nesterov(), "nesterov=false": optim.NoNesterov(), "maximize=true": optim.Maximize(), "amsgrad=true": optim.AMSGrad(),
		"centered=true": optim.Centered(), "decoupled_weight_decay=true": optim.DecoupledWeightDecay(),
		"adjust_lr_fn=match_rms_adamw":    optim.AdjustLR(amp.AdjustMatchRMSAdamW),
		"adjust_lr_fn=spectral_unclamped": optim.AdjustLR(amp.AdjustSpectralUnclamped),
	}
	torchNumbers = map[string]func(float64) optim.Option{
		"lr": optim.LR, "momentum": optim.Momentum, "dampening": optim.Dampening, "weight_decay": optim.WeightDecay, "eps": optim.Eps,
		"alpha": optim.Alpha, "lr_decay": optim.LRDecay, "initial_accumulator_value": optim.InitialAccumulator,
		"momentum_decay": optim.MomentumDecay, "rho": optim.Rho, "lambd": optim.Lambd, "t0": optim.T0,
		"beta2_decay": optim.Beta2Decay, "d": optim.ClipThreshold, "ns_steps": func(n float64) optim.Option { return optim.NSSteps(int(n)) },
	}
	torchTuples = map[string]func([]float64) optim.Option{
		"betas":           func(v []float64) optim.Option { return optim.Betas(v[0], v[1]) },
		"etas":            func(v []float64) optim.Option { return optim.Etas(v[0], v[1]) },
		"step_sizes":      func(v []float64) optim.Option { return optim.StepSizes(v[0], v[1]) },
		"eps":             func(v []float64) optim.Option { return optim.Epsilons(v[0], v[1]) },
		"ns_coefficients": func(v []float64) optim.Option { return optim.NSCoefficients(v[0], v[1], v[2]) },
	}
)

// near says whether two numbers agree to a few units in the last place of the dtype, of the number or of what it was made from.
func near(got, want, from float64, dt amp.DType) bool {
	ulp := map[amp.DType]float64{amp.Float64: 0x1p-52, amp.Float32: 0x1p-23}[dt]
	return math.Abs(got-want) <= 16*ulp*(math.Abs(want)+from)
}

// build makes the optimizers by torch's names.
var build = map[string]func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer{
	"SGD":      func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewSGD(p, o...) },
	"Adam":     func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdam(p, o...) },
	"AdamW":    func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdamW(p, o...) },
	"RMSprop":  func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewRMSprop(p, o...) },
	"Adagrad":  func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdagrad(p, o...) },
	"NAdam":    func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewNAdam(p, o...) },
	"RAdam":    func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewRAdam(p, o...) },
	"Adamax":   func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdamax(p, o...) },
	"Adadelta": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdadelta(p, o...) },
	"Rprop":    func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewRprop(p, o...) },
	"ASGD":     func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewASGD(p, o...) },

	"Adafactor": func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewAdafactor(p, o...) },
	"Muon":      func(p []*amp.Tensor, o ...optim.Option) optim.Optimizer { return optim.NewMuon(p, o...) },
}

// A torchRun is one optimizer of torch and what it made of the parameters: after each step, and in the end of its state. Exact is what it
// makes of them in float64 where the vectors have that.
type torchRun struct {
	Name         string
	Config       map[string]any
	DType        amp.DType
	After, Exact [][][]float64
	State        map[string][]float64
	ExactState   map[string][]float64 `json:"exact_state"`
}

// follow takes the same steps, gives each parameter to compare after each, with its place in After, and returns the optimizer. Parameters
// without shapes are vectors.
func (c *torchRun) follow(t *testing.T, start [][]float64, shapes [][]int, grads [][][]float64, compare func(step, i int, p *amp.Tensor)) optim.Optimizer {
	t.Helper()
	fill := func(i int, values []float64) *amp.Tensor {
		if shapes == nil {
			return amp.FromFloat64s(c.DType, values)
		}
		return amp.FromFloat64s(c.DType, values, shapes[i]...)
	}
	var params []*amp.Tensor
	for i, v := range start {
		params = append(params, fill(i, v).RequireGrad())
	}
	o := build[c.Name](params, options(t, c.Config)...)
	for step := range grads {
		for i, p := range params {
			p.SetGrad(fill(i, grads[step][i]))
		}
		o.Step()
		for i, p := range params {
			compare(step, i, p)
		}
	}
	return o
}

// compareState gives every tensor of the state to compare, which has the same names as torch's.
func (c *torchRun) compareState(t *testing.T, o optim.Optimizer, compare func(name string, got []float64)) {
	t.Helper()
	state := o.State().Tensors
	if len(state) != len(c.State) {
		t.Errorf("%d tensors of state, torch has %d", len(state), len(c.State))
	}
	for name, want := range c.State {
		if state[name] == nil || state[name].Len() != len(want) {
			t.Errorf("no %s of %d elements, which torch has", name, len(want))
			continue
		}
		compare(name, state[name].Float64s())
	}
}

// TestTorchOptimizers compares eight steps, and the state after them, with torch's.
func TestTorchOptimizers(t *testing.T) {
	compareOptimizers(t, torchVectors(t))
}

func compareOptimizers(t *testing.T, v vectors) {
	for _, c := range v.Optimizers {
		t.Run(fmt.Sprint(c.Name, c.Config, c.DType), func(t *testing.T) {
			whole, part := 0.5, 1e-6 // what the weights, and the state, were made from
			if c.Name == "RAdam" {
				whole = 2 // its length of the average is a small difference of large numbers
				if decay, ok := c.Config["weight_decay"].(float64); ok {
					part = decay // gradients of 1e-6 get a share of weights of 1
				}
			}
			o := c.follow(t, v.Start, nil, v.Grads, func(step, i int, p *amp.Tensor) {
				for k, got := range p.Float64s() {
					if want := c.After[step][i][k]; !near(got, want, whole, c.DType) {
						t.Fatalf("step %d parameter %d element %d: %v, torch has %v", step, i, k, got, want)
					}
				}
			})
			c.compareState(t, o, func(name string, state []float64) {
				for k, got := range state {
					if want := c.State[name][k]; !near(got, want, part, c.DType) {
						t.Errorf("%s element %d: %v, torch has %v", name, k, got, want)
					}
				}
			})
		})
	}
}

// torchSchedules builds what testdata/generate.py builds.
var torchSchedules = map[string]func(o optim.Optimizer) optim.Scheduler{
	"StepLR":                      func(o optim.Optimizer) optim.Scheduler { return optim.NewStepLR(o, 3, 0.3) },
	"MultiStepLR":                 func(o optim.Optimizer) optim.Scheduler { return optim.NewMultiStepLR(o, []int{2, 5, 9, 9}, 0.5) },
	"ExponentialLR":               func(o optim.Optimizer) optim.Scheduler { return optim.NewExponentialLR(o, 0.9) },
	"ConstantLR":                  func(o optim.Optimizer) optim.Scheduler { return optim.NewConstantLR(o, 0.3, 4) },
	"LinearLR":                    func(o optim.Optimizer) optim.Scheduler { return optim.NewLinearLR(o, 0.1, 0.8, 7) },
	"PolynomialLR":                func(o optim.Optimizer) optim.Scheduler { return optim.NewPolynomialLR(o, 8, 1.5) },
	"CosineAnnealingLR":           func(o optim.Optimizer) optim.Scheduler { return optim.NewCosineAnnealingLR(o, 5, 0.01) },
	"SWALR":                       func(o optim.Optimizer) optim.Scheduler { return optim.NewSWALR(o, 0.02, 7, false) },
	"SWALR along a line":          func(o optim.Optimizer) optim.Scheduler { return optim.NewSWALR(o, 0.7, 4, true) },
	"SWALR at once":               func(o optim.Optimizer) optim.Scheduler { return optim.NewSWALR(o, 0.02, 0, false) },
	"CosineAnnealingWarmRestarts": func(o optim.Optimizer) optim.Scheduler { return optim.NewCosineWarmRestarts(o, 3, 2, 0.01) },
	"LambdaLR": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewLambdaLR(o, func(t int) float64 { return 1 / float64(1+t) })
	},
	"MultiplicativeLR": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewMultiplicativeLR(o, func(int) float64 { return 0.95 })
	},
	"OneCycleLR": func(o optim.Optimizer) optim.Scheduler { return optim.NewOneCycleLR(o, 2, 40) },
	"OneCycleLR three phases": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewOneCycleLR(o, 0, 40, optim.GroupMaxLR(2, 1), optim.PctStart(0.4), optim.LinearAnneal(), optim.MomentumRange(0.5, 0.8), optim.DivFactors(5, 7), optim.ThreePhase())
	},
	"OneCycleLR short": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewOneCycleLR(o, 2, 40, optim.PctStart(0.01), optim.KeepMomentum())
	},
	"SequentialLR": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewSequentialLR([]int{4, 10}, optim.NewConstantLR(o, 0.1, 4), optim.NewExponentialLR(o, 0.9), optim.NewCosineAnnealingLR(o, 6, 0.01))
	},
	"WarmupCosine": func(o optim.Optimizer) optim.Scheduler { return optim.NewWarmupCosine(o, 4, 12, 0.1, 0.002) },
	"SequentialLR multiplied": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewSequentialLR([]int{5}, optim.NewStepLR(o, 2, 0.5), optim.NewMultiplicativeLR(o, func(int) float64 { return 0.9 }))
	},
	"SequentialLR from the second": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewSequentialLR([]int{0, 3}, optim.NewConstantLR(o, 0.1, 4), optim.NewExponentialLR(o, 0.9), optim.NewStepLR(o, 1, 0.5))
	},
	"SequentialLR with restarts": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewSequentialLR([]int{3}, optim.NewLinearLR(o, 0.2, 1, 3), optim.NewCosineWarmRestarts(o, 4, 2, 0.01))
	},
	"SequentialLR of one cycle": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewSequentialLR([]int{3}, optim.NewConstantLR(o, 0.1, 4), optim.NewOneCycleLR(o, 2, 40))
	},
	"ChainedScheduler": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewChained(optim.NewLinearLR(o, 0.2, 1, 6), optim.NewExponentialLR(o, 0.9))
	},
	"ChainedScheduler with a floor": func(o optim.Optimizer) optim.Scheduler {
		return optim.NewChained(optim.NewStepLR(o, 4, 0.5), optim.NewCosineAnnealingLR(o, 9, 0.01))
	},
}

// TestTorchSchedules compares forty steps of every scheduler with torch's, to the last bits of float64.
func TestTorchSchedules(t *testing.T) {
	for _, c := range torchVectors(t).Schedules {
		t.Run(c.Name, func(t *testing.T) {
			o := twoGroups()
			s := torchSchedules[c.Name](o)
			for step, want := range c.Rates {
				for i, g := range o.Groups() {
					// The quotients of a cosine's steps lose digits where it is near its lowest point, here and in torch.
					if got := g.LR(); !(math.Abs(got-want[i]) <= 1e-13*(math.Abs(want[i])+0.1)) {
						t.Fatalf("step %d group %d: rate %v, torch has %v", step, i, got, want[i])
					}
				}
				if m := o.State().Groups[1].Numbers["momentum"]; !(math.Abs(m-c.Momenta[step]) <= 1e-15) {
					t.Fatalf("step %d: momentum %v, torch has %v", step, m, c.Momenta[step])
				}
				s.Step()
			}
		})
	}
}

// TestTorchPlateau compares the rates for measures that improve, stall and jump with torch's.
func TestTorchPlateau(t *testing.T) {
	for _, c := range torchVectors(t).Plateau {
		var opts []optim.PlateauOption
		number := func(key string, f func(float64) optim.PlateauOption) {
			if v, ok := c.Config[key].(float64); ok {
				opts = append(opts, f(v))
			}
		}
		number("factor", optim.Factor)
		number("eps", optim.MinChange)
		number("patience", func(v float64) optim.PlateauOption { return optim.Patience(int(v)) })
		number("cooldown", func(v float64) optim.PlateauOption { return optim.Cooldown(int(v)) })
		threshold := optim.Threshold
		if c.Config["threshold_mode"] == "abs" {
			threshold = optim.AbsoluteThreshold
		}
		number("threshold", threshold)
		if c.Config["mode"] == "max" {
			opts = append(opts, optim.Rising())
		}
		if c.Config["min_lr"] != nil {
			opts = append(opts, optim.MinLR(0.01, 0))
		}
		o := twoGroups()
		s := optim.NewReduceLROnPlateau(o, opts...)
		for i, m := range c.Measures {
			s.Step(m)
			for k, got := range s.LastLR() {
				if want := c.Rates[i][k]; !(math.Abs(got-want) <= 1e-15) {
					t.Errorf("%v measure %d group %d: rate %v, torch has %v", c.Config, i, k, got, want)
				}
			}
		}
	}
}
