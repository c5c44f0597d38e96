package amp

import (
	"errors"
	"math"
	"testing"
)

// TestSpec24FusedStep: section 2.4, item 5. The check leaves the gradients as they are, half ones too; the optimizer is always called,
// with 1/scale unless Unscale has divided already; what is found and reported is as without.
func TestSpec24FusedStep(t *testing.T) {
	s := NewScope()
	defer s.Close()
	build := func(grad float32) *countingOptimizer {
		o := newCounting(2)
		o.fused = true
		o.params[1].SetName("b")
		o.params[0].SetGrad(From([]float32{6}))
		o.params[1].SetGrad(From([]float32{grad}))
		return o
	}
	g := NewGradScaler(InitScale(4))
	g.Scale(s, Scalar(float32(1)))

	o := build(3)
	if r := g.Step(o); !r.Applied() || o.calls != 1 || o.params[0].grad.Item() != 1.5 {
		t.Errorf("%v, %d calls, gradient %v", r, o.calls, o.params[0].grad.Item())
	}
	if err := Maybe(func() { g.Step(o) }); !errors.Is(err, ErrScaler) {
		t.Errorf("a second step: %v", err)
	}
	g.Update()

	bad := build(float32(math.Inf(1)))
	if r := g.Step(bad); r.Applied() || r.Culprit() != "b" || r.Value != "+Inf" || bad.calls != 1 || bad.steps != 0 || bad.params[0].grad.Item() != 6 {
		t.Errorf("%v, %d calls, %d steps, gradient %v", r, bad.calls, bad.steps, bad.params[0].grad.Item())
	}
	g.Update()
	if g.CurrentScale() != 2 {
		t.Errorf("scale %v", g.CurrentScale())
	}

	clip := build(4)
	g.Unscale(clip)
	if g.Step(clip); clip.params[0].grad.Item() != 3 || clip.steps != 1 {
		t.Errorf("gradient %v after Unscale and a step", clip.params[0].grad.Item())
	}
	g.Update()

	half := &countingOptimizer{fused: true, params: []*Tensor{FromFloat64s(Float16, []float64{1}).RequireGrad()}}
	half.params[0].SetGrad(FromFloat64s(Float16, []float64{math.NaN()}))
	if r := g.Step(half); r.Applied() || r.Value != "NaN" {
		t.Error(r)
	}
	g.Update()

	none := newCounting(1)
	none.fused = true
	if err := Maybe(func() { g.Step(none) }); !errors.Is(err, ErrScaler) {
		t.Errorf("a step without gradients: %v", err)
	}
	tiny := NewGradScaler(InitScale(1e-39)) // its inverse is infinite
	tiny.Scale(s, Scalar(float32(1)))
	o = build(1)
	if r := tiny.Step(o); r.Applied() || r.Culprit() != "loss scale" || o.steps != 0 {
		t.Error(r)
	}
	off := NewGradScaler(ScalerEnabled(false))
	if r := off.Step(o); !r.Applied() || o.steps != 1 || o.calls != 1 {
		t.Errorf("disabled: %v, %d steps, %d fused calls", r, o.steps, o.calls)
	}
}

// TestUpdateRefusals: rows of optimizers refuse state and scalars that do not fit.
func TestUpdateRefusals(t *testing.T) {
	p := From([]float32{1, 2}, 1, 2).RequireGrad()
	if err := Maybe(func() { UpdateSGD(p, nil, Update{}) }); !errors.Is(err, ErrGrad) {
		t.Error(err)
	}
	p.SetGrad(From([]float32{1, 1}, 1, 2))
	for name, c := range map[string]struct {
		run  func()
		want error
	}{
		"shape of state": {func() { UpdateSGD(p, From([]float32{1, 2}), Update{}) }, ErrShape},
		"dtype of state": {func() { UpdateAdagrad(p, From([]float64{1, 2}, 1, 2), Update{Step: 1}) }, ErrDType},
		"steps from 1":   {func() { UpdateAdam(p, Like(p), Like(p), nil, Update{}) }, ErrArgument},
		"inverse scale":  {func() { UpdateSGD(p, nil, Update{InvScale: Scalar(1.0)}) }, ErrShape},
		"found inf":      {func() { UpdateSGD(p, nil, Update{FoundInf: From([]float32{1})}) }, ErrShape},
	} {
		if err := Maybe(c.run); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if v := p.Float64s(); v[0] != 1 || v[1] != 2 {
		t.Error("a refused update changed the parameter")
	}
}

// TestCulpritOfLargeGradient: workers look at pieces of a large gradient at once; the report names the first element all the same.
func TestCulpritOfLargeGradient(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for range 20 {
		v := make([]float32, 5*grain+7)
		v[4*grain+3], v[2*grain+1], v[grain-1] = float32(math.Inf(1)), float32(math.NaN()), float32(math.Inf(-1))
		o := &countingOptimizer{params: []*Tensor{From(make([]float32, len(v))).RequireGrad()}}
		o.params[0].SetGrad(From(v))
		g := NewGradScaler(InitScale(2))
		g.Scale(s, Scalar(float32(1)))
		if r := g.Step(o); r.Applied() || r.Value != "-Inf" {
			t.Fatalf("found %s first", r.Value)
		}
	}
}
