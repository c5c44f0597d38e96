package cudart

import (
	"math/bits"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of convolutions of halves on tensor cores (kernels/conv_mma.cu, conv_pack.cu). x is copied with its channels last and its padding
// around it, which moves it once there and back; every 16 bytes that a tile needs are then in one piece, and inside.

const packThreads = 256

// A divider is struct Divider.
type divider struct{ by, times, shift uint32 }

// dividerOf returns the multiplication that divides numbers below 2³¹ by n.
func dividerOf(n int) divider {
	if n == 1 {
		return divider{by: 1}
	}
	p := 31 + bits.Len(uint(n-1))
	return divider{by: uint32(n), times: uint32((uint64(1)<<p + uint64(n) - 1) / uint64(n)), shift: uint32(p - 32)}
}

// coresArgs is struct ConvCores.
type coresArgs struct {
	out, a, b, bias, partial        uint64
	m, n, k, groups, splits, stages int32
	channels, taps, pieces, aCount  int32
	aStep, aGroup                   int64
	outM, outGroup, outImage        int64
	bGroup, image                   uint32
	grid, tap                       [3]uint32
	byPieces                        divider
	byKernel                        [2]divider
	byPlane                         divider
	byGrid                          [2]divider
}

// packArgs is struct ConvPack.
type packArgs struct {
	out, in                          uint64
	images, groups, channels, pieces int32
	from, to, before, apart          [3]int32
	m, taps, reversed                int32
}

// A mapped is an input of a convolution as its taps meet it: places of the padded planes, and between neighbors of the grid.
type mapped struct {
	size, before, apart, step [3]int32
}

// meets returns how the positions of p meet x, for which of the three convolutions p.mode says.
func (p *convArgs) meets() (m mapped) {
	for d := range 3 {
		reach := (p.kernel[d] - 1) * p.dilation[d]
		switch p.mode {
		case convTranspose: // taps in reverse over an x with zeros between
			m.size[d], m.before[d], m.apart[d], m.step[d] = p.grid[d]+reach, reach-p.padding[d], p.stride[d], 1
		default:
			m.size[d], m.before[d], m.apart[d], m.step[d] = (p.grid[d]-1)*p.stride[d]+reach+1, p.padding[d], 1, p.stride[d]
		}
	}
	return m
}

// convCores queues the convolution that p says, of images of x, on tensor cores. False if it is not for them.
func (l *launcher) convCores(images int) bool {
	p, c, dt := &l.convArgs, &l.coresArgs, l.out.dt
	room := l.d.props.SharedPerBlockOptin
	if !dt.IsHalf() || l.d.props.Capability() < 80 || p.m < 16 || p.n < 16 || p.k < 16 || images == 0 {
		return false
	}
	channels := int(p.channels)
	on, pieces := p.meets(), (channels+7)/8
	line := int(p.groups) * pieces * 16 // bytes of a place
	if bytes := uint64(images) * uint64(on.size[0]) * uint64(on.size[1]) * uint64(on.size[2]) * uint64(line); bytes > 1<<32-1<<20 || images > mostInt {
		return false
	}
	row, plane := int(on.size[2])*line, int(on.size[1])*int(on.size[2])*line
	*c = coresArgs{out: p.out, bias: p.bias, m: p.m, n: p.n, k: int32(int(p.taps) * pieces * 8), groups: p.groups, splits: 1,
		channels: p.channels, taps: p.taps, pieces: int32(pieces), aCount: p.m, outM: p.outM, outGroup: p.outGroup, outImage: p.outImage,
		bGroup: uint32(pieces * 16), image: uint32(int(on.size[0]) * plane),
		grid:     [3]uint32{uint32(on.step[0]) * uint32(plane), uint32(on.step[1]) * uint32(row), uint32(on.step[2]) * uint32(line)},
		tap:      [3]uint32{uint32(p.dilation[0]) * uint32(plane), uint32(p.dilation[1]) * uint32(row), uint32(p.dilation[2]) * uint32(line)},
		byPieces: dividerOf(pieces), byKernel: [2]divider{dividerOf(int(p.kernel[2])), dividerOf(int(p.kernel[1]))},
		byPlane: dividerOf(product(p.grid)), byGrid: [2]divider{dividerOf(int(p.grid[2])), dividerOf(int(p.grid[1]))}}
	stem, block := "conv_cores", mmaBlock{128, 128, 32}
	if p.mode == convWeight {
		stem = "conv_cores_weight"
		c.n, c.k = c.k, p.k
	}
	if p.m <= 64 {
		block = mmaBlock{64, 256, 32}
	}
	c.stages = int32(block.stages(2, room))
	f := l.coresKernel(stem, block, dt)
	x := packArgs{in: p.b, images: int32(images), groups: p.groups, channels: p.channels, pieces: int32(pieces), from: p.size, to: on.size, before: on.before, apart: on.apart}
	if f == 0 || c.stages == 0 || l.err != nil || !countable(int(c.n)+1<<10, int(c.k)+1<<10) || !l.packsImages(&x) {
		return false
	}
	c.b = x.out
	if p.mode == convWeight {
		width := int(p.m+7) / 8 * 8 // of a group of dy
		dy := packArgs{in: p.a, images: int32(images), groups: p.groups, channels: p.m, pieces: int32(width / 8), from: p.grid, to: p.grid, apart: [3]int32{1, 1, 1}}
		if !l.packsImages(&dy) {
			return false
		}
		c.a, c.aStep, c.aGroup, c.aCount = dy.out, int64(p.groups)*int64(width), int64(width), int32(width)
	} else {
		w := packArgs{in: p.a, groups: p.groups, channels: p.channels, pieces: int32(pieces), m: p.m, taps: p.taps}
		if p.mode == convTranspose {
			w.reversed = 1
		}
		l.packWeights(&w)
		c.a, c.aStep, c.aGroup = w.out, int64(c.k), int64(p.m)*int64(c.k)
	}
	l.runCores(f, stem, block)
	return true
}

// coresKernel returns the kernel for a block.
func (l *launcher) coresKernel(stem string, b mmaBlock, dt amp.DType) driver.Function {
	if b.rows == 64 {
		stem += "_flat"
	}
	return l.kernel(stem, dt, amp.NoDType)
}

// runCores queues what is in coresArgs, and the sum of its splits.
func (l *launcher) runCores(f driver.Function, stem string, b mmaBlock) {
	c, dt := &l.coresArgs, l.out.dt
	tiles := b.tiles(c.m, c.n)
	if few := tiles * int(c.groups); few < 128 && c.k >= 512 {
		c.splits = int32(min((264+few-1)/few, int(c.k)/256, 65535/int(c.groups), 64))
		c.partial = l.workspace(int(c.splits) * int(c.groups) * int(c.m) * int(c.n) * 4)
	}
	shared := b.shared(int(c.stages))
	if shared > 48<<10 && l.err == nil {
		l.err = l.d.drv.SetFunctionAttribute(f, driver.FuncDynamicShared, shared)
	}
	l.run(f, [3]uint32{uint32(tiles), 1, uint32(c.splits * c.groups)}, [3]uint32{uint32(b.threads()), 1, 1}, uint32(shared), unsafe.Pointer(c), unsafe.Sizeof(*c))
	if c.splits > 1 {
		all := int(c.groups) * int(c.m) * int(c.n)
		l.run(l.kernel(stem+"_sum", dt, amp.NoDType), [3]uint32{blocks(all, convThreads), 1, 1}, [3]uint32{convThreads, 1, 1}, 0, unsafe.Pointer(c), unsafe.Sizeof(*c))
	}
}

// packsImages queues a copy with channels last; false if it is too large for a launch.
func (l *launcher) packsImages(p *packArgs) bool {
	plane, all := product(p.to), int(p.groups)*int(p.pieces)*8
	tiles := int(blocks(plane, 64)) * int(p.images)
	if tiles > mostInt || blocks(all, 64) > 65535 {
		return false
	}
	p.out = l.workspace(max(int(p.images)*plane*all*2, 1))
	l.pack16("conv_pack_images", p, [3]uint32{uint32(tiles), blocks(all, 64), 1})
	return true
}

func (l *launcher) packWeights(p *packArgs) {
	n := int(p.groups) * int(p.m) * int(p.taps) * int(p.pieces) * 8
	p.out = l.workspace(n * 2)
	l.pack16("conv_pack_weights", p, [3]uint32{blocks(n, packThreads), 1, 1})
}

func (l *launcher) pack16(stem string, p *packArgs, grid [3]uint32) {
	l.packArgs = *p // launchers are pooled: an argument of its own would be allocated
	l.run(l.kernel(stem, amp.NoDType, amp.NoDType), grid, [3]uint32{packThreads, 1, 1}, 0, unsafe.Pointer(&l.packArgs), unsafe.Sizeof(l.packArgs))
}
