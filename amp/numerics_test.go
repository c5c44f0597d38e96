package amp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func init() {
	addCases(map[string][]opCase{
		"quantize_scaled": {
			scaledCase("tensor", PerTensor, 0, 2, 3), scaledCase("rows", PerRow, 1, 2, 3), scaledCase("columns", PerRow, 0, 2, 3),
			scaledCase("blocks", PerBlock, 1, 2, 32), scaledCase("blocks of columns", PerBlock, 1, 2, 32, 2),
			fp4Case("nvfp4", casting{granularity: PerBlock16, dim: 1}, 2, 32), fp4Case("nvfp4 of columns", casting{granularity: PerBlock16, dim: 1}, 2, 32, 2),
			fp4Case("squares", casting{granularity: PerBlock16, square: true}, 2, 16, 32), fp4Case("squares of mx", casting{granularity: PerBlock, square: true}, 32, 32),
			fp4Case("nvfp4 at random", casting{granularity: PerBlock16, dim: 0, random: true}, 32, 3), fp4Case("mx at random", casting{granularity: PerBlock, dim: 1, random: true}, 3, 64),
			fp4Case("at random", casting{granularity: PerRow, dim: 1, random: true}, 3, 5),
		},
		"hadamard": {
			{name: "rows", inputs: []input{in(-1, 1, 2, 32)}, terms: 16, call: func(s *Scope, x []*Tensor) *Tensor { return Hadamard(s, x[0], 1) }},
			{name: "columns", inputs: []input{in(-1, 1, 2, 16, 3)}, terms: 16, call: func(s *Scope, x []*Tensor) *Tensor { return Hadamard(s, x[0], 1) }},
			{name: "back", inputs: []input{in(-1, 1, 32, 3)}, terms: 16, call: func(s *Scope, x []*Tensor) *Tensor { return HadamardInverse(s, x[0], 0) }},
		},
		"quantize": {{inputs: []input{in(-2, 2, 2, 3)}, flat: true, through: true, call: func(s *Scope, x []*Tensor) *Tensor { return Quantize(s, x[0], FormatE4M3) }}},
	})
}

func scaledCase(name string, g Granularity, dim int, shape ...int) opCase {
	return opCase{name: name, inputs: []input{in(-2, 2, shape...)}, flat: true, through: true, call: func(s *Scope, x []*Tensor) *Tensor {
		return QuantizeScaled(s, x[0], FormatE4M3, g, dim)
	}}
}

// fp4Case rounds to E2M1 in a way that products of 4 bits do.
func fp4Case(name string, to casting, shape ...int) opCase {
	to.format = FormatE2M1
	return opCase{name: name, inputs: []input{in(-2, 2, shape...)}, flat: true, through: true, call: func(s *Scope, x []*Tensor) *Tensor {
		if !to.random {
			return s.quantizeAsked(x[0], to)
		}
		nearest := to
		nearest.random = false
		s.quantizeAsked(x[0], nearest)                                         // refuses what it refuses
		at := Attrs{Start: int(to.format), Reverse: true, Draw: Draw{Seed: 7}} // the same numbers each time
		in, _ := s.scaledBy(x[0], &to, &at)
		return s.apply(opQuantizeScaled, at, in...)
	}}
}

func TestQuantize(t *testing.T) {
	s := NewScope(Seed(3))
	defer s.Close()
	x := Randn(s, Float32, 0, 10, 100)
	for _, f := range Formats() {
		for i, v := range Quantize(s, x, f).Float64s() {
			if want := f.Round(x.Float64s()[i]); v != want {
				t.Fatalf("%v: %v, want %v", f, v, want)
			}
		}
	}
	// The numbers drawn depend on the stream alone, and their mean is the number.
	big := Full(s, Float32, 1+0.25*0x1p-7, 1<<17)
	before := s.Random().State()
	a := QuantizeStochastic(s, big, FormatBF16)
	s.Random().Load(before)
	b := QuantizeStochastic(s, big, FormatBF16)
	if !slices.Equal(a.Float64s(), b.Float64s()) {
		t.Error("the same stream gives other numbers")
	}
	if m := (Mean(s, To(s, a, Float64)).Item() - 1) * 0x1p7; !(math.Abs(m-0.25) <= 0.01) {
		t.Errorf("the mean lies at %v of the gap, want 0.25", m)
	}
}

// TestExponents counts numbers whose place is known.
func TestExponents(t *testing.T) {
	h := CountExponents(FromFloat64s(Float16, []float64{0, 0, 1, -1.5, 2, 0x1p-24, math.Inf(-1), math.NaN(), 65504}))
	if h.N != 9 || h.Zeros != 2 || h.Subnormals != 1 || h.Infs != 1 || h.NaNs != 1 || h.Amax != 65504 || h.Amin != 0x1p-24 || h.Low != -24 || len(h.Counts) != 40 {
		t.Errorf("%+v", h)
	}
	for i, n := range h.Counts {
		want := map[int]int{-24: 1, 0: 2, 1: 1, 15: 1}[h.Low+i]
		if n != want {
			t.Errorf("%d numbers with exponent %d, want %d", n, h.Low+i, want)
		}
	}
	sub := CountExponents(From([]float64{0x1p-1074, 0x1p-1030}))
	if sub.Low != -1074 || sub.Counts[0] != 1 || sub.Counts[44] != 1 || sub.Subnormals != 2 {
		t.Errorf("%+v", sub)
	}
	if e := CountExponents(From([]float32{})); e.N != 0 || e.Counts != nil {
		t.Errorf("%+v", e)
	}
	view := NewScope()
	defer view.Close()
	if e := CountExponents(Transpose(view, From([]float32{1, 2, 4, 8}, 2, 2), 0, 1)); len(e.Counts) != 4 {
		t.Errorf("%+v", e)
	}
}

// TestFate compares with really rounding the numbers, away from the edges of the binades.
func TestFate(t *testing.T) {
	s := NewScope(Seed(9))
	defer s.Close()
	v := make([]float64, 4000)
	NewStream(1).fill(v, func(a, b float64) (float64, float64) {
		return math.Ldexp(1.1+0.8*a, int(b*90)-60), -math.Ldexp(1.1+0.8*b, int(a*90)-60)
	})
	h := CountExponents(From(v))
	for _, f := range Formats() {
		for _, scale := range []float64{1, 1024, 0x1p-20} {
			var want Fate
			for _, x := range v {
				_, high := math.Frexp(x * scale)
				_, most := math.Frexp(f.Max())
				switch r := math.Abs(f.Round(x * scale)); {
				case r == 0:
					want.Zero++
				case r > f.Max() || r != r || high > most: // e2m1 saturates
					// A binade that ends beyond the largest number counts as kept whole.
					_, top := math.Frexp(f.Max())
					if _, e := math.Frexp(x * scale); e == top {
						want.Normal++
						continue
					}
					want.Overflow++
				case r < f.MinNormal() && math.Abs(x*scale) < f.MinNormal():
					want.Subnormal++
				default:
					if math.Abs(x*scale) < f.MinNormal() { // rounded up into the normals
						want.Subnormal++
						continue
					}
					want.Normal++
				}
			}
			if got := h.Fate(f, scale); got != want {
				t.Errorf("%v times %v: %+v, want %+v", f, scale, got, want)
			}
		}
	}
	g := CountExponents(From([]float64{0.99, 1e-7}))
	if k := g.SuggestScale(FormatFP16, 0); k != 65536 || g.Fate(FormatFP16, k).Overflow != 0 || g.Fate(FormatFP16, 2*k).Overflow != 1 {
		t.Errorf("suggested %v", k)
	}
	if k := g.SuggestScale(FormatFP16, 3); k != 8192 {
		t.Errorf("with headroom %v", k)
	}
}

// TestHealth: results, casts and gradients are counted at that level and at no other, in the steps asked for.
func TestHealth(t *testing.T) {
	run := func(level Level, opts ...Option) *Trace {
		root := NewScope(append(opts, Record(level))...)
		defer root.Close()
		w := From([]float32{1e-6, 3e5, 1e-9, 0}).RequireGrad()
		for s := range root.Steps(4) {
			half := s.Autocast(Float16, CacheEnabled(false))
			y := Reshape(s, Dot(half, FromFloat64s(Float16, []float64{1, 1, 1, 1}), To(half, w, Float16)), 1)
			Sum(s, y).Backward()
			w.ZeroGrad()
		}
		return root.Trace()
	}
	for _, e := range run(Decisions).Events {
		if e.Health != nil {
			t.Fatalf("%s was looked at", e.Op)
		}
	}
	steps := map[int]bool{}
	for _, e := range run(Health, HealthEvery(3)).Events {
		steps[e.Step] = steps[e.Step] || e.Health != nil
		view := e.Op == "reshape" || e.Op == "expand"
		if (e.Health != nil) != (e.Step%3 == 0 && (!view || e.Gradient)) || e.Gradient && e.Phase != PhaseBackward {
			t.Errorf("step %d, %s: health %v", e.Step, e.Op, e.Health)
		}
		if e.Step == 0 && e.Phase == PhaseForward && e.Cast != nil && (e.Health.Infs != 1 || e.Health.Subnormals != 1 || e.Health.Zeros != 2 || e.Cast.Lost != 1 || e.Cast.Over != 1) {
			t.Errorf("the cast to float16 made %+v and lost %+v", e.Health, e.Cast)
		}
	}
	if !steps[0] || steps[1] || !steps[3] {
		t.Error(steps)
	}
}

// TestMemoryLimit: what does not fit says so, and what is refused is not counted.
func TestMemoryLimit(t *testing.T) {
	used := MemStats()[home()].Bytes
	defer MemoryLimit(home(), MemoryLimit(home(), used+1000))
	a := From(make([]float32, 200))
	defer a.Free()
	err := Maybe(func() { From(make([]float32, 60)) })
	if !errors.Is(err, ErrMemory) || !strings.Contains(err.Error(), "float32") || !strings.Contains(err.Error(), fmt.Sprint(used+1000)) {
		t.Error(err)
	}
	if now := MemStats()[home()]; now.Bytes != used+800 || now.Limit != used+1000 {
		t.Errorf("%+v", now)
	}
	b := FromFloat64s(Float16, make([]float64, 60)) // half the bytes fit
	b.Free()
	if old := MemoryLimit(home(), 0); old != used+1000 {
		t.Error(old)
	}
	From(make([]float32, 60)).Free()
}

// TestTooLarge: what no machine holds is refused, and the process goes on.
func TestTooLarge(t *testing.T) {
	before := MemStats()[home()].Bytes
	s, x := NewScope(), From([]float32{1})
	if err := Maybe(func() { Contiguous(s, Expand(s, x, 1<<44)) }); !errors.Is(err, ErrMemory) {
		t.Error(err)
	}
	s.Close()
	x.Free()
	if now := MemStats()[home()].Bytes; now != before {
		t.Errorf("%d bytes counted for what was refused", now-before)
	}
}

func ExampleExperimentSums() {
	ones := make([]float64, 4096)
	for i := range ones {
		ones[i] = 1
	}
	fmt.Print(ExperimentSums(ones, FormatFP16))
	// Output:
	// 4096 numbers in fp16, exact sum 4096
	// first to last                  2048   error -2.05e+03
	// last to first                  2048   error -2.05e+03
	// smallest first                 2048   error -2.05e+03
	// largest first                  2048   error -2.05e+03
	// blocks of 32                   4096   error 0
	// pairwise                       4096   error 0
	// compensated (Kahan)            4096   error 0
	// in float32                     4096   error 0
}
