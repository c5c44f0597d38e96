package optim_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/optim"
)

// muonVectors is testdata/torch_muon.json, which testdata/generate_muon.py made with torch.
type muonVectors struct {
	Shapes [][]int
	Start  [][]float64
	Grads  [][][]float64
	Runs   []struct {
		Config       map[string]any
		DType        amp.DType
		After, Exact [][][]float64
		State        [][]float64
	}
}

// muonOptions turns torch's keywords, those that Muon alone has among them, into options.
func muonOptions(t *testing.T, config map[string]any) (out []optim.Option) {
	rest := map[string]any{}
	for key, v := range config {
		switch {
		case key == "nesterov" && v == false:
			out = append(out, optim.NoNesterov())
		case key == "ns_steps":
			out = append(out, optim.NSSteps(int(v.(float64))))
		case key == "ns_coefficients":
			abc := v.([]any)
			out = append(out, optim.NSCoefficients(abc[0].(float64), abc[1].(float64), abc[2].(float64)))
		case v == "match_rms_adamw":
			out = append(out, optim.MatchRMSAdamW())
		case v == "spectral_unclamped":
			out = append(out, optim.SpectralUnclamped())
		default:
			rest[key] = v
		}
	}
	return append(out, options(t, rest)...)
}

// TestTorchMuon: after each of six steps the weights are at most twice as far from where an iteration without rounding takes them as torch's
// are, whose products of bfloat16 add up in another order; the momentum is torch's.
func TestTorchMuon(t *testing.T) {
	var v muonVectors
	readVectors(t, "torch_muon.json", &v)
	if len(v.Runs) != 15 {
		t.Fatalf("%d runs", len(v.Runs))
	}
	for _, c := range v.Runs {
		t.Run(fmt.Sprint(c.Config, c.DType), func(t *testing.T) {
			var params []*amp.Tensor
			for i, p := range v.Start {
				params = append(params, amp.FromFloat64s(c.DType, p, v.Shapes[i]...).RequireGrad())
			}
			o := optim.NewMuon(params, muonOptions(t, c.Config)...)
			for step, grads := range v.Grads {
				for i, p := range params {
					p.SetGrad(amp.FromFloat64s(c.DType, grads[i], v.Shapes[i]...))
				}
				o.Step()
				for i, p := range params {
					var ours, theirs float64
					for k, got := range p.Float64s() {
						exact := c.Exact[step][i][k]
						ours, theirs = max(ours, math.Abs(got-exact)), max(theirs, math.Abs(c.After[step][i][k]-exact))
					}
					if !(ours <= 2*theirs) {
						t.Errorf("step %d, shape %v: %v from exact, torch is %v", step, v.Shapes[i], ours, theirs)
					}
				}
			}
			for i, want := range c.State {
				buf := o.State().Tensors[fmt.Sprintf("%d.momentum_buffer", i)]
				for k, got := range buf.Float64s() {
					ulp := map[amp.DType]float64{amp.Float64: 0x1p-52, amp.Float32: 0x1p-23, amp.BFloat16: 0x1p-8}[c.DType]
					if !(math.Abs(got-want[k]) <= 4*ulp) { // of numbers up to 1.3
						t.Errorf("momentum of %v, element %d: %v, torch has %v", v.Shapes[i], k, got, want[k])
					}
				}
			}
		})
	}
}
