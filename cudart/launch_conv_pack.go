package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches that pack what convolutions read (kernels/conv_pack.cu).

const (
	packThreads = 256
	packTaps    = 16 // that a thread of the packing of weights goes over
)

// packArgs is struct ConvPack.
type packArgs struct {
	out, in                         uint64
	images, groups, channels, width int32
	from, to, before                [3]int32
}

// weightsArgs is struct ConvWeights.
type weightsArgs struct {
	out, in                          uint64
	groups, m, channels, width, rows int32
	kernel, period                   [3]int32
	room, transposed                 int32
}

// packOperands queues the copies that the kernels read; false if one is too large for a launch.
func (l *launcher) packOperands(on *packing) bool {
	p, c := &l.convArgs, &l.denseArgs
	x := packArgs{in: p.b, images: int32(on.images), groups: p.groups, channels: p.channels, width: int32(on.width), from: p.size, to: on.size, before: on.before}
	rows := (int(p.m) + on.per - 1) / on.per * on.per // up to whole pieces
	if p.mode == convWeight {
		dy := packArgs{in: p.a, images: int32(on.images), groups: p.groups, channels: p.m, width: int32(rows), from: p.grid, to: p.grid}
		if !dy.fits() || !x.fits() {
			return false
		}
		c.b, c.a = l.packImages(&x), l.packImages(&dy)
		c.aStep, c.aGroup, c.aCount = int64(p.groups)*int64(rows), int64(rows), int32(rows)
		return true
	}
	w := weightsArgs{in: p.a, groups: p.groups, m: p.m, channels: p.channels, width: int32(on.width), rows: p.m, kernel: p.kernel, room: int32(p.room())}
	for d := range 3 {
		w.period[d] = int32(p.period(d))
	}
	if p.mode == convTranspose {
		w.transposed = 1
	}
	if blocks(int(p.taps), packTaps) > 65535 || p.groups > 65535 || !x.fits() {
		return false
	}
	c.b = l.packImages(&x)
	if l.out.dt == amp.Float32 {
		w.rows = int32(rows)
		c.aStep, c.aCount = int64(rows), int32(rows)
	} else {
		c.aStep, c.aCount = int64(w.room)*int64(w.width), p.m
	}
	c.aGroup = int64(w.room) * int64(w.width) * int64(w.rows)
	c.a = l.packWeights(&w)
	return true
}

// fits says whether a launch can pack the images.
func (p *packArgs) fits() bool {
	return int(blocks(product(p.to), 64))*int(p.images) <= mostInt && blocks(int(p.groups)*int(p.width), 64) <= 65535
}

// packImages queues a copy with channels last, and returns where it will lie.
func (l *launcher) packImages(p *packArgs) uint64 {
	plane, all := product(p.to), int(p.groups)*int(p.width)
	p.out = l.workspace(max(int(p.images)*plane*all*l.out.dt.Size(), 1))
	l.packArgs = *p // launchers are pooled: an argument of its own would be allocated
	grid := [3]uint32{blocks(plane, 64) * uint32(p.images), blocks(all, 64), 1}
	l.runPack("conv_pack_images_w16", "conv_pack_images_w32", grid, unsafe.Pointer(&l.packArgs), unsafe.Sizeof(l.packArgs))
	return p.out
}

// packWeights queues a copy of weights, a phase's together.
func (l *launcher) packWeights(p *weightsArgs) uint64 {
	phases, fast, slow := 1, int(p.width), int(p.rows)
	for d := range 3 {
		phases *= int(min(p.period[d], p.kernel[d]))
	}
	p.out = l.workspace(phases * int(p.groups) * int(p.room) * int(p.width) * int(p.rows) * l.out.dt.Size())
	if l.out.dt == amp.Float32 {
		fast, slow = slow, fast
	}
	l.weightsArgs = *p
	grid := [3]uint32{blocks(fast, 32) * blocks(slow, 8), blocks(int(p.kernel[0])*int(p.kernel[1])*int(p.kernel[2]), packTaps), uint32(p.groups)}
	l.runPack("conv_pack_weights_w16", "conv_pack_weights_w32", grid, unsafe.Pointer(&l.weightsArgs), unsafe.Sizeof(l.weightsArgs))
	return p.out
}

func (l *launcher) runPack(half, single string, grid [3]uint32, args unsafe.Pointer, size uintptr) {
	if l.out.dt == amp.Float32 {
		half = single
	}
	l.run(l.kernel(half, amp.NoDType, amp.NoDType), grid, [3]uint32{packThreads, 1, 1}, 0, args, size)
}
