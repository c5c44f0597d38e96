package cudart_test

import (
	"math"
	"strings"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart"
)

// A convolved is a convolution with its gradients, by each of the functions that compute it.
type convolved struct {
	name string
	x, w []int
	bias int
	call func(s *amp.Scope, x, w, bias *amp.Tensor) *amp.Tensor
}

func convolutions() []convolved {
	with := func(f func(s *amp.Scope, x, w, b *amp.Tensor, opts ...amp.WindowOption) *amp.Tensor, opts ...amp.WindowOption) func(s *amp.Scope, x, w, b *amp.Tensor) *amp.Tensor {
		return func(s *amp.Scope, x, w, b *amp.Tensor) *amp.Tensor { return f(s, x, w, b, opts...) }
	}
	return []convolved{
		{name: "1d", x: []int{2, 3, 9}, w: []int{4, 3, 3}, bias: 4, call: with(amp.Conv1d, amp.Padding(1))},
		{name: "2d", x: []int{2, 8, 7, 6}, w: []int{16, 8, 3, 3}, bias: 16, call: with(amp.Conv2d, amp.Padding(1))},
		{name: "strided", x: []int{2, 3, 8, 7}, w: []int{4, 3, 3, 2}, call: with(amp.Conv2d, amp.Stride(2, 3), amp.Padding(1), amp.Dilation(2, 1))},
		{name: "groups", x: []int{2, 4, 6, 6}, w: []int{6, 2, 3, 3}, bias: 6, call: with(amp.Conv2d, amp.Groups(2))},
		{name: "depthwise", x: []int{2, 4, 6, 6}, w: []int{4, 1, 3, 3}, call: with(amp.Conv2d, amp.Groups(4), amp.Padding(1))},
		{name: "same", x: []int{1, 2, 5, 5}, w: []int{3, 2, 2, 4}, call: with(amp.Conv2d, amp.SamePadding())},
		{name: "one place", x: []int{3, 16, 4, 6}, w: []int{24, 16, 1, 1}, bias: 24, call: with(amp.Conv2d)},
		{name: "3d", x: []int{1, 2, 4, 5, 4}, w: []int{3, 2, 2, 3, 2}, bias: 3, call: with(amp.Conv3d, amp.Padding(0, 1, 0))},
		{name: "transposed", x: []int{2, 4, 4, 3}, w: []int{4, 3, 3, 3}, bias: 3, call: with(amp.ConvTranspose2d, amp.Stride(2), amp.Padding(1), amp.OutputPadding(1))},
	}
}

// run returns the result and the gradients.
func (c convolved) run(s *amp.Scope, dt amp.DType) [][]float64 {
	at := s.Random().State()
	defer func() { s.Random().Load(at) }()
	leaf := func(shape ...int) *amp.Tensor { return amp.Randn(s, dt, 0, 1, shape...).RequireGrad() }
	x, w := leaf(c.x...), leaf(c.w...)
	in := []*amp.Tensor{x, w}
	var bias *amp.Tensor
	if c.bias > 0 {
		bias = leaf(c.bias)
		in = append(in, bias)
	}
	y := c.call(s, x, w, bias)
	amp.Sum(s, amp.Mul(s, y, y)).Backward()
	out := [][]float64{y.Float64s()}
	for _, t := range in {
		out = append(out, t.Grad().Float64s())
	}
	return out
}

// TestConvolutionsOnCuDNN compares convolutions and their gradients that go through cuDNN with those of Halftone's kernels.
func TestConvolutionsOnCuDNN(t *testing.T) {
	device := gpu(t)
	if _, _, err := cudart.CuDNN(device); err != nil {
		t.Skip(err)
	}
	defer cudart.SetDNNFrom(0)()
	for _, dt := range []amp.DType{amp.Float16, amp.BFloat16, amp.Float32, amp.Float64} {
		for _, c := range convolutions() {
			t.Run(dt.String()+" "+c.name, func(t *testing.T) {
				s := amp.NewScope(amp.On(device), amp.Seed(5))
				defer s.Close()
				got := c.run(s, dt)
				was := cudart.UseCuDNN(false)
				want := c.run(s, dt)
				cudart.UseCuDNN(was)
				u := map[amp.DType]float64{amp.Float16: 0x1p-9, amp.BFloat16: 0x1p-6, amp.Float32: 0x1p-18, amp.Float64: 0x1p-46}[dt]
				for k := range want {
					size := 0.0
					for _, v := range want[k] {
						size = max(size, math.Abs(v))
					}
					for i, v := range want[k] {
						if math.Abs(got[k][i]-v) > u*size {
							t.Fatalf("list %d element %d is %v, by our kernel %v", k, i, got[k][i], v)
						}
					}
				}
			})
		}
	}
}

// TestConvolutionChoices: what is allowed decides over the engine.
func TestConvolutionChoices(t *testing.T) {
	device := gpu(t)
	if _, _, err := cudart.CuDNN(device); err != nil {
		t.Skip(err)
	}
	defer cudart.SetDNNFrom(0)()
	s := amp.NewScope(amp.On(device), amp.Seed(5))
	defer s.Close()
	batch, channels, height := 16, 64, 32 // a GPU's cuDNN takes no tensor cores with TF32 for less
	if strings.Contains(s.Device(), "emulated") {
		batch, channels, height = 1, 8, 8
	}
	choice := func(dt amp.DType, width int) cudart.ConvolutionChoice {
		t.Helper()
		amp.Conv2d(s, amp.Randn(s, dt, 0, 1, batch, channels, height, width), amp.Randn(s, dt, 0, 1, 16, channels, 3, 3), nil)
		list, err := cudart.Convolutions(device)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			if strings.Contains(c.Convolution, "forward "+dt.String()) && strings.Contains(c.Convolution, " "+string(rune('0'+width/10))+string(rune('0'+width%10))+"]") {
				return c
			}
		}
		t.Fatalf("%v: there is no choice of width %d in %v", dt, width, list)
		return cudart.ConvolutionChoice{}
	}
	if c := choice(amp.Float16, 40); c.Engine < 0 || !c.TensorCores {
		t.Errorf("float16: %+v", c)
	}
	if c := choice(amp.Float32, 41); c.Engine < 0 || c.TensorCores {
		t.Errorf("float32: %+v", c)
	}
	was := cudart.AllowTF32(true)
	c := choice(amp.Float32, 42)
	cudart.AllowTF32(was)
	if c.Engine < 0 || !c.TensorCores {
		t.Errorf("float32 with TF32: %+v", c)
	}
	if !strings.Contains(s.Device(), "emulated") {
		return // which engines are there is cuDNN's
	}
	if !cudart.Deterministic(false) {
		t.Error("it was not deterministic at first")
	}
	defer cudart.Deterministic(true)
	if c := choice(amp.Float16, 43); !c.TensorCores { // the engine in disorder sums in half precision too
		t.Errorf("in any order: %+v", c)
	}
}
