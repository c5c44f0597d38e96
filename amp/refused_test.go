package amp

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
)

// TestWhatIsNotThereIsNamed: nil and empty scopes, scalers, functions and numbers that name nothing are an *Error with the method's name.
func TestWhatIsNotThereIsNamed(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float32{1, 2})
	var none *Scope
	var g *GradScaler
	type calls map[string]func()
	for want, list := range map[string]calls{
		"the scope is nil": {
			"Trace": func() { none.Trace() }, "Device": func() { none.Device() }, "Step": func() { none.Step() }, "Close": func() { none.Close() },
			"OnClose": func() { none.OnClose(func() error { return nil }) }, "OnStepEnd": func() { none.OnStepEnd(nil) }, "OnLoopEnd": func() { none.OnLoopEnd(nil) },
			"OnCapture": func() { none.OnCapture(nil) }, "Random": func() { none.Random() }, "Context": func() { none.Context() }, "Scalers": func() { none.Scalers() },
			"Keep": func() { none.Keep(x) }, "AutocastDType": func() { none.AutocastDType() }, "ClearCastCache": func() { none.ClearCastCache() },
			"GradientTraces": func() { none.GradientTraces() }, "Lists": func() { none.Lists() }, "Overrides": func() { none.Overrides() },
			"SkipsInit": func() { none.SkipsInit() }, "Training": func() { none.Training() }, "Observe": func() { none.Observe(func(*Scope) {}) },
			"Capture": func() { none.Capture(func(*Scope) {}) }, "Explain": func() { Explain(nil, "sum", Float32) }, "cast": func() { MustPolicy("half").CastToParam(nil, x) },
		},
		"the scope is an empty amp.Scope": {
			"exp": func() { Exp(new(Scope), x) }, "Trace": func() { new(Scope).Trace() }, "Scope": func() { new(Scope).NoGrad() }, "Child": func() { new(Scope).Child() },
		},
		"the scaler is nil or empty": {
			"GradScaler.Scale": func() { g.Scale(s, x) }, "GradScaler.ScaleAll": func() { g.ScaleAll(s, x) }, "GradScaler.Unscale": func() { g.Unscale(nil) },
			"GradScaler.Step": func() { g.Step(nil) }, "GradScaler.Update": func() { g.Update() }, "GradScaler.UpdateTo": func() { g.UpdateTo(1) },
			"GradScaler.History": func() { g.History() }, "GradScaler.CurrentScale": func() { g.CurrentScale() }, "GradScaler.GrowthTracker": func() { g.GrowthTracker() },
			"GradScaler.Enabled": func() { g.Enabled() }, "GradScaler.GrowthFactor": func() { g.GrowthFactor() }, "GradScaler.BackoffFactor": func() { g.BackoffFactor() },
			"GradScaler.GrowthInterval": func() { g.GrowthInterval() }, "GradScaler.SetGrowthFactor": func() { g.SetGrowthFactor(2) },
			"GradScaler.SetBackoffFactor": func() { g.SetBackoffFactor(0.5) }, "GradScaler.SetGrowthInterval": func() { g.SetGrowthInterval(1) },
			"GradScaler.State": func() { g.State() }, "GradScaler.StateLater": func() { g.StateLater() }, "GradScaler.LoadState": func() { _ = g.LoadState(&ScalerState{}) },
		},
		"the hook is nil": {"OnClose": func() { s.OnClose(nil) }, "OnStepEnd": func() { s.OnStepEnd(nil) }, "OnLoopEnd": func() { s.OnLoopEnd(nil) }, "OnCapture": func() { s.OnCapture(nil) }},
		"the function is nil": {
			"Capture": func() { s.Capture(nil) }, "Observe": func() { s.Observe(nil) }, "Maybe": func() { _ = Maybe(nil) },
		},
		"the tensor is nil":              {"CapturingOn": func() { CapturingOn(nil) }, "Policy": func() { MustPolicy("half").CastToParam(s, nil) }},
		"there is no format numbe":       {"Format": func() { Quantize(s, x, Format(9)) }},
		"the model is nil":               {"Initialize": func() { Initialize((*nilModel)(nil), &nilModel{}, O1) }, "Policy.Apply": func() { MustPolicy("half").Apply((*nilModel)(nil)) }},
		"the optimizer is nil":           {"Initialize": func() { Initialize(&nilModel{}, (*nilModel)(nil), O1) }, "GradScaler.Step": func() { NewGradScaler().Step((*nilModel)(nil)) }},
		"O1: 9223372036854775807 losses": {"Initialize": func() { Initialize(&nilModel{}, &nilModel{}, O1, NumLosses(math.MaxInt)) }},
		"loss 7":                         {"LossScale": func() { _, o := Initialize(&nilModel{}, &nilModel{}, O1); o.LossScale(7) }},
		"there is no device \"bogus\"":   {"MemoryLimit": func() { MemoryLimit("bogus", 1000) }},
		"-5 bytes":                       {"MemoryLimit": func() { MemoryLimit("cpu", -5) }},
	} {
		for op, call := range list {
			err := Maybe(call)
			if !errors.Is(err, ErrArgument) || !strings.HasPrefix(err.Error(), "amp: "+op+": bad argument: "+want) {
				t.Errorf("%s: %v, want %s", op, err, want)
			}
		}
	}
	for want, v := range map[string]any{"class(10)": Class(10), "level(9)": Level(9), "format(7)": Format(7), "Scope(empty: NewScope has not made it)": new(Scope), "Scope(nil)": none} {
		if got := fmt.Sprint(v); got != want {
			t.Errorf("printed as %q, want %q", got, want)
		}
	}
	for name, f := range map[string]func(f Format){
		"Bits": func(f Format) { f.Bits() }, "Fields": func(f Format) { f.Fields() }, "Max": func(f Format) { f.Max() }, "MinNormal": func(f Format) { f.MinNormal() },
		"MinSubnormal": func(f Format) { f.MinSubnormal() }, "Epsilon": func(f Format) { f.Epsilon() }, "Round": func(f Format) { f.Round(1) },
		"RoundStochastic": func(f Format) { f.RoundStochastic(1, 0) }, "Decode": func(f Format) { f.Decode(1) }, "Encode": func(f Format) { f.Encode(1) },
	} {
		if err := Maybe(func() { f(Format(7)) }); !errors.Is(err, ErrArgument) {
			t.Errorf("Format(7).%s: %v", name, err)
		}
	}
}

// A nilModel is a model and an optimizer without parameters.
type nilModel struct{ w *Tensor }

func (m *nilModel) Forward(_ *Scope, x *Tensor) *Tensor { return x }
func (m *nilModel) Parameters() []*Tensor               { _ = m.w; return nil }
func (m *nilModel) Step()                               {}
func (m *nilModel) ZeroGrad()                           {}

// TestScalersThatWouldNotTrainAreRefused: settings of which no step would come, or one that climbs, where torch lets them pass too. A
// disabled scaler takes anything.
func TestScalersThatWouldNotTrainAreRefused(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for want, o := range map[string]ScalerOption{
		"first scale NaN": InitScale(nan), "first scale 0": InitScale(0), "first scale -1": InitScale(-1), "first scale +Inf": InitScale(inf),
		"first scale 1e+39": InitScale(1e39), "first scale 1e-50": InitScale(1e-50),
		"growth factor +Inf": GrowthFactor(inf), "growth factor NaN": GrowthFactor(nan), "backoff factor -1": BackoffFactor(-1),
		"backoff factor NaN": BackoffFactor(nan),
		"growth interval -1": GrowthInterval(-1), "smallest scale NaN": MinScale(nan), "smallest scale -1": MinScale(-1), "smallest scale +Inf": MinScale(inf),
	} {
		err := Maybe(func() { NewGradScaler(o) })
		if !errors.Is(err, ErrScaler) || !strings.Contains(err.Error(), want+" must") {
			t.Errorf("%s: %v", want, err)
		}
		if err := Maybe(func() { NewGradScaler(o, ScalerEnabled(false)) }); err != nil {
			t.Errorf("%s, disabled: %v", want, err)
		}
	}
	s := NewScope()
	defer s.Close()
	g := NewGradScaler()
	g.Scale(s, Scalar[float32](1))
	for _, v := range []float64{nan, -1, 1e39, 0, 1e-60, math.Inf(1)} {
		if err := Maybe(func() { g.UpdateTo(v) }); !errors.Is(err, ErrArgument) || g.CurrentScale() != DefaultInitScale {
			t.Errorf("UpdateTo(%v): %v, the scale is %v", v, err, g.CurrentScale())
		}
	}
}
