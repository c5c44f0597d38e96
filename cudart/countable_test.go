package cudart

import (
	"testing"

	"github.com/halftone-ml/halftone/amp"
)

// denseView is a tensor of this shape without gaps, that is nowhere.
func denseView(shape ...int) *view {
	v := &view{dt: amp.Float16, rank: len(shape)}
	copy(v.shape[:], shape)
	n := 1
	for d := v.rank - 1; d >= 0; d-- {
		v.stride[d] = n
		n *= v.shape[d]
	}
	return v
}

// TestSizesBeyondInt: sizes that kernels count in 32 bits, and that do not fit, are left to the host, not cut off: memory for them is
// there on large devices.
func TestSizesBeyondInt(t *testing.T) {
	const over, most = 1 << 31, mostInt
	var p lineArgs
	for _, c := range []struct {
		shape []int
		dims  []int
		want  bool
	}{
		{[]int{over}, []int{0}, false}, {[]int{3, most}, []int{1}, true}, {[]int{3, most + 1}, []int{1}, false},
		{[]int{1 << 16, 1 << 15}, []int{0, 1}, false}, {[]int{1 << 16, 1 << 17}, []int{0, 1}, false}, {[]int{over, 5}, []int{1}, true},
		{[]int{1 << 16, 1 << 14}, []int{0, 1}, true},
	} {
		if got := p.lay(c.dims, denseView(c.shape...), denseView(c.shape...)); got != c.want {
			t.Errorf("lines of %v over %v: %v", c.shape, c.dims, got)
		}
	}
	for _, c := range []struct {
		m, n, k int
		want    bool
	}{{over, 1, 1, false}, {1, over, 1, false}, {1, 1, over, false}, {1, 1, 1<<32 + 5, false}, {most, 1, 1, true}, {3, 4, most, true}} {
		var g gemmArgs
		if _, got := g.lay(denseView(c.m, c.n), denseView(c.m, c.k), denseView(c.k, c.n), nil, 1, 0); got != c.want {
			t.Errorf("a product of %d×%d×%d: %v", c.m, c.n, c.k, got)
		}
		var pairs pairArgs
		if got := pairs.lay(&amp.Call{}, denseView(c.m, c.n), denseView(c.m, c.k), denseView(c.n, c.k), nil); got != c.want {
			t.Errorf("distances of %d and %d rows of %d: %v", c.m, c.n, c.k, got)
		}
	}
	rows := denseView(1<<16, 1<<17)
	rows.stride[0] *= 2
	for _, c := range []struct {
		x    *view
		dims []int
		want bool
	}{{denseView(over + 64), []int{0}, true}, {denseView(3, over), []int{1}, true}, {denseView(1<<17, 1<<17), []int{0, 1}, true}, {rows, []int{0, 1}, false}, {denseView(over, 3), []int{1}, false}} {
		var r reduceArgs
		if got := r.split(c.dims, c.x); got != c.want {
			t.Errorf("sums over %v of %v: %v", c.dims, c.x.shape[:c.x.rank], got)
		}
	}
	// With more positions than that a convolution goes no further than its sizes: there is no device to go on with.
	defer UseCuDNN(UseCuDNN(false))
	call := &amp.Call{Op: &amp.Op{Name: "conv1d"}, In: make([]*amp.Tensor, 2),
		Attrs: amp.Attrs{Window: &amp.Window{Kernel: []int{3}, Stride: []int{1}, Padding: []int{1, 1}, Dilation: []int{1}, Groups: 1}}}
	for name, f := range map[string]func(l *launcher) bool{"conv1d": launchConv, "conv_transpose1d": launchConvTranspose, "conv_weight_grad": launchConvWeight} {
		for _, shape := range [][]int{{1, 1, over}, {3, 1, 1 << 30}, {1 << 12, 1, 1 << 20}} {
			l := &launcher{c: call}
			l.in[0], l.in[1], l.out = *denseView(shape...), *denseView(1, 1, 3), *denseView(shape...)
			if name == "conv_weight_grad" {
				l.in[1], l.out = l.out, l.in[1]
			}
			if f(l) {
				t.Errorf("%s of %v went on", name, shape)
			}
		}
	}
}
