package amp

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// countingOptimizer counts its steps; its gradients are set by the test.
type countingOptimizer struct {
	params []*Tensor
	steps  int
	fused  bool
	calls  int // of StepFused
}

func (o *countingOptimizer) Fused() bool { return o.fused }

// StepFused does what the kernels of a fused step do.
func (o *countingOptimizer) StepFused(inv, found *Tensor) {
	o.calls++
	if found.Item() != 0 {
		return
	}
	for _, p := range o.params {
		if inv != nil && p.grad != nil {
			SetValues(p.grad, []float32{float32(inv.Item()) * float32(p.grad.Item())})
		}
	}
	o.steps++
}

func (o *countingOptimizer) Parameters() []*Tensor { return o.params }
func (o *countingOptimizer) Step()                 { o.steps++ }
func (o *countingOptimizer) ZeroGrad() {
	for _, p := range o.params {
		p.ZeroGrad()
	}
}

func newCounting(n int) *countingOptimizer {
	o := &countingOptimizer{}
	for range n {
		o.params = append(o.params, From([]float32{0}).RequireGrad())
	}
	return o
}

type scalerParams struct {
	InitScale      float64 `json:"init_scale"`
	GrowthFactor   float64 `json:"growth_factor"`
	BackoffFactor  float64 `json:"backoff_factor"`
	GrowthInterval int     `json:"growth_interval"`
	Enabled        bool    `json:"enabled"`
}

func (p scalerParams) new() *GradScaler {
	return NewGradScaler(InitScale(p.InitScale), GrowthFactor(p.GrowthFactor), BackoffFactor(p.BackoffFactor), GrowthInterval(p.GrowthInterval), ScalerEnabled(p.Enabled))
}

// special reads a number that may be written "inf", "-inf" or "nan".
type special float64

func (f *special) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"inf"`:
		*f = special(math.Inf(1))
	case `"-inf"`:
		*f = special(math.Inf(-1))
	case `"nan"`:
		*f = special(math.NaN())
	default:
		return json.Unmarshal(b, (*float64)(f))
	}
	return nil
}

func sameFloat(a, b float64) bool { return a == b || a != a && b != b }

// TestScalerSequences runs the reference's update sequences bit for bit.
func TestScalerSequences(t *testing.T) {
	var v struct {
		Cases []struct {
			ID         string
			Params     scalerParams
			Optimizers int `json:"n_optimizers"`
			Ops        []struct {
				Op          string
				FoundInf    []bool `json:"found_inf"`
				Value       special
				Kind        string
				Params      scalerParams
				Initialised bool
			}
			Expect []struct {
				Scale    special
				Bits     string `json:"scale_bits"`
				Tracker  int    `json:"growth_tracker"`
				Skipped  []bool
				Unscaled []special `json:"unscaled_grad"`
			}
			Final []int `json:"final_opt_steps"`
		} `json:"sequence_cases"`
	}
	readVectors(t, "grad_scaler_cases.json", &v)
	checks := 0
	for i := range 2 * len(v.Cases) {
		c, fused := v.Cases[i/2], i%2 == 1
		t.Run(fmt.Sprintf("%s/fused=%v", c.ID, fused), func(t *testing.T) {
			s := NewScope()
			defer s.Close()
			g := c.Params.new()
			g.Scale(s, Scalar(float32(1)))
			var opts []*countingOptimizer
			for range max(len(c.Final), 1) {
				opts = append(opts, newCounting(1))
				opts[len(opts)-1].fused = fused
			}
			var saved *ScalerState
			for i, op := range c.Ops {
				want := c.Expect[i]
				switch op.Op {
				case "iter":
					for k, found := range op.FoundInf {
						grad := float32(g.CurrentScale())
						if found {
							grad = []float32{float32(math.Inf(1)), float32(math.NaN())}[i%2]
						}
						opts[k].params[0].SetGrad(From([]float32{grad}))
						r := g.Step(opts[k])
						if r.Applied() == want.Skipped[k] {
							t.Fatalf("op %d: applied %v, want skipped %v", i, r.Applied(), want.Skipped[k])
						}
						if got := opts[k].params[0].Grad().Item(); !want.Skipped[k] && !sameFloat(got, float64(want.Unscaled[k])) {
							t.Fatalf("op %d: unscaled gradient %v, want %v", i, got, want.Unscaled[k])
						}
						if !r.Applied() && r.Culprit() != "parameter 0" {
							t.Fatalf("op %d: culprit %q", i, r.Culprit())
						}
					}
					g.Update()
				case "update_new_scale":
					g.UpdateTo(float64(op.Value))
				case "set_growth_factor":
					g.SetGrowthFactor(float64(op.Value))
				case "set_backoff_factor":
					g.SetBackoffFactor(float64(op.Value))
				case "set_growth_interval":
					g.SetGrowthInterval(int(op.Value))
				case "save":
					saved = g.State()
				case "load":
					if err := g.LoadState(saved); err != nil {
						t.Fatal(err)
					}
				case "new_scaler_load":
					op.Params.Enabled = true
					g = op.Params.new()
					if op.Initialised {
						g.Scale(s, Scalar(float32(1)))
					}
					if err := g.LoadState(saved); err != nil {
						t.Fatal(err)
					}
				default:
					t.Fatalf("unknown op %q", op.Op)
				}
				bits := fmt.Sprintf("0x%08x", math.Float32bits(g.current()))
				if bits != want.Bits || g.GrowthTracker() != want.Tracker {
					t.Fatalf("op %d %s: scale %s tracker %d, want %s %d", i, op.Op, bits, g.GrowthTracker(), want.Bits, want.Tracker)
				}
				checks++
			}
			for k, n := range c.Final {
				if opts[k].steps != n {
					t.Errorf("optimizer %d stepped %d times, want %d", k, opts[k].steps, n)
				}
			}
		})
	}
	if len(v.Cases) != 28 || checks < 800 {
		t.Errorf("%d cases, %d checks", len(v.Cases), checks)
	}
}

func TestScalerRefusesFloat16Gradients(t *testing.T) {
	s := NewScope()
	defer s.Close()
	g := NewGradScaler()
	o := newCounting(1)
	half := FromFloat64s(Float16, []float64{1}).SetName("fc.weight").RequireGrad()
	o.params = append(o.params, half)
	g.Scale(s, Scalar(float32(1)))
	o.params[0].SetGrad(From([]float32{65536}))
	half.SetGrad(FromFloat64s(Float16, []float64{1}))
	err := Maybe(func() { g.Unscale(o) })
	if !errors.Is(err, ErrDType) || !strings.Contains(err.Error(), "fc.weight") {
		t.Fatal(err)
	}
	if got := o.params[0].Grad().Item(); got != 65536 {
		t.Errorf("a gradient was changed before the refusal: %v", got)
	}
	if err := Maybe(func() { g.Scale(s, Scalar(int64(1))) }); !errors.Is(err, ErrDType) {
		t.Error(err)
	}
}

func TestScalerCulpritAndFloor(t *testing.T) {
	s := NewScope()
	defer s.Close()
	g := NewGradScaler(InitScale(4), MinScale(2))
	o := newCounting(3)
	for i, name := range []string{"0.weight", "2.weight", "2.bias"} {
		o.params[i].SetName(name)
	}
	g.Scale(s, Scalar(float32(1)))
	round := func() *StepReport {
		o.params[0].SetGrad(From([]float32{1}))
		o.params[1].SetGrad(From([]float32{float32(math.Inf(-1))}))
		o.params[2].SetGrad(From([]float32{float32(math.NaN())}))
		r := g.Step(o)
		g.Update()
		return r
	}
	r := round()
	if r.Applied() || r.Culprit() != "2.weight" || r.Value != "-Inf" || r.Err() != nil || r.Next != 2 {
		t.Fatalf("first: %+v %v", r, r.Err())
	}
	r = round()
	if !errors.Is(r.Err(), ErrScaler) || g.CurrentScale() != 2 {
		t.Fatalf("at the floor: %+v %v scale %v", r, r.Err(), g.CurrentScale())
	}
	h := g.History()
	if h.Nominal != 2 || h.Skipped != 2 || len(h.Steps) != 2 || h.Steps[1].Warning == "" {
		t.Fatalf("%+v", h)
	}
}

// TestScalerNeverDestroysWeights: the documented deviation. The reference multiplies by the infinite inverse of a tiny scale.
func TestScalerNeverDestroysWeights(t *testing.T) {
	s := NewScope()
	defer s.Close()
	g := NewGradScaler(InitScale(1e-39))
	o := newCounting(1)
	g.Scale(s, Scalar(float32(1)))
	o.params[0].SetGrad(From([]float32{1e-30}))
	r := g.Step(o)
	if r.Applied() || o.steps != 0 || r.Culprit() != "loss scale" || r.Err() == nil {
		t.Fatalf("%+v", r)
	}
}

func TestHistoryKeepsEverySkip(t *testing.T) {
	s := NewScope()
	defer s.Close()
	g := NewGradScaler(GrowthInterval(3))
	o := newCounting(1)
	g.Scale(s, Scalar(float32(1)))
	n, skips := 3*maxHistory, 0
	for i := range n {
		v := float32(1)
		if i%1000 == 7 {
			v = float32(math.NaN())
			skips++
		}
		o.params[0].SetGrad(From([]float32{v}))
		g.Step(o)
		g.Update()
	}
	h := g.History()
	if h.Nominal != n || h.Skipped != skips || len(h.Steps) > 2*maxHistory {
		t.Fatalf("%d steps kept, %d nominal, %d skipped", len(h.Steps), h.Nominal, h.Skipped)
	}
	kept := 0
	for _, st := range h.Steps {
		if !st.Applied {
			kept++
		}
	}
	if kept != skips || !slices.IsSortedFunc(h.Steps, func(a, b ScaleStep) int { return a.Step - b.Step }) {
		t.Fatalf("%d of %d skips kept", kept, skips)
	}
}

// TestHistoryOfSeveralOptimizers: a step of training is one step, however many optimizers take part; it is skipped if one of them was.
func TestHistoryOfSeveralOptimizers(t *testing.T) {
	s := NewScope()
	defer s.Close()
	g := NewGradScaler()
	a, b := newCounting(1), newCounting(1)
	inf := float32(math.Inf(1))
	g.Scale(s, Scalar(float32(1)))
	for i, grads := range [][2]float32{{1, 1}, {inf, 1}, {1, inf}, {inf, inf}, {1, 1}} {
		for j, o := range []*countingOptimizer{a, b} {
			o.params[0].SetGrad(From([]float32{grads[j]}))
			if r := g.Step(o); r.Step != i || r.Applied() != (grads[j] == 1) {
				t.Errorf("step %d: %v", i, r)
			}
		}
		if i == 2 {
			g.UpdateTo(1024)
		} else {
			g.Update()
		}
	}
	h := g.History()
	if h.Nominal != 5 || h.Skipped != 3 || len(h.Steps) != 10 || h.Steps[4].Next != 1024 || h.Steps[5].Optimizer == h.Steps[4].Optimizer {
		t.Errorf("%d steps, %d skipped: %+v", h.Nominal, h.Skipped, h.Steps)
	}
}
