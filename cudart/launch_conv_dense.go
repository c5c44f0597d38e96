package cudart

import (
	"cmp"
	"math/bits"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of convolutions over packed operands: of halves on tensor cores (kernels/conv_mma.cu), of float32 (conv_f32.cu). x is copied with its
// channels last and its padding around it, which moves it once there and back; every 16 bytes that a tile needs are then in one piece, and
// inside.

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

// densePhases is how many phases a launch takes.
const densePhases = 8

// phaseArgs is struct ConvPhase.
type phaseArgs struct {
	n, k     int32
	b, out   uint32
	a        int64
	byKernel [2]divider
	byPlane  divider
	byGrid   [2]divider
}

// denseArgs is struct ConvDense.
type denseArgs struct {
	out, a, b, bias, partial              uint64
	m, n, groups, splits, stages          int32
	channels, taps, pieces, aCount, apart int32
	aStep, aGroup                         int64
	outM, outGroup, outImage              int64
	bGroup, image                         uint32
	grid, tap, outGrid                    [3]uint32
	byPieces, byPlaces                    divider
	phase                                 [densePhases]phaseArgs
}

// convBlock and flatBlock are for more and for few channels of the result; two work on a multiprocessor that has the room. smallBlock is for
// float32 where the others would leave multiprocessors without work.
var convBlock, flatBlock, smallBlock = mmaBlock{rows: 128, columns: 128, k: 32}, mmaBlock{rows: 64, columns: 256, k: 32}, mmaBlock{rows: 64, columns: 64, k: 16}

// mostBytes is the largest copy of x whose bytes the kernels count in 32 bits.
const mostBytes = 1<<32 - 1<<20

// convDense queues the convolution that convArgs says, of so many images of x, with packed operands. False if it is not for these kernels.
func (l *launcher) convDense(images int) bool {
	p, c, dt := &l.convArgs, &l.denseArgs, l.out.dt
	if p.m < 16 || p.n < 16 || p.k < 16 || images == 0 || dt != amp.Float32 && (!dt.IsHalf() || l.d.props.Capability() < 80) {
		return false
	}
	on := p.meets(images, 16/dt.Size())
	if !p.layDense(c, &on) {
		return false
	}
	stem := "conv_pieces"
	if dt.IsHalf() {
		stem = "conv_cores"
	}
	if p.mode == convWeight {
		stem += "_weight"
	}
	name, b := l.denseBlock(stem, &on)
	f := l.kernel(name, dt, amp.NoDType)
	if f == 0 || l.err != nil || dt.IsHalf() && c.stages == 0 || !l.packOperands(&on) {
		return false
	}
	l.runDense(f, stem, b, &on)
	return true
}

// layDense writes what the kernels are told of the convolution, but for its operands and phases. False if they lie too far apart, or are too many.
func (p *convArgs) layDense(c *denseArgs, on *packing) bool {
	pieces := on.width / on.per
	line := int(p.groups) * pieces * 16 // bytes of a place
	row := int(on.size[2]) * line
	plane := int(on.size[1]) * row
	if all := float64(on.images) * float64(on.size[0]) * float64(on.size[1]) * float64(row); all > mostBytes {
		return false
	}
	*c = denseArgs{out: p.out, bias: p.bias, m: p.m, n: p.n, groups: p.groups, splits: 1,
		channels: p.channels, taps: p.taps, pieces: int32(pieces), outM: p.outM, outGroup: p.outGroup, outImage: p.outImage,
		bGroup: uint32(pieces * 16), image: uint32(int(on.size[0]) * plane), byPieces: dividerOf(pieces), byPlaces: dividerOf(product(p.grid))}
	out := 1
	for d := 2; d >= 0; d-- {
		n := [3]int{plane, row, line}[d]
		c.grid[d], c.tap[d], c.outGrid[d] = uint32(int(on.step[d])*n), uint32(int(on.tap[d])*n), uint32(out)
		if p.mode == convTranspose && p.stride[d] > 1 {
			c.apart = 1
			c.outGrid[d] *= uint32(p.stride[d])
		}
		out *= int(p.grid[d])
	}
	terms := int(p.taps) * on.width
	if p.mode == convWeight {
		c.n = int32(terms)
	}
	return countable(terms+1<<10, int(p.n)+1<<10, int(p.k)+1<<10)
}

// denseBlock chooses by the shape alone how the convolution is cut into blocks, and splits of k. A block of halves has stages of shared memory, as many
// as there is room for.
func (l *launcher) denseBlock(stem string, on *packing) (name string, b mmaBlock) {
	p, c := &l.convArgs, &l.denseArgs
	name, b = stem, convBlock
	if p.m <= 64 {
		name, b = stem+"_flat", flatBlock
	}
	blocks := p.split(c, b, on)
	if l.out.dt == amp.Float32 {
		if blocks < largeTiles {
			name, b = stem+"_small", smallBlock
			p.split(c, b, on)
		}
		return name, b
	}
	room := l.d.props.SharedPerBlockOptin
	c.stages = int32(cmp.Or(b.stages(2, room), b.stages(1, room)))
	return name, b
}

// split writes into how many parts k is cut where blocks are few and terms many, and returns how many blocks that makes.
func (p *convArgs) split(c *denseArgs, b mmaBlock, on *packing) (all int) {
	most := 0
	for f := range p.phases {
		columns, terms := p.sizes(on, &f)
		all, most = all+b.tiles(p.m, int32(columns)), max(most, terms)
	}
	all *= int(p.groups)
	c.splits = 1
	if all > 0 && all < 128 && most >= 512 {
		c.splits = int32(min((264+all-1)/all, most/256, 65535/int(p.groups), 64))
	}
	return all * int(c.splits)
}

// runDense queues the kernel for all phases, and the sum of its splits.
func (l *launcher) runDense(f driver.Function, stem string, b mmaBlock, on *packing) {
	p, c, dt := &l.convArgs, &l.denseArgs, l.out.dt
	threads, shared := gemmThreads, 0
	if dt.IsHalf() {
		threads, shared = b.threads(), b.shared(int(c.stages))
	}
	if shared > 48<<10 && l.err == nil {
		l.err = l.d.drv.SetFunctionAttribute(f, driver.FuncDynamicShared, shared)
	}
	if c.splits > 1 {
		c.partial = l.workspace(int(c.splits) * int(c.groups) * int(c.m) * int(c.n) * 4)
	}
	n, tiles := 0, 0
	launch := func() {
		if n > 0 {
			grid := [3]uint32{uint32(tiles), uint32(n), uint32(c.splits * c.groups)}
			l.run(f, grid, [3]uint32{uint32(threads), 1, 1}, uint32(shared), unsafe.Pointer(c), unsafe.Sizeof(*c))
		}
		n, tiles = 0, 0
	}
	for phase := range p.phases {
		c.phase[n] = p.phaseArgs(c, on, &phase)
		tiles = max(tiles, b.tiles(c.m, c.phase[n].n))
		if n++; n == densePhases {
			launch()
		}
	}
	launch()
	if c.splits > 1 {
		all := int(c.groups) * int(c.m) * int(c.n)
		sum := l.kernel(stem+"_sum", dt, amp.NoDType)
		l.run(sum, [3]uint32{blocks(all, convThreads), 1, 1}, [3]uint32{convThreads, 1, 1}, 0, unsafe.Pointer(c), unsafe.Sizeof(*c))
	}
}
