package nn_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// spread returns the largest magnitude and the root mean square.
func spread(t *amp.Tensor) (largest, rms float64) {
	for _, v := range t.Float64s() {
		largest = math.Max(largest, math.Abs(v))
		rms += v * v
	}
	return largest, math.Sqrt(rms / float64(t.Len()))
}

// TestConvLayers: shapes and distributions of PyTorch's layers, uniform in ±1/√fan in.
func TestConvLayers(t *testing.T) {
	s := amp.NewScope(amp.Seed(5))
	defer s.Close()
	for _, c := range []struct {
		name   string
		layer  *nn.Conv
		weight []int
		fan    float64
		x, y   []int
	}{
		{"1d", nn.NewConv1d(s, 8, 32, 5, nn.Padding(2)), []int{32, 8, 5}, 40, []int{2, 8, 7}, []int{2, 32, 7}},
		{"2d", nn.NewConv2d(s, 8, 32, 3, nn.Stride(2), nn.Padding(1)), []int{32, 8, 3, 3}, 72, []int{2, 8, 6, 5}, []int{2, 32, 3, 3}},
		{"groups", nn.NewConv2d(s, 8, 32, 3, nn.Groups(4), nn.SamePadding()), []int{32, 2, 3, 3}, 18, []int{1, 8, 4, 4}, []int{1, 32, 4, 4}},
		{"sides", nn.NewConv2d(s, 8, 32, 1, nn.Kernel(1, 3), nn.Dilation(1, 2)), []int{32, 8, 1, 3}, 24, []int{1, 8, 2, 6}, []int{1, 32, 2, 2}},
		{"3d", nn.NewConv3d(s, 4, 16, 2), []int{16, 4, 2, 2, 2}, 32, []int{1, 4, 3, 3, 3}, []int{1, 16, 2, 2, 2}},
		{"transposed 1d", nn.NewConvTranspose1d(s, 16, 8, 4, nn.Stride(2)), []int{16, 8, 4}, 32, []int{1, 16, 3}, []int{1, 8, 8}},
		{"transposed 2d", nn.NewConvTranspose2d(s, 16, 8, 3, nn.Stride(2), nn.Padding(1), nn.OutputPadding(1), nn.Groups(2)), []int{16, 4, 3, 3}, 36, []int{1, 16, 3, 3}, []int{1, 8, 6, 6}},
		{"transposed 3d", nn.NewConvTranspose3d(s, 4, 8, 2), []int{4, 8, 2, 2, 2}, 64, []int{1, 4, 2, 2, 2}, []int{1, 8, 3, 3, 3}},
	} {
		if !slices.Equal(c.layer.Weight.Shape(), c.weight) || c.layer.Bias.Len() != c.y[1] {
			t.Errorf("%s: weight %v, bias %v", c.name, c.layer.Weight.Shape(), c.layer.Bias.Shape())
		}
		bound := 1 / math.Sqrt(c.fan)
		largest, rms := spread(c.layer.Weight)
		if largest > bound || largest < 0.9*bound || math.Abs(rms-bound/math.Sqrt(3)) > 0.1*bound {
			t.Errorf("%s: weights up to %v, deviation %v, want ±%v", c.name, largest, rms, bound)
		}
		if largest, _ := spread(c.layer.Bias); largest > bound || largest < 0.4*bound {
			t.Errorf("%s: bias up to %v, want ±%v", c.name, largest, bound)
		}
		if y := c.layer.Forward(s, amp.Rand(s, amp.Float32, -1, 1, c.x...)); !slices.Equal(y.Shape(), c.y) {
			t.Errorf("%s: %v to %v, want %v", c.name, c.x, y.Shape(), c.y)
		}
	}
	x := amp.From([]float32{1, 2, 3, 4}, 1, 1, 4)
	for _, c := range []struct {
		mode    string
		padding nn.ConvOption
		want    []float64
	}{
		{"zeros", nn.Padding(1), []float64{210, 321, 432, 43}}, {"circular", nn.Padding(1), []float64{214, 321, 432, 143}},
		{"reflect", nn.Padding(1), []float64{212, 321, 432, 343}}, {"replicate", nn.SamePadding(), []float64{211, 321, 432, 443}},
	} {
		l := nn.NewConv1d(s, 1, 1, 3, nn.NoBias(), nn.PaddingMode(c.mode), c.padding)
		amp.SetValues(l.Weight, []float32{1, 10, 100})
		if y := l.Forward(s, x).Float64s(); !slices.Equal(y, c.want) {
			t.Errorf("%s: %v, want %v", c.mode, y, c.want)
		}
	}
	if c := nn.NewConv2d(s, 2, 2, 1, nn.NoBias(), nn.DType(amp.Float64)); c.Bias != nil || len(c.Parameters()) != 1 || c.Weight.DType() != amp.Float64 {
		t.Errorf("%+v", c)
	}
	for name, f := range map[string]func(){
		"no channels": func() { nn.NewConv2d(s, 0, 2, 1) },
		"no kernel":   func() { nn.NewConv2d(s, 2, 2, 0) },
		"groups":      func() { nn.NewConv2d(s, 4, 6, 1, nn.Groups(4)) },
		"mode":        func() { nn.NewConv2d(s, 2, 2, 1, nn.PaddingMode("mirror")) },
		"transposed":  func() { nn.NewConvTranspose2d(s, 2, 2, 1, nn.PaddingMode("reflect")) },
		"sides":       func() { nn.NewConv2d(s, 4, 6, 1, nn.Kernel(1, 2, 3)) },
		"same":        func() { nn.NewConv2d(s, 2, 2, 3, nn.SamePadding(), nn.Stride(1, 2)) },
		"same mirror": func() { nn.NewConv2d(s, 2, 2, 3, nn.SamePadding(), nn.Stride(2), nn.PaddingMode("reflect")) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPoolLayers: layers are the functions of the same names.
func TestPoolLayers(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	x := amp.Randn(s, amp.Float32, 0, 1, 1, 2, 6, 5)
	line := amp.Reshape(s, x, 2, 6, 5)
	cube := amp.Reshape(s, x, 1, 2, 3, 2, 5)
	for name, c := range map[string][2]*amp.Tensor{
		"MaxPool1d":         {nn.MaxPool1d(2).Forward(s, line), amp.MaxPool1d(s, line, 2)},
		"MaxPool2d":         {nn.MaxPool2d(3, nn.Stride(2), nn.Padding(1), nn.CeilMode()).Forward(s, x), amp.MaxPool2d(s, x, 3, amp.Stride(2), amp.Padding(1), amp.CeilMode())},
		"sides":             {nn.MaxPool2d(1, nn.Kernel(3, 2)).Forward(s, x), amp.MaxPool2d(s, x, 1, amp.Kernel(3, 2))},
		"MaxPool3d":         {nn.MaxPool3d(2).Forward(s, cube), amp.MaxPool3d(s, cube, 2)},
		"AvgPool1d":         {nn.AvgPool1d(2).Forward(s, line), amp.AvgPool1d(s, line, 2)},
		"AvgPool2d":         {nn.AvgPool2d(3, nn.Padding(1), nn.ExcludePadding()).Forward(s, x), amp.AvgPool2d(s, x, 3, amp.Padding(1), amp.ExcludePadding())},
		"AvgPool3d":         {nn.AvgPool3d(2).Forward(s, cube), amp.AvgPool3d(s, cube, 2)},
		"AdaptiveAvgPool1d": {nn.AdaptiveAvgPool1d(3).Forward(s, line), amp.AdaptiveAvgPool1d(s, line, 3)},
		"AdaptiveAvgPool2d": {nn.AdaptiveAvgPool2d(2, 3).Forward(s, x), amp.AdaptiveAvgPool2d(s, x, 2, 3)},
		"AdaptiveMaxPool2d": {nn.AdaptiveMaxPool2d(2).Forward(s, x), amp.AdaptiveMaxPool2d(s, x, 2)},
		"AdaptiveMaxPool1d": {nn.AdaptiveMaxPool1d(3).Forward(s, line), amp.AdaptiveMaxPool1d(s, line, 3)},
		"AdaptiveAvgPool3d": {nn.AdaptiveAvgPool3d(2).Forward(s, cube), amp.AdaptiveAvgPool3d(s, cube, 2)},
		"AdaptiveMaxPool3d": {nn.AdaptiveMaxPool3d(1, 2, 2).Forward(s, cube), amp.AdaptiveMaxPool3d(s, cube, 1, 2, 2)},
		"Flatten":           {nn.Flatten.Forward(s, x), amp.Reshape(s, x, 1, 60)},
		"Identity":          {nn.Identity.Forward(s, x), x},
	} {
		if !slices.Equal(c[0].Shape(), c[1].Shape()) || !slices.Equal(c[0].Float64s(), c[1].Float64s()) {
			t.Errorf("%s: %v, want %v", name, c[0].Shape(), c[1].Shape())
		}
	}
}

func TestResidual(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	x := amp.From([]float32{1, 2}, 1, 2)
	body := nn.NewLinear(s, 2, 2, nn.NoBias())
	nn.Eye(body.Weight)
	if y := nn.NewResidual(body, nil).Forward(s, x).Float64s(); !slices.Equal(y, []float64{2, 4}) {
		t.Error(y)
	}
	r := nn.NewResidual(nn.NewSequential(nn.NewLinear(s, 2, 2), nn.NewBatchNorm1d(s, 2)), nn.NewLinear(s, 2, 2, nn.NoBias()))
	var names []string
	for _, p := range append(r.Parameters(), r.Buffers()...) {
		names = append(names, p.Name())
	}
	if want := []string{"body.0.weight", "body.0.bias", "body.1.weight", "body.1.bias", "shortcut.weight",
		"body.1.running_mean", "body.1.running_var", "body.1.num_batches_tracked"}; !slices.Equal(names, want) {
		t.Error(names)
	}
	if err := amp.Maybe(func() { nn.NewResidual(nil, nil) }); !errors.Is(err, amp.ErrArgument) {
		t.Error(err)
	}
}
