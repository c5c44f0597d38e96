package amp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// someViews are views of a [2 3 4 6] tensor, one for each way to leave something out or to change the order.
var someViews = map[string]func(s *Scope, x *Tensor) *Tensor{
	"narrow":          func(s *Scope, x *Tensor) *Tensor { return Narrow(s, x, 2, 3, 1) },
	"narrow last":     func(s *Scope, x *Tensor) *Tensor { return Narrow(s, x, 3, 1, 4) },
	"select":          func(s *Scope, x *Tensor) *Tensor { return Select(s, x, 1, 2) },
	"transpose":       func(s *Scope, x *Tensor) *Tensor { return Transpose(s, x, 1, 3) },
	"permute":         func(s *Scope, x *Tensor) *Tensor { return Permute(s, x, 3, 0, 2, 1) },
	"diagonal":        func(s *Scope, x *Tensor) *Tensor { return Diagonal(s, x, 1, 2, 3) },
	"slice":           func(s *Scope, x *Tensor) *Tensor { return Slice(s, x, 3, 1, 6, 2) },
	"column of steps": func(s *Scope, x *Tensor) *Tensor { return Select(s, Slice(s, x, 1, 0, 3, 2), 3, 5) },
	"diagonal of two": func(s *Scope, x *Tensor) *Tensor { return Diagonal(s, Diagonal(s, x, 0, 0, 2), 0, 0, 1) },
	"an element": func(s *Scope, x *Tensor) *Tensor {
		return Narrow(s, Select(s, Select(s, Select(s, x, 0, 1), 0, 2), 0, 2), 0, 5, 1)
	},
	"none": func(s *Scope, x *Tensor) *Tensor { return Narrow(s, x, 3, 2, 0) },
}

// inPlaceCalls are the in-place ops, each with what it makes of an element of dst and one of x.
var inPlaceCalls = []struct {
	name string
	call func(s *Scope, dst, x *Tensor)
	of   func(dst, x float64) float64
}{
	{"add_", AddInPlace, func(dst, x float64) float64 { return dst + x }},
	{"copy_", CopyInPlace, func(_, x float64) float64 { return x }},
	{"Assign", func(_ *Scope, dst, x *Tensor) { Assign(dst, x) }, func(_, x float64) float64 { return x }},
	{"mul_scalar_", func(s *Scope, dst, _ *Tensor) { s.apply(opScaleInPlace, Attrs{Scalar: -2}, dst) }, func(dst, _ float64) float64 { return -2 * dst }},
	{"clamp_", func(s *Scope, dst, _ *Tensor) { s.apply(opClampInPlace, Attrs{Pair: [2]float64{-3, 5}}, dst) }, func(dst, _ float64) float64 { return min(max(dst, -3), 5) }},
}

// TestInPlaceOnViews: every in-place op changes the elements of any view and nothing else, and all views of the memory know of it.
func TestInPlaceOnViews(t *testing.T) {
	for _, op := range inPlaceCalls {
		for _, dt := range []DType{Float64, Float32, BFloat16, Float16, Int64} {
			if !dt.IsFloat() && strings.HasSuffix(op.name, "_") && op.name != "add_" && op.name != "copy_" {
				continue // floats alone
			}
			for name, view := range someViews {
				for _, from := range []DType{dt, Float32, Int64} {
					if op.name == "add_" && from.IsFloat() && !dt.IsFloat() {
						continue
					}
					s := NewScope().NoGrad()
					x, want, places := viewed(s, dt, view)
					dst := view(s, x)
					values := make([]float64, dst.Len())
					for i, p := range places {
						values[i] = float64(i%13 - 6)
						want[p] = op.of(want[p], values[i])
					}
					before := x.Version()
					op.call(s, dst, fromFloat64s(from, values, dst.shape))
					if got := x.Float64s(); !slices.Equal(got, want) {
						t.Fatalf("%s of %v from %v on %s:\n%v, not\n%v", op.name, dt, from, name, got, want)
					}
					if x.Version() != before+1 {
						t.Fatalf("%s on %s: version %d after %d", op.name, name, x.Version(), before)
					}
					s.Close()
				}
			}
		}
	}
}

// viewed returns a [2 3 4 6] tensor, its values, and where in them the elements of a view lie.
func viewed(s *Scope, dt DType, view func(s *Scope, x *Tensor) *Tensor) (x *Tensor, values []float64, places []int) {
	shape := []int{2, 3, 4, 6}
	numbers := make([]float64, 2*3*4*6)
	values = make([]float64, len(numbers))
	for i := range values {
		numbers[i], values[i] = float64(i), float64(i%17-8)
	}
	for _, p := range view(s, fromFloat64s(Float64, numbers, shape)).Float64s() {
		places = append(places, int(p))
	}
	return fromFloat64s(dt, values, shape), values, places
}

// TestInPlaceBroadcastsIntoViews: x is broadcast to a view as it is to a tensor without gaps; a view of the same memory is read as it was.
func TestInPlaceBroadcastsIntoViews(t *testing.T) {
	s := NewScope().NoGrad()
	defer s.Close()
	x := From([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 3, 3)
	AddInPlace(s, Diagonal(s, x, 0, 0, 1), Scalar[float32](1))
	if got := x.Float64s(); !slices.Equal(got, []float64{2, 2, 3, 4, 6, 6, 7, 8, 10}) {
		t.Errorf("x.diagonal().add_(1): %v", got)
	}
	CopyInPlace(s, Narrow(s, x, 1, 1, 2), Narrow(s, x, 1, 0, 2)) // one column to the right
	if got := x.Float64s(); !slices.Equal(got, []float64{2, 2, 2, 4, 4, 6, 7, 7, 8}) {
		t.Errorf("shifted: %v", got)
	}
	CopyInPlace(s, Select(s, x, 1, 2), Scalar(int64(-1)))
	if got := x.Float64s(); !slices.Equal(got, []float64{2, 2, -1, 4, 4, -1, 7, 7, -1}) {
		t.Errorf("a column from one number: %v", got)
	}
}

// TestInPlaceOnViewsLarge: rows are shared out among threads, and rounded, as those of a tensor without gaps.
func TestInPlaceOnViewsLarge(t *testing.T) {
	s := NewScope(Seed(3)).NoGrad()
	defer s.Close()
	for _, dt := range []DType{Float16, Float32} {
		x, y := Randn(s, dt, 0, 1, 300, 301), Randn(s, Float32, 0, 1, 301, 300)
		want := Add(s, Contiguous(s, Transpose(s, x, 0, 1)), To(s, y, dt))
		AddInPlace(s, Transpose(s, x, 0, 1), To(s, y, dt))
		if !slices.Equal(Transpose(s, x, 0, 1).Float64s(), want.Float64s()) {
			t.Errorf("%v: add_ on a transposed tensor differs from Add", dt)
		}
		CopyInPlace(s, Transpose(s, x, 0, 1), y)
		if !slices.Equal(Transpose(s, x, 0, 1).Float64s(), To(s, y, dt).Float64s()) {
			t.Errorf("%v: copy_ to a transposed tensor differs from what was copied", dt)
		}
	}
}

// TestInPlaceOnSharedElements: where elements of a view are one place, there is nothing right to write.
func TestInPlaceOnSharedElements(t *testing.T) {
	s := NewScope().NoGrad()
	defer s.Close()
	x := From([]float32{1, 2, 3}, 3, 1).SetName("w")
	wide := Expand(s, x, 3, 4)
	for _, op := range inPlaceCalls {
		err := Maybe(func() { op.call(s, wide, Ones(s, Float32, 3, 4)) })
		if e := fmt.Sprint(err); !errors.Is(err, ErrArgument) || !strings.Contains(e, "dst of shape [3 4]") || !strings.Contains(e, "share memory") {
			t.Errorf("%s: %v", op.name, err)
		}
	}
	if got := x.Float64s(); !slices.Equal(got, []float64{1, 2, 3}) {
		t.Errorf("changed: %v", got)
	}
	AddInPlace(s, Expand(s, x, 3, 1), x) // nothing is repeated
	if got := x.Float64s(); !slices.Equal(got, []float64{2, 4, 6}) {
		t.Errorf("expanded to its own shape: %v", got)
	}
}

// TestStaleThroughViews: a change of a view is one of the tensor that backward saved.
func TestStaleThroughViews(t *testing.T) {
	for name, change := range map[string]func(s *Scope, v *Tensor){
		"add_":   func(s *Scope, v *Tensor) { AddInPlace(s, v, v) },
		"copy_":  func(s *Scope, v *Tensor) { CopyInPlace(s, v, Scalar[float32](1)) },
		"Assign": func(s *Scope, v *Tensor) { Assign(v, Zeros(s, Float32, v.shape...)) },
	} {
		s := NewScope()
		w, x := Ones(s, Float32, 3, 3).RequireGrad(), Ones(s, Float32, 3, 3)
		loss := Sum(s, Mul(s, w, x))
		change(s, Transpose(s, Narrow(s, x, 1, 1, 1), 0, 1))
		if err := Maybe(func() { loss.Backward() }); !errors.Is(err, ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
}

// TestInPlaceOnGradients: the advice is right for what it is given to: a leaf is changed without gradients, the result of an op never.
func TestInPlaceOnGradients(t *testing.T) {
	s := NewScope()
	defer s.Close()
	w := Ones(s, Float32, 3).SetName("w").RequireGrad()
	y := Exp(s, w)
	for _, c := range []struct {
		leaf bool
		f    func()
		says []string
	}{
		{true, func() { AddInPlace(s, w, w) }, []string{`dst "w" of shape [3] wants a gradient`, "s.NoGrad()"}},
		{true, func() { AddInPlace(s, Transpose(s, Narrow(s, Reshape(s, w, 3, 1), 0, 1, 2), 0, 1), w) }, []string{`is a view of the leaf "w" of shape [3]`, "s.NoGrad()"}},
		{false, func() { AddInPlace(s, y, w) }, []string{"dst of shape [3] is the result of exp", "amp.Add(s, dst, x)"}},
		{false, func() { CopyInPlace(s, Narrow(s, y, 0, 1, 1), Scalar[float32](2)) }, []string{"is the result of narrow", "amp.Where", "amp.IndexPut"}},
	} {
		err := Maybe(c.f)
		if !errors.Is(err, ErrGrad) {
			t.Errorf("%v", err)
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v\ndoes not say %q", err, part)
			}
		}
		if strings.Contains(err.Error(), "NoGrad") != c.leaf {
			t.Errorf("advice to drop the gradient: %v", err)
		}
	}
}
