package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// The gradient of a weight, fast: channels of x are brought side by side, or pairs of positions of 16 channels, so that what a tap sees of
// a position is found at a distance, and no window is copied.

// leastWeights is the number of input channels from which vectors of channels are not nearly empty.
const leastWeights = 12

// A weightWork is what the gradient of a weight needs.
type weightWork struct {
	patch patch
	turn  []float32 // x, 16 channels side by side
	dy    []float32
	sums  []float32
	zeros []float32
	steps cpu.StepTable
	cols  []cpu.StepColumn

	halves []uint16 // x, a copy for each column of taps
	pairs  []uint32 // the same, pairs of 16 channels side by side
	dyHalf []uint16
	tiles  []cpu.TileStep
	rest   []cpu.TileStep // of fewer positions
	from   []int
	of, by halfParts // x, and dy
	partA  int       // elements of dyHalf, and of pairs, of a part
	partB  int
}

var weightWorks = sync.Pool{New: func() any { return new(weightWork) }}

// stepWeights computes the gradient in float32, if it can; the bits are those of the slow way, whose boxes and order of sums it has.
func stepWeights(out *Tensor, l *lattice, x, dy *Tensor, m int) bool {
	if !cpu.StepKernels() || !fullOrWidened(x, dy, out) || l.channels < leastWeights || m < 4 || !l.fits() {
		return false
	}
	w := weightWorks.Get().(*weightWork)
	defer weightWorks.Put(w)
	p := weightParts(l, m)
	if len(w.zeros) < p.rows {
		w.zeros = make([]float32, p.rows)
	}
	boxes := l.boxes()
	for g := range l.groups {
		size := m * l.channels * len(l.taps)
		at := out.off + g*size
		w.sums = cpu.Grow(w.sums, m*p.row*p.across)
		left := 0 // boxes
		for i := range boxes {
			if boxes[i].positions() > 0 {
				left++
			}
		}
		if left == 0 {
			clear(out.st.mem[at*out.dt.Size():][:size*out.dt.Size()])
		}
		first := true
		for i := range boxes {
			b := &boxes[i]
			if b.positions() == 0 {
				continue
			}
			left--
			w.turnBox(l, b, channelsFrom(x, g*l.channels, l.groups*l.channels, l.volume()), l.channels)
			w.packRows(l, b, channelsFrom(dy, g*m, l.groups*m, l.grid[0]*l.grid[1]*l.grid[2]), m)
			w.columns(l, b, p.vectors)
			cpu.Parallel(p.across*p.down, 1, func(lo, hi int) {
				for t := lo; t < hi; t++ {
					j, r := t/p.down, t%p.down*p.rows
					rows := min(p.rows, m-r)
					sums := w.sums[(j*m+r)*p.row:][:rows*p.row]
					cols := w.cols[j*p.vectors*len(l.taps) : min((j+1)*p.vectors*len(l.taps), len(w.cols))]
					bias := w.zeros[:rows] // sums are raised from zero, and a negative zero becomes a positive one
					if !first {
						bias = nil
					}
					cpu.StepProduct(rows, w.dy[r*w.steps.Len():], w.turn, &w.steps, cols, sums, p.row, bias, !first)
					if left == 0 {
						p.unturn(out, at, l, sums, j*p.vectors*vectorSize, r, rows)
					}
				}
			})
			first = false
		}
	}
	return true
}

// volume is the elements of a channel of the source.
func (l *lattice) volume() int { return l.size[0] * l.size[1] * l.size[2] }

// turnBox writes what a box sees of so many channels of src: for each 16 channels [image depth row column channel].
func (w *weightWork) turnBox(l *lattice, b *box, src planeSource, channels int) {
	lo, hi := l.reach(b)
	ext := [3]int{hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]}
	line := ext[2] * vectorSize
	lines := (b.hi[0] - b.lo[0]) * ext[0] * ext[1]
	sixteens := (channels + vectorSize - 1) / vectorSize
	w.turn = cpu.Grow(w.turn, sixteens*lines*line)
	from, to := max(0, -lo[2]), min(ext[2], l.size[2]-lo[2])
	most := max(1, pieceOf(src.t, vectorSize)/max(1, l.size[2])) // lines at a time
	cpu.Parallel(sixteens*lines, max(1, grain/line), func(first, end int) {
		wide := wides.Get().(*widener)
		defer wides.Put(wide)
		for some := 1; first < end; first += some {
			channel, i := first/lines*vectorSize, first%lines
			n, z, y := b.lo[0]+i/(ext[0]*ext[1]), lo[0]+i/ext[1]%ext[0], lo[1]+i%ext[1]
			outside := z < 0 || z >= l.size[0] || y < 0 || y >= l.size[1] || from >= to
			if some = 1; !outside {
				some = min(most, end-first, hi[1]-y, l.size[1]-y)
			}
			have := min(vectorSize, channels-channel)
			for i := first; i < first+some; i++ {
				dst := w.turn[i*line : (i+1)*line]
				if outside || have < vectorSize {
					clear(dst)
				} else {
					clear(dst[:from*vectorSize])
					clear(dst[to*vectorSize:])
				}
			}
			if !outside {
				at := (z*l.size[1]+y)*l.size[2] + lo[2] + from
				wide.turnLines(&src, n, channel, at, l.size[2], have, some, to-from, w.turn[first*line+from*vectorSize:], line)
			}
		}
	})
}

// packRows packs the rows of dy for a box, positions in its order: m channels of src.
func (w *weightWork) packRows(l *lattice, b *box, src planeSource, m int) {
	n := b.positions()
	w.dy = cpu.Grow(w.dy, m*n)
	tile := cpu.StepRows()
	cpu.Parallel((m+tile-1)/tile, max(1, grain/(n*tile)), func(lo, hi int) {
		wide := wides.Get().(*widener)
		defer wides.Put(wide)
		for i := lo * tile; i < min(hi*tile, m); {
			h := cpu.StepHeight(m - i)
			at := i * n
			b.runs(l, func(image, first, n int) {
				wide.turn(&src, image, i, first, h, n, w.dy[at:], h)
				at += n * h
			})
			i += h
		}
	})
}

// runs calls f for each run of neighbors among the box's positions, in their order: the image, the first one in it, and how many.
func (b *box) runs(l *lattice, f func(image, first, n int)) {
	across := b.hi[3] - b.lo[3]
	rows, step := 1, b.hi[2]-b.lo[2]
	if across == l.grid[2] {
		rows = step // rows follow each other
	}
	for image := b.lo[0]; image < b.hi[0]; image++ {
		for z := b.lo[1]; z < b.hi[1]; z++ {
			for y := b.lo[2]; y < b.hi[2]; y += rows {
				f(image, (z*l.grid[1]+y)*l.grid[2]+b.lo[3], rows*across)
			}
		}
	}
}

// columns makes the tables for a box: the positions are the steps, the taps' channels the columns, so many vectors of channels with all taps
// after each other.
func (w *weightWork) columns(l *lattice, b *box, vectors int) {
	lo, hi := l.reach(b)
	stride := [3]int{(hi[1] - lo[1]) * (hi[2] - lo[2]) * vectorSize, (hi[2] - lo[2]) * vectorSize, vectorSize}
	image := (hi[0] - lo[0]) * stride[0]
	w.steps.Reset()
	w.steps.Ahead = 24 * vectorSize
	for i := range b.hi[0] - b.lo[0] {
		for z := range b.hi[1] - b.lo[1] {
			for y := range b.hi[2] - b.lo[2] {
				for x := range b.hi[3] - b.lo[3] {
					w.steps.Add(i*image + z*l.step[0]*stride[0] + y*l.step[1]*stride[1] + x*l.step[2]*stride[2])
				}
			}
		}
	}
	all := (b.hi[0] - b.lo[0]) * image // of 16 channels
	sixteens := (l.channels + vectorSize - 1) / vectorSize
	w.cols = w.cols[:0]
	for c := 0; c < sixteens; c += vectors {
		for t, tap := range l.taps {
			at := 0
			for d := range 3 {
				at += (b.lo[d+1]*l.step[d] + tap[d] - lo[d]) * stride[d]
			}
			for v := range min(vectors, sixteens-c) {
				w.cols = append(w.cols, cpu.StepColumn{From: (c+v)*all + at, To: (t*vectors + v) * vectorSize, Have: vectorSize})
			}
		}
	}
}

// tileWeights computes the gradient with the tile registers, if it can. k runs over the positions, 32 of an image's rows at a time.
func tileWeights(out *Tensor, l *lattice, x, dy *Tensor, m int) bool {
	f := halfFormat(x)
	if f == cpu.NoHalf || dy.dt != x.dt || out.dt == Float64 || cpu.TileParts(f) == 0 || m < leastTileRows || l.channels < 2 || l.grid[2]%2 != 0 || !l.fits() || l.step[2] > 2 {
		return false
	}
	if cpu.TileParts(f) > 1 && l.channels < leastPartChannels {
		return false
	}
	w := weightWorks.Get().(*weightWork)
	defer weightWorks.Put(w)
	w.of.take(x)
	w.by.take(dy)
	defer w.of.drop()
	defer w.by.drop()
	boxes := l.patches(l.channels/2*w.of.n, 2) // pairs of positions, in rows that are cut as well
	panels := (m + 31) / 32
	blocks := (l.channels + 31) / 32
	each := blocks * len(l.taps) * 1024 // sums of 32 rows
	for g := range l.groups {
		w.sums = cpu.Grow(w.sums, panels*each)
		more := false
		for i := range boxes {
			b := &boxes[i]
			if b.positions() == 0 {
				continue
			}
			w.patch.layout(l, b, true, false)
			w.pairBox(l, g, blocks*2)
			rowA := w.packHalves(l, g, m)
			w.tileTasks(f, l, m, rowA, blocks, each, more)
			more = true
		}
		if !more {
			clear(w.sums)
		}
		w.storeTiles(out, l, g, m, blocks, each)
	}
	return true
}

// pairBox writes what a box sees of a group: for each 16 channels [image copy depth row, pairs of columns, channel].
func (w *weightWork) pairBox(l *lattice, group, sixteens int) {
	p := &w.patch
	images := p.b.hi[0] - p.b.lo[0]
	size := l.size[0] * l.size[1] * l.size[2]
	one := p.ext[0] * p.rows * p.width
	parts := w.of.n
	w.partB = sixteens * images * p.plane * 8
	w.halves = cpu.Grow(w.halves, parts*images*sixteens*16*p.plane)
	w.pairs = cpu.Grow(w.pairs, parts*w.partB)
	border := p.border(l) || p.plane != one*len(p.shifts)
	cpu.Parallel(parts*images*sixteens, max(1, grain/4/(16*p.plane)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			src, block, image := w.of.part[i/(images*sixteens)], i/images%sixteens, i%images
			have := max(0, min(16, l.channels-16*block))
			to := w.pairs[i*p.plane*8 : (i+1)*p.plane*8]
			rows := w.halves[i*16*p.plane : (i+1)*16*p.plane]
			if border {
				clear(rows)
			}
			if have < 16 {
				clear(to)
			}
			for c := range have {
				plane := rows[c*p.plane : (c+1)*p.plane]
				from := src[(((p.b.lo[0]+image)*l.groups+group)*l.channels+16*block+c)*size:]
				for _, r := range p.runs {
					cpu.TakeHalves(r.rows, r.n, p.step, from[r.src:], l.step[1]*l.size[2], plane[r.dst:], p.width)
				}
			}
			cpu.TransposePairs(have, p.plane/2, rows, p.plane, to, 16)
		}
	})
}

// packHalves packs the rows of dy for the box, 32 positions of a plane at a time, and returns how many tall a block of them is.
func (w *weightWork) packHalves(l *lattice, group, m int) int {
	b := &w.patch.b
	high := (m + 31) / 32 * 32
	n := (b.hi[2] - b.lo[2]) * (b.hi[3] - b.lo[3])
	planes := (b.hi[0] - b.lo[0]) * (b.hi[1] - b.lo[1])
	steps := (n + 31) / 32
	parts := w.by.n
	w.partA = planes * steps * 32 * high
	w.dyHalf = cpu.Grow(w.dyHalf, parts*w.partA)
	plane := l.grid[0] * l.grid[1] * l.grid[2]
	depth := b.hi[1] - b.lo[1]
	cpu.Parallel(parts*planes, max(1, grain/4/(steps*32*high)), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			src, image, z := w.by.part[i/planes], b.lo[0]+i%planes/depth, b.lo[1]+i%depth
			at := (image*l.groups+group)*m*plane + (z*l.grid[1]+b.lo[2])*l.grid[2] + b.lo[3]
			cpu.PackTileHalves(w.dyHalf[i*steps*32*high:(i+1)*steps*32*high], m, high, n, src[at:], plane)
		}
	})
	return high
}

// tileTasks adds the products of the box to the sums.
func (w *weightWork) tileTasks(f cpu.Format, l *lattice, m, high, blocks, each int, more bool) {
	p := &w.patch
	b := &p.b
	n := (b.hi[2] - b.lo[2]) * (b.hi[3] - b.lo[3])
	images, depth, taps := b.hi[0]-b.lo[0], b.hi[1]-b.lo[1], len(l.taps)
	w.tiles, w.rest = w.tiles[:0], w.rest[:0]
	for i := range images * depth {
		for q := 0; q < n; q += 32 {
			place := i/depth*p.plane + i%depth*l.step[0]*p.rows*p.width + q
			step := cpu.TileStep{A: 2 * ((i*((n+31)/32) + q/32) * 32 * high), B: 4 * 8 * place}
			if q+32 <= n {
				w.tiles = append(w.tiles, step)
			} else {
				w.rest = append(w.rest, step)
			}
		}
	}
	w.from = w.from[:0]
	for c := range blocks {
		for _, at := range p.taps {
			for s := range 2 {
				w.from = append(w.from, ((2*c+s)*images*p.plane+at)*8)
			}
		}
	}
	const together = 8 // tiles of a task
	groups := (2*blocks*taps + together - 1) / together
	panels := (m + 31) / 32
	cpu.Parallel(groups*panels, 1, func(lo, hi int) {
		t := tileWorks.Get().(*tileWork)
		defer tileWorks.Put(t)
		q := &t.prod
		q.Format, q.A, q.RowA, q.NextA, q.B, q.RowB = f, w.dyHalf, 32, 16*32, w.pairs, 16
		if w.of.n > 1 {
			q.PartA, q.PartB = w.partA, w.partB
		}
		for i := lo; i < hi; i++ {
			first, r := i/panels*together, i%panels
			from := w.from[first:min(first+together, len(w.from))]
			sums := w.sums[r*each+first/2*1024:]
			q.Steps = w.tiles
			q.Check(32, r*32*32, 16, from[0], from[len(from)-1])
			q.Rows(32, r*32*32, from, 16, sums, more)
			q.Steps = w.rest // of shorter tiles, so that nothing beyond the positions is read
			q.Check(32, r*32*32, n%32/2, from[0], from[len(from)-1])
			q.Rows(32, r*32*32, from, n%32/2, sums, more || len(w.tiles) > 0)
		}
		*q = cpu.TileProduct{}
	})
}

// storeTiles writes the sums, [32 rows][32 channels][taps] tiles, as [m channels taps].
func (w *weightWork) storeTiles(out *Tensor, l *lattice, group, m, blocks, each int) {
	taps := len(l.taps)
	n := l.channels * taps
	cpu.Parallel(m, max(1, grain/4/n), func(lo, hi int) {
		c := columns32.Get().(*columns[float32])
		defer columns32.Put(c)
		c.buf = resize(c.buf, n)
		for i := lo; i < hi; i++ {
			for block := range blocks {
				from := w.sums[i/32*each+block*taps*1024+i%32*32:]
				cpu.TransposeRows(taps, min(32, l.channels-32*block), from, 1024, c.buf[32*block*taps:], taps)
			}
			store(out, out.off+(group*m+i)*n, c.buf)
		}
	})
}
