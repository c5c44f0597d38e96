package amp

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// TestGridSampleIdentity: the grid of the identity gives the image, a shifted one gives neighbors or what the padding says.
func TestGridSampleIdentity(t *testing.T) {
	s := NewScope(Seed(3))
	defer s.Close()
	for _, dt := range []DType{Float16, BFloat16, Float32, Float64} {
		x := Randn(s, dt, 0, 1, 2, 3, 4, 5)
		for _, mode := range []string{"bilinear", "nearest", "bicubic"} {
			for _, align := range []bool{false, true} {
				unit := AffineGrid(s, From(slices.Repeat([]float64{1, 0, 0, 0, 1, 0}, 2), 2, 2, 3), x.Shape(), align)
				if y := GridSample(s, To(s, x, Float64), unit, GridSampling{Mode: mode, AlignCorners: align}); !near(y.Float64s(), x.Float64s(), 1e-13) {
					t.Errorf("%v %s, aligned %v: the identity moves the image", dt, mode, align)
				}
			}
		}
	}
	// One column to the right: x = 2/5 without aligned corners.
	x := FromFloat64s(Float64, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 1, 1, 2, 5)
	for padding, last := range map[string]float64{"zeros": 0, "border": 5, "reflection": 5} {
		grid := AffineGrid(s, From([]float64{1, 0, 0.4, 0, 1, 0}, 1, 2, 3), x.Shape(), false)
		y := GridSample(s, x, grid, GridSampling{Padding: padding}).Float64s()
		if !near(y[:5], []float64{2, 3, 4, 5, last}, 1e-12) {
			t.Errorf("%s: %v", padding, y)
		}
	}
	// Reflected at the centers the last column does not repeat: x = 2/4 with aligned corners.
	grid := AffineGrid(s, From([]float64{1, 0, 0.5, 0, 1, 0}, 1, 2, 3), x.Shape(), true)
	if y := GridSample(s, x, grid, GridSampling{Padding: "reflection", AlignCorners: true}).Float64s(); !near(y[:5], []float64{2, 3, 4, 5, 4}, 1e-12) {
		t.Errorf("reflection at the centers: %v", y)
	}
	// Coordinates that are no places read nothing, or the border.
	nan := From([]float64{math.NaN(), 0, math.Inf(1), 0, 1e300, 0}, 1, 1, 3, 2)
	if y := GridSample(s, x, nan, GridSampling{}).Float64s(); !slices.Equal(y, []float64{0, 0, 0}) {
		t.Errorf("nowhere: %v", y)
	}
	if y := GridSample(s, x, nan, GridSampling{Padding: "border"}).Float64s(); !slices.Equal(y, []float64{3.5, 7.5, 7.5}) {
		t.Errorf("nowhere, at the border: %v", y)
	}
}

// TestGridSampleRamp: bilinear sampling of a ramp is the coordinate, and its gradient to the grid the slope of the coordinate.
func TestGridSampleRamp(t *testing.T) {
	s := NewScope()
	defer s.Close()
	ramp := make([]float64, 3*4)
	for i := range ramp {
		ramp[i] = float64(10*(i/4) + i%4)
	}
	x := FromFloat64s(Float64, ramp, 1, 1, 3, 4)
	grid := From([]float64{0.1, -0.3, -0.5, 0.25}, 1, 1, 2, 2).RequireGrad()
	y := GridSample(s, x, grid, GridSampling{})
	for i, v := range y.Float64s() {
		g := grid.Float64s()[2*i:]
		if want := 10*((g[1]+1)*3/2-0.5) + (g[0]+1)*2 - 0.5; !(math.Abs(v-want) <= 1e-12) {
			t.Errorf("point %d: %v, want %v", i, v, want)
		}
	}
	Sum(s, y).Backward()
	if g := grid.Grad().Float64s(); !near(g, []float64{2, 15, 2, 15}, 1e-12) {
		t.Errorf("gradient %v", g)
	}
	low := s.Autocast(BFloat16)
	if y := GridSample(low, To(s, x, BFloat16), To(s, Detach(s, grid), Float32), GridSampling{}); y.dt != Float32 {
		t.Errorf("under autocast %v", y.dt)
	}
}

// TestAffineGridUnderAutocast: PyTorch makes it of a product, which is lowered.
func TestAffineGridUnderAutocast(t *testing.T) {
	s := NewScope()
	defer s.Close()
	theta := FromFloat64s(Float32, []float64{1, 0, 0, 0, 1, 0}, 1, 2, 3)
	if y := AffineGrid(s.Autocast(BFloat16), theta, []int{1, 1, 2, 2}, false); y.dt != BFloat16 {
		t.Errorf("%v", y.dt)
	}
}

func TestGridSampleRefuses(t *testing.T) {
	s := NewScope()
	defer s.Close()
	x, grid := Full(s, Float32, 1, 1, 2, 3, 3), Full(s, Float32, 0, 1, 2, 2, 2)
	volume, places := Full(s, Float32, 1, 1, 1, 2, 2, 2), Full(s, Float32, 0, 1, 2, 2, 2, 3)
	for name, c := range map[string]struct {
		kind error
		f    func()
	}{
		"mode":          {ErrArgument, func() { GridSample(s, x, grid, GridSampling{Mode: "cubic"}) }},
		"padding":       {ErrArgument, func() { GridSample(s, x, grid, GridSampling{Padding: "reflect"}) }},
		"cubic volume":  {ErrArgument, func() { GridSample(s, volume, places, GridSampling{Mode: "bicubic"}) }},
		"rank":          {ErrShape, func() { GridSample(s, x, places, GridSampling{}) }},
		"vectors":       {ErrShape, func() { GridSample(s, From([]float32{1}), grid, GridSampling{}) }},
		"batch":         {ErrShape, func() { GridSample(s, x, Full(s, Float32, 0, 2, 2, 2, 2), GridSampling{}) }},
		"coordinates":   {ErrShape, func() { GridSample(s, x, Full(s, Float32, 0, 1, 2, 2, 3), GridSampling{}) }},
		"nothing":       {ErrShape, func() { GridSample(s, Full(s, Float32, 0, 1, 1, 0, 2), grid, GridSampling{}) }},
		"dtypes":        {ErrDType, func() { GridSample(s, x, To(s, grid, Float64), GridSampling{}) }},
		"affine theta":  {ErrShape, func() { AffineGrid(s, grid, []int{1, 1, 2, 2}, false) }},
		"affine vector": {ErrShape, func() { AffineGrid(s, Full(s, Float32, 1, 1, 1, 2), []int{1, 1, 2}, false) }},
	} {
		if err := Maybe(c.f); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
