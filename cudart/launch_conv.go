package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of convolutions (kernels/conv.cu).

const (
	convThreads   = 256
	convForward   = 0
	convTranspose = 1
	convWeight    = 2
)

// convArgs is struct Conv.
type convArgs struct {
	out, a, b, bias, partial          uint64
	m, n, k, groups, splits, mode     int32
	channels, taps                    int32 // channels are those of a group of b
	kernel, dilation, stride, padding [3]int32
	size, grid                        [3]int32
	aM, aGroup, bImage, bGroup        int64
	outM, outGroup, outImage          int64
	aImage                            int64
}

func init() {
	register(launchConv, "conv1d", "conv2d", "conv3d")
	register(launchConvTranspose, "conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
	register(launchConvWeight, "conv_weight_grad")
}

func product(n [3]int32) int { return int(n[0]) * int(n[1]) * int(n[2]) }

// window begins the arguments with what the window says.
func (l *launcher) window(mode int32, size, grid []int) *convArgs {
	p, w := &l.convArgs, l.c.Window
	*p = convArgs{mode: mode, groups: int32(w.Groups), splits: 1, out: l.out.ptr}
	spatial(&p.kernel, w.Kernel, 1)
	spatial(&p.dilation, w.Dilation, 1)
	spatial(&p.stride, w.Stride, 1)
	spatial(&p.padding, w.Padding[:len(w.Kernel)], 0)
	spatial(&p.size, size, 1)
	spatial(&p.grid, grid, 1)
	p.taps = int32(product(p.kernel))
	return p
}

// dense says whether all given inputs and the result lie without gaps and are of one dtype.
func (l *launcher) dense() bool {
	for i := range l.c.In {
		if l.given(i) && (!l.in[i].contiguous() || l.in[i].dt != l.out.dt) {
			return false
		}
	}
	return l.out.contiguous()
}

// positionsFit says whether the kernels can count the positions of all images of both sides, and the numbers of a filter.
func positionsFit(x, y, w *view) bool {
	places := func(v *view, of int) int {
		for _, n := range v.shape[2:v.rank] {
			of *= n
		}
		return of
	}
	return countable(places(x, x.shape[0]), places(y, y.shape[0]), places(w, max(w.shape[0], w.shape[1])), places(x, 1), places(y, 1))
}

func launchConv(l *launcher) bool {
	if !l.dense() {
		return false
	}
	x, w := &l.in[0], &l.in[1]
	if l.cudnn(driver.ConvolutionForward, x, w, &l.out) || l.pointwise(x, w, false) {
		return true
	}
	if !positionsFit(x, &l.out, w) {
		return false
	}
	p := l.window(convForward, x.shape[2:x.rank], l.out.shape[2:l.out.rank])
	channels, plane, places := w.shape[1], product(p.size), product(p.grid)
	p.a, p.b, p.channels = w.ptr, x.ptr, int32(channels)
	p.m, p.n, p.k = int32(w.shape[0])/p.groups, int32(x.shape[0]*places), int32(channels)*p.taps
	p.aM, p.aGroup = int64(p.k), int64(p.k)*int64(p.m)
	p.bImage, p.bGroup = int64(x.shape[1]*plane), int64(channels*plane)
	p.outM, p.outGroup, p.outImage = int64(places), int64(p.m)*int64(places), int64(l.out.shape[1]*places)
	return l.convolve(x.shape[0])
}

// launchConvTranspose: the positions are those of the result; k goes over x's channels and the taps.
func launchConvTranspose(l *launcher) bool {
	if !l.dense() {
		return false
	}
	x, w := &l.in[0], &l.in[1]
	if l.cudnn(driver.ConvolutionData, &l.out, w, x) || l.pointwise(x, w, true) {
		return true
	}
	if !positionsFit(x, &l.out, w) {
		return false
	}
	p := l.window(convTranspose, x.shape[2:x.rank], l.out.shape[2:l.out.rank])
	channels, plane, places := x.shape[1]/int(p.groups), product(p.size), product(p.grid)
	p.a, p.b, p.channels = w.ptr, x.ptr, int32(channels)
	p.m, p.n, p.k = int32(w.shape[1]), int32(x.shape[0]*places), int32(channels)*p.taps
	p.aM, p.aGroup = int64(p.taps), int64(channels)*int64(p.m)*int64(p.taps)
	p.bImage, p.bGroup = int64(x.shape[1]*plane), int64(channels*plane)
	p.outM, p.outGroup, p.outImage = int64(places), int64(p.m)*int64(places), int64(l.out.shape[1]*places)
	return l.convolve(x.shape[0])
}

// launchConvWeight: m are the channels of dy, n those of x and the taps, k images and positions.
func launchConvWeight(l *launcher) bool {
	if !l.dense() {
		return false
	}
	x, dy := &l.in[0], &l.in[1]
	if l.cudnn(driver.ConvolutionFilter, x, &l.out, dy) {
		return true
	}
	if !positionsFit(x, dy, &l.out) {
		return false
	}
	p := l.window(convWeight, x.shape[2:x.rank], dy.shape[2:dy.rank])
	channels, plane, places := x.shape[1]/int(p.groups), product(p.size), product(p.grid)
	p.a, p.b, p.channels = dy.ptr, x.ptr, int32(channels)
	p.m, p.n, p.k = int32(dy.shape[1])/p.groups, int32(channels)*p.taps, int32(x.shape[0]*places)
	p.aM, p.aGroup, p.aImage = int64(places), int64(p.m)*int64(places), int64(dy.shape[1]*places)
	p.bImage, p.bGroup = int64(x.shape[1]*plane), int64(channels*plane)
	p.outM, p.outGroup = int64(p.n), int64(p.m)*int64(p.n)
	return l.convolve(x.shape[0])
}

// pointwise queues a convolution whose window is one place as matrix products, one for each image: y[n] = w·x[n] of [channels places], or
// wᵀ·x[n] for the transposed one. They go to cuBLAS, or to Halftone's tiles, which read 16 bytes at once where the implicit product
// gathers. False if the window is larger, or if there are only tiles that gather too.
func (l *launcher) pointwise(x, w *view, transpose bool) bool {
	win := l.c.Window
	if win.Groups != 1 || x.len() == 0 || l.out.len() == 0 {
		return false
	}
	for d, k := range win.Kernel {
		if k != 1 || win.Stride[d] != 1 || win.Padding[d] != 0 || win.Padding[len(win.Padding)-len(win.Kernel)+d] != 0 {
			return false
		}
	}
	places := 1
	for _, n := range x.shape[2:x.rank] {
		places *= n
	}
	if l.out.len() != l.out.shape[0]*l.out.shape[1]*places {
		return false // an output padding
	}
	a := view{ptr: w.ptr, dt: w.dt, rank: 2}
	a.shape[0], a.shape[1], a.stride[0], a.stride[1] = w.shape[0], w.shape[1], w.shape[1], 1
	if transpose {
		a.shape[0], a.shape[1], a.stride[0], a.stride[1] = w.shape[1], w.shape[0], 1, w.shape[1]
	}
	b, out := images(x, places), images(&l.out, places)
	var bias *view
	if l.given(2) {
		bias = &view{ptr: l.in[2].ptr, dt: x.dt, rank: 3}
		bias.shape[0], bias.shape[1], bias.shape[2], bias.stride[1] = 1, l.out.shape[1], 1, 1
	}
	batches, ok := l.gemmArgs.lay(&out, &a, &b, bias, 1, 1)
	if !ok || l.err != nil {
		return false
	}
	if l.library(x.dt, batches) {
		return true
	}
	if f, _ := l.tensorCores(x.dt, batches); f == 0 && x.dt.IsHalf() && l.d.props.Capability() >= 80 {
		return false
	}
	return l.gemm(x.dt, batches)
}

// images is a tensor as [images channels places].
func images(v *view, places int) view {
	out := view{ptr: v.ptr, dt: v.dt, rank: 3}
	out.shape[0], out.shape[1], out.shape[2] = v.shape[0], v.shape[1], places
	out.stride[0], out.stride[1], out.stride[2] = v.shape[1]*places, places, 1
	return out
}

// convolve queues what was written into convArgs, of so many images.
func (l *launcher) convolve(images int) bool {
	p, dt := &l.convArgs, l.out.dt
	if l.given(2) && p.mode != convWeight {
		p.bias = l.in[2].ptr
	}
	if p.m == 0 || p.n == 0 || p.groups == 0 {
		return true
	}
	if l.convDense(images) {
		return true
	}
	const tile = 64
	f := l.kernel("conv", dt, amp.NoDType)
	tiles := int(blocks(int(p.m), tile)) * int(blocks(int(p.n), tile))
	if f == 0 || tiles > mostInt || p.groups > 65535 || l.err != nil {
		return false
	}
	if few := tiles * int(p.groups); few < 128 && p.k >= 512 {
		p.splits = int32(min((264+few-1)/few, int(p.k)/256, 65535/int(p.groups), 64))
	}
	if p.splits > 1 {
		size := 4
		if dt == amp.Float64 {
			size = 8
		}
		p.partial = l.workspace(int(p.splits) * int(p.groups) * int(p.m) * int(p.n) * size)
	}
	block := [3]uint32{convThreads, 1, 1}
	l.run(f, [3]uint32{uint32(tiles), 1, uint32(p.splits * p.groups)}, block, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	if p.splits > 1 {
		all := int(p.groups) * int(p.m) * int(p.n)
		l.run(l.kernel("conv_sum", dt, amp.NoDType), [3]uint32{blocks(all, convThreads), 1, 1}, block, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
	return true
}
