package amp

import (
	"sync"
	"sync/atomic"

	"github.com/halftone-ml/halftone/amp/bfloat16"
	"github.com/halftone-ml/halftone/amp/internal/cpu"
	"github.com/x448/float16"
)

// Convolutions of halves with the tile registers. A patch holds pairs of channels, so that 16 pairs of a tap are a tile as the registers
// take it, whatever the tap; sums of 32 channels and 32 positions wait in the registers until all of k is done, and go to the result from there.
// k runs over blocks of 32 channels, in each over the taps, and in each of those over the channels.

// halvesOf returns the elements of a tensor of halves.
func halvesOf(t *Tensor) []uint16 {
	if t.dt == Float16 {
		return raw16(elements[float16.Float16](t))
	}
	return raw16(elements[bfloat16.BFloat16](t))
}

// A tileWork is what a worker needs.
type tileWork struct {
	patch patch
	held  [3]int // what the patch holds: the job, the box and the group
	outs  []int
	pairs []uint32
	sums  []float32
	from  [8]int
	prod  cpu.TileProduct
	piece [32 * vectorSize]uint16
	wide  [32 * vectorSize]float32
}

// A tileKernel is a weight packed for the tile registers.
type tileKernel struct {
	a     []uint16
	block int // elements of 32 channels
	group int // of a group
	part  int // of one part
	w, x  halfParts
}

var (
	tileWorks   = sync.Pool{New: func() any { return &tileWork{sums: make([]float32, cpu.TileSums)} }}
	tileKernels = sync.Pool{New: func() any { return new(tileKernel) }}
)

// leastTileRows is the number of output channels from which tiles of 16 pay.
const leastTileRows = 8

// patchJobs counts jobs, so that a worker knows whose patch it holds.
var patchJobs atomic.Int64

// tiles computes the job with the tile registers, where that can be.
func (j *convJob[T]) tiles() bool {
	f := halfFormat(j.src)
	if f == cpu.NoHalf || j.kernel.w.dt != j.src.dt || j.out.dt == Float64 || cpu.TileParts(f) == 0 || j.m < leastTileRows || j.channels < 2 {
		return false
	}
	k := tileKernels.Get().(*tileKernel)
	defer k.back()
	k.pack(&j.kernel, j.groups, j.m, j.channels)
	k.x.take(j.src)
	boxes := j.patches((j.channels+1)/2*k.x.n, 1)
	shares, each := rowShares(j.m, len(boxes)*j.groups, 8, 64, 32)
	serial := int(patchJobs.Add(1))
	cpu.Parallel(len(boxes)*j.groups*shares, 1, func(lo, hi int) {
		w := tileWorks.Get().(*tileWork)
		defer tileWorks.Put(w)
		for i := lo; i < hi; i++ {
			n, group, first := i/(j.groups*shares), i/shares%j.groups, i%shares*each
			if boxes[n].positions() == 0 || first >= j.m {
				continue
			}
			if piece := [3]int{serial, n, group}; w.held != piece {
				j.tilePatch(w, &k.x, &boxes[n], group)
				w.held = piece
			}
			j.tileRows(w, k, group, first, min(each, j.m-first))
		}
		w.prod = cpu.TileProduct{} // hold on to no operand
	})
	return true
}

// back returns what is used up.
func (k *tileKernel) back() {
	k.w.drop()
	k.x.drop()
	tileKernels.Put(k)
}

// pack sorts weights by blocks of 32 input channels.
func (k *tileKernel) pack(l *kernelLayout, groups, m, channels int) {
	n := (channels + 31) / 32
	k.block = m * l.size * 32
	turned := l.in > l.out // a transposed convolution's: output channels lie side by side
	if turned {
		k.block = (m*l.size + 15) / 16 * 16 * 32
	}
	k.group = n * k.block
	k.w.take(l.w)
	k.part = groups*k.group + 32*32*l.size // the last rows of a tile may be none
	k.a = cpu.Grow(k.a, k.w.n*k.part)
	const rows = 32
	pieces := n
	if !turned {
		pieces = (m + rows - 1) / rows
	}
	cpu.Parallel(k.w.n*groups*pieces, max(1, grain/max(1, k.group/pieces)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			part, g, piece := i/(groups*pieces), i/pieces%groups, i%pieces
			from, to := k.w.part[part][l.at(g)-l.w.off:], k.a[part*k.part+g*k.group:]
			if turned {
				cpu.PackTileColumns(to[piece*k.block:(piece+1)*k.block], m*l.size, min(32, channels-32*piece), from[32*piece*l.in:], l.in)
				continue
			}
			first := piece * rows
			cpu.PackTileRows(to[first*l.size*32:], min(rows, m-first), channels, l.size, from[first*l.out:], l.out, k.block)
		}
	})
}

// planes is how many planes of pairs a patch has: whole tiles, unless one is enough.
func (l *lattice) planes() int {
	n := (l.channels + 1) / 2
	if n > 16 {
		n = (n + 15) / 16 * 16
	}
	return n
}

// tilePatch makes the patch of a box and a group.
func (j *convJob[T]) tilePatch(w *tileWork, x *halfParts, b *box, group int) {
	p := &w.patch
	p.lay(&j.lattice, b)
	image := j.planes() * p.plane
	w.pairs = cpu.Grow(w.pairs, (b.hi[0]-b.lo[0])*x.n*image+2*vectorSize)
	for i := range (b.hi[0] - b.lo[0]) * x.n {
		p.pairs(&j.lattice, w.pairs[i*image:(i+1)*image], x.part[i%x.n], b.lo[0]+i/x.n, group)
	}
	w.outs, _ = j.places(w.outs, b)
}

// tileRows computes rows of a group for the positions of the patch.
func (j *convJob[T]) tileRows(w *tileWork, k *tileKernel, group, first, rows int) {
	p, planes := &w.patch, j.planes()
	part := planes * p.plane
	image := k.x.n * part
	q := &w.prod
	q.Format, q.A, q.B, q.RowB = halfFormat(j.src), k.a, w.pairs, p.plane
	q.RowA, q.NextA = 32*j.kernel.size, 16*32*j.kernel.size
	if q.PartA, q.PartB = 0, 0; k.x.n > 1 {
		q.PartA, q.PartB = k.part, part
	}
	q.Steps = q.Steps[:0]
	for c := 0; c < planes; c += 16 {
		for t, at := range p.taps {
			q.Steps = append(q.Steps, cpu.TileStep{A: 2 * (c/16*k.block + 32*j.kernel.place[t]), B: 4 * (c*p.plane + at)})
		}
	}
	pairs := min(planes, 16)
	last := p.vecs[len(p.vecs)-1]
	q.Check(rows, group*k.group+first*q.RowA, pairs, 0, p.start(&j.lattice, last, image))
	for r := first; r < first+rows; r += 32 {
		high := min(32, first+rows-r)
		for v := 0; v < len(p.vecs); v += len(w.from) {
			some := p.vecs[v:min(v+len(w.from), len(p.vecs))]
			for i := range some {
				w.from[i] = p.start(&j.lattice, some[i], image)
			}
			q.Rows(high, group*k.group+r*q.RowA, w.from[:len(some)], pairs, w.sums, false)
			tile := 32
			if high <= 16 {
				tile = 16
			}
			for i := range some {
				j.storeVector(w, w.sums[i/2*tile*32+i%2*vectorSize:], &some[i], group*j.m+r, high)
			}
		}
	}
}

// places lists where the positions of a box are in the result, for the first channel of the first group.
func (j *convJob[T]) places(dst []int, b *box) ([]int, int) {
	stride := [3]int{j.outSize[1] * j.outSize[2], j.outSize[2], 1}
	plane := j.outSize[0] * stride[0]
	base := j.out.off
	for d := range 3 {
		base += j.start[d] * stride[d]
	}
	return b.table(dst, [4]int{j.m * j.groups * plane, j.step[0] * stride[0], j.step[1] * stride[1], j.step[2]}, base)
}

// storeVector writes a vector of sums, rows 32 apart, for so many channels from one on.
func (j *convJob[T]) storeVector(w *tileWork, sums []float32, v *vector, channel, rows int) {
	at := w.patch.position(v)
	outs := w.outs[at : at+v.have]
	var bias []float32
	if j.bias != nil {
		bias = any(j.bias).([]float32)[channel : channel+rows]
	}
	plane := j.outSize[0] * j.outSize[1] * j.outSize[2]
	if j.out.dt == Float32 {
		storeSums(cpu.NoHalf, elements[float32](j.out)[channel*plane:], w.wide[:], sums, outs, plane, rows, bias)
		return
	}
	storeSums(halfFormat(j.out), halvesOf(j.out)[channel*plane:], w.piece[:], sums, outs, plane, rows, bias)
}

// storeSums writes rows of sums to the places outs, rows of dst plane elements apart.
func storeSums[E float32 | uint16](f cpu.Format, dst, piece []E, sums []float32, outs []int, plane, rows int, bias []float32) {
	n := len(outs)
	if outs[n-1]-outs[0] == n-1 {
		cpu.StoreSums(f, rows, sums, dst[outs[0]:], plane, n, bias)
		return
	}
	cpu.StoreSums(f, rows, sums, piece, vectorSize, n, bias)
	for i := range rows {
		to := dst[i*plane:]
		for k, at := range outs {
			to[at] = piece[i*vectorSize+k]
		}
	}
}

// pairs writes the patch of an image's group, as pairs of channels.
func (p *patch) pairs(l *lattice, dst []uint32, src []uint16, image, group int) {
	size := l.size[0] * l.size[1] * l.size[2]
	for q := 0; q*p.plane < len(dst); q++ {
		plane := dst[q*p.plane : (q+1)*p.plane]
		if 2*q >= l.channels {
			clear(plane)
			continue
		}
		from := src[((image*l.groups+group)*l.channels+2*q)*size:]
		if p.border(l) {
			clear(plane)
		}
		for _, r := range p.runs {
			cpu.PairRows(r.rows, r.n, p.step, from[r.src:], l.step[1]*l.size[2], size, 2*q+1 < l.channels, plane[r.dst:], p.width)
		}
	}
}
