package cudart

import (
	"errors"
	"math/bits"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of convolutions with cuDNN.

// cudnn queues a convolution of x, w and y, of which one is the result; false if cuDNN does not do it.
func (l *launcher) cudnn(kind driver.ConvolutionKind, x, w, y *view) bool {
	from := dnnLeast.Load()
	if from < 0 || noDNN.Load() || x.dt == amp.Float64 || l.err != nil {
		return false
	}
	c, ok := l.describe(kind, x, w, y)
	if !ok || multiplications(&c) < from {
		return false
	}
	v := &l.d.convs
	if v.ready(l.d); v.err != nil {
		return false
	}
	c.Workspace = v.limit
	p, err := v.dnn.Plan(l.c.Op.Name, c)
	if err != nil { // Convolutions tells
		return false
	}
	var work, bias uint64
	if p.Workspace > 0 {
		if work = l.workspace(int(p.Workspace)); l.err != nil {
			if !errors.Is(l.err, driver.ErrMemory) {
				return true
			}
			l.err = nil // Halftone's kernels need less
			return false
		}
	}
	if c.Bias {
		bias = l.in[2].ptr
	}
	l.d.count.launches.Add(1)
	l.err = v.dnn.Convolve(l.c.Op.Name, p, driver.DevicePtr(x.ptr), driver.DevicePtr(w.ptr), driver.DevicePtr(y.ptr), driver.DevicePtr(bias), driver.DevicePtr(work))
	return true
}

// describe writes a convolution as cuDNN has it; false for those that it has no words for: a result whose size is not what the window
// makes of the input's, as where an output padding exceeds the stride.
func (l *launcher) describe(kind driver.ConvolutionKind, x, w, y *view) (c driver.Convolution, ok bool) {
	win := l.c.Window
	n := len(win.Kernel)
	c = driver.Convolution{Kind: kind, Type: blasTypes[x.dt], Rank: max(n, 2), TF32: allowTF32.Load(), Nondeterministic: disordered.Load()}
	skip := c.Rank - n // dimensions of size 1 in front
	for d := range 3 {
		c.Stride[d], c.Dilation[d] = 1, 1
	}
	for i, t := range [...]*[5]int{&c.X, &c.W, &c.Y} {
		v := [...]*view{x, w, y}[i]
		t[0], t[1] = v.shape[0], v.shape[1]
		for d := range skip {
			t[2+d] = 1
		}
		copy(t[2+skip:], v.shape[2:v.rank])
		if v.len() == 0 {
			return c, false
		}
	}
	places := x.ptr | w.ptr | y.ptr
	for d := range n {
		to := skip + d
		c.Stride[to], c.Dilation[to], c.Before[to], c.After[to] = win.Stride[d], win.Dilation[d], win.Padding[d], win.Padding[d]
		if len(win.Padding) > n {
			c.After[to] = win.Padding[n+d]
		}
		room := c.X[2+to] + c.Before[to] + c.After[to] - c.Dilation[to]*(c.W[2+to]-1) - 1
		if room < 0 || room/c.Stride[to]+1 != c.Y[2+to] {
			return c, false
		}
	}
	if kind != driver.ConvolutionFilter && l.given(2) {
		c.Bias = true
		places |= l.in[2].ptr
	}
	c.Align = 1 << min(bits.TrailingZeros64(places), 4)
	return c, true
}

// multiplications counts what a convolution multiplies.
func multiplications(c *driver.Convolution) int64 {
	n := int64(1)
	for d := range c.Rank + 2 {
		n *= int64(c.Y[d])
	}
	for d := range c.Rank + 1 {
		n *= int64(c.W[1+d])
	}
	return n
}
