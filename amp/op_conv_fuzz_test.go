package amp

import (
	"errors"
	"testing"
)

// FuzzWindows gives convolutions, pools and norms arbitrary shapes and options, forward and backward. They may refuse with an
// *Error; any other panic, or a gradient of another shape than its input, is a fault.
func FuzzWindows(f *testing.F) {
	f.Add([]byte{2, 4, 5, 5, 3, 3}, []byte{1, 1, 0, 2}, uint8(1))
	f.Add([]byte{1, 4, 1, 6, 1, 2}, []byte{3, 2, 1, 1, 1}, uint8(9))
	f.Add([]byte{0, 1, 2, 2, 2, 2}, []byte{2, 0, 2, 3, 4}, uint8(4))
	f.Add([]byte{1, 2, 7, 3, 2, 3}, []byte{1, 1, 1, 1, 1, 3}, uint8(128))
	f.Add([]byte{3, 3, 7, 1, 2, 1}, []byte{1, 1, 0, 1, 0, 1, 1}, uint8(21))
	f.Add([]byte{0, 4, 8, 8}, []byte{2}, uint8(28)) // norms of an empty batch
	f.Fuzz(func(t *testing.T, sizes, numbers []byte, mode uint8) {
		size := func(i int) int {
			if i < len(sizes) {
				return int(sizes[i] % 9)
			}
			return 1
		}
		number := func(i int) int {
			if i >= len(numbers) {
				return 1
			}
			return int(numbers[i] % 5)
		}
		far := 0 // beyond the input, of stride and padding alike, so that the result stays small
		if mode&128 != 0 {
			far = 1 << (number(5) * 6)
		}
		s := NewScope()
		defer s.Close()
		dt := []DType{Float32, Float16, Float64, BFloat16}[mode%4]
		x := Full(s, dt, 0.5, size(0), size(1), size(2), size(3)).RequireGrad()
		if mode&64 != 0 {
			x = Full(s, dt, 0.5, size(0), size(2), size(1), size(3)).RequireGrad()
		}
		var w *Tensor
		opts := []WindowOption{Stride(number(0)+far, number(1)+far), Padding(number(2) + far), Dilation(number(3), 1+far)}
		err := Maybe(func() {
			in := Permute(s, x, 0, 1, 3, 2)
			var y *Tensor
			y, w = fuzzWindows(s, mode, in, size, number, opts)
			Sum(s, y).Backward()
		})
		if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
			t.Fatal(err)
		}
		for _, p := range []*Tensor{x, w} {
			if p == nil || p.Grad() == nil {
				continue
			}
			if g := p.Grad(); len(g.shape) != len(p.shape) || g.Len() != p.Len() || g.dt != dt {
				t.Errorf("gradient %v %v of %v %v", g.dt, g.shape, p.dt, p.shape)
			}
		}
	})
}

// fuzzWindows calls the op that mode chooses; w is its weight, if it has one.
func fuzzWindows(s *Scope, mode uint8, in *Tensor, size, number func(i int) int, opts []WindowOption) (y, w *Tensor) {
	switch mode / 4 % 8 {
	case 0, 1:
		w = Full(s, in.dt, 1, in.shape[1], max(1, in.shape[1]/max(1, number(4))), size(4), size(5)).RequireGrad()
		y = Conv2d(s, in, w, nil, append(opts, Groups(number(4)))...)
	case 2, 3:
		w = Full(s, in.dt, 1, size(1), size(4), size(4), size(5)).RequireGrad()
		opts = []WindowOption{Stride(number(0), number(1)), Padding(number(2)), Dilation(number(3), 1)}
		y = ConvTranspose2d(s, in, w, nil, append(opts, OutputPadding(number(5)), Groups(number(4)))...)
	case 4:
		y = MaxPool2d(s, in, size(4), append(opts, CeilMode())...)
	case 5:
		y = AvgPool2d(s, in, size(4), Stride(number(0)), Padding(number(2)), CeilMode(), ExcludePadding())
	case 6:
		y = AdaptiveAvgPool2d(s, in, number(0), number(1))
	case 7:
		y = GroupNorm(s, BatchNorm(s, in, nil, nil, BatchNormState{Eps: 1e-5}), number(0), nil, nil, 1e-5)
	}
	return y, w
}
