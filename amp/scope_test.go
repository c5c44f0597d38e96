package amp

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestStepsFreeTheirTemporaries(t *testing.T) {
	root := NewScope()
	defer root.Close()
	before := MemStats()[home()].Bytes
	var last *Tensor
	var kept *Tensor
	n := 0
	for s := range root.Steps(3) {
		if s.Step() != n {
			t.Errorf("step %d says %d", n, s.Step())
		}
		last = Exp(s, From([]float32{1, 2}))
		if n == 1 {
			kept = s.Keep(MulScalar(s, last, 2))
		}
		n++
	}
	if n != 3 {
		t.Fatal(n)
	}
	err := Maybe(func() { last.Item() })
	if !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), "step 2") {
		t.Errorf("use after the step: %v", err)
	}
	if kept.Len() != 2 || kept.Float64s()[0] == 0 {
		t.Error("a kept tensor is gone")
	}
	// 3 × From (8 bytes each) belong to no scope; the kept one is 8 more.
	if got := MemStats()[home()].Bytes - before; got != 3*8+8 {
		t.Errorf("%d bytes are held", got)
	}
}

func TestStepsEndEarlyAndHooks(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	root := NewScope(WithContext(ctx))
	defer root.Close()
	var ended []int
	root.OnStepEnd(func(step int) error { ended = append(ended, step); return nil })
	n := 0
	for s := range root.Steps(10) {
		n++
		if s.Step() == 2 {
			cancel()
		}
	}
	if n != 3 || !slices.Equal(ended, []int{0, 1, 2}) {
		t.Errorf("%d steps, hooks after %v", n, ended)
	}
	Exp(root, From([]float32{1})) // results can still be read and drawn
	if root.Context() != ctx {
		t.Error("another context")
	}
}

func TestClosedScope(t *testing.T) {
	root := NewScope()
	child := root.In("net").Child()
	grand := child.Child()
	x := Exp(grand, From([]float32{1}))
	child.Close()
	for _, s := range []*Scope{child, grand, child.Autocast(Float16)} {
		err := Maybe(func() { Exp(s, From([]float32{1})) })
		if !errors.Is(err, ErrClosed) || !strings.Contains(err.Error(), "net") {
			t.Error(err)
		}
	}
	if err := Maybe(func() { x.Item() }); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	Exp(root, From([]float32{1}))
	root.Close()
	root.Close() // twice is fine
	if err := Maybe(func() { Exp(root, From([]float32{1})) }); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// TestSteadyStepTakesNoBuffer: after the first steps a training step asks the system for no tensor memory.
func TestSteadyStepTakesNoBuffer(t *testing.T) {
	root := NewScope(Record(Decisions), RecordLimit(1000))
	defer root.Close()
	w := Randn(root, Float32, 0, 1, 16, 8).RequireGrad()
	b := Randn(root, Float32, 0, 1, 16).RequireGrad()
	x, y := Randn(root, Float32, 0, 1, 64, 8), Randn(root, Float32, 0, 1, 64, 16)
	g := NewGradScaler(InitScale(1024))
	o := &countingOptimizer{params: []*Tensor{w, b}}
	var after int64
	for s := range root.Steps(50) {
		half := s.Autocast(Float16)
		loss := MSELoss(half, ReLU(half, Linear(half, x, w, b)), y)
		o.ZeroGrad()
		g.Scale(s, loss).Backward()
		for _, p := range o.params {
			UpdateSGD(p, nil, Update{LR: 1e-5})
		}
		g.Step(o)
		g.Update()
		if s.Step() == 5 {
			after = MemStats()[home()].NewBuffers
		}
	}
	if now := MemStats()[home()].NewBuffers; now != after {
		t.Errorf("%d buffers taken between step 5 and 50", now-after)
	}
	if root.Trace().Dropped == 0 {
		t.Error("the recorder kept more than its limit")
	}
}

// TestBackwardFreesItsTemporaries: what a backward pass makes besides gradients is gone when it returns.
func TestBackwardFreesItsTemporaries(t *testing.T) {
	root := NewScope()
	defer root.Close()
	w := Randn(root, Float32, 0, 1, 64, 64).RequireGrad()
	h := From(make([]float32, 64*64), 64, 64)
	y := h
	for range 10 {
		y = Linear(root, y, w, nil)
	}
	loss := Sum(root, y)
	before := MemStats()[home()].Bytes
	ResetPeakMemory()
	loss.Backward()
	m := MemStats()[home()]
	size := w.Bytes()
	if got := m.Bytes - before; got != size {
		t.Errorf("%d bytes stay after backward, the gradient is %d", got, size)
	}
	if peak := m.Peak - before; peak > 5*size {
		t.Errorf("backward through 10 layers peaks at %d bytes, %d times one gradient", peak, peak/size)
	}
}

func TestMisuseIsExplained(t *testing.T) {
	root := NewScope()
	defer root.Close()
	s := root.In("net").In("fc1")
	m := func(shape ...int) *Tensor { return fromFloat64s(Float32, make([]float64, length(shape)), shape) }
	ints := From([]int64{1, 2})
	other := alloc("test", &cpuDevice{name: "other:0"}, Float32, []int{2})
	nan := math.NaN()
	for _, c := range []struct {
		name string
		kind error
		say  []string
		f    func()
	}{
		{"matmul shapes", ErrShape, []string{"matmul", "net/fc1", "[2 3]", "[4 5]", "fix: "}, func() { MatMul(s, m(2, 3), m(4, 5)) }},
		{"linear features", ErrShape, []string{"linear", "[2 3]", "[4 5]", "last dimension of 5"}, func() { Linear(s, m(2, 3), m(4, 5), nil) }},
		{"linear bias", ErrShape, []string{"bias"}, func() { Linear(s, m(2, 3), m(4, 3), m(3)) }},
		{"broadcast", ErrShape, []string{"add", "[2 3]", "[2 4]", "dimension 1"}, func() { Add(s, m(2, 3), m(2, 4)) }},
		{"mse target", ErrShape, []string{"mse_loss", "[4 1]", "[4]"}, func() { MSELoss(s, m(4, 1), m(4)) }},
		{"reshape", ErrShape, []string{"reshape", "[2 3]", "[4]"}, func() { Reshape(s, m(2, 3), 4) }},
		{"axis", ErrShape, []string{"softmax", "dimension 2"}, func() { Softmax(s, m(2, 3), 2) }},
		{"permute twice", ErrShape, []string{"once"}, func() { Permute(s, m(2, 3), 0, 0) }},
		{"expand", ErrShape, []string{"expand"}, func() { Expand(s, m(2, 3), 2, 6) }},
		{"from", ErrShape, []string{"3 values", "[2 2]"}, func() { From([]float32{1, 2, 3}, 2, 2) }},
		{"item", ErrShape, []string{"[2 3]", "amp.Mean"}, func() { m(2, 3).Item() }},
		{"dtypes", ErrDType, []string{"float16", "float32", "Autocast"}, func() { MatMul(s, To(s, m(2, 2), Float16), m(2, 2)) }},
		{"softmax of integers", ErrDType, []string{"softmax", "int64"}, func() { Softmax(s, ints, 0) }},
		{"values", ErrDType, []string{"int64", "float32"}, func() { Values[float32](ints) }},
		{"integer loss", ErrDType, []string{"GradScaler.Scale", "int64"}, func() { NewGradScaler().Scale(s, Scalar(int64(1))) }},
		{"integer backward", ErrGrad, []string{"int64"}, func() { Sum(s, ints).Backward() }},
		{"device", ErrDevice, []string{"other:0", home(), "add", "b ", "t.To(s)"}, func() { Add(s, m(2), other) }},
		{"no such device", ErrDevice, []string{"tpu", "known: auto, cpu"}, func() { NewScope(On("tpu")) }},
		{"target range", ErrArgument, []string{"target[1] is 3", "0 to 2"}, func() { NLLLoss(s, m(2, 3), From([]int64{0, 3})) }},
		{"float targets", ErrDType, []string{"int64"}, func() { NLLLoss(s, m(2, 3), m(2)) }},
		{"backward of a vector", ErrShape, []string{"[2 3]", "amp.Mean"}, func() { Exp(s, m(2, 3).RequireGrad()).Backward() }},
		{"backward of data", ErrGrad, []string{"depends on nothing"}, func() { Sum(s, m(2, 3)).Backward() }},
		{"backward of a leaf", ErrGrad, []string{"belongs to no scope", "MulScalar"}, func() { Scalar(float32(1)).RequireGrad().Backward() }},
		{"in place on a leaf", ErrGrad, []string{"NoGrad"}, func() { AddInPlace(s, m(2).RequireGrad(), m(2)) }},
		{"step without backward", ErrScaler, []string{"Backward()"}, func() {
			g := NewGradScaler()
			g.Scale(s, Scalar(float32(1)))
			g.Step(newCounting(1))
		}},
		{"gradient of a stranger", ErrGrad, []string{"do not depend on"}, func() {
			w, v := m(2).RequireGrad(), m(2).RequireGrad()
			Grad(s, []*Tensor{Sum(s, w)}, []*Tensor{v})
		}},
		{"closed tensor", ErrClosed, []string{"born in"}, func() { c := s.Child(); x := Exp(c, m(2)); c.Close(); Add(s, x, x) }},
	} {
		err := Maybe(settled(s, c.f))
		if !errors.Is(err, c.kind) {
			t.Errorf("%s: %v, want kind %v", c.name, err, c.kind)
			continue
		}
		for _, w := range append(c.say, "fix: ") {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q does not say %q", c.name, err, w)
			}
		}
	}
	// NaN in data is no misuse: it flows through, and the scaler names it.
	w := From([]float32{1}, 1, 1).SetName("w").RequireGrad()
	g := NewGradScaler()
	o := &countingOptimizer{params: []*Tensor{w}}
	half := root.Autocast(Float16)
	g.Scale(root, MSELoss(half, Linear(half, fromFloat64s(Float32, []float64{nan}, []int{1, 1}), w, nil), From([]float32{1}, 1, 1))).Backward()
	if r := g.Step(o); r.Applied() || r.Culprit() != "w" || r.Value != "NaN" {
		t.Errorf("NaN in the data: %v", r)
	}
}

func TestMaybePassesForeignPanics(t *testing.T) {
	defer func() {
		if r := recover(); r != "foreign" {
			t.Error(r)
		}
	}()
	Maybe(func() { panic("foreign") })
}

func TestStaleAndConsumedGraphs(t *testing.T) {
	s := NewScope()
	defer s.Close()
	w := From([]float32{2}).SetName("w").RequireGrad()
	y := Mul(s, w, w)
	loss := Sum(s, y)
	SetValues(w, []float32{3})
	err := Maybe(func() { loss.Backward() })
	if !errors.Is(err, ErrStale) || !strings.Contains(err.Error(), `"w"`) || !strings.Contains(err.Error(), "version 1") {
		t.Error(err)
	}
	loss = Sum(s, Mul(s, w, w))
	loss.Backward(RetainGraph())
	loss.Backward()
	if g := w.Grad().Item(); g != 12 {
		t.Errorf("two passes accumulate to %v", g)
	}
	if err := Maybe(func() { loss.Backward() }); !errors.Is(err, ErrGrad) || !strings.Contains(err.Error(), "RetainGraph") {
		t.Error(err)
	}
}

func TestGradLeavesGradsAlone(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := From([]float64{2, 3}).RequireGrad()
	z := Mul(s, x, x)
	y := Sum(s, Mul(s, z, x)) // x³
	g := Grad(s, []*Tensor{y}, []*Tensor{x, z}, CreateGraph())
	if got := g[0].Float64s(); !slices.Equal(got, []float64{12, 27}) || x.Grad() != nil {
		t.Errorf("%v, Grad %v", got, x.Grad())
	}
	if got := g[1].Float64s(); !slices.Equal(got, []float64{2, 3}) {
		t.Errorf("with respect to an inner tensor: %v", got)
	}
	// Gradient penalty: d/dx Σ(3x²)² = 36x³.
	Sum(s, Mul(s, g[0], g[0])).Backward()
	if got := x.Grad().Float64s(); !slices.Equal(got, []float64{36 * 8, 36 * 27}) {
		t.Error(got)
	}
	unused := From([]float64{1}).RequireGrad()
	if g := Grad(s, []*Tensor{Sum(s, Mul(s, x, x))}, []*Tensor{unused}, AllowUnused()); g[0] != nil {
		t.Error(g)
	}
}

func TestSharedLeafGradientsDoNotAlias(t *testing.T) {
	s := NewScope()
	defer s.Close()
	a, b := From([]float32{1}).RequireGrad(), From([]float32{1}).RequireGrad()
	Sum(s, Add(s, a, b)).Backward()
	SetValues(a.Grad(), []float32{5})
	if b.Grad().Item() != 1 {
		t.Error("two leaves share one gradient")
	}
}

// TestScopesAreSafeAcrossGoroutines is for the race detector.
func TestScopesAreSafeAcrossGoroutines(t *testing.T) {
	root := NewScope(Record(Decisions))
	defer root.Close()
	w := Randn(root, Float32, 0, 1, 8, 8).RequireGrad()
	half := root.Autocast(Float16)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s := half.Child()
			defer s.Close()
			for range 20 {
				x := Rand(s, Float32, 0, 1, 4, 8)
				Grad(s, []*Tensor{Sum(s, Linear(s, x, w, nil))}, []*Tensor{w})
				x.Free()
			}
		})
	}
	wg.Wait()
}
