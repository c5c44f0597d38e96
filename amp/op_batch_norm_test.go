package amp

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestBatchNormMixed: half activations with float32 weights give half results, and each input a gradient of its own dtype.
func TestBatchNormMixed(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, dt := range []DType{Float16, BFloat16} {
		for _, run := range []*Scope{s, s.Autocast(dt), s.Eval()} {
			x := Randn(s, dt, 3, 2, 4, 3, 5).RequireGrad()
			w, b := Rand(s, Float32, 0.5, 1.5, 3).RequireGrad(), Rand(s, Float32, -1, 1, 3).RequireGrad()
			st := BatchNormState{RunningMean: Full(s, Float32, 0.5, 3), RunningVar: Full(s, Float32, 2, 3), Momentum: 0.1, Eps: 1e-5}
			y := BatchNorm(run, x, w, b, st)
			Sum(s, Mul(s, y, y)).Backward()
			if y.dt != dt || x.Grad().dt != dt || w.Grad().dt != Float32 || b.Grad().dt != Float32 || st.RunningMean.dt != Float32 {
				t.Errorf("%v: y %v, dx %v, dweight %v, dbias %v", dt, y.dt, x.Grad().dt, w.Grad().dt, b.Grad().dt)
			}
			// The same numbers in float64 agree within one rounding of the result.
			wide := BatchNormState{RunningMean: Full(s, Float64, 0.5, 3), RunningVar: Full(s, Float64, 2, 3), Momentum: 0.1, Eps: 1e-5}
			exact := BatchNorm(run.Autocast(NoDType, Enabled(false)), To(s, x, Float64), To(s, w, Float64), To(s, b, Float64), wide).Float64s()
			for i, v := range y.Float64s() {
				if !(math.Abs(v-exact[i]) <= halfULP(dt, exact[i])+1e-6) {
					t.Fatalf("%v element %d: %v, float64 %v", dt, i, v, exact[i])
				}
			}
		}
	}
}

// TestBatchNormRunning: numbers worked out by hand. The batch of channel 0 is 1, 3, 5, 7: mean 4, variance 5 biased, 20/3 unbiased.
func TestBatchNormRunning(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float32{1, 3, 0, 0, 5, 7, 0, 2}, 2, 2, 2)
	st := BatchNormState{RunningMean: From([]float32{2, 0}), RunningVar: From([]float32{1, 1}), Momentum: 0.25, Eps: 1e-12}
	y := BatchNorm(s, x, nil, nil, st).Float64s()
	if want := -3 / math.Sqrt(5); !(math.Abs(y[0]-want) <= 1e-6) {
		t.Errorf("%v, want %v", y[0], want)
	}
	near := func(what string, got, want []float64) {
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 1e-6) {
				t.Errorf("%s: %v, want %v", what, got, want)
				return
			}
		}
	}
	near("mean", st.RunningMean.Float64s(), []float64{2.5, 0.125})
	near("variance", st.RunningVar.Float64s(), []float64{0.75 + 0.25*20.0/3, 0.75 + 0.25})
	version := st.RunningMean.Version()
	near("evaluation", BatchNorm(s.Eval(), x, nil, nil, st).Float64s()[:2], []float64{-1.5 / math.Sqrt(0.75+5.0/3), 0.5 / math.Sqrt(0.75+5.0/3)})
	if st.RunningMean.Version() != version {
		t.Error("evaluation changed the running statistics")
	}
	// Without running statistics evaluation uses those of the batch.
	near("no running statistics", BatchNorm(s.Eval(), x, nil, nil, BatchNormState{Eps: 1e-12}).Float64s(), y)
}

// TestBatchNormOfNothing: a batch without values has a result and gradients without numbers, or of 0, is counted in training, and leaves
// the running statistics alone, as PyTorch 2.15's.
func TestBatchNormOfNothing(t *testing.T) {
	for _, shape := range [][]int{{0, 2}, {0, 2, 3}, {2, 2, 0}, {3, 2, 0, 4}} {
		for _, training := range []bool{true, false} {
			for _, running := range []bool{true, false} {
				for _, dt := range []DType{Float16, Float32, Float64} {
					what := fmt.Sprintf("%v %v, training %v, running statistics %v", dt, shape, training, running)
					s := NewScope()
					run, statistics, counted := s, Float32, 1.0
					if dt == Float64 {
						statistics = Float64
					}
					if !training {
						run, counted = s.Eval(), 0
					}
					st := BatchNormState{Momentum: 0.1, Eps: 1e-5}
					if running {
						st.RunningMean, st.RunningVar, st.Batches = Full(s, statistics, 0.5, 2), Full(s, statistics, 4, 2), Full(s, Int64, 0)
					}
					x, w, b := Zeros(s, dt, shape...).RequireGrad(), Full(s, statistics, 2, 2).RequireGrad(), Full(s, statistics, 3, 2).RequireGrad()
					y := BatchNorm(run, x, w, b, st)
					if y.dt != dt || !slices.Equal(y.shape, shape) {
						t.Errorf("%s: %v", what, y)
					}
					Sum(s, y).Backward()
					wantValues(t, what+", gradient", x.Grad())
					wantValues(t, what+", gradient of the weight", w.Grad(), 0, 0)
					wantValues(t, what+", gradient of the bias", b.Grad(), 0, 0)
					if running {
						wantValues(t, what+", means", st.RunningMean, 0.5, 0.5)
						wantValues(t, what+", variances", st.RunningVar, 4, 4)
						wantValues(t, what+", batches", st.Batches, counted)
					}
					if z := BatchNorm(run, Zeros(s, dt, shape...), nil, nil, st); z.Len() != 0 {
						t.Errorf("%s: %v", what, z)
					}
					s.Close()
				}
			}
		}
	}
}

// TestBatchNormFarFromZero: a mean that is large against the spread costs nothing, in any of the norms.
func TestBatchNormFarFromZero(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Randn(s, Float32, 0, 1, 8, 2, 40, 40)
	far := AddScalar(s, x, 4096) // the low bits are lost here, once
	near := AddScalar(s, far, -4096)
	for name, f := range map[string]func(x *Tensor) *Tensor{
		"batch_norm":    func(x *Tensor) *Tensor { return BatchNorm(s, x, nil, nil, BatchNormState{Eps: 1e-5}) },
		"group_norm":    func(x *Tensor) *Tensor { return GroupNorm(s, x, 1, nil, nil, 1e-5) },
		"instance_norm": func(x *Tensor) *Tensor { return InstanceNorm(s, x, nil, nil, 1e-5) },
	} {
		a, b := f(far).Float64s(), f(near).Float64s()
		for i := range a {
			if math.Abs(a[i]-b[i]) > 1e-3 { // the mean of far is a float32 near 4096: half a unit there is 2.4e-4
				t.Fatalf("%s element %d: %v, about zero %v", name, i, a[i], b[i])
			}
		}
	}
}

// TestBatchNormAutocast: unlisted, so that it follows its input and casts nothing; group_norm is float32.
func TestBatchNormAutocast(t *testing.T) {
	s := NewScope(Record(Decisions))
	defer s.Close()
	auto := s.Autocast(Float16)
	w := Full(s, Float32, 1, 2)
	half, single := Randn(s, Float16, 0, 1, 3, 2, 4), Randn(s, Float32, 0, 1, 3, 2, 4)
	for _, c := range []struct {
		name string
		out  *Tensor
		want DType
	}{
		{"batch_norm of float16", BatchNorm(auto, half, w, w, BatchNormState{Eps: 1e-5}), Float16},
		{"batch_norm of float32", BatchNorm(auto, single, w, w, BatchNormState{Eps: 1e-5}), Float32},
		{"instance_norm of float16", InstanceNorm(auto, half, w, w, 1e-5), Float16},
	} {
		if c.out.dt != c.want {
			t.Errorf("%s gives %v", c.name, c.out.dt)
		}
	}
	if made, _ := casts(s); made != 0 {
		t.Errorf("%d casts", made)
	}
	if y := GroupNorm(auto, half, 2, w, w, 1e-5); y.dt != Float32 {
		t.Errorf("group_norm gives %v", y.dt)
	}
}

func TestNormRefusals(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Full(s, Float32, 1, 2, 4, 3)
	for _, c := range []struct {
		name string
		kind error
		call func()
	}{
		{"no channels", ErrShape, func() { BatchNorm(s, Full(s, Float32, 1, 4), nil, nil, BatchNormState{Eps: 1e-5}) }},
		{"one value per channel", ErrShape, func() { BatchNorm(s, Full(s, Float32, 1, 1, 4), nil, nil, BatchNormState{Eps: 1e-5}) }},
		{"weight", ErrShape, func() { BatchNorm(s, x, Full(s, Float32, 1, 3), nil, BatchNormState{Eps: 1e-5}) }},
		{"half weight beside float32", ErrDType, func() { BatchNorm(s, x, Full(s, Float16, 1, 4), nil, BatchNormState{Eps: 1e-5}) }},
		{"float32 weight beside float64", ErrDType, func() { BatchNorm(s, To(s, x, Float64), Full(s, Float32, 1, 4), nil, BatchNormState{Eps: 1e-5}) }},
		{"running", ErrShape, func() {
			BatchNorm(s, x, nil, nil, BatchNormState{RunningMean: Full(s, Float32, 0, 3), RunningVar: Full(s, Float32, 0, 3), Eps: 1e-5})
		}},
		{"groups", ErrShape, func() { GroupNorm(s, x, 3, nil, nil, 1e-5) }},
		{"integers", ErrDType, func() { GroupNorm(s, To(s, x, Int64), 2, nil, nil, 1e-5) }},
		{"instance of one element", ErrShape, func() { InstanceNorm(s, Full(s, Float32, 1, 2, 4, 1), nil, nil, 1e-5) }},
	} {
		if err := Maybe(c.call); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if y := BatchNorm(s.Eval(), Full(s, Float32, 3, 1, 2), nil, nil, BatchNormState{RunningMean: Full(s, Float32, 1, 2), RunningVar: Full(s, Float32, 4, 2)}).Float64s(); !slices.Equal(y, []float64{1, 1}) {
		t.Error(y)
	}
}
