package amp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestHooksAsPyTorch: the order, what flows on, what is kept and what Grad returns are those of the same program in PyTorch 2.15.
func TestHooksAsPyTorch(t *testing.T) {
	s := NewScope()
	defer s.Close()
	var log []string
	before := 0.0 // w's gradient
	note := func(name string, factor, plus float64) func(g *Tensor) *Tensor {
		return func(g *Tensor) *Tensor {
			log = append(log, fmt.Sprint(name, " ", g.Item()))
			if factor == 1 && plus == 0 {
				return nil
			}
			return AddScalar(s.NoGrad(), MulScalar(s.NoGrad(), g, factor), plus)
		}
	}
	w := From([]float32{2}).RequireGrad()
	x := MulScalar(s, w, 3)
	w.RegisterHook(func(g *Tensor) *Tensor {
		has := 0.0
		if w.Grad() != nil {
			has = w.Grad().Item()
		}
		if has != before {
			t.Error("the leaf's hook ran after its gradient was added")
		}
		return note("w1", 10, 0)(g)
	})
	remove := w.RegisterHook(note("w2", 1, 0))
	if x.RetainGrad() != x || w.RetainGrad() != w {
		t.Error("RetainGrad returns another tensor")
	}
	x.RegisterHook(note("x1", 1, 1))
	x.RegisterHook(note("x2", 2, 0))
	y := Add(s, Add(s, Sum(s, Mul(s, x, x)), MulScalar(s, Sum(s, x), 4)), Sum(s, w))
	is := func(when string, wGrad, xGrad float64, want ...string) {
		t.Helper()
		if !slices.Equal(log, want) || w.Grad().Item() != wGrad || x.Grad().Item() != xGrad {
			t.Errorf("%s: %q, gradients %v and %v; want %q, %v and %v", when, log, w.Grad().Item(), x.Grad().Item(), want, wGrad, xGrad)
		}
		log, before = nil, w.Grad().Item()
	}
	y.Backward(RetainGraph())
	is("first", 1030, 34, "x1 16", "x2 17", "w1 103", "w2 1030")
	remove()
	remove()
	y.Backward(RetainGraph())
	is("w2 removed", 2060, 68, "x1 16", "x2 17", "w1 103")
	g := Grad(s, []*Tensor{y}, []*Tensor{x, w}, RetainGraph())
	if g[0].Item() != 16 || g[1].Item() != 1030 {
		t.Errorf("Grad returns %v and %v, PyTorch 16 and 1030", g[0].Item(), g[1].Item())
	}
	is("Grad", 2060, 68, "x1 16", "x2 17", "w1 103")
	x.ZeroGrad()
	y.Backward()
	is("ZeroGrad", 3090, 34, "x1 16", "x2 17", "w1 103")
}

// TestHooksOfGrad: what Grad returns for a hooked result is what PyTorch 2.15 does, which hangs on what else it is asked about.
func TestHooksOfGrad(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, c := range []struct {
		ask  string
		want string
	}{{"y", "[15]"}, {"yx", "[5 60]"}, {"x", "[60]"}, {"u", "[1]"}, {"yu", "[15 1]"}} {
		x, u := From([]float32{2}).RequireGrad(), From([]float32{3}).RequireGrad()
		y := MulScalar(s, x, 4)
		y.RegisterHook(func(g *Tensor) *Tensor { return MulScalar(s.NoGrad(), g, 3) })
		z := Add(s, MulScalar(s, y, 5), u)
		by := map[rune]*Tensor{'x': x, 'y': y, 'u': u}
		var ask []*Tensor
		for _, name := range c.ask {
			ask = append(ask, by[name])
		}
		var got []float64
		for _, g := range Grad(s, []*Tensor{z}, ask) {
			got = append(got, g.Item())
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("Grad for %s returns %v, PyTorch %s", c.ask, got, c.want)
		}
	}
}

// TestHooksRefuse: what is no gradient of the tensor, and tensors without.
func TestHooksRefuse(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for name, c := range map[string]struct {
		kind error
		says string
		f    func()
	}{
		"a leaf that wants none":   {ErrGrad, "wants none", func() { From([]float32{1}).RegisterHook(func(*Tensor) *Tensor { return nil }) }},
		"a result that wants none": {ErrGrad, "wants none", func() { Exp(s, From([]float32{1})).RetainGrad() }},
		"no hook":                  {ErrArgument, "nil", func() { From([]float32{1}).RequireGrad().RegisterHook(nil) }},
		"dtype":                    {ErrDType, `"w"`, func() { hookedTo(s, FromFloat64s(Float64, []float64{1, 1})) }},
		"shape":                    {ErrShape, "[3]", func() { hookedTo(s, From([]float32{1, 1, 1})) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// hookedTo returns the gradient of a leaf whose hook returns g.
func hookedTo(s *Scope, g *Tensor) []float64 {
	w := From([]float32{1, 2}).SetName("w").RequireGrad()
	w.RegisterHook(func(*Tensor) *Tensor { return g })
	Sum(s, w).Backward()
	return w.Grad().Float64s()
}

// TestHookKeepsItsTensor: a tensor of the program's that a hook returns is copied, not taken over, and other passes do not add to it.
func TestHookKeepsItsTensor(t *testing.T) {
	s := NewScope()
	defer s.Close()
	mine := From([]float32{5, 6})
	for range 2 {
		if got := hookedTo(s, mine); !slices.Equal(got, []float64{5, 6}) {
			t.Errorf("%v", got)
		}
	}
	w := From([]float32{1, 2}).RequireGrad()
	w.RegisterHook(func(*Tensor) *Tensor { return mine })
	Sum(s, w).Backward()
	Sum(s, w).Backward()
	if !slices.Equal(w.Grad().Float64s(), []float64{10, 12}) || !slices.Equal(mine.Float64s(), []float64{5, 6}) {
		t.Errorf("%v, the hook's %v", w.Grad().Float64s(), mine.Float64s())
	}
}

// TestHooksUnderScaler: a hook sees the gradient multiplied by the scale, in the dtype of its tensor, and the scaler divides what it returns.
func TestHooksUnderScaler(t *testing.T) {
	root := NewScope()
	defer root.Close()
	w := From([]float32{1, 2}).RequireGrad()
	scaler, opt := NewGradScaler(InitScale(1024)), newMoves()
	opt.params = append(opt.params, w)
	var leaf, half []float64
	w.RegisterHook(func(g *Tensor) *Tensor {
		leaf = g.Float64s()
		return MulScalar(root.NoGrad(), g, 0.5)
	})
	var kept *Tensor
	for s := range root.Steps(1) {
		auto := s.Autocast(Float16)
		y := MatMul(auto, Reshape(auto, w, 1, 2), From([]float32{3, 4}, 2, 1))
		y.RegisterHook(func(g *Tensor) *Tensor {
			if g.DType() != Float16 {
				t.Errorf("a float16 result has a gradient in %v", g.DType())
			}
			half = g.Float64s()
			return nil
		})
		kept = y.RetainGrad()
		scaler.Scale(s, Sum(auto, y)).Backward()
		if got := kept.Grad().Float64s(); !slices.Equal(got, []float64{1024}) {
			t.Errorf("kept %v", got)
		}
	}
	if kept.Grad().st != nil {
		t.Error("the gradient of a step's tensor outlives the step")
	}
	if !slices.Equal(half, []float64{1024}) || !slices.Equal(leaf, []float64{3072, 4096}) {
		t.Errorf("hooks saw %v and %v", half, leaf)
	}
	scaler.Unscale(opt)
	if got := w.Grad().Float64s(); !slices.Equal(got, []float64{1.5, 2}) {
		t.Errorf("unscaled %v", got)
	}
}

// TestHooksOfParts: a result that is read by parts, a checkpointed one, and a second derivative have their hooks run once, on all of it.
func TestHooksOfParts(t *testing.T) {
	s := NewScope()
	defer s.Close()
	w := From([]float32{1, 2, 3, 4}).RequireGrad()
	x, runs := MulScalar(s, w, 2), 0
	double := func(g *Tensor) *Tensor { runs++; return MulScalar(s, g, 2) }
	x.RegisterHook(double)
	parts := Split(s, x, 2, 0)
	Sum(s, Add(s, parts[0], MulScalar(s, parts[1], 3))).Backward()
	if got := w.Grad().Float64s(); runs != 1 || !slices.Equal(got, []float64{4, 4, 12, 12}) {
		t.Errorf("parts: %v in %d runs", got, runs)
	}
	w.ZeroGrad()
	y := Checkpoint(s, func(s *Scope, in ...*Tensor) *Tensor { return MulScalar(s, in[0], 2) }, w)
	y.RegisterHook(double)
	Sum(s, y).Backward()
	if got := w.Grad().Float64s(); runs != 2 || !slices.Equal(got, []float64{4, 4, 4, 4}) {
		t.Errorf("checkpoint: %v in %d runs", got, runs)
	}
	z := PowScalar(s, w, 2)
	z.RegisterHook(double)
	first := Grad(s, []*Tensor{Sum(s, PowScalar(s, z, 2))}, []*Tensor{w}, CreateGraph()) // 2·(2w²)·2w = 8w³
	second := Grad(s, []*Tensor{Sum(s, first[0])}, []*Tensor{w})
	if got := first[0].Float64s(); !slices.Equal(got, []float64{8, 64, 216, 512}) {
		t.Errorf("first derivative %v", got)
	}
	// z has its hook in the second pass, too, where a part of the gradient goes through it: 16w² there, twice, and 8w² besides.
	if got := second[0].Float64s(); !slices.Equal(got, []float64{40, 160, 360, 640}) {
		t.Errorf("second derivative %v", got)
	}
}

// TestHooksInTraces: what a hook makes of a gradient is no error of the precision.
func TestHooksInTraces(t *testing.T) {
	s := NewScope()
	defer s.Close()
	w := From([]float32{1, 2}).RequireGrad()
	x := Exp(s, w)
	x.RegisterHook(func(g *Tensor) *Tensor { return MulScalar(s.NoGrad(), g, 100) })
	var trace GradientTrace
	Sum(s, x).Backward(TraceGradients(&trace))
	if len(trace.Leaves) != 1 || trace.Leaves[0].Error > 1e-6 {
		t.Errorf("%+v", trace.Leaves)
	}
}
