package amp

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
)

// The sections on the gradient scaler; TestScalerSequences and TestScalerAPI run the reference's vectors, bit for bit.

// moves is an optimizer that subtracts gradients and counts its steps.
type moves struct {
	params []*Tensor
	steps  int
}

func (m *moves) Parameters() []*Tensor { return m.params }
func (m *moves) ZeroGrad() {
	for _, p := range m.params {
		p.ZeroGrad()
	}
}
func (m *moves) Step() {
	m.steps++
	for _, p := range m.params {
		if p.grad != nil {
			SetValues(p, []float32{float32(p.Item() - p.grad.Item())})
		}
	}
}

func newMoves(grads ...float64) *moves {
	m := &moves{}
	for _, g := range grads {
		p := From([]float32{1}).RequireGrad()
		p.SetGrad(From([]float32{float32(g)}))
		m.params = append(m.params, p)
	}
	return m
}

// started returns a scaler whose scale exists.
func started(s *spec, opts ...ScalerOption) *GradScaler {
	g := NewGradScaler(opts...)
	g.Scale(s.root, Scalar[float32](0))
	return g
}

// 2.1 Construction: defaults, the two checks, lazy creation of the scale, disabled.
func TestSpec21Construction(t *testing.T) {
	s := newSpec(t)
	g := NewGradScaler()
	st := g.State()
	s.is("defaults", *st, ScalerState{Scale: 65536, GrowthFactor: 2, BackoffFactor: 0.5, GrowthInterval: 2000})
	s.refused("growth factor 1", ErrScaler, func() { NewGradScaler(GrowthFactor(1)) })
	s.refused("backoff factor 1", ErrScaler, func() { NewGradScaler(BackoffFactor(1)) })
	NewGradScaler(BackoffFactor(0), GrowthInterval(0))                              // accepted, as there
	NewGradScaler(ScalerEnabled(false), GrowthFactor(0))                            // not looked at
	s.refused("first scale -1", ErrScaler, func() { NewGradScaler(InitScale(-1)) }) // not there, and no state with it could be loaded here
	s.is("before the first Scale", NewGradScaler(InitScale(0.1)).CurrentScale(), 0.1)
	for name, f := range map[string]func(g *GradScaler){"Unscale": func(g *GradScaler) { g.Unscale(newMoves(1)) }, "Step": func(g *GradScaler) { g.Step(newMoves(1)) }, "Update": func(g *GradScaler) { g.Update() }} {
		s.refused(name+" before the first Scale", ErrScaler, func() { f(NewGradScaler()) })
	}
	off := NewGradScaler(ScalerEnabled(false))
	s.is("a disabled scale", off.CurrentScale(), 1.0)
	s.is("its tracker", off.GrowthTracker(), 0)
}

// 2.2 Scale: differentiable, ordinary promotion with its trap, containers, disabled.
func TestSpec22Scale(t *testing.T) {
	s := newSpec(t)
	g := NewGradScaler()
	zero := func(dt DType) *Tensor { return fromFloat64s(dt, []float64{0.5}, nil) }
	s.is("a 0-dimensional float16 loss becomes float32", g.Scale(s.root, zero(Float16)).dt, Float32)
	one := g.Scale(s.root, FromFloat64s(Float16, []float64{0.5}))
	s.is("a 1-dimensional one stays and is infinite", [2]any{one.dt, one.Item()}, [2]any{Float16, math.Inf(1)})
	b := g.Scale(s.root, FromFloat64s(BFloat16, []float64{0.5}))
	s.is("bfloat16 survives", [2]any{b.dt, b.Item()}, [2]any{BFloat16, 32768.0})
	s.is("float64 stays", g.Scale(s.root, zero(Float64)).dt, Float64)
	x := Scalar[float32](3).RequireGrad()
	all := g.ScaleAll(s.root, x, MulScalar(s.root, x, 2))
	Add(s.root, all[0], all[1]).Backward()
	s.is("gradient", x.Grad().Item(), 3*65536.0)
	s.refused("an integer loss", ErrDType, func() { g.Scale(s.root, Scalar[int64](1)) })
	off := NewGradScaler(ScalerEnabled(false))
	s.is("disabled", off.Scale(s.root, x), x)
}

// 2.3 Unscale: stages, the refusal of float16 gradients before anything changed, the test before the product, dtypes.
func TestSpec23Unscale(t *testing.T) {
	s := newSpec(t)
	g := started(s, InitScale(4))
	m := newMoves(8, math.Inf(1))
	g.Unscale(m)
	s.is("gradient", m.params[0].grad.Item(), 2.0)
	s.is("a non-finite one is multiplied too", m.params[1].grad.Item(), math.Inf(1))
	s.refused("twice", ErrScaler, func() { g.Unscale(m) })
	g.Step(m)
	s.refused("after Step", ErrScaler, func() { g.Unscale(m) })
	s.is("steps", m.steps, 0)
	half := newMoves(8)
	h := FromFloat64s(Float16, []float64{1}).RequireGrad()
	h.SetGrad(FromFloat64s(Float16, []float64{4}))
	half.params = append(half.params, h)
	s.refused("float16", ErrDType, func() { g.Unscale(half) })
	s.is("nothing changed", half.params[0].grad.Item(), 8.0)
	s.is("an error names the method that was called", Maybe(func() { g.Step(half) }).(*Error).Op, "GradScaler.Step")
	g.Update()
	half.params = half.params[:1]
	g.Unscale(half) // still ready
	one := started(s, InitScale(1))
	id := newMoves(1, -0.1)
	one.Unscale(id)
	s.is("an inverse of 1 changes nothing", id.params[1].grad.Item(), float64(float32(-0.1)))
	none := newMoves()
	none.params = []*Tensor{From([]float32{1}).RequireGrad()}
	g2 := started(s)
	g2.Unscale(none) // parameters without gradients are left out
	s.refused("Step without any gradient", ErrScaler, func() { g2.Step(none) })
}

// 2.4 Step: once between updates, closures refused, skipping, what happens after Unscale is not checked again.
func TestSpec24Step(t *testing.T) {
	s := newSpec(t)
	g := started(s, InitScale(2))
	m := newMoves(2)
	s.refused("closure", ErrScaler, func() { g.Step(m, func() *Tensor { return nil }) })
	s.is("applied", g.Step(m).Applied(), true)
	s.is("weight", m.params[0].Item(), 0.0)
	s.refused("twice", ErrScaler, func() { g.Step(m) })
	g.Update()
	late := newMoves(2)
	g.Unscale(late)
	late.params[0].SetGrad(From([]float32{float32(math.Inf(1))}))
	s.is("an infinity put in after Unscale is applied", g.Step(late).Applied(), true)
	g.Update()
	cleared := newMoves(math.NaN())
	g.Unscale(cleared)
	cleared.params[0].SetGrad(From([]float32{0}))
	r := g.Step(cleared)
	s.is("clearing it does not rescue the step", r.Applied(), false)
	s.is("value", r.Value, "NaN")
	off := NewGradScaler(ScalerEnabled(false))
	d := newMoves(math.Inf(1))
	called := false
	s.is("disabled", off.Step(d, func() *Tensor { called = true; return nil }).Applied() && called && d.steps == 1, true)
}

// 2.5 Update: growth on equality, backoff once for all optimizers, a scale given, its limits.
func TestSpec25Update(t *testing.T) {
	s := newSpec(t)
	g := started(s, InitScale(8), GrowthInterval(2))
	s.refused("nothing checked", ErrScaler, g.Update)
	clean := func() {
		g.Step(newMoves(1))
		g.Update()
	}
	clean()
	s.is("tracker", g.GrowthTracker(), 1)
	clean()
	s.is("grown", [2]any{g.CurrentScale(), g.GrowthTracker()}, [2]any{16.0, 0})
	clean()
	g.Step(newMoves(math.Inf(1)))
	g.Step(newMoves(math.NaN()))
	g.Step(newMoves(1))
	g.Update()
	s.is("one backoff for several optimizers", [2]any{g.CurrentScale(), g.GrowthTracker()}, [2]any{8.0, 0})
	g.Unscale(newMoves(1)) // Unscale alone is enough for Update
	g.Update()
	s.is("tracker again", g.GrowthTracker(), 1)
	g.UpdateTo(0.1)
	s.is("a scale given is rounded to float32, the tracker stays", [2]any{g.CurrentScale(), g.GrowthTracker()}, [2]any{float64(float32(0.1)), 1})
	s.refused("beyond float32", ErrArgument, func() { g.UpdateTo(1e39) })
	top := started(s, InitScale(0x1p127), GrowthInterval(1))
	for range 2 {
		top.Step(newMoves(1))
		top.Update()
	}
	s.is("it never grows to infinity", top.CurrentScale(), 0x1p127)
	low := started(s, InitScale(0x1p-149), GrowthInterval(1))
	low.Step(newMoves(math.Inf(1)))
	low.Update()
	s.is("without a floor it falls to 0", low.CurrentScale(), 0.0)
	m := newMoves(1)
	s.is("an inverse that is infinite skips; the reference destroys the weights", low.Step(m).Applied(), false)
	s.is("weight", m.params[0].Item(), 1.0)
	floor := started(s, InitScale(2), MinScale(1.5))
	floor.Step(newMoves(math.Inf(1)))
	floor.Update()
	s.is("with a floor it stops", floor.CurrentScale(), 1.5)
}

// 2.6 Checkpointing: the state, loading before and after the scale exists, empty and disabled.
func TestSpec26Checkpointing(t *testing.T) {
	s := newSpec(t)
	g := started(s, InitScale(32), GrowthInterval(7))
	g.Step(newMoves(1))
	g.Update()
	b, err := json.Marshal(g.State())
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	json.Unmarshal(b, &keys)
	for _, k := range []string{"scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker"} {
		if _, ok := keys[k]; !ok {
			t.Errorf("the state has no %s: %s", k, b)
		}
	}
	for name, to := range map[string]*GradScaler{"fresh": NewGradScaler(), "running": started(s)} {
		if err := to.LoadState(g.State()); err != nil {
			t.Error(err)
		}
		s.is(name+" scale", to.CurrentScale(), 32.0)
		to.Scale(s.root, Scalar[float32](1))
		s.is(name+" after Scale", [2]any{to.CurrentScale(), to.GrowthTracker()}, [2]any{32.0, 1})
	}
	if err := NewGradScaler().LoadState(nil); err == nil {
		t.Error("an empty state was loaded")
	}
	for _, scale := range []float64{-1, math.NaN(), 0} {
		bad := ScalerState{Scale: scale}
		if scale != 0 {
			bad = *g.State()
			bad.Scale = scale
		}
		to := NewGradScaler(InitScale(8))
		if err := to.LoadState(&bad); !errors.Is(err, ErrScaler) || to.CurrentScale() != 8 {
			t.Errorf("a state %+v: %v, the scale is %v", bad, err, to.CurrentScale())
		}
	}
	off := NewGradScaler(ScalerEnabled(false))
	if off.State() != nil || off.LoadState(nil) != nil {
		t.Error("a disabled scaler has no state and takes any")
	}
}

// 2.7 Patterns: the examples of patterns_test.go; here what clipping does to an infinite gradient.
func TestSpec27Patterns(t *testing.T) {
	s := newSpec(t)
	g := started(s, InitScale(2))
	m := newMoves(math.Inf(1), 3)
	g.Unscale(m)
	for _, p := range m.params { // clip: the norm is infinite, the factor 0
		ScaleGrad(p, 0)
	}
	first := m.params[0].grad.Item()
	s.is("infinity becomes NaN, the rest 0", [2]bool{first != first, m.params[1].grad.Item() == 0}, [2]bool{true, true})
	s.is("the flag of Unscale still skips", g.Step(m).Applied(), false)
	if g.History().Skipped != 1 || errors.Is(g.Step(newMoves(1)).Err(), ErrScaler) {
		t.Error("history")
	}
}
