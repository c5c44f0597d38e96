package amp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// register adds an op for one test.
func register(t *testing.T, u Custom) func(s *Scope, in ...*Tensor) *Tensor {
	t.Helper()
	f := Register(u)
	t.Cleanup(func() { forget(u.Name) })
	return f
}

// forget takes an op out of the table again.
func forget(name string) {
	tableMu.Lock()
	defer tableMu.Unlock()
	table = slices.DeleteFunc(table, func(o *Op) bool { return o.Name == name })
	delete(byName, name)
	warnings.Lock()
	delete(warnings.said, "class of "+name)
	warnings.Unlock()
}

// probe is a custom op that notes the dtypes and autocast states it sees.
type probe struct {
	in       DType
	forward  autocast
	backward autocast
}

func (p *probe) custom(name string, class Class, cast DType) Custom {
	return Custom{
		Name: name, Class: class, CastInputs: cast,
		Forward: func(c *Context, in []*Tensor) *Tensor {
			p.in, p.forward = in[0].dt, c.S.auto
			c.Save(in[0])
			return Mul(c.S, in[0], in[0])
		},
		Backward: func(c *Context, dy *Tensor) []*Tensor {
			p.backward = c.S.auto
			return []*Tensor{MulScalar(c.S, Mul(c.S, dy, c.Saved(0)), 2)}
		},
	}
}

// TestCustomDecisions: spec, custom autograd functions. cast_inputs and the classes cast the inputs and run Forward and Backward
// with autocast off; without them both run in the state of the caller; with autocast off nothing happens.
func TestCustomDecisions(t *testing.T) {
	for _, c := range []struct {
		name  string
		class Class
		cast  DType
		scope func(s *Scope) *Scope
		in    DType
		on    bool
	}{
		{"fp32", FP32, NoDType, func(s *Scope) *Scope { return s.Autocast(Float16) }, Float32, false},
		{"lower", Lower, NoDType, func(s *Scope) *Scope { return s.Autocast(BFloat16) }, BFloat16, false},
		{"promote", Promote, NoDType, func(s *Scope) *Scope { return s.Autocast(Float16) }, Float16, false},
		{"inherit", Inherit, NoDType, func(s *Scope) *Scope { return s.Autocast(Float16) }, Float16, true},
		{"cast inputs", Inherit, Float32, func(s *Scope) *Scope { return s.Autocast(Float16) }, Float32, false},
		{"cast inputs win over the class", Lower, Float32, func(s *Scope) *Scope { return s.Autocast(Float16) }, Float32, false},
		{"autocast off", Lower, Float32, func(s *Scope) *Scope { return s }, Float16, false},
		{"unclassified as fp32", Unlisted, NoDType, func(s *Scope) *Scope { return s.Autocast(Float16, Unclassified(FP32)) }, Float32, false},
		{"unclassified inherits", Unlisted, NoDType, func(s *Scope) *Scope { return s.Autocast(Float16, Unclassified(Inherit)) }, Float16, true},
		{"forced", Lower, NoDType, func(s *Scope) *Scope { return s.Autocast(Float16, Force("probe", FP32)) }, Float32, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p probe
			op := register(t, p.custom("probe", c.class, c.cast))
			root := NewScope(Record(Decisions))
			defer root.Close()
			x := FromFloat64s(Float16, []float64{1.5, -2}).RequireGrad()
			s := c.scope(root)
			y := op(s, x)
			if p.in != c.in || p.forward.on != c.on || y.dt != c.in {
				t.Errorf("Forward saw %v with autocast %v and gave %v, want %v and %v", p.in, p.forward.on, y.dt, c.in, c.on)
			}
			if e := Explain(s, "probe", Float16); e.Run[0] != c.in {
				t.Errorf("Explain: %v", e)
			}
			Sum(root, y).Backward()
			if p.backward.on != c.on || p.backward.dtype != p.forward.dtype {
				t.Errorf("Backward ran under %+v, Forward under %+v", p.backward, p.forward)
			}
			if g := x.Grad(); g.dt != Float16 || !slices.Equal(g.Float64s(), []float64{3, -4}) {
				t.Errorf("gradient %v %v", g.dt, g.Float64s())
			}
			found := false
			for _, e := range root.Trace().Events {
				if e.Rule == "" || strings.Contains(e.Rule, "%") {
					t.Errorf("%s: rule %q", e.Op, e.Rule)
				}
				found = found || e.Op == "probe" && e.Compute == c.in
			}
			if !found {
				t.Error("the trace does not hold the op")
			}
		})
	}
}

// TestExplainSaysWhatDecidesCustomOps: a reader who did not write the op is told that the program did, and what it asked for.
func TestExplainSaysWhatDecidesCustomOps(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, c := range []struct {
		class Class
		why   string
		cast  DType
		want  string
	}{
		{Unlisted, "", NoDType, "inherit: an op of this program, it follows its inputs; it was registered without a class"},
		{Inherit, "it only moves elements", NoDType, "inherit: an op of this program, it follows its inputs; it only moves elements"},
		{Inherit, "squares overflow", Float32, "CastInputs: an op of this program that was registered with a dtype for its inputs; squares overflow"},
		{Lower, "", NoDType, "lower: it was registered so"},
		{FP32, "squares overflow", NoDType, "fp32: squares overflow"},
	} {
		register(t, Custom{Name: "mine", Class: c.class, Why: c.why, CastInputs: c.cast, Forward: func(_ *Context, in []*Tensor) *Tensor { return in[0] }})
		if e := Explain(s.Autocast(Float16), "mine", Float16); e.Rule != c.want {
			t.Errorf("class %v, cast %v: %q, want %q", c.class, c.cast, e.Rule, c.want)
		}
	}
}

// TestCustomGradients: a custom Backward, and none, give the gradients of the built-in op, of first and second order.
func TestCustomGradients(t *testing.T) {
	swish := func(s *Scope, x *Tensor) *Tensor { return Mul(s, x, Sigmoid(s, x)) }
	plain := register(t, Custom{Name: "swish_plain", Class: Inherit, Forward: func(c *Context, in []*Tensor) *Tensor { return swish(c.S, in[0]) }})
	own := register(t, Custom{
		Name: "swish_own", Class: Inherit,
		Forward: func(c *Context, in []*Tensor) *Tensor { c.Save(in[0]); return swish(c.S, in[0]) },
		Backward: func(c *Context, dy *Tensor) []*Tensor { // σ + x·σ·(1-σ)
			x := c.Saved(0)
			y := Sigmoid(c.S, x)
			slope := Add(c.S, y, Mul(c.S, x, Mul(c.S, y, AddScalar(c.S, Neg(c.S, y), 1))))
			return []*Tensor{Mul(c.S, dy, slope)}
		},
	})
	grads := func(f func(s *Scope, in ...*Tensor) *Tensor) (first, second []float64) {
		s := NewScope()
		defer s.Close()
		x := From([]float64{-1.5, 0.25, 2}).RequireGrad()
		g := Grad(s, []*Tensor{Sum(s, f(s, x))}, []*Tensor{x}, CreateGraph())[0]
		gg := Grad(s, []*Tensor{Sum(s, Mul(s, g, g))}, []*Tensor{x})[0]
		return g.Float64s(), gg.Float64s()
	}
	want1, want2 := grads(func(s *Scope, in ...*Tensor) *Tensor { return SiLU(s, in[0]) })
	for name, f := range map[string]func(s *Scope, in ...*Tensor) *Tensor{"plain": plain, "own": own} {
		g1, g2 := grads(f)
		for i := range want1 {
			if math.Abs(g1[i]-want1[i]) > 1e-12 || math.Abs(g2[i]-want2[i]) > 1e-12 {
				t.Errorf("%s element %d: %v and %v, want %v and %v", name, i, g1[i], g2[i], want1[i], want2[i])
			}
		}
	}
}

// TestUnclassifiedWarnsOnce: and names the dtype it ran in and the ways out.
func TestUnclassifiedWarnsOnce(t *testing.T) {
	var said strings.Builder
	defer SetWarnings(SetWarnings(&said))
	var p probe
	op := register(t, p.custom("unclassified", Unlisted, NoDType))
	s := NewScope()
	defer s.Close()
	x := From([]float32{1})
	op(s, x)
	op(s.Autocast(Float16, Unclassified(Inherit)), x)
	if said.Len() > 0 {
		t.Errorf("a warning without need: %s", said.String())
	}
	for range 3 {
		op(s.Autocast(Float16), x)
	}
	if text := said.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "ran in float32") || !strings.Contains(text, "amp.Unclassified(amp.FP32)") {
		t.Errorf("%q", text)
	}
}

func TestCustomMisuse(t *testing.T) {
	forward := func(c *Context, in []*Tensor) *Tensor { return in[0] }
	for name, u := range map[string]Custom{
		"no name":         {Forward: forward},
		"no forward":      {Name: "x"},
		"a built-in name": {Name: "relu", Forward: forward},
		"a class without": {Name: "x", Class: FP32Output, Forward: forward},
	} {
		if err := Maybe(func() { Register(u); forget(u.Name) }); !errors.Is(err, ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s := NewScope()
	defer s.Close()
	x := From([]float32{1, 2}).RequireGrad()
	same := register(t, Custom{Name: "same", Class: Inherit, Forward: forward, Backward: func(c *Context, dy *Tensor) []*Tensor { return []*Tensor{dy} }})
	y := same(s, x) // an input returned is a result of its own
	if y == x || y.IsLeaf() || !x.IsLeaf() {
		t.Error("the input was taken for the result")
	}
	Sum(s, y).Backward()
	if !slices.Equal(x.Grad().Float64s(), []float64{1, 1}) {
		t.Error(x.Grad().Float64s())
	}
	bad := register(t, Custom{Name: "bad", Class: Inherit, Forward: forward, Backward: func(c *Context, dy *Tensor) []*Tensor { return []*Tensor{Sum(c.S, dy)} }})
	if err := Maybe(func() { Sum(s, bad(s, x)).Backward() }); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
	few := register(t, Custom{Name: "few", Class: Inherit, Forward: forward, Backward: func(c *Context, dy *Tensor) []*Tensor { return nil }})
	if err := Maybe(func() { Sum(s, few(s, x)).Backward() }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
	two := register(t, Custom{Name: "two", Args: []string{"a", "b"}, Class: Inherit, Forward: func(c *Context, in []*Tensor) *Tensor { return in[1] }})
	if err := Maybe(func() { two(s, x) }); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "pass a, b") {
		t.Error(err)
	}
	none := register(t, Custom{Name: "none", Class: Inherit, Forward: func(c *Context, in []*Tensor) *Tensor { return nil }})
	if err := Maybe(func() { none(s, x) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
	if err := Maybe(func() { none(s, nil) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
	var p probe
	stale := register(t, p.custom("stale", Inherit, NoDType))
	y = stale(s, x)
	SetValues(x, []float32{3, 4})
	if err := Maybe(func() { Sum(s, y).Backward() }); !errors.Is(err, ErrStale) {
		t.Error(err)
	}
	if err := Maybe(func() { s.Autocast(Float16, Force("mv", FP32Output)) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
	if err := Maybe(func() { Unclassified(Lower) }); !errors.Is(err, ErrArgument) {
		t.Error(err)
	}
}

// A cell's own op reads like a built-in one, and autocast knows what to do with it.
func ExampleRegister() {
	square := Register(Custom{
		Name: "my_square", Doc: "x²", Class: FP32, Why: "squares leave the half range",
		Forward: func(c *Context, in []*Tensor) *Tensor {
			c.Save(in[0])
			return Map(c.S, in[0], func(v float64) float64 { return v * v })
		},
		Backward: func(c *Context, dy *Tensor) []*Tensor {
			return []*Tensor{MulScalar(c.S, Mul(c.S, dy, c.Saved(0)), 2)}
		},
	})
	defer forget("my_square")
	s := NewScope()
	defer s.Close()
	x := FromFloat64s(Float16, []float64{300, -2}).RequireGrad()
	y := square(s.Autocast(Float16), x)
	Sum(s, y).Backward()
	fmt.Println(y.DType(), y.Float64s(), x.Grad().DType(), x.Grad().Float64s())
	fmt.Println(Explain(s.Autocast(Float16), "my_square", Float16))
	// Output:
	// float32 [90000 4] float16 [600 -4]
	// my_square(float16) runs in (float32) and gives float32 — fp32: squares leave the half range
}
