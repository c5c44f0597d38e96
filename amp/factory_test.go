package amp

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestFactories(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x := Full(s, BFloat16, 2, 2, 3)
	for name, c := range map[string]struct {
		y     *Tensor
		dt    DType
		shape []int
		want  []float64
	}{
		"zeros":         {Zeros(s, Float16, 2), Float16, []int{2}, []float64{0, 0}},
		"ones":          {Ones(s, Int64, 1, 2), Int64, []int{1, 2}, []float64{1, 1}},
		"zeros like":    {ZerosLike(s, x), BFloat16, []int{2, 3}, make([]float64, 6)},
		"ones like":     {OnesLike(s, x), BFloat16, []int{2, 3}, []float64{1, 1, 1, 1, 1, 1}},
		"arange":        {Arange(s, Int64, 2, 8, 3), Int64, []int{2}, []float64{2, 5}},
		"arange down":   {Arange(s, Float32, 1, -0.5, -0.5), Float32, []int{3}, []float64{1, 0.5, 0}},
		"arange none":   {Arange(s, Float32, 1, 1, 1), Float32, []int{0}, []float64{}},
		"linspace":      {Linspace(s, Float64, -1, 1, 5), Float64, []int{5}, []float64{-1, -0.5, 0, 0.5, 1}},
		"linspace one":  {Linspace(s, Float64, 3, 7, 1), Float64, []int{1}, []float64{3}},
		"linspace none": {Linspace(s, Float64, 3, 7, 0), Float64, []int{0}, []float64{}},
		"eye":           {Eye(s, Float16, 2, 3), Float16, []int{2, 3}, []float64{1, 0, 0, 0, 1, 0}},
	} {
		if c.y.dt != c.dt || !slices.Equal(c.y.shape, c.shape) || !slices.Equal(c.y.Float64s(), c.want) {
			t.Errorf("%s: %v %v %v", name, c.y.dt, c.y.shape, c.y.Float64s())
		}
	}
	if v := Linspace(s, Float64, 0, 0.7, 8).Float64s(); v[7] != 0.7 {
		t.Errorf("the last is %v", v[7])
	}
	for _, f := range []func(){
		func() { Arange(s, Float32, 0, 1, 0) },
		func() { Arange(s, Float32, 0, 1, -1) },
		func() { Arange(s, Float32, 0, math.Inf(1), 1) },
		func() { Arange(s, Float32, math.NaN(), 1, 1) },
		func() { Linspace(s, Float32, 0, 1, -1) },
	} {
		if err := Maybe(f); !errors.Is(err, ErrArgument) {
			t.Error(err)
		}
	}
	if err := Maybe(func() { Eye(s, Float32, -1, 2) }); !errors.Is(err, ErrShape) {
		t.Error(err)
	}
}

// An error names the function that was called, not the one behind it.
func TestFactoryErrorsNameTheirFunction(t *testing.T) {
	closed := NewScope()
	x := From([]float32{1})
	closed.Close()
	for name, f := range map[string]func(){
		"Zeros": func() { Zeros(closed, Float32, 2) }, "Ones": func() { Ones(closed, Float32, 2) }, "Full": func() { Full(closed, Float32, 3, 2) },
		"ZerosLike": func() { ZerosLike(closed, x) }, "OnesLike": func() { OnesLike(closed, x) }, "FullLike": func() { FullLike(closed, x, 3) },
	} {
		if err := Maybe(f); err == nil || !strings.HasPrefix(err.Error(), "amp: "+name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
