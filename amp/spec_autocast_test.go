package amp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// One test for each section of the behavioral specification of torch.amp that this package is written to (PyTorch 2.x), named after the
// section. Where Halftone differs on purpose, the test says so.

// spec is a scope with a few tensors for these tests.
type spec struct {
	*testing.T
	root                *Scope
	f32, f16, bf16, f64 *Tensor // [2 2]
	i64                 *Tensor
}

func newSpec(t *testing.T) *spec {
	v := []float64{1, 2, 3, 4}
	s := &spec{T: t, root: NewScope(Record(Decisions), Seed(1))}
	s.f32, s.f16, s.bf16, s.f64 = FromFloat64s(Float32, v, 2, 2), FromFloat64s(Float16, v, 2, 2), FromFloat64s(BFloat16, v, 2, 2), FromFloat64s(Float64, v, 2, 2)
	s.i64 = FromFloat64s(Int64, v, 2, 2)
	t.Cleanup(s.root.Close)
	return s
}

func (s *spec) is(what string, got, want any) {
	s.Helper()
	if got != want {
		s.Errorf("%s: %v, want %v", what, got, want)
	}
}

func (s *spec) refused(what string, kind error, f func()) {
	s.Helper()
	if err := Maybe(f); !errors.Is(err, kind) {
		s.Errorf("%s: %v, want %v", what, err, kind)
	}
}

// 1.1 State: who is on, in which dtype, and what nesting does. Scopes are values here, so what the reference does wrong on entering one
// object twice, in a suspended generator or a new thread can't happen.
func TestSpec11State(t *testing.T) {
	s := newSpec(t)
	half := s.root.Autocast(Float16)
	mm := func(x *Scope) DType { return MatMul(x, s.f32, s.f32).dt }
	_, on := s.root.AutocastDType()
	s.is("off by default", on, false)
	s.is("default dtype", mm(s.root.Autocast(NoDType)), Float16)
	s.is("without a dtype the current one stays", mm(s.root.Autocast(BFloat16).Autocast(NoDType)), BFloat16)
	s.is("disabled within", mm(half.Autocast(NoDType, Enabled(false))), Float32)
	s.is("a disabled scope sets the dtype for those within", mm(half.Autocast(BFloat16, Enabled(false)).Autocast(NoDType)), BFloat16)
	s.is("float32 is accepted", mm(s.root.Autocast(Float32)), Float32)
	s.refused("an integer dtype", ErrDType, func() { s.root.Autocast(Int64) }) // the reference accepts anything for CUDA
	s.refused("an unknown device", ErrDevice, func() { NewScope(On("tpu")) })
	for range 2 { // entering "the same object" twice, nested, leaves nothing behind
		inner := half.Autocast(NoDType, Enabled(false))
		s.is("inner", mm(inner), Float32)
		s.is("inner again, nested", mm(inner), Float32)
		s.is("outer after", mm(half), Float16)
	}
	if Maybe(func() { MatMul(half, s.f32, From([]float32{1}, 1, 1)) }) == nil { // an error within
		s.Error("no error")
	}
	s.is("the scope outside after an error", mm(s.root), Float32)
}

// 1.2 Eligibility: floats but float64 are cast; everything else passes, and kernels refuse what then does not fit.
func TestSpec12Eligibility(t *testing.T) {
	s := newSpec(t)
	half := s.root.Autocast(BFloat16)
	s.is("float64 stays", MatMul(half, s.f64, s.f64).dt, Float64)
	s.refused("float64 with float32", ErrDType, func() { MatMul(half, s.f64, s.f32) })
	s.refused("float64 with float16", ErrDType, func() { MatMul(half, s.f64, s.f16) })
	s.is("integers stay", MatMul(half, s.i64, s.i64).dt, Int64)
	s.refused("integers with float32", ErrDType, func() { MatMul(half, s.i64, s.f32) })
	s.is("another half is cast too", MatMul(half, s.f16, s.f16).dt, BFloat16)
	s.is("fp32 ops leave float64 alone", Exp(half, s.f64).dt, Float64)
}

// 1.3 Policies: lower, fp32, fp32 output by the first argument, promote with its error, banned, unlisted. (Each row's class is walked
// by TestEveryOpDecision.)
func TestSpec13Policies(t *testing.T) {
	s := newSpec(t)
	half := s.root.Autocast(Float16)
	s.is("lower", MatMul(half, s.f32, s.bf16).dt, Float16)
	s.is("fp32", Exp(half, s.f16).dt, Float32)
	s.is("fp32 output", Softmax(half, s.f16, 0).dt, Float32)
	made, _ := casts(s.root)
	Sum(half, s.f16)
	again, _ := casts(s.root)
	s.is("fp32 output casts no input", again, made)
	s.is("fp32 output leaves integers alone", Sum(half, s.i64).dt, Int64)
	s.is("fp32 output leaves float64 alone", Sum(half, s.f64).dt, Float64)
	s.is("norm", Norm(half, s.f16).dt, Float32)
	s.is("norm of float64", Norm(half, s.f64).dt, Float64)
	row := func(x *Tensor) *Tensor { return Reshape(s.root, x, 4) }
	s.is("promote of halves", Dot(half, row(s.f16), row(s.f16)).dt, Float16)
	s.is("promote of half and float32", Dot(half, row(s.f16), row(s.f32)).dt, Float32)
	s.refused("promote of the other half", ErrDType, func() { Dot(half, row(s.bf16), row(s.f16)) })
	s.refused("banned", ErrBanned, func() { BCE(half, Sigmoid(half, s.f32), s.f32) })
	s.is("unlisted", ReLU(half, s.bf16).dt, BFloat16)
	// While an op runs, autocast does not see its parts: one cast for each input, none within.
	made, _ = casts(s.root)
	MV(half, s.f32, From([]float32{1, 2}))
	again, _ = casts(s.root)
	s.is("casts of a composite", again-made, 2)
}

// 1.4 Lists: what follows by composition. (Every listed name is checked by TestListsAreComplete and TestEveryOpClass, the CPU's by
// TestEveryOpCPUList.)
func TestSpec14Lists(t *testing.T) {
	s := newSpec(t)
	half, cpu := s.root.Autocast(Float16), s.root.Autocast(BFloat16, UseLists(CPULists))
	labels := From([]int64{0, 1})
	s.is("cross_entropy", CrossEntropy(half, s.f16, labels).dt, Float32)
	s.is("x**y", Pow(half, s.f16, s.f16).dt, Float32)
	s.is("1/x", Reciprocal(half, s.f16).dt, Float32)
	for name, f := range map[string]func(*Scope, *Tensor) *Tensor{
		"exp": Exp, "log": Log, "softmax": func(s *Scope, x *Tensor) *Tensor { return Softmax(s, x, 0) },
		"sum": func(s *Scope, x *Tensor) *Tensor { return Sum(s, x) }, "pow": func(s *Scope, x *Tensor) *Tensor { return PowScalar(s, x, 2.5) },
		"layer_norm": func(s *Scope, x *Tensor) *Tensor { return LayerNorm(s, x, nil, nil, 1e-5) },
		"cumsum":     func(s *Scope, x *Tensor) *Tensor { return Cumsum(s, x, 0) },
		"norm":       func(s *Scope, x *Tensor) *Tensor { return Norm(s, x) },
		"logsumexp":  func(s *Scope, x *Tensor) *Tensor { return LogSumExp(s, x) },
	} {
		s.is(name+" on the CPU lists", f(cpu, s.bf16).dt, BFloat16)
		s.is(name+" on the CUDA lists", f(half, s.f16).dt, Float32)
	}
	s.is("mv on the CPU lists", MV(cpu, s.f32, From([]float32{1, 2})).dt, Float32)
	s.is("mse_loss on the CPU lists", MSELoss(cpu, s.bf16, s.bf16).dt, Float32)
	for name, f := range map[string]func(*Scope, *Tensor) *Tensor{"gelu": GELU, "relu": ReLU, "mean": func(s *Scope, x *Tensor) *Tensor { return Mean(s, x) }, "var": func(s *Scope, x *Tensor) *Tensor { return Var(s, x) }} {
		s.is(name+" is on neither", [2]DType{f(half, s.f16).dt, f(cpu, s.bf16).dt}, [2]DType{Float16, BFloat16})
	}
}

// 1.5 Variants: in-place ops, explicit dtypes, factories, ordinary promotion.
func TestSpec15Variants(t *testing.T) {
	s := newSpec(t)
	half := s.root.Autocast(Float16)
	f := FromFloat64s(Float32, []float64{1, 2}, 2)
	AddInPlace(half, f, FromFloat64s(BFloat16, []float64{1, 1}, 2))
	s.is("float32 += bfloat16", f.dt, Float32)
	h := FromFloat64s(BFloat16, []float64{1, 2}, 2)
	AddInPlace(half, h, f)
	s.is("bfloat16 += float32", h.dt, BFloat16)
	s.is("an explicit dtype wins", Softmax(half, s.f16, 0, Float16).dt, Float16)
	s.is("also over the other half", Softmax(half, s.f16, 0, BFloat16).dt, BFloat16)
	s.is("factories", [2]DType{Full(half, Float32, 1, 2).dt, Randn(half, Float32, 0, 1, 2).dt}, [2]DType{Float32, Float32})
	s.is("half + float32", Add(half, s.f16, s.f32).dt, Float32)
	s.is("half + half of the other kind", Add(half, s.f16, s.bf16).dt, Float32)
	s.is("half · number", MulScalar(half, s.f16, 3).dt, Float16)
	s.is("half + 0-dimensional float32", Add(half, s.f16, Scalar[float32](1)).dt, Float16)
	s.is("two 0-dimensional ones", Add(half, FromFloat64s(Float16, []float64{1}, 1), Scalar[float32](1)).dt, Float16)
	s.is("0-dimensional half and float32", Add(half, fromFloat64s(Float16, []float64{1}, nil), Scalar[float32](1)).dt, Float32)
	s.is("where", Where(half, Gt(half, s.f16, s.f32), s.f16, s.f32).dt, Float32)
}

// 1.6 Weight-cast cache: what is cached, by what key, and the reference's faults repaired.
func TestSpec16Cache(t *testing.T) {
	s := newSpec(t)
	use := func(scope *Scope, w *Tensor, times int) (made, hits int) {
		a, b := casts(s.root)
		for range times {
			MatMul(scope, s.f16, w)
		}
		c, d := casts(s.root)
		return c - a, d - b
	}
	expect := func(what string, scope *Scope, w *Tensor, made, hits int) {
		t.Helper()
		if m, h := use(scope, w, 3); m != made || h != hits {
			t.Errorf("%s: %d casts and %d hits, want %d and %d", what, m, h, made, hits)
		}
	}
	leaf := func() *Tensor { return FromFloat64s(Float32, []float64{1, 2, 3, 4}, 2, 2).RequireGrad() }
	half := s.root.Autocast(Float16)
	expect("a weight", half, leaf(), 1, 2)
	expect("cache off", s.root.Autocast(Float16, CacheEnabled(false)), leaf(), 3, 0)
	expect("cache off is inherited", s.root.Autocast(Float16, CacheEnabled(false)).Autocast(NoDType), leaf(), 3, 0)
	expect("a frozen weight", half, leaf().Freeze(), 3, 0)
	expect("an activation", half, MulScalar(s.root, leaf(), 2), 3, 0)
	expect("a view", half, Transpose(s.root, leaf(), 0, 1), 3, 0)
	w := leaf()
	expect("first scope", half, w, 1, 2)
	expect("another dtype within is another cast", half.Autocast(BFloat16), w, 3+1, 2) // the float16 operand is cast three times
	expect("the first is still there", half, w, 0, 3)
	SetValues(w, []float32{5, 6, 7, 8})
	s.is("a weight changed in place is cast afresh", MatMul(half, FromFloat64s(Float16, []float64{1, 0, 0, 1}, 2, 2), w).Float64s()[0], 5.0)
	s.root.ClearCastCache()
	expect("after ClearCastCache", half, w, 1, 2)
	v := leaf()
	MatMul(half.NoGrad(), s.f16, v)
	s.is("a cast first made under NoGrad keeps its edge", MatMul(half, s.f16, v).RequiresGrad(), true)
	for _, cache := range []bool{true, false} { // contributions 1 and 2^-9 meet in bfloat16 or in float32
		p := From([]float32{1}, 1, 1).RequireGrad()
		b := s.root.Autocast(BFloat16, CacheEnabled(cache))
		y := Add(s.root, MatMul(b, From([]float32{1}, 1, 1), p), MatMul(b, From([]float32{0x1p-9}, 1, 1), p))
		Sum(s.root, y).Backward()
		s.is("sum of contributions", p.Grad().Item(), map[bool]float64{true: 1, false: 1.001953125}[cache])
	}
}

// 1.7 Autograd: casts are differentiable, backward runs in the dtypes of forward whatever scope it is called in.
func TestSpec17Autograd(t *testing.T) {
	s := newSpec(t)
	half := s.root.Autocast(BFloat16)
	w := FromFloat64s(Float32, []float64{1, 2, 3, 4}, 2, 2).RequireGrad()
	low := FromFloat64s(BFloat16, []float64{1, 2, 3, 4}, 2, 2).RequireGrad()
	y := MatMul(half, w, low)
	g := Grad(half, []*Tensor{Sum(s.root, y)}, []*Tensor{y}, RetainGraph())
	s.is("gradient of an activation", g[0].dt, BFloat16)
	Sum(half, y).Backward()
	s.is("gradient of a float32 leaf", w.Grad().dt, Float32)
	s.is("gradient of a bfloat16 leaf", low.Grad().dt, BFloat16)
	for _, e := range s.root.Trace().Events {
		if e.Phase == PhaseBackward && e.Op == "matmul" && e.Compute != BFloat16 {
			t.Errorf("a matmul of backward ran in %v", e.Compute)
		}
		if e.Phase == PhaseBackward && e.Autocast != NoDType {
			t.Errorf("autocast saw %s of backward", e.Op)
		}
	}
	// The second order works, and first-order gradients of float32 leaves are float32.
	x := FromFloat64s(Float32, []float64{1, 2, 3, 4}, 2, 2).RequireGrad()
	first := Grad(s.root, []*Tensor{Sum(s.root, Mul(s.root, MatMul(half, x, x), MatMul(half, x, x)))}, []*Tensor{x}, CreateGraph())
	s.is("first order", first[0].dt, Float32)
	Sum(s.root, first[0]).Backward()
	if x.Grad() == nil || x.Grad().dt != Float32 || SumOfSquares(x.Grad()) == 0 {
		t.Error("no second order")
	}
	// Evaluation and NoGrad change edges, not casts.
	z := MatMul(half.NoGrad().Eval(), w, low)
	s.is("NoGrad", [2]any{z.dt, z.RequiresGrad()}, [2]any{BFloat16, false})
	// Checkpointing runs again under the saved state: TestCheckpointIsExact.
}

// 1.8 Custom functions: TestCustomDecisions walks cast_inputs, classes and the state of backward; here the rules on inputs.
func TestSpec18CustomFunctions(t *testing.T) {
	s := newSpec(t)
	var saw []DType
	op := register(t, Custom{Name: "spec18", Class: Inherit, CastInputs: Float32, Forward: func(c *Context, in []*Tensor) *Tensor {
		saw = nil
		for _, x := range in {
			saw = append(saw, x.dt)
		}
		return To(c.S, in[0], Float32)
	}})
	op(s.root.Autocast(Float16), s.f16, s.f64, s.i64)
	if !slices.Equal(saw, []DType{Float32, Float64, Int64}) {
		t.Errorf("inputs were cast to %v: float64 and integers stay", saw)
	}
	op(s.root, s.f16, s.f64, s.i64)
	if !slices.Equal(saw, []DType{Float16, Float64, Int64}) {
		t.Errorf("with autocast off inputs became %v", saw)
	}
}

// 1.9 Threads: a scope given to a goroutine keeps its dtype and flags there, which the reference's workers lose.
func TestSpec19Threads(t *testing.T) {
	s := newSpec(t)
	scope := s.root.Autocast(BFloat16, Force("exp", Lower), CacheEnabled(false))
	done := make(chan DType, 8)
	for range cap(done) {
		go func() { done <- Exp(scope, MatMul(scope, s.f32, s.f32)).dt }()
	}
	for range cap(done) {
		s.is("in a goroutine", <-done, BFloat16)
	}
}

// 3 Number formats: TestFormatFacts has the table; here the traps.
func TestSpec3Formats(t *testing.T) {
	s := newSpec(t)
	half := func(v float64) float64 { return To(s.root, From([]float64{v}), Float16).Item() }
	s.is("2^-25 flushes to zero", half(0x1p-25), 0.0)
	s.is("just above it does not", half(math.Nextafter(0x1p-25, 1)), 0x1p-24)
	s.is("6e-5 only loses digits", half(5e-5) != 0 && half(5e-5) < 0x1p-14, true)
	s.is("65519.996", half(65519.996), 65504.0)
	s.is("65520", half(65520), math.Inf(1))
	nan := To(s.root, From([]float32{math.Float32frombits(0x7fffffff)}), BFloat16).Item()
	s.is("a bfloat16 NaN stays NaN", nan != nan, true)
	if text := Half(1e-9).String(); !strings.Contains(text, "zero") {
		t.Error(text)
	}
}
