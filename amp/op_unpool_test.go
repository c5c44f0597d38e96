package amp

import (
	"errors"
	"slices"
	"testing"
)

// TestMaxUnpoolUndoesPools: what every max pool keeps goes back to where it was, whatever the window leaves over.
func TestMaxUnpoolUndoesPools(t *testing.T) {
	s := NewScope(Seed(4))
	defer s.Close()
	cube := Rand(s, Float32, 1, 2, 2, 3, 4, 7, 5)
	for i, f := range []func(opts ...WindowOption) (x, y *Tensor){
		func(opts ...WindowOption) (x, y *Tensor) {
			x = Reshape(s, cube, 6, 4, 35)
			y, at := MaxPool1dIndices(s, x, 3, opts...)
			return x, MaxUnpool1d(s, y, at, 3, append(opts, OutputSize(x.shape...))...)
		},
		func(opts ...WindowOption) (x, y *Tensor) {
			x = Reshape(s, cube, 6, 4, 7, 5)
			y, at := MaxPool2dIndices(s, x, 3, opts...)
			return x, MaxUnpool2d(s, y, at, 3, append(opts, OutputSize(x.shape...))...)
		},
		func(opts ...WindowOption) (x, y *Tensor) {
			y, at := MaxPool3dIndices(s, cube, 3, opts...)
			return cube, MaxUnpool3d(s, y, at, 3, append(opts, OutputSize(cube.shape...))...)
		},
	} {
		for k, opts := range [][]WindowOption{nil, {Padding(1)}, {Stride(1)}, {Stride(2), Padding(1)}} {
			x, y := f(opts...)
			kept := 0
			for j, v := range y.Float64s() {
				if w := x.Float64s()[j]; v != 0 {
					if kept++; v != w {
						t.Fatalf("%d dimensions, options %d: element %d is %v, was %v", i+1, k, j, v, w)
					}
				}
			}
			if kept == 0 || !slices.Equal(x.shape, y.shape) {
				t.Errorf("%d dimensions, options %d: %d of %v in %v", i+1, k, kept, x.shape, y.shape)
			}
		}
	}
}

// TestMaxUnpoolKeepsTheLast: of several elements for one place the last stays, on any number of threads, and it alone has a gradient.
func TestMaxUnpoolKeepsTheLast(t *testing.T) {
	s := NewScope()
	defer s.Close()
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
		x := FromFloat64s(dt, []float64{1, 2, 3, 4, 5, 6, 7, 8}, 2, 1, 4).RequireGrad()
		y := MaxUnpool1d(s, x, From([]int64{5, 5, 0, 5, 2, 1, 2, 1}, 2, 1, 4), 2)
		if want := []float64{3, 0, 0, 0, 0, 4, 0, 0, 0, 8, 7, 0, 0, 0, 0, 0}; y.dt != dt || !slices.Equal(y.Float64s(), want) {
			t.Errorf("%v: %v %v, want %v", dt, y.dt, y.Float64s(), want)
		}
		y.Backward(GradOutputs(FromFloat64s(dt, []float64{1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8}, 2, 1, 8)))
		if g, want := x.Grad().Float64s(), []float64{0, 0, 1, 6, 0, 0, 3, 2}; !slices.Equal(g, want) {
			t.Errorf("%v: gradient %v, want %v", dt, g, want)
		}
	}
}

// TestMaxUnpoolAutocast: PyTorch's CPU lists name it, also where it is made of that of another rank; the CUDA lists do not.
func TestMaxUnpoolAutocast(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, at := Ones(s, BFloat16, 1, 1, 1, 2), From([]int64{0, 3}, 1, 1, 1, 2)
	for name, f := range map[string]func(s *Scope) *Tensor{
		"1d": func(s *Scope) *Tensor {
			return MaxUnpool1d(s, Reshape(s, x, 1, 1, 2), Reshape(s, at, 1, 1, 2), 2)
		},
		"2d": func(s *Scope) *Tensor { return MaxUnpool2d(s, x, at, 2) },
		"3d": func(s *Scope) *Tensor { return MaxUnpool3d(s, x, at, 2) },
	} {
		if y := f(s.Autocast(BFloat16)); y.dt != BFloat16 {
			t.Errorf("%s gives %v by the CUDA lists", name, y.dt)
		}
		if y := f(s.Autocast(BFloat16, UseLists(CPULists))); y.dt != Float32 {
			t.Errorf("%s gives %v by the CPU lists", name, y.dt)
		}
	}
}

func TestMaxUnpoolRefusals(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, at := Ones(s, Float32, 1, 2, 2, 3), Zeros(s, Int64, 1, 2, 2, 3)
	for name, c := range map[string]struct {
		kind error
		call func()
	}{
		"outside":     {ErrArgument, settled(s, func() { MaxUnpool2d(s, x, Full(s, Int64, 24, 1, 2, 2, 3), 2) })},
		"negative":    {ErrArgument, settled(s, func() { MaxUnpool2d(s, x, Full(s, Int64, -1, 1, 2, 2, 3), 2) })},
		"shapes":      {ErrShape, func() { MaxUnpool2d(s, x, Zeros(s, Int64, 1, 2, 3, 2), 2) }},
		"rank":        {ErrShape, func() { MaxUnpool3d(s, Ones(s, Float32, 2, 3), Zeros(s, Int64, 2, 3), 2) }},
		"no integers": {ErrDType, func() { MaxUnpool2d(s, x, x, 2) }},
		"too small":   {ErrArgument, func() { MaxUnpool2d(s, x, at, 2, OutputSize(2, 6)) }},
		"too large":   {ErrArgument, func() { MaxUnpool2d(s, x, at, 2, OutputSize(4, 8)) }},
		"two sizes": {ErrArgument, func() {
			MaxUnpool3d(s, Reshape(s, x, 1, 2, 1, 2, 3), Reshape(s, at, 1, 2, 1, 2, 3), 2, OutputSize(2, 4))
		}},
		"dilation":    {ErrArgument, func() { MaxUnpool2d(s, x, at, 2, Dilation(2)) }},
		"of a pool":   {ErrArgument, func() { MaxPool2d(s, x, 2, OutputSize(2)) }},
		"less than 0": {ErrShape, func() { MaxUnpool2d(s, Ones(s, Float32, 1, 1, 0, 1), Zeros(s, Int64, 1, 1, 0, 1), 2, Stride(3)) }},
	} {
		if err := Maybe(c.call); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if y := MaxUnpool2d(s, x, at, 2, OutputSize(3, 7)); !slices.Equal(y.shape, []int{1, 2, 3, 7}) {
		t.Error(y.shape)
	}
}
