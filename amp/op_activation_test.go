package amp

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// TestActivationValues compares with the formulas of PyTorch's documentation, written again here.
func TestActivationValues(t *testing.T) {
	s := NewScope()
	defer s.Close()
	xs := []float64{-30, -6, -3, -1.25, -0.5, -0.2, 0, 0.2, 0.5, 1.25, 3, 5.5, 7, 30}
	x := FromFloat64s(Float64, xs, len(xs))
	relu6 := func(v float64) float64 { return math.Min(math.Max(v, 0), 6) }
	sig := func(v float64) float64 { return math.Exp(v) / (1 + math.Exp(v)) }
	sign := func(v float64) float64 { return math.Copysign(1, v) }
	for name, c := range map[string]struct {
		got  *Tensor
		want func(v float64) float64
	}{
		"leaky_relu": {LeakyReLU(s, x, 0.01), func(v float64) float64 { return math.Max(0, v) + 0.01*math.Min(0, v) }},
		"elu":        {ELU(s, x, 1.5), func(v float64) float64 { return math.Max(0, v) + math.Min(0, 1.5*(math.Exp(v)-1)) }},
		"selu": {SELU(s, x), func(v float64) float64 {
			return 1.0507009873554805 * (math.Max(0, v) + math.Min(0, 1.6732632423543772*(math.Exp(v)-1)))
		}},
		"celu":        {CELU(s, x, 2), func(v float64) float64 { return math.Max(0, v) + math.Min(0, 2*(math.Exp(v/2)-1)) }},
		"hardswish":   {Hardswish(s, x), func(v float64) float64 { return v * relu6(v+3) / 6 }},
		"hardsigmoid": {Hardsigmoid(s, x), func(v float64) float64 { return relu6(v+3) / 6 }},
		"hardtanh":    {Hardtanh(s, x, -1, 2), func(v float64) float64 { return math.Max(-1, math.Min(2, v)) }},
		"relu6":       {ReLU6(s, x), relu6},
		"mish":        {Mish(s, x), func(v float64) float64 { return v * math.Tanh(math.Log1p(math.Exp(v))) }},
		"softsign":    {Softsign(s, x), func(v float64) float64 { return v / (1 + math.Abs(v)) }},
		"tanhshrink":  {Tanhshrink(s, x), func(v float64) float64 { return v - (1 - 2/(math.Exp(2*v)+1)) }},
		"hardshrink": {Hardshrink(s, x, 0.5), func(v float64) float64 {
			if math.Abs(v) > 0.5 {
				return v
			}
			return 0
		}},
		"softshrink": {Softshrink(s, x, 0.5), func(v float64) float64 { return sign(v) * math.Max(math.Abs(v)-0.5, 0) }},
		"threshold": {Threshold(s, x, 0.5, -7), func(v float64) float64 {
			if v > 0.5 {
				return v
			}
			return -7
		}},
		"logsigmoid": {LogSigmoid(s, x), func(v float64) float64 { return math.Log(sig(v)) }},
		"gelu":       {GELU(s, x), func(v float64) float64 { return v / 2 * (1 + math.Erf(v/math.Sqrt2)) }},
		"gelu_tanh": {GELUTanh(s, x), func(v float64) float64 {
			return 0.5 * v * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*math.Pow(v, 3))))
		}},
		"softplus": {SoftplusBeta(s, x, 2, 20), func(v float64) float64 {
			if 2*v > 20 {
				return v
			}
			return math.Log(1+math.Exp(2*v)) / 2
		}},
		"softmin": {Softmin(s, x, 0), func(v float64) float64 {
			sum := 0.0
			for _, w := range xs {
				sum += math.Exp(v - w)
			}
			return 1 / sum
		}},
	} {
		for i, g := range c.got.Float64s() {
			if w := c.want(xs[i]); !(math.Abs(g-w) <= 1e-12*(1+math.Abs(w))) {
				t.Errorf("%s(%v) = %.15g, want %.15g", name, xs[i], g, w)
			}
		}
	}
}

// TestActivationEdges: infinities and NaN, and the slopes where pieces meet, which are PyTorch's.
func TestActivationEdges(t *testing.T) {
	s := NewScope()
	defer s.Close()
	inf, nan := math.Inf(1), math.NaN()
	type f = func(s *Scope, x *Tensor) *Tensor
	hard := func(s *Scope, x *Tensor) *Tensor { return Hardshrink(s, x, 0.5) }
	soft := func(s *Scope, x *Tensor) *Tensor { return Softshrink(s, x, 0.5) }
	leaky := func(s *Scope, x *Tensor) *Tensor { return LeakyReLU(s, x, 0.1) }
	above := func(s *Scope, x *Tensor) *Tensor { return Threshold(s, x, 1, 9) }
	elu := func(s *Scope, x *Tensor) *Tensor { return ELU(s, x, 2) }
	for _, c := range []struct {
		name     string
		f        f
		x, y, dx float64
	}{
		{"leaky at 0", leaky, 0, 0, 0.1}, {"leaky -inf", leaky, -inf, -inf, 0.1}, {"leaky nan", leaky, nan, nan, 1},
		{"relu6 at 0", ReLU6, 0, 0, 0}, {"relu6 at 6", ReLU6, 6, 6, 0}, {"relu6 inf", ReLU6, inf, 6, 0}, {"relu6 nan", ReLU6, nan, nan, 1},
		{"hardsigmoid at -3", Hardsigmoid, -3, 0, 0}, {"hardsigmoid at 3", Hardsigmoid, 3, 1, 0}, {"hardsigmoid inf", Hardsigmoid, inf, 1, 0},
		{"hardswish at -3", Hardswish, -3, 0, 0}, {"hardswish at 3", Hardswish, 3, 3, 1}, {"hardswish -inf", Hardswish, -inf, 0, 0},
		{"hardshrink at lambda", hard, 0.5, 0, 0}, {"hardshrink -inf", hard, -inf, -inf, 1}, {"hardshrink nan", hard, nan, nan, 1},
		{"softshrink at -lambda", soft, -0.5, 0, 0}, {"softshrink nan", soft, nan, nan, 1},
		{"threshold at it", above, 1, 9, 0}, {"threshold -inf", above, -inf, 9, 0}, {"threshold nan", above, nan, nan, 1},
		{"elu at 0", elu, 0, 0, 2}, {"elu -inf", elu, -inf, -2, 0}, {"elu inf", elu, inf, inf, 1},
		{"logsigmoid -800", LogSigmoid, -800, -800, 1}, {"logsigmoid 800", LogSigmoid, 800, 0, 0},
		{"softplus 800", Softplus, 800, 800, 1}, {"mish -800", Mish, -800, 0, 0}, {"mish 800", Mish, 800, 800, 1},
		{"abs of softsign at 0", Softsign, 0, 0, 1},
	} {
		x := From([]float64{c.x}).RequireGrad()
		y := c.f(s, x)
		Sum(s, y).Backward()
		same := func(a, b float64) bool { return a == b || a != a && b != b }
		if dx := x.Grad().Float64s()[0]; !same(y.Float64s()[0], c.y) || !same(dx, c.dx) {
			t.Errorf("%s: %v with slope %v, want %v with slope %v", c.name, y.Float64s()[0], dx, c.y, c.dx)
		}
	}
	// The second derivative far out is 0, not the NaN of an overflowed exponential times 0.
	for name, f := range map[string]f{"elu": elu, "selu": SELU, "gelu": GELU, "gelu_tanh": GELUTanh, "silu": SiLU, "softplus": Softplus} {
		x := From([]float64{-800, 800}).RequireGrad()
		g := Grad(s, []*Tensor{Sum(s, f(s, x))}, []*Tensor{x}, CreateGraph())[0]
		Sum(s, g).Backward()
		for i, v := range x.Grad().Float64s() {
			if v != 0 {
				t.Errorf("%s: second derivative %v at element %d", name, v, i)
			}
		}
	}
}

func TestPReLUAndGLU(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float64{1, -2, 3, -4, 5, -6, -7, 8}, 2, 2, 2).RequireGrad()
	w := From([]float64{0.5, 0.25}).RequireGrad()
	y := PReLU(s, x, w)
	wantValues(t, "prelu", y, 1, -1, 3, -1, 5, -3, -1.75, 8)
	Sum(s, y).Backward()
	wantValues(t, "dx", x.Grad(), 1, 0.5, 1, 0.25, 1, 0.5, 0.25, 1)
	wantValues(t, "dw", w.Grad(), -2-6, -4-7)
	g := GLU(s, From([]float64{1, 2, 0, math.Log(3)}, 1, 4), 1)
	wantValues(t, "glu", g, 0.5, 1.5)
	for name, c := range map[string]struct {
		kind error
		say  string
		f    func()
	}{
		"prelu size":  {ErrShape, "[2]", func() { PReLU(s, x, From([]float64{1, 2, 3})) }},
		"prelu rank":  {ErrShape, "weight", func() { PReLU(s, x, From([]float64{1, 2}, 2, 1)) }},
		"prelu dtype": {ErrDType, "amp.To", func() { PReLU(s, x, From([]float32{1})) }},
		"glu odd":     {ErrShape, "even", func() { GLU(s, From([]float64{1, 2, 3}), 0) }},
		"hardtanh":    {ErrArgument, "smaller bound", func() { Hardtanh(s, x, 1, -1) }},
		"softshrink":  {ErrArgument, "lambda -1", func() { Softshrink(s, x, -1) }},
		"celu":        {ErrArgument, "alpha 0", func() { CELU(s, x, 0) }},
		"softplus":    {ErrArgument, "beta 0", func() { SoftplusBeta(s, x, 0, 20) }},
		"integers":    {ErrDType, "need a float", func() { Mish(s, From([]int64{1})) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Maybe(func() { PReLU(s, w, From([]float64{1, 2, 3})) }); err == nil || !strings.HasSuffix(err.Error(), "use a weight of [1]") {
		t.Errorf("prelu of a vector, whose numbers are no channels: %v", err)
	}
}

// TestPReLUIsLowered: its input is cast down, and its weight through the cache, once for two uses.
func TestPReLUIsLowered(t *testing.T) {
	s := NewScope(Record(Decisions))
	defer s.Close()
	w := From([]float32{0.25}).RequireGrad()
	half := s.Autocast(Float16)
	y := PReLU(half, PReLU(half, From([]float32{-4}), w), w)
	if made, hits := casts(s); y.dt != Float16 || y.Item() != -0.25 || made != 2 || hits != 1 {
		t.Errorf("%v %v, %d casts, %d hits", y.dt, y.Item(), made, hits)
	}
}

// wantValues compares a tensor with numbers, within 1e-12.
func wantValues(t *testing.T, what string, got *Tensor, want ...float64) {
	t.Helper()
	g := got.Float64s()
	if len(g) != len(want) {
		t.Fatalf("%s: %v, want %v", what, g, want)
	}
	for i, w := range want {
		near := math.Abs(g[i]-w) <= 1e-12*(1+math.Abs(w)) && !math.IsInf(w, 0)
		if !near && g[i] != w && (g[i] == g[i] || w == w) {
			t.Errorf("%s: element %d of %v, want %v", what, i, g, want)
			return
		}
	}
}
