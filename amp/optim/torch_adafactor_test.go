package optim_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// adafactorVectors is testdata/torch_adafactor.json, which testdata/generate_adafactor.py made with torch.
type adafactorVectors struct {
	Shapes [][]int
	Start  [][]float64
	Grads  [][][]float64
	Runs   []struct {
		Config       map[string]any
		DType        amp.DType
		After, Exact [][][]float64
		State        map[string][]float64
		ExactState   map[string][]float64 `json:"exact_state"`
	}
}

// adafactorOptions turns torch's keywords, those that Adafactor alone has among them, into options.
func adafactorOptions(t *testing.T, config map[string]any) (out []optim.Option) {
	rest := map[string]any{}
	for key, v := range config {
		switch key {
		case "beta2_decay":
			out = append(out, optim.Beta2Decay(v.(float64)))
		case "d":
			out = append(out, optim.ClipThreshold(v.(float64)))
		case "eps":
			pair := v.([]any)
			out = append(out, optim.Epsilons(pair[0].(float64), pair[1].(float64)))
		default:
			rest[key] = v
		}
	}
	return append(out, options(t, rest)...)
}

// TestTorchAdafactor: weights and averages of squares after each of six steps are torch's to a few units in the last place; of bfloat16, which
// torch rounds after every operation, they are as far from exact as a rounding a step takes them, or twice as far as torch's.
func TestTorchAdafactor(t *testing.T) {
	var v adafactorVectors
	readVectors(t, "torch_adafactor.json", &v)
	if len(v.Runs) != 9 {
		t.Fatalf("%d runs", len(v.Runs))
	}
	for _, c := range v.Runs {
		t.Run(fmt.Sprint(c.Config, c.DType), func(t *testing.T) {
			var params []*amp.Tensor
			for i, p := range v.Start {
				params = append(params, amp.FromFloat64s(c.DType, p, v.Shapes[i]...).RequireGrad())
			}
			o := optim.NewAdafactor(params, adafactorOptions(t, c.Config)...)
			compare := func(what string, steps int, got, want, exact []float64) {
				t.Helper()
				var ours, theirs, largest float64
				for k, g := range got {
					if c.DType != amp.BFloat16 && !near(g, want[k], 1, c.DType) {
						t.Errorf("%s, element %d: %v, torch has %v", what, k, g, want[k])
					}
					ours, theirs, largest = max(ours, math.Abs(g-exact[k])), max(theirs, math.Abs(want[k]-exact[k])), max(largest, math.Abs(exact[k]))
				}
				if c.DType == amp.BFloat16 && !(ours <= max(2*theirs, float64(steps)*0x1p-9*largest)) {
					t.Errorf("%s: %v from exact, torch is %v", what, ours, theirs)
				}
			}
			for step, grads := range v.Grads {
				for i, p := range params {
					p.SetGrad(amp.FromFloat64s(c.DType, grads[i], v.Shapes[i]...))
				}
				o.Step()
				for i, p := range params {
					compare(fmt.Sprintf("step %d, shape %v", step, v.Shapes[i]), step+1, p.Float64s(), c.After[step][i], c.Exact[step][i])
				}
			}
			state := o.State().Tensors
			if len(state) != len(c.State) {
				t.Errorf("%d tensors of state, torch has %d", len(state), len(c.State))
			}
			for name, want := range c.State {
				if state[name] == nil {
					t.Errorf("no %s, which torch has", name)
					continue
				}
				compare(name, len(v.Grads), state[name].Float64s(), want, c.ExactState[name])
			}
		})
	}
}
