package cudart

import (
	"cmp"
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

// convBlock and flatBlock are for more and for few channels of the result; two work on a multiprocessor that has the room.
var convBlock, flatBlock = mmaBlock{128, 128, 32}, mmaBlock{64, 256, 32}

// mostBytes is the largest copy of x whose bytes the kernels count in 32 bits.
const mostBytes = 1<<32 - 1<<20

// convCores queues the convolution that convArgs says, of so many images of x, on tensor cores. False if it is not for them.
func (l *launcher) convCores(images int) bool {
	p, c, dt := &l.convArgs, &l.coresArgs, l.out.dt
	if !dt.IsHalf() || l.d.props.Capability() < 80 || p.m < 16 || p.n < 16 || p.k < 16 || images == 0 {
		return false
	}
	on, pieces := p.meets(), int(p.channels+7)/8
	if !p.layCores(c, &on, images, pieces) {
		return false
	}
	stem, block := "conv_cores", convBlock
	if p.mode == convWeight {
		stem = "conv_cores_weight"
	}
	name := stem
	if p.m <= 64 {
		name, block = stem+"_flat", flatBlock
	}
	room := l.d.props.SharedPerBlockOptin
	c.stages = int32(cmp.Or(block.stages(2, room), block.stages(1, room)))
	f := l.kernel(name, dt, amp.NoDType)
	if f == 0 || c.stages == 0 || l.err != nil || !countable(int(c.n)+1<<10, int(c.k)+1<<10) || !l.packOperands(&on, images, pieces) {
		return false
	}
	l.runCores(f, stem, block)
	return true
}

// layCores writes what tensor cores are told of the convolution, but for its operands. False if they lie too far apart.
func (p *convArgs) layCores(c *coresArgs, on *mapped, images, pieces int) bool {
	line := int(p.groups) * pieces * 16 // bytes of a place
	row := int(on.size[2]) * line
	plane := int(on.size[1]) * row
	if all := float64(images) * float64(on.size[0]) * float64(on.size[1]) * float64(row); all > mostBytes {
		return false
	}
	*c = coresArgs{out: p.out, bias: p.bias, m: p.m, n: p.n, k: p.taps * int32(pieces) * 8, groups: p.groups, splits: 1,
		channels: p.channels, taps: p.taps, pieces: int32(pieces), aCount: p.m, outM: p.outM, outGroup: p.outGroup, outImage: p.outImage,
		bGroup: uint32(pieces * 16), image: uint32(int(on.size[0]) * plane)}
	for d, n := range [3]int{plane, row, line} {
		c.grid[d], c.tap[d] = uint32(int(on.step[d])*n), uint32(int(p.dilation[d])*n)
	}
	c.byPieces, c.byPlane = dividerOf(pieces), dividerOf(product(p.grid))
	for d := range 2 {
		c.byKernel[d], c.byGrid[d] = dividerOf(int(p.kernel[2-d])), dividerOf(int(p.grid[2-d]))
	}
	if p.mode == convWeight {
		c.n, c.k = c.k, p.k
	}
	return true
}

// packOperands queues the copies that the kernels read; false if one is too large for a launch.
func (l *launcher) packOperands(on *mapped, images, pieces int) bool {
	p, c := &l.convArgs, &l.coresArgs
	x := packArgs{in: p.b, images: int32(images), groups: p.groups, channels: p.channels, pieces: int32(pieces), from: p.size, to: on.size, before: on.before, apart: on.apart}
	if !l.packImages(&x) {
		return false
	}
	c.b = x.out
	if p.mode == convWeight {
		width := (p.m + 7) / 8 * 8 // of a group of dy
		dy := packArgs{in: p.a, images: int32(images), groups: p.groups, channels: p.m, pieces: width / 8, from: p.grid, to: p.grid, apart: [3]int32{1, 1, 1}}
		if !l.packImages(&dy) {
			return false
		}
		c.a, c.aStep, c.aGroup, c.aCount = dy.out, int64(p.groups)*int64(width), int64(width), width
		return true
	}
	w := packArgs{in: p.a, groups: p.groups, channels: p.channels, pieces: int32(pieces), m: p.m, taps: p.taps}
	if p.mode == convTranspose {
		w.reversed = 1
	}
	l.packWeights(&w)
	c.a, c.aStep, c.aGroup = w.out, int64(c.k), int64(p.m)*int64(c.k)
	return true
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

// packImages queues a copy with channels last; false if it is too large for a launch.
func (l *launcher) packImages(p *packArgs) bool {
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
