package amp

import (
	"cmp"
	"errors"
	"math"
	"strings"
	"testing"
)

// roundingPrograms are forward passes of what TraceRounding has to see through; x has 16 rows of 32 numbers, w is a parameter of 32 × 32.
var roundingPrograms = []struct {
	name  string
	loss  func(s *Scope, x, w *Tensor) *Tensor
	order float64 // the part of the spread that may be of second order; 0 stands for 0.1
}{
	{"layers", func(s *Scope, x, w *Tensor) *Tensor {
		s = s.Autocast(Float16)
		return Mean(s, Softplus(s, Linear(s, ReLU(s, Linear(s, x, w, nil)), w, nil)))
	}, 0},
	{"bfloat16", func(s *Scope, x, w *Tensor) *Tensor {
		s = s.Autocast(BFloat16)
		return Mean(s, Square(s, MatMul(s, Tanh(s, MatMul(s, x, w)), w)))
	}, 0},
	{"8 bits", func(s *Scope, x, w *Tensor) *Tensor {
		s = s.Autocast(BFloat16, FP8(&FP8Recipe{Granularity: PerTensor}))
		return Mean(s, Square(s, Linear(s, x, w, nil)))
	}, 0.5}, // errors of 1/16 have squares of 1/256, which do not cancel
	{"user's formats", func(s *Scope, x, w *Tensor) *Tensor {
		return Mean(s, Square(s, MatMul(s, Quantize(s, x, FormatE4M3), To(s, To(s, w, BFloat16), Float32))))
	}, 0.5},
	{"views in another order", func(s *Scope, x, w *Tensor) *Tensor {
		s = s.Autocast(Float16)
		y := Linear(s, Transpose(s, Transpose(s, x, 0, 1), 0, 1), Transpose(s, w, 0, 1), nil)
		return Mean(s, Square(s, Reshape(s, Transpose(s, Reshape(s, y, 4, 4, 32), 0, 1), 16, -1)))
	}, 0},
	{"detached", func(s *Scope, x, w *Tensor) *Tensor {
		s = s.Autocast(Float16)
		y := Linear(s, x, w, nil)
		return Mean(s, Mul(s, Add(s, Detach(s, y), Linear(s.NoGrad(), y, w, nil)), y))
	}, 0},
	{"changed in place", func(s *Scope, x, w *Tensor) *Tensor {
		h := To(s, x, Float16)
		y := Linear(s, h, To(s, w, Float16), nil)
		z := Zeros(s, Float16, 16, 32)
		Assign(z, Detach(s, y))
		return Mean(s, Square(s, Add(s, z, y)))
	}, 0},
	{"checkpoint", func(s *Scope, x, w *Tensor) *Tensor {
		s = s.Autocast(Float16)
		y := Checkpoint(s, func(s *Scope, in ...*Tensor) *Tensor { return GELU(s, Linear(s, in[0], w, nil)) }, x)
		return Mean(s, Square(s, y))
	}, 0},
	{"dropout", func(s *Scope, x, w *Tensor) *Tensor {
		s = s.Autocast(Float16)
		return Mean(s, Square(s, Dropout(s, Linear(s, Dropout(s, x, 0.25), w, nil), 0.5)))
	}, 0},
	{"choices", func(s *Scope, x, w *Tensor) *Tensor {
		s = s.Autocast(Float16)
		y := Linear(s, x, w, nil)
		top, _ := Topk(s, y, 5, 1, true)
		return Mean(s, Where(s, Gt(s, y, Mean(s, y)), y, Mul(s, y, Mean(s, top))))
	}, 0},
	{"gradient penalty", func(s *Scope, x, w *Tensor) *Tensor {
		h := s.Autocast(Float16)
		in := Detach(s, x).RequireGrad()
		loss := Mean(h, Square(h, Linear(h, in, w, nil)))
		g := Grad(s, []*Tensor{loss}, []*Tensor{in}, CreateGraph())
		return Add(s, loss, MulScalar(s, Sum(s, Square(s, g[0])), 10))
	}, 0},
	{"own op", func(s *Scope, x, w *Tensor) *Tensor {
		s = s.Autocast(Float16)
		return Mean(s, Square(s, tracedOwn(s, tracedParts(s, Linear(s, x, w, nil)))))
	}, 0},
}

// tracedOwn is an op with a gradient of its own, tracedParts one whose gradient follows its ops.
var tracedOwn, tracedParts func(s *Scope, in ...*Tensor) *Tensor

func registerTraced(t *testing.T) {
	tracedOwn = register(t, Custom{
		Name: "traced_own", Class: Inherit,
		Forward: func(c *Context, in []*Tensor) *Tensor {
			c.Save(in[0])
			return Mul(c.S, in[0], in[0])
		},
		Backward: func(c *Context, dy *Tensor) []*Tensor {
			return []*Tensor{Mul(c.S, dy, MulScalar(c.S, c.Saved(0), 2))}
		},
	})
	tracedParts = register(t, Custom{
		Name: "traced_parts", Class: Inherit,
		Forward: func(c *Context, in []*Tensor) *Tensor { return Sigmoid(c.S, in[0]) },
	})
}

// roundingInputs draws what the programs are given.
func roundingInputs(s *Scope) (x, w *Tensor) {
	return Randn(s, Float32, 0, 1, 16, 32), Randn(s, Float32, 0, 0.2, 32, 32).RequireGrad().SetName("w")
}

// TestRoundingOfPrograms: a trace changes neither loss nor gradient, and the shares of all events add up to what rounding did to the loss.
func TestRoundingOfPrograms(t *testing.T) {
	registerTraced(t)
	for _, p := range roundingPrograms {
		t.Run(p.name, func(t *testing.T) {
			run := func(trace bool) (loss float64, grad []float64, r *RoundingTrace) {
				s := NewScope(Seed(4))
				defer s.Close()
				x, w := roundingInputs(s)
				var y *Tensor
				if trace {
					y, r = TraceRounding(s, func(s *Scope) *Tensor { return p.loss(s, x, w) })
				} else {
					y = p.loss(s, x, w)
				}
				y.Backward()
				return y.Item(), w.Grad().Float64s(), r
			}
			loss, grad, _ := run(false)
			got, gotGrad, r := run(true)
			if got != loss || !equal64(gotGrad, grad) {
				t.Errorf("loss %v, %v without a trace; the same gradients: %v", got, loss, equal64(gotGrad, grad))
			}
			off := r.Loss - r.Exact
			if !(math.Abs(off-r.First) <= cmp.Or(p.order, 0.1)*r.Spread) || r.Loss != loss || r.Spread < 1e-7*r.Loss || r.Err != "" {
				t.Errorf("loss %g, exact %g: off by %g, %g to first order, spread %g, err %q", r.Loss, r.Exact, off, r.First, r.Spread, r.Err)
			}
			sum := 0.0
			for _, e := range r.Events {
				sum += e.Share
				if e.Err != "" || e.Bad > 0 || e.File != "rounding_test.go" || e.Line == 0 || e.Rule == "" {
					t.Errorf("%+v", e)
				}
			}
			if math.Abs(sum-r.First) > 1e-9*math.Abs(r.First) {
				t.Errorf("shares %g, first %g", sum, r.First)
			}
		})
	}
}

func equal64(a, b []float64) bool {
	for i := range a {
		if !same64(a[i], b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// TestRoundingEvents: casts of weights, also of those that were cached before, and ops are told apart, and what each rounded is known.
func TestRoundingEvents(t *testing.T) {
	s := NewScope(Seed(4))
	defer s.Close()
	half := s.Autocast(Float16)
	x, w := roundingInputs(s)
	Linear(half, x, w, nil) // caches the cast of w
	_, r := TraceRounding(s.In("net"), func(s *Scope) *Tensor {
		s = s.Autocast(Float16)
		return Mean(s, Softmax(s, Linear(s, Linear(s, x, w, nil), w, nil), -1), 0, 1)
	})
	type row struct {
		op, by, of    string
		compute, made DType
		rounds        bool
	}
	want := []row{
		{"cast", "linear", "x", Float32, Float16, true},
		{"cast", "linear", "w", Float32, Float16, true},
		{"linear", "", "", Float16, Float16, true},
		{"linear", "", "", Float16, Float16, true},
		{"softmax", "", "", Float32, Float32, true},
		{"mean", "", "", Float32, Float32, true},
	}
	if len(r.Events) != len(want) {
		t.Fatalf("%d events: %+v", len(r.Events), r.Events)
	}
	for i, e := range r.Events {
		if got := (row{e.Op, e.For, e.Of, e.Compute, e.DType, e.Own > 0}); got != want[i] {
			t.Errorf("event %d: %+v, want %+v", i, got, want[i])
		}
		if e.Module != "net" || e.Autocast != Float16 {
			t.Errorf("event %d in module %q under %v", i, e.Module, e.Autocast)
		}
		// A float16 result differs from the unrounded one by half a unit in the last place at most, 2^-11 of a number of its size.
		if e.DType == Float16 && !(e.Own <= 0x1p-11*e.Size && e.Own > 0x1p-14*e.Size && e.Total >= e.Own*0.9) {
			t.Errorf("event %d: own %g, total %g of %g", i, e.Own, e.Total, e.Size)
		}
	}
}

// TestRoundingOverflow: the op at which a loss became infinite is known.
func TestRoundingOverflow(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Full(s, Float16, 300, 4)
	_, r := TraceRounding(s, func(s *Scope) *Tensor { return Sum(s, AddScalar(s, Square(s, x), 1)) })
	if !r.Bad || r.Born || r.Loss != 0 || r.Exact != 4*90001 {
		t.Errorf("%+v", r)
	}
	for i, bad := range []int{4, 0, 0} {
		if r.Events[i].Bad != bad {
			t.Errorf("%s: %d results are not finite by its own doing, want %d", r.Events[i].Op, r.Events[i].Bad, bad)
		}
	}
}

// TestRoundingOfNoLoss: what is not finite in float64 either is no rounding's doing.
func TestRoundingOfNoLoss(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Zeros(s, Float16, 2)
	_, r := TraceRounding(s, func(s *Scope) *Tensor { return Sum(s, Log(s, x)) })
	if !r.Bad || !r.Born || r.Exact != 0 || r.Events[0].Bad != 0 {
		t.Errorf("%+v", r)
	}
}

// TestRoundingIf: what a trace in float32 says of lowering one op is what lowering it does, on the average over many draws.
func TestRoundingIf(t *testing.T) {
	for _, dt := range []DType{BFloat16, Float16} {
		for _, op := range []string{"linear", "softmax", "gelu", "layer_norm"} {
			var said, did float64
			for seed := range uint64(64) {
				s := NewScope(Seed(seed))
				x, w := roundingInputs(s)
				v := Randn(s, Float32, 0, 1, 16, 32)
				pass := func(s *Scope) *Tensor {
					s = s.Autocast(Float32)
					h := GELU(s, LayerNorm(s, Linear(s, x, w, nil), nil, nil, 1e-5))
					return Sum(s, Mul(s, Softmax(s, h, -1), v))
				}
				loss, r := TraceRounding(s, pass)
				for _, e := range r.Events {
					if e.Op != op {
						continue
					}
					for _, x := range e.If {
						if x.DType == dt {
							said += x.Spread * x.Spread
						}
					}
				}
				did += math.Pow(loweredAlone(s, op, dt, x, w, v).Item()-loss.Item(), 2)
				s.Close()
			}
			if ratio := math.Sqrt(said / did); !(ratio > 0.75 && ratio < 1.35) {
				t.Errorf("%s in %v: said %g, did %g: %g", op, dt, math.Sqrt(said/64), math.Sqrt(did/64), ratio)
			}
		}
	}
}

// loweredAlone is TestRoundingIf's pass with one op in another dtype.
func loweredAlone(s *Scope, op string, dt DType, x, w, v *Tensor) *Tensor {
	run := func(name string, f func(s *Scope, in ...*Tensor) *Tensor, in ...*Tensor) *Tensor {
		if name != op {
			return f(s, in...)
		}
		for i, t := range in {
			in[i] = To(s, t, dt)
		}
		return To(s, f(s, in...), Float32)
	}
	h := run("linear", func(s *Scope, in ...*Tensor) *Tensor { return Linear(s, in[0], in[1], nil) }, x, w)
	h = run("layer_norm", func(s *Scope, in ...*Tensor) *Tensor { return LayerNorm(s, in[0], nil, nil, 1e-5) }, h)
	h = run("gelu", func(s *Scope, in ...*Tensor) *Tensor { return GELU(s, in[0]) }, h)
	h = run("softmax", func(s *Scope, in ...*Tensor) *Tensor { return Softmax(s, in[0], -1) }, h)
	return Sum(s, Mul(s, h, v))
}

// TestRoundingRefuses: each mistake has an error of its kind with a way out.
func TestRoundingRefuses(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Full(s, Float32, 1, 2).RequireGrad()
	for name, c := range map[string]struct {
		kind error
		f    func(s *Scope) *Tensor
	}{
		"no function":    {ErrArgument, nil},
		"no loss":        {ErrArgument, func(s *Scope) *Tensor { return nil }},
		"two losses":     {ErrShape, func(s *Scope) *Tensor { return MulScalar(s, x, 2) }},
		"a whole number": {ErrShape, func(s *Scope) *Tensor { return ArgMax(s, x, 0) }},
		"another scope":  {ErrArgument, func(*Scope) *Tensor { return Sum(s, x) }},
		"made before":    {ErrArgument, func(*Scope) *Tensor { return Full(s, Float32, 1) }},
	} {
		err := Maybe(func() { TraceRounding(s, c.f) })
		var e *Error
		if !errors.As(err, &e) || !errors.Is(err, c.kind) || e.Op != "TraceRounding" || !strings.Contains(err.Error(), "; fix: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
