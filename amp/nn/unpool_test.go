package nn_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/amp/nn"
)

// SegNet's way down and up: a pool's indices say where the next layers' numbers belong.
func ExampleMaxUnpool2d() {
	s := amp.NewScope()
	defer s.Close()
	x := amp.From([]float32{1, 2, 3, 4, 5, 6, 9, 8, 7}, 1, 1, 3, 3)
	pool, unpool := nn.MaxPool2dIndices(2), nn.MaxUnpool2d(2)
	y, indices := pool.Forward(s, x)
	fmt.Println(y.Float64s(), indices.Float64s())
	fmt.Println(unpool.Forward(s, y, indices, x.Shape()...).Float64s())
	fmt.Println(pool, unpool)
	// Output:
	// [5] [4]
	// [0 0 0 0 5 0 0 0 0]
	// MaxPool2dIndices(kernel=2) MaxUnpool2d(kernel=2)
}

// TestUnpoolLayers: layers are the functions of the same names, with their options, and one undoes the other.
func TestUnpoolLayers(t *testing.T) {
	s := amp.NewScope()
	defer s.Close()
	x := amp.Rand(s, amp.Float32, 1, 2, 1, 2, 7, 5)
	for name, c := range map[string]struct {
		pool   *nn.PoolIndices
		unpool *nn.MaxUnpool
		x      *amp.Tensor
		places func(s *amp.Scope, x *amp.Tensor, kernel int, opts ...amp.WindowOption) (values, indices *amp.Tensor)
		kernel int
		opts   []amp.WindowOption
	}{
		"1d":    {nn.MaxPool1dIndices(2), nn.MaxUnpool1d(2), amp.Reshape(s, x, 2, 7, 5), amp.MaxPool1dIndices, 2, nil},
		"2d":    {nn.MaxPool2dIndices(3, nn.Stride(4), nn.Padding(1)), nn.MaxUnpool2d(3, nn.Stride(4), nn.Padding(1)), x, amp.MaxPool2dIndices, 3, []amp.WindowOption{amp.Stride(4), amp.Padding(1)}},
		"sides": {nn.MaxPool2dIndices(1, nn.Kernel(3, 2)), nn.MaxUnpool2d(1, nn.Kernel(3, 2)), x, amp.MaxPool2dIndices, 1, []amp.WindowOption{amp.Kernel(3, 2)}},
		"3d":    {nn.MaxPool3dIndices(2), nn.MaxUnpool3d(2), amp.Reshape(s, x, 1, 1, 2, 7, 5), amp.MaxPool3dIndices, 2, nil},
	} {
		y, indices := c.pool.Forward(s, c.x)
		want, places := c.places(s, c.x, c.kernel, c.opts...)
		if !slices.Equal(y.Float64s(), want.Float64s()) || !slices.Equal(indices.Float64s(), places.Float64s()) {
			t.Errorf("%s: %v at %v, want %v at %v", name, y, indices, want, places)
		}
		back := c.unpool.Forward(s, y, indices, c.x.Shape()...)
		kept := amp.Where(s, amp.Ne(s, back, amp.ZerosLike(s, back)), c.x, amp.ZerosLike(s, c.x))
		if n := int(amp.Sum(s, amp.CountNonzero(s, back)).Item()); n != y.Len() || !slices.Equal(back.Shape(), c.x.Shape()) || !slices.Equal(back.Float64s(), kept.Float64s()) {
			t.Errorf("%s: %v of %v has %d of %d maxima", name, back, c.x, n, y.Len())
		}
	}
	for _, f := range []func(){
		func() { new(nn.MaxUnpool).Forward(s, x, x) },
		func() { (*nn.MaxUnpool)(nil).Forward(s, x, x) },
		func() { new(nn.PoolIndices).Forward(s, x) },
		func() { nn.NoForward{Of: nn.MaxUnpool2d(2)}.Forward(s, x) },
	} {
		if err := amp.Maybe(f); !errors.Is(err, amp.ErrArgument) {
			t.Error(err)
		}
	}
}
