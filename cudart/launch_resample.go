package cudart

import (
	"math"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of the upsample family (kernels/resample.cu): one for the tables of places and weights, one for the result. Both forms are
// deterministic; the gradient gathers.

const resampleThreads = 256

// How a dimension is resized; the flags of struct Resample.
const (
	resampleHeld = iota
	resampleNearest
	resampleNearestExact
	resampleLinear
	resampleCubic
	resampleLinearSmooth
	resampleCubicSmooth

	resampleAlign    = 1
	resampleDouble   = 2
	resampleBackward = 4
	resamplePick     = 8
)

// resampleArgs is struct Resample.
type resampleArgs struct {
	out, x                 uint64
	n                      int64
	channels, flags        int32
	from, to, mode, width  [3]int32
	stride                 [5]int64
	step                   [3]float64
	step32                 [4]float32
	first, weight, readers [3]uint64
}

// resampleModes are the rows, forward, by what they do along each resized dimension.
var resampleModes = map[string]int32{
	"upsample_nearest1d": resampleNearest, "upsample_nearest2d": resampleNearest, "upsample_nearest3d": resampleNearest,
	"_upsample_nearest_exact1d": resampleNearestExact, "_upsample_nearest_exact2d": resampleNearestExact, "_upsample_nearest_exact3d": resampleNearestExact,
	"upsample_linear1d": resampleLinear, "upsample_bilinear2d": resampleLinear, "upsample_trilinear3d": resampleLinear,
	"upsample_bicubic2d": resampleCubic, "_upsample_bilinear2d_aa": resampleLinearSmooth, "_upsample_bicubic2d_aa": resampleCubicSmooth,
}

func init() {
	for name, mode := range resampleModes {
		register(func(l *launcher) bool { return l.resample(mode, false) }, name)
		register(func(l *launcher) bool { return l.resample(mode, true) }, name+"_backward")
	}
}

func (l *launcher) resample(mode int32, back bool) bool {
	x, out := &l.in[0], &l.out
	stem, tables := "upsample", amp.Float32
	if back {
		stem += "_backward"
	}
	if !x.dt.IsHalf() {
		tables = amp.Float64
	}
	k := len(l.c.Shape)
	f, first := l.kernel(stem, x.dt, amp.NoDType), l.kernel("resample_tables", tables, amp.NoDType)
	if f == 0 || first == 0 || x.rank != k+2 || k > 3 || !out.contiguous() || out.len() >= 1<<32 {
		return false
	}
	p := &l.resampleArgs
	*p = resampleArgs{out: out.ptr, x: x.ptr, n: int64(out.len()), channels: int32(out.shape[1])}
	p.stride[0], p.stride[1] = int64(x.stride[0]), int64(x.stride[1])
	before, after := x, out
	if back {
		before, after = out, x
		p.flags |= resampleBackward
	}
	l.resampleSizes(mode, before, after, x)
	if p.n == 0 {
		return true
	}
	l.resampleMemory(tables.Size())
	most := 0
	for d := range 3 {
		most = max(most, int(p.from[d]), int(p.to[d]))
	}
	block := [3]uint32{resampleThreads, 1, 1}
	l.run(first, [3]uint32{blocks(most, resampleThreads), 3, 1}, block, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	l.run(f, [3]uint32{blocks(int(p.n), resampleThreads), 1, 1}, block, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	return true
}

// resampleSizes writes what the kernels know of each dimension; those that the row does not resize come first and are held.
func (l *launcher) resampleSizes(mode int32, before, after, x *view) {
	p, k := &l.resampleArgs, len(l.c.Shape)
	if l.c.Mode == "align_corners" {
		p.flags |= resampleAlign
	}
	if x.dt == amp.Float64 {
		p.flags |= resampleDouble
	}
	if mode == resampleNearest || mode == resampleNearestExact {
		p.flags |= resamplePick
	}
	for d := range 3 {
		p.from[d], p.to[d], p.width[d], p.mode[d] = 1, 1, 1, resampleHeld
		i := d - (3 - k)
		if i < 0 {
			continue
		}
		n, m := before.shape[2+i], after.shape[2+i]
		p.from[d], p.to[d], p.mode[d], p.stride[2+d] = int32(n), int32(m), mode, int64(x.stride[2+i])
		p.step[d] = resampleStep(n, m, l.c.Scales[i], p.flags&resampleAlign != 0)
		p.step32[d] = float32(p.step[d])
		if l.c.Scales[i] <= 0 {
			p.step32[d] = float32(n) / float32(m)
		}
		switch mode {
		case resampleLinear:
			p.width[d] = 2
		case resampleCubic:
			p.width[d] = 4
		case resampleLinearSmooth, resampleCubicSmooth:
			radius := float64(float64(mode-resampleLinearSmooth+1) * max(p.step[d], 1)) // rounded: twice it is a sum on arm64, which would fuse
			p.width[d] = int32(min(float64(n), math.Ceil(2*radius)+2))
		}
	}
}

// resampleStep is how far the place moves per element of the result, as amp's ratio.
func resampleStep(n, m int, scale float64, align bool) float64 {
	switch {
	case align && m > 1:
		return float64(n-1) / float64(m-1)
	case align:
		return 0
	case scale > 0:
		return 1 / scale
	}
	return float64(n) / float64(m)
}

// resampleMemory lays the tables into scratch memory: weights first, for their alignment.
func (l *launcher) resampleMemory(size int) {
	p, bytes := &l.resampleArgs, 0
	for d := range 3 {
		bytes += int(p.to[d])*(int(p.width[d])*size+8) + int(p.from[d])*8
	}
	at := l.workspace(bytes)
	for d := range 3 {
		p.weight[d] = at
		at += uint64(int(p.to[d]) * int(p.width[d]) * size)
	}
	for d := range 3 {
		p.first[d] = at
		at += uint64(p.to[d]) * 8
		p.readers[d] = at
		at += uint64(p.from[d]) * 8
	}
}
