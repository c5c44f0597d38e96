package amp

import (
	"errors"
	"slices"
	"testing"
)

// TestInPlaceOfOwnMemory: what is changed in place may be added to or replaced by another view of itself: that is read as it was before.
func TestInPlaceOfOwnMemory(t *testing.T) {
	const n = 130
	same := func(s *Scope, x *Tensor) *Tensor { return x }
	views := []struct {
		name   string
		dst, x func(s *Scope, x *Tensor) *Tensor
	}{
		{"itself", same, same},
		{"transposed", same, func(s *Scope, x *Tensor) *Tensor { return Transpose(s, x, 0, 1) }},
		{"its second row", same, func(s *Scope, x *Tensor) *Tensor { return Narrow(s, x, 0, 1, 1) }},
		{"its second column", same, func(s *Scope, x *Tensor) *Tensor { return Narrow(s, x, 1, 1, 1) }},
		{"an element", same, func(s *Scope, x *Tensor) *Tensor { return Select(s, Select(s, x, 0, 3), 0, 4) }},
		{"a row later", func(s *Scope, x *Tensor) *Tensor { return Narrow(s, x, 0, 1, n-1) }, func(s *Scope, x *Tensor) *Tensor { return Narrow(s, x, 0, 0, n-1) }},
		{"a row earlier", func(s *Scope, x *Tensor) *Tensor { return Narrow(s, x, 0, 0, n-1) }, func(s *Scope, x *Tensor) *Tensor { return Narrow(s, x, 0, 1, n-1) }},
		{"an element later", func(s *Scope, x *Tensor) *Tensor { return Narrow(s, Reshape(s, x, -1), 0, 1, n*n-1) }, func(s *Scope, x *Tensor) *Tensor { return Narrow(s, Reshape(s, x, -1), 0, 0, n*n-1) }},
		{"apart", func(s *Scope, x *Tensor) *Tensor { return Narrow(s, x, 0, 0, 50) }, func(s *Scope, x *Tensor) *Tensor { return Narrow(s, x, 0, 80, 50) }},
	}
	values := make([]float64, n*n)
	for i := range values {
		values[i] = float64(i%251) - 100
	}
	for _, dt := range []DType{Float64, Float32, BFloat16, Float16, Int64} {
		for _, v := range views {
			for name, f := range map[string]func(s *Scope, dst, x *Tensor){
				"add_": AddInPlace, "copy_": CopyInPlace,
				"Assign": func(s *Scope, dst, x *Tensor) { Assign(dst, Expand(s, x, dst.shape...)) },
			} {
				s := NewScope(On("cpu"))
				x := fromFloat64s(dt, values, []int{n, n}).To(s)
				dst, from := v.dst(s, x), v.x(s, x)
				want := To(s, Add(s, dst, from), dt).Float64s()
				if name != "add_" {
					want = Contiguous(s, Expand(s, from, dst.shape...)).Float64s()
				}
				version := x.Version()
				f(s, dst, from)
				if got := dst.Float64s(); !slices.Equal(got, want) {
					t.Errorf("%s of %v and %s: %v …, not %v …", name, dt, v.name, got[:3], want[:3])
				}
				if now := x.Version(); now != version+1 {
					t.Errorf("%s of %v and %s: version %d after %d", name, dt, v.name, now, version)
				}
				s.Close()
			}
		}
	}
}

// TestInPlaceOfIntegers: they are copied exactly, and floats are not added to them.
func TestInPlaceOfIntegers(t *testing.T) {
	s := NewScope(On("cpu"))
	defer s.Close()
	list := []int64{1<<53 + 1, -1<<62 - 1, 1<<63 - 1}
	x, y := From(list).To(s), From([]int64{0, 0, 0}).To(s)
	CopyInPlace(s, y, x)
	if got := Values[int64](y); !slices.Equal(got, list) {
		t.Errorf("%v became %v", list, got)
	}
	for _, pair := range [][2]*Tensor{{y, From([]float32{0.5}).To(s)}, {y, From([]float64{1}).To(s)}, {From([]bool{true}).To(s), From([]int64{1}).To(s)}, {From([]bool{true}).To(s), From([]float32{1}).To(s)}} {
		func() {
			defer func() {
				if e, _ := recover().(error); !errors.Is(e, ErrDType) {
					t.Errorf("%v added to %v: %v", pair[1].dt, pair[0].dt, e)
				}
			}()
			AddInPlace(s, pair[0], pair[1])
		}()
	}
}
