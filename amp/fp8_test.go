package amp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// fp8Layer is one layer whose products can be in 8 bits, and a result with gradients.
func fp8Layer(s *Scope, rows, in, out int) (x, w *Tensor) {
	return Randn(s, Float32, 0, 1, rows, in).RequireGrad().SetName("x"), Randn(s, Float32, 0, 0.1, out, in).RequireGrad().SetName("w")
}

// casts8 returns the 8-bit formats that events of a phase round to, in order.
func casts8(t *Trace, phase string) (formats []string) {
	for _, e := range t.Events {
		if e.Phase == phase && e.Cast != nil && e.Cast.Format != "" {
			formats = append(formats, e.Cast.Format)
		}
	}
	return formats
}

// TestFP8Decisions: which products read 8 bits, forward and backward, and what the trace says of each.
func TestFP8Decisions(t *testing.T) {
	type want struct {
		forward, backward string
		rule              string
	}
	hybrid := &FP8Recipe{}
	none := want{rule: "lower: matrix product"}
	both := "lower: on operands rounded to 8 bits"
	for name, c := range map[string]struct {
		scope          func(s *Scope) *Scope
		rows, in, outs int
		want           want
	}{
		"hybrid":          {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP8(hybrid)) }, 32, 16, 48, want{"e4m3 e4m3", "e5m2 e4m3 e4m3", both}},
		"e4m3 alone":      {func(s *Scope) *Scope { return s.Autocast(Float16, FP8(&FP8Recipe{E4M3: true})) }, 32, 16, 48, want{"e4m3 e4m3", "e4m3 e4m3 e4m3", both}},
		"a scale per row": {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP8(&FP8Recipe{Granularity: PerRow})) }, 32, 16, 48, want{"e4m3 e4m3", "e5m2 e4m3 e5m2 e4m3", both}},
		"blocks":          {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP8(&FP8Recipe{Granularity: PerBlock})) }, 32, 64, 32, want{"e4m3 e4m3", "e5m2 e4m3 e5m2 e4m3", both}},
		"no blocks":       {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP8(&FP8Recipe{Granularity: PerBlock})) }, 32, 64, 48, want{rule: "lower: not in 8 bits, since a size is no multiple"}},
		"odd rows":        {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP8(hybrid)) }, 31, 16, 16, want{rule: "lower: not in 8 bits"}},
		"odd inputs":      {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP8(hybrid)) }, 32, 8, 16, want{rule: "lower: not in 8 bits"}},
		"odd outputs":     {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP8(hybrid)) }, 32, 16, 10, want{rule: "lower: not in 8 bits"}},
		"left out": {func(s *Scope) *Scope {
			return s.Autocast(BFloat16, FP8(&FP8Recipe{Leave: func(m string) bool { return m == "head" }})).In("head")
		}, 32, 16, 16, want{rule: "lower: the scope's FP8 leaves this module out"}},
		"not left out": {func(s *Scope) *Scope {
			return s.Autocast(BFloat16, FP8(&FP8Recipe{Leave: func(m string) bool { return m == "head" }})).In("body")
		}, 32, 16, 16, want{"e4m3 e4m3", "e5m2 e4m3 e4m3", both}},
		"inherited":       {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP8(hybrid)).Autocast(Float16) }, 32, 16, 16, want{"e4m3 e4m3", "e5m2 e4m3 e4m3", both}},
		"off again":       {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP8(hybrid)).Autocast(NoDType, FP8(nil)) }, 32, 16, 16, none},
		"autocast off":    {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP8(hybrid), Enabled(false)) }, 32, 16, 16, want{rule: "autocast is off"}},
		"forced":          {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP8(hybrid), Force("linear", FP32)) }, 32, 16, 16, want{rule: "forced to fp32"}},
		"kept in float32": {func(s *Scope) *Scope { return s.Autocast(Float32, FP8(hybrid)) }, 32, 16, 16, want{"e4m3 e4m3", "e5m2 e4m3 e4m3", both}},
		"no rows":         {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP8(hybrid)) }, 0, 16, 16, want{"e4m3 e4m3", "e5m2 e4m3 e4m3", both}},
	} {
		t.Run(name, func(t *testing.T) {
			root := NewScope(Seed(3), Record(Decisions))
			defer root.Close()
			x, w := fp8Layer(root, c.rows, c.in, c.outs)
			Sum(root, Linear(c.scope(root), x, w, nil)).Backward()
			trace := root.Trace()
			if got := strings.Join(casts8(trace, PhaseForward), " "); got != c.want.forward {
				t.Errorf("forward rounds to %q, want %q", got, c.want.forward)
			}
			if got := strings.Join(casts8(trace, PhaseBackward), " "); got != c.want.backward {
				t.Errorf("backward rounds to %q, want %q", got, c.want.backward)
			}
			k := slices.IndexFunc(trace.Events, func(e Event) bool { return e.Op == "linear" })
			if rule := trace.Events[k].Rule; !strings.HasPrefix(rule, c.want.rule) {
				t.Errorf("the rule is %q, want %q …", rule, c.want.rule)
			}
		})
	}
}

// TestFP8Names: the casts of backward name the tensors whose copies they round, too.
func TestFP8Names(t *testing.T) {
	for _, g := range []Granularity{PerTensor, PerRow} {
		root := NewScope(Record(Decisions))
		x, w := fp8Layer(root, 2*16, 16, 32)
		Sum(root, Linear(root.Autocast(BFloat16, FP8(&FP8Recipe{Granularity: g})), Reshape(root, x, 2, 16, 16).SetName("x"), w, nil)).Backward()
		count := map[string]int{}
		for _, e := range root.Trace().Events {
			if e.Cast != nil && e.Cast.Format == "e4m3" {
				count[e.Phase+" "+e.Cast.Name]++
			}
		}
		if len(count) != 4 || count["forward x"]*count["forward w"]*count["backward x"]*count["backward w"] != 1 {
			t.Errorf("a scale per %v: %v", g, count)
		}
		root.Close()
	}
}

// TestFP8Casts: the casts to 8 bits name their operand's tensor and count, at level health, what they lost.
func TestFP8Casts(t *testing.T) {
	root := NewScope(Record(Health))
	defer root.Close()
	tiny := make([]float32, 16*16)
	for i := range tiny {
		tiny[i] = 0x1p-30
	}
	tiny[0] = 1
	x, w := From(tiny, 16, 16).SetName("tiny"), Ones(root, Float32, 16, 16).RequireGrad().SetName("w")
	Linear(root.Autocast(BFloat16, FP8(&FP8Recipe{})), x, w, nil)
	for _, e := range root.Trace().Events {
		if e.Cast == nil || e.Cast.Format == "" {
			continue
		}
		want := map[string]int{"tiny": 255, "w": 0}
		if lost, ok := want[e.Cast.Name]; !ok || e.Cast.Lost != lost || e.Cast.By != "linear" || e.Cast.To != BFloat16 {
			t.Errorf("%+v", *e.Cast)
		}
	}
}

// TestFP8Same: a layer in 8 bits gives the same bits checkpointed, and when a weight is used again in its scope.
func TestFP8Same(t *testing.T) {
	recipe := FP8(&FP8Recipe{Granularity: PerRow})
	run := func(f func(s *Scope, x, w *Tensor) *Tensor) [][]float64 {
		root := NewScope(Seed(5))
		defer root.Close()
		x, w := fp8Layer(root, 64, 128, 32)
		y := f(root, x, w)
		Sum(root, Square(root, y)).Backward()
		return [][]float64{y.Float64s(), x.Grad().Float64s(), w.Grad().Float64s()}
	}
	plain := run(func(s *Scope, x, w *Tensor) *Tensor { return Linear(s.Autocast(BFloat16, recipe), x, w, nil) })
	for name, f := range map[string]func(s *Scope, x, w *Tensor) *Tensor{
		"checkpointed": func(s *Scope, x, w *Tensor) *Tensor {
			return Checkpoint(s.Autocast(BFloat16, recipe), func(s *Scope, in ...*Tensor) *Tensor { return Linear(s, in[0], w, nil) }, x)
		},
		"used again": func(s *Scope, x, w *Tensor) *Tensor {
			half := s.Autocast(BFloat16, recipe)
			Linear(half, x, w, nil)
			return Linear(half, x, w, nil)
		},
	} {
		for i, list := range run(f) {
			if !slices.Equal(list, plain[i]) {
				t.Errorf("%s: list %d differs", name, i)
			}
		}
	}
}

// TestFP8SecondOrder: gradients of gradients pass straight through the roundings, as PyTorch's casts let them.
func TestFP8SecondOrder(t *testing.T) {
	second := func(opts ...AutocastOption) []float64 {
		root := NewScope(Seed(7))
		defer root.Close()
		s := root.Autocast(Float32, opts...)
		x, w := fp8Layer(root, 16, 16, 16)
		y := Linear(s, x, w, nil)
		g := Grad(root, []*Tensor{Sum(root, PowScalar(root, y, 3))}, []*Tensor{x}, CreateGraph())
		return Grad(root, []*Tensor{Sum(root, Square(root, g[0]))}, []*Tensor{w})[0].Float64s()
	}
	exact, near := second(), second(FP8(&FP8Recipe{E4M3: true}))
	var diff, size float64
	for i, v := range exact {
		diff, size = diff+(v-near[i])*(v-near[i]), size+v*v
	}
	if r := math.Sqrt(diff / size); r == 0 || r > 0.15 { // six roundings of 1/16 at most, of random signs
		t.Errorf("the relative distance of second gradients is %v", r)
	}
}

// TestFP8RefusesAsLinear: what is no linear layer is refused as that, not for what 8 bits would need, and before anything is rounded.
func TestFP8RefusesAsLinear(t *testing.T) {
	root := NewScope(Record(Decisions))
	defer root.Close()
	s := root.In("net").Autocast(BFloat16, FP8(&FP8Recipe{Granularity: PerBlock}))
	w := Ones(root, Float32, 32, 32)
	for want, x := range map[string]*Tensor{
		"amp: linear (in net): shape mismatch: x bfloat16 [32 48]": Ones(root, Float32, 32, 48),
		"amp: linear (in net): dtype mismatch: x is int64":         Ones(root, Int64, 32, 32),
	} {
		if err := Maybe(func() { Linear(s, x, w, nil) }); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s …", err, want)
		}
	}
	if casts := casts8(root.Trace(), PhaseForward); len(casts) > 0 {
		t.Error("rounded before:", casts)
	}
}

// TestQuantizeScaledIsAnOp: it names the module in its errors, and sees tensors that a function made in another scope than it was given.
func TestQuantizeScaledIsAnOp(t *testing.T) {
	root := NewScope()
	defer root.Close()
	x := Ones(root, Float32, 2, 3).RequireGrad()
	for want, f := range map[string]func(){
		"quantize_scaled (in net): shape mismatch": func() { QuantizeScaled(root.In("net"), x, FormatE4M3, PerBlock, 1) },
		"made in another scope": func() {
			Checkpoint(root, func(s *Scope, in ...*Tensor) *Tensor {
				return QuantizeScaled(s, Exp(root, in[0]), FormatE4M3, PerTensor, 0)
			}, x)
		},
	} {
		if err := Maybe(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestFP8Infinite: what is infinite or NaN stays so, for a GradScaler to see.
func TestFP8Infinite(t *testing.T) {
	root := NewScope()
	defer root.Close()
	for _, g := range []Granularity{PerTensor, PerRow, PerBlock} {
		x := make([]float32, 64)
		for i := range x {
			x[i] = float32(i)
		}
		x[3], x[40] = float32(math.Inf(-1)), float32(math.NaN())
		y := QuantizeScaled(root, From(x, 2, 32), FormatE5M2, g, 1).Float64s()
		if !math.IsInf(y[3], -1) || y[40] == y[40] || y[1] != 1 {
			t.Errorf("a scale per %v: %v", g, y)
		}
	}
}

func TestFP8Refusals(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Ones(s, Float32, 4, 33)
	for want, f := range map[string]func(){
		"there is no granularity number 9":           func() { QuantizeScaled(s, x, FormatE4M3, 9, 0) },
		"there is no format number 77":               func() { QuantizeScaled(s, x, Format(77), PerTensor, 0) },
		"dimension 2 of a tensor of shape [4 33]":    func() { QuantizeScaled(s, x, FormatE4M3, PerRow, 2) },
		"has 33 elements, which are no blocks of 32": func() { QuantizeScaled(s, x, FormatE4M3, PerBlock, 1) },
		"x is nil":                          func() { QuantizeScaled(s, nil, FormatE4M3, PerTensor, 0) },
		"x is int64":                        func() { QuantizeScaled(s, From([]int64{1}), FormatE4M3, PerTensor, 0) },
		"a margin of -1 is not from 0 to 8": func() { s.Autocast(Float16, FP8(&FP8Recipe{Margin: -1})) },
		"FP8: bad argument: there is no granularity number": func() { s.Autocast(Float16, FP8(&FP8Recipe{Granularity: 9})) },
	} {
		err := Maybe(f)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || e.Fix == "" {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestFP8Margin: a recipe is copied when it is given, and its text says what it asks for.
func TestFP8Margin(t *testing.T) {
	r := FP8Recipe{Granularity: PerBlock, Margin: 2}
	s := NewScope()
	defer s.Close()
	half := s.Autocast(BFloat16, FP8(&r))
	r.Margin = 0
	if got, want := half.String(), "Scope(cpu, autocast bfloat16, fp8 e4m3, gradients e5m2, a scale per block of 32, margin 2)"; strings.Replace(got, s.Device(), "cpu", 1) != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := Explain(half, "linear", Float32, Float32).Rule; !strings.HasSuffix(got, "of operands rounded to 8 bits where its sizes are multiples of 32") {
		t.Errorf("Explain says %q", got)
	}
	left := s.Autocast(BFloat16, FP8(&FP8Recipe{Leave: func(m string) bool { return m == "head" }})).In("head")
	if got := Explain(left, "linear", Float32, Float32).Rule; !strings.HasPrefix(got, "lower: the scope's FP8 leaves this module out") {
		t.Errorf("of a module that is left out Explain says %q", got)
	}
}
