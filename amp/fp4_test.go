package amp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// TestFP4Stochastic: results are one of the two numbers around, the upper one where the stream's number is below the place between them, whatever
// the number of threads.
func TestFP4Stochastic(t *testing.T) {
	defer cpu.SetThreads(0)
	eachFP4(t, func(s *Scope, x *Tensor, c fp4Casting) {
		to := c.casting()
		to.random = true
		at := s.Random().State()
		got := s.quantizeScaled(x, to).Float64s()
		in := x.Float64s()
		scales := c.scales(x.dt, in, x.shape)
		for i, v := range in {
			if scales[i] == 0 || math.IsInf(v, 0) || v != v {
				if math.Abs(got[i]) > 0 && got[i] != v {
					t.Fatalf("%v becomes %v", v, got[i])
				}
				continue
			}
			q, u := min(math.Abs(v)/scales[i], 6), Draw{Seed: at.Seed, Block: at.Counter}.uniform(i)
			k := max(1, slices.IndexFunc(e2m1Numbers, func(n float64) bool { return n >= q }))
			low, high := e2m1Numbers[k-1], e2m1Numbers[k]
			want := low
			if (q-low)/(high-low) > u {
				want = high
			}
			if y := want * scales[i]; y > x.dt.Max() {
				want = 3
			}
			if math.Abs(got[i]) != want*scales[i] || math.Signbit(got[i]) != math.Signbit(v) {
				t.Fatalf("%+v of %v %v: %v with scale %v at %v gives %v, want %v", c, x.dt, x.shape, v, scales[i], u, got[i], want*scales[i])
			}
		}
		for _, threads := range []int{1, 3} {
			cpu.SetThreads(threads)
			s.Random().Load(at)
			if again := s.quantizeScaled(x, to).Float64s(); !slices.EqualFunc(again, got, func(a, b float64) bool { return a == b || a != a && b != b }) {
				t.Fatalf("%+v: other numbers with %d threads", c, threads)
			}
		}
	})
}

// TestStochasticMean: the mean of many stochastic roundings is the number, in 4 and 8 bits.
func TestStochasticMean(t *testing.T) {
	s := NewScope(Seed(11))
	defer s.Close()
	const lines = 4096
	v := make([]float32, 32)
	for i := range v {
		v[i] = float32(i) / 5.4
	}
	v[15], v[31] = 6, 6 // a scale that is not rounded down, so that nothing lies beyond 6 times it
	x := Expand(s, From(v, 1, 32), lines, 32)
	for _, c := range []struct {
		f Format
		g Granularity
	}{{FormatE2M1, PerBlock16}, {FormatE2M1, PerBlock}, {FormatE5M2, PerTensor}, {FormatE4M3, PerRow}} {
		y := QuantizeScaledStochastic(s, x, c.f, c.g, 1)
		for i, m := range Mean(s, To(s, y, Float64), 0).Float64s() {
			// the gap is at most 1 (of 4 and 6 times the scale): a standard deviation of 0.5/√4096 at most
			if v := float64(v[i]); math.Abs(m-v) > 5*0.5/64 {
				t.Errorf("%v %v: the mean of %v is %v", c.f, c.g, v, m)
			}
		}
	}
}

// TestFP4Decisions: which products read 4 bits, forward and backward, and what the trace says of each.
func TestFP4Decisions(t *testing.T) {
	const nearest, random = "reads numbers of 4 bits and their scales", "gradients are rounded stochastically"
	all := "lower: on operands rounded to 4 bits"
	for name, c := range map[string]struct {
		scope            func(s *Scope) *Scope
		rows, in, outs   int
		rule             string
		casts, turns, up int // roundings, transforms, and stochastic roundings among the former
	}{
		"nvfp4":         {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP4(&FP4Recipe{})) }, 32, 64, 96, all, 6, 2, 2},
		"mxfp4":         {func(s *Scope) *Scope { return s.Autocast(Float16, FP4(&FP4Recipe{MX: true})) }, 32, 64, 96, all, 6, 2, 2},
		"to nearest":    {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP4(&FP4Recipe{DisableStochasticRounding: true})) }, 32, 64, 96, all, 6, 2, 0},
		"no transforms": {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP4(&FP4Recipe{DisableRHT: true})) }, 32, 64, 96, all, 6, 0, 2},
		"no rows":       {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP4(&FP4Recipe{})) }, 0, 64, 96, all, 6, 2, 2},
		"odd rows":      {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP4(&FP4Recipe{})) }, 16, 64, 96, "lower: not in 4 bits, since a size is no multiple of 32", 0, 0, 0},
		"left out": {func(s *Scope) *Scope {
			return s.Autocast(BFloat16, FP4(&FP4Recipe{Leave: func(m string) bool { return m == "head" }})).In("head")
		}, 32, 64, 96, "lower: the scope's FP4 leaves this module out", 0, 0, 0},
		"off again":   {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP4(&FP4Recipe{})).Autocast(NoDType, FP4(nil)) }, 32, 64, 96, "lower: matrix product", 0, 0, 0},
		"8 bits last": {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP4(&FP4Recipe{}), FP8(&FP8Recipe{})) }, 32, 64, 96, "lower: on operands rounded to 8 bits", 5, 0, 0},
		"4 bits last": {func(s *Scope) *Scope {
			return s.Autocast(BFloat16, FP8(&FP8Recipe{})).Autocast(NoDType, FP4(&FP4Recipe{}))
		}, 32, 64, 96, all, 6, 2, 2},
		"FP8 off":      {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP4(&FP4Recipe{})).Autocast(NoDType, FP8(nil)) }, 32, 64, 96, all, 6, 2, 2},
		"autocast off": {func(s *Scope) *Scope { return s.Autocast(BFloat16, FP4(&FP4Recipe{}), Enabled(false)) }, 32, 64, 96, "autocast is off", 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			root := NewScope(Seed(3), Record(Decisions))
			defer root.Close()
			x, w := fp8Layer(root, c.rows, c.in, c.outs)
			Sum(root, Linear(c.scope(root), x, w, nil)).Backward()
			casts, turns, up, seen := 0, 0, 0, 0
			for _, e := range root.Trace().Events {
				switch {
				case e.Cast != nil && e.Cast.Format != "":
					casts++
					if strings.Contains(e.Rule, random) {
						up++
					}
					if strings.Contains(e.Rule, nearest) && (e.Phase != PhaseForward || e.Cast.By != "linear" || e.Cast.Format != "e2m1") {
						t.Errorf("%+v %+v", e, e.Cast)
					}
				case e.Op == "hadamard":
					turns++
				case e.Op == "linear":
					if seen++; !strings.HasPrefix(e.Rule, c.rule) {
						t.Errorf("the rule is %q, want %q …", e.Rule, c.rule)
					}
				}
			}
			if seen != 1 || casts != c.casts || turns != c.turns || up != c.up {
				t.Errorf("%d layers, %d roundings, %d transforms, %d stochastic, want 1, %d, %d and %d", seen, casts, turns, up, c.casts, c.turns, c.up)
			}
		})
	}
}

// fp4Run gives the result of a layer with gradients and the numbers that were drawn.
func fp4Run(r *FP4Recipe, f func(s *Scope, x, w *Tensor) *Tensor) [][]float64 {
	root := NewScope(Seed(5))
	defer root.Close()
	x, w := fp8Layer(root, 64, 128, 32)
	y := f(root.Autocast(BFloat16, FP4(r)), x, w)
	Sum(root, Square(root, y)).Backward()
	return [][]float64{y.Float64s(), x.Grad().Float64s(), w.Grad().Float64s(), {float64(root.Random().State().Counter)}}
}

// TestFP4Same: a layer in 4 bits gives the same bits with the same seed, and checkpointed; each switch changes what it is about.
func TestFP4Same(t *testing.T) {
	linear := func(s *Scope, x, w *Tensor) *Tensor { return Linear(s, x, w, nil) }
	plain := fp4Run(&FP4Recipe{}, linear)
	again := fp4Run(&FP4Recipe{}, linear)
	checkpointed := fp4Run(&FP4Recipe{}, func(s *Scope, x, w *Tensor) *Tensor {
		return Checkpoint(s, func(s *Scope, in ...*Tensor) *Tensor { return Linear(s, in[0], w, nil) }, x)
	})
	for i := range plain {
		if !slices.Equal(again[i], plain[i]) || !slices.Equal(checkpointed[i], plain[i]) {
			t.Errorf("list %d differs", i)
		}
	}
	for name, c := range map[string]struct {
		r                 FP4Recipe
		y, dx, dw, stream bool // stay as they are
	}{
		"RHT":     {FP4Recipe{DisableRHT: true}, true, true, false, true},
		"random":  {FP4Recipe{DisableStochasticRounding: true}, true, false, false, false},
		"squares": {FP4Recipe{Disable2DQuantization: true}, false, false, false, true},
		"mx":      {FP4Recipe{MX: true}, false, false, false, true},
	} {
		got := fp4Run(&c.r, linear)
		for i, same := range []bool{c.y, c.dx, c.dw, c.stream} {
			if slices.Equal(got[i], plain[i]) != same {
				t.Errorf("%s: list %d is the same: %v, want %v", name, i, !same, same)
			}
		}
	}
}

// TestFP4GradientsAreUnbiased: over many seeds the mean of stochastically rounded gradients is that of gradients whose dy is not rounded, while
// rounding to nearest leaves a bias.
func TestFP4GradientsAreUnbiased(t *testing.T) {
	const seeds = 400
	root := NewScope(Seed(2))
	defer root.Close()
	x, w := fp8Layer(root, 32, 32, 32)
	dy := Randn(root, Float32, 0, 1, 32, 32)
	gradient := func(r *FP4Recipe, seed uint64) []float64 {
		s := NewScope(Seed(seed))
		defer s.Close()
		y := Linear(s.Autocast(Float32, FP4(r)), x, w, nil)
		return Grad(s, []*Tensor{y}, []*Tensor{x}, GradOutputs(dy))[0].Float64s()
	}
	// what the products of backward would be with dy as it is and W rounded as it is
	w4 := root.quantizeScaled(w, (&FP4Recipe{}).cast(1, 0))
	want := MatMul(root, dy, w4).Float64s()
	mean := make([]float64, len(want))
	for seed := range uint64(seeds) {
		for i, v := range gradient(&FP4Recipe{}, seed) {
			mean[i] += v / seeds
		}
	}
	distance := func(a []float64) float64 {
		var d, n float64
		for i, v := range want {
			d, n = d+(a[i]-v)*(a[i]-v), n+v*v
		}
		return math.Sqrt(d / n)
	}
	once, nearest, many := distance(gradient(&FP4Recipe{}, 1)), distance(gradient(&FP4Recipe{DisableStochasticRounding: true}, 1)), distance(mean)
	// Scales that were rounded down leave a little: 6 stands for up to 6.4.
	if many > once/8 || many > nearest/4 {
		t.Errorf("the relative distance of one is %v, of the mean of %d %v, rounded to nearest %v", once, seeds, many, nearest)
	}
}

// TestFP4Strings: recipes are copied when they are given, and say what they ask for; so does Explain.
func TestFP4Strings(t *testing.T) {
	s := NewScope()
	defer s.Close()
	r := FP4Recipe{}
	half := s.Autocast(BFloat16, FP4(&r))
	r.MX = true
	for want, got := range map[string]string{
		"autocast bfloat16, fp4 e2m1, a scale in e4m3 per block of 16, per 16×16 of weights, gradients rounded stochastically, Hadamard transforms)": half.String(),
		"autocast bfloat16, fp4 e2m1, a scale per block of 32)":             s.Autocast(BFloat16, FP4(&FP4Recipe{MX: true, DisableRHT: true, DisableStochasticRounding: true, Disable2DQuantization: true})).String(),
		"of operands rounded to 4 bits where its sizes are multiples of 32": Explain(half, "linear", Float32, Float32).Rule,
	} {
		if !strings.HasSuffix(got, want) {
			t.Errorf("%s, want … %s", got, want)
		}
	}
}

func TestFP4Refusals(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Ones(s, Float32, 4, 33)
	for want, f := range map[string]func(){
		"has 33 elements, which are no blocks of 16":       func() { QuantizeScaled(s, x, FormatE2M1, PerBlock16, 1) },
		"scales in e4m3 are for e2m1, not for e4m3":        func() { QuantizeScaledStochastic(s, x, FormatE4M3, PerBlock16, 1) },
		"hadamard: shape mismatch: dimension 1 of shape":   func() { Hadamard(s, x, -1) },
		"hadamard: shape mismatch: dimension 2":            func() { HadamardInverse(s, x, 2) },
		"hadamard: bad argument: x is nil":                 func() { Hadamard(s, nil, 0) },
		"hadamard: dtype mismatch: x is int64":             func() { Hadamard(s, From(make([]int64, 16)), 0) },
		"FP8: bad argument: a scale per block16 is for 4 ": func() { s.Autocast(BFloat16, FP8(&FP8Recipe{Granularity: PerBlock16})) },
	} {
		err := Maybe(f)
		var e *Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) || e.Fix == "" {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
