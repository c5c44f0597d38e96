package amp

import (
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// A convolution is a matrix product with the column matrix: row (channel, tap), column (image, position), element
// x[image, channel, position·step + tap]. That matrix is never in memory. Blocks of positions are taken in turn; the part of x
// that a block sees is brought to the accumulator's type and padded with zeros once, and the product reads its elements there.

// A lattice says which elements of a source meet in a position. Spatial numbers are depth, height, width.
type lattice struct {
	images, groups, channels int // channels of the source per group
	size, grid               [3]int
	step                     [3]int
	taps                     [][3]int
}

// Bounds of a block: elements of the column matrix, and positions.
const (
	columnLimit   = 1 << 22
	positionLimit = 1024
)

// A box is a range of images and positions.
type box struct{ lo, hi [4]int }

// boxes cuts the images and positions into boxes of about equal size, which depends on shapes alone.
func (l *lattice) boxes() []box {
	return l.boxesWithin(max(1, min(positionLimit, columnLimit/max(1, l.channels*len(l.taps)))), 1)
}

// boxesWithin is boxes of at most about so many positions; pieces of a row that is cut are multiples of a number long, but for the last.
func (l *lattice) boxesWithin(limit, multiple int) []box {
	dims := [4]int{l.images, l.grid[0], l.grid[1], l.grid[2]}
	var side, count [4]int
	for d := 3; d >= 0; d-- {
		n := max(1, min(dims[d], limit))
		if n < dims[d] {
			limit = 1 // whole rows only, so that boxes are ranges
		} else {
			limit = max(1, limit/n)
		}
		count[d] = (dims[d] + n - 1) / n
		side[d] = (dims[d] + max(count[d], 1) - 1) / max(count[d], 1)
	}
	if count[3] > 1 {
		side[3] = (side[3] + multiple - 1) / multiple * multiple
	}
	out := make([]box, count[0]*count[1]*count[2]*count[3])
	for i := range out {
		rest := i
		for d := 3; d >= 0; d-- {
			out[i].lo[d] = rest % count[d] * side[d]
			out[i].hi[d] = min(out[i].lo[d]+side[d], dims[d])
			rest /= count[d]
		}
	}
	return out
}

// positions is the number of columns of the box; equal division may leave none in the last one.
func (b *box) positions() int {
	n := 1
	for d := range b.lo {
		n *= max(0, b.hi[d]-b.lo[d])
	}
	return n
}

// table lists base + Σ index·stride for the positions of the box, last dimension fastest, and returns the length of the runs of
// consecutive numbers that it is made of.
func (b *box) table(dst []int, stride [4]int, base int) ([]int, int) {
	n := b.positions()
	dst = resize(dst, n)
	i := 0
	for p := b.lo[0]; p < b.hi[0]; p++ {
		for q := b.lo[1]; q < b.hi[1]; q++ {
			for r := b.lo[2]; r < b.hi[2]; r++ {
				at := base + p*stride[0] + q*stride[1] + r*stride[2] + b.lo[3]*stride[3]
				for range b.hi[3] - b.lo[3] {
					dst[i] = at
					at += stride[3]
					i++
				}
			}
		}
	}
	run := 1
	for run < n && dst[run] == dst[0]+run {
		run++
	}
	return dst, run
}

// columns is the column matrix of one box and one group: element (k,j) is src[row[k]+col[j]]. The tables serve all groups.
type columns[T cpu.Float] struct {
	src      []T // buf, or the source's own memory
	buf      []T
	row, col []int
	run      int  // of col
	even     bool // rows lie at one distance
	out      []int
	outRun   int
	read     func(dst []T, off, stride int) // load, bound once
	table    placement[T]
	left     placement[T] // of another operand
	channels []int        // its rows

	half    cpu.Format // of the source
	own     []T        // the source's memory where it can be read in place
	sparse  bool
	channel int // elements of a channel of own
	lo, ext [3]int
}

var (
	columns32 = sync.Pool{New: func() any { return newColumns[float32]() }}
	columns64 = sync.Pool{New: func() any { return newColumns[float64]() }}
)

func newColumns[T cpu.Float]() *columns[T] {
	c := &columns[T]{}
	c.read = c.load
	return c
}

func columnPool[T cpu.Float]() *sync.Pool {
	var z T
	if _, ok := any(z).(float64); ok {
		return &columns64
	}
	return &columns32
}

// begin makes the tables for a box, and finds out how the source can be read.
func (c *columns[T]) begin(l *lattice, src *Tensor, b *box) {
	lo, hi := l.reach(b)
	c.lo, c.ext = lo, [3]int{hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]}
	own, inside := direct[T](src, src.off, 1, src.Len())
	for d := range 3 {
		inside = inside && lo[d] >= 0 && hi[d] <= l.size[d]
	}
	c.half = halfFormat(src)
	c.own, c.sparse = nil, !inside && l.sparse(b, c.ext)
	c.even = len(l.taps) == 1
	if c.sparse {
		c.plain(b.positions(), l.channels*len(l.taps))
		return
	}
	size := c.ext
	if inside {
		c.own, size = own, l.size
	}
	stride := [3]int{size[1] * size[2], size[2], 1}
	c.channel = size[0] * stride[0]
	image, base := c.channel*l.channels, 0
	if inside {
		image *= l.groups
	} else {
		base = -b.lo[0]*image - lo[0]*stride[0] - lo[1]*stride[1] - lo[2]
	}
	c.col, c.run = b.table(c.col, [4]int{image, l.step[0] * stride[0], l.step[1] * stride[1], l.step[2]}, 0)
	c.row = resize(c.row, l.channels*len(l.taps))
	i := 0
	for ch := range l.channels {
		for _, t := range l.taps {
			c.row[i] = base + ch*c.channel + t[0]*stride[0] + t[1]*stride[1] + t[2]
			i++
		}
	}
}

// group makes the matrix of one group: a padded copy of what the box sees, where the source can't be read in place.
func (c *columns[T]) group(l *lattice, src *Tensor, b *box, group int) {
	switch {
	case c.own != nil:
		c.src = c.own[group*l.channels*c.channel:]
	case c.sparse:
		c.write(l, src, b, group)
	default:
		c.stage(l, src, b, group)
	}
}

// reach is the range of source positions that the box sees, padding included.
func (l *lattice) reach(b *box) (lo, hi [3]int) {
	for d := range 3 {
		least, most := l.taps[0][d], l.taps[0][d]
		for _, t := range l.taps {
			least, most = min(least, t[d]), max(most, t[d])
		}
		lo[d] = b.lo[d+1]*l.step[d] + least
		hi[d] = (b.hi[d+1]-1)*l.step[d] + most + 1
	}
	return lo, hi
}

// sparse says whether windows are so far apart, or their elements, that the part of the source they span is far larger than the
// column matrix itself: with dilations, strides and paddings of millions it would not fit any memory.
func (l *lattice) sparse(b *box, ext [3]int) bool {
	span := float64(b.hi[0]-b.lo[0]) * float64(ext[0]) * float64(ext[1]) * float64(ext[2])
	return span > 1<<20 && span > 4*float64(b.positions())*float64(len(l.taps))
}

// plain makes the tables of a matrix of k rows of n elements in memory.
func (c *columns[T]) plain(n, k int) {
	c.col, c.row = resize(c.col, n), resize(c.row, k)
	for j := range c.col {
		c.col[j] = j
	}
	for i := range c.row {
		c.row[i] = i * n
	}
	c.run, c.even = n, true
}

// write makes the column matrix of a sparse box itself.
func (c *columns[T]) write(l *lattice, src *Tensor, b *box, group int) {
	c.buf = resize(c.buf, len(c.col)*len(c.row))
	c.src = c.buf
	plane := l.size[0] * l.size[1] * l.size[2]
	at := 0
	for ch := range l.channels {
		for _, t := range l.taps {
			for i := b.lo[0]; i < b.hi[0]; i++ {
				base := src.off + ((i*l.groups+group)*l.channels+ch)*plane
				for p := b.lo[1]*l.step[0] + t[0]; p < b.hi[1]*l.step[0]+t[0]; p += l.step[0] {
					for q := b.lo[2]*l.step[1] + t[1]; q < b.hi[2]*l.step[1]+t[1]; q += l.step[1] {
						for r := b.lo[3]*l.step[2] + t[2]; r < b.hi[3]*l.step[2]+t[2]; r += l.step[2] {
							c.buf[at] = 0
							if p >= 0 && p < l.size[0] && q >= 0 && q < l.size[1] && r >= 0 && r < l.size[2] {
								load(c.buf[at:at+1], src, base+(p*l.size[1]+q)*l.size[2]+r, 1)
							}
							at++
						}
					}
				}
			}
		}
	}
}

// stage copies the part of the source that the box sees, widened, with zeros around it.
func (c *columns[T]) stage(l *lattice, src *Tensor, b *box, group int) {
	lo, ext := c.lo, c.ext
	plane := ext[0] * ext[1] * ext[2]
	n := (b.hi[0] - b.lo[0]) * l.channels
	c.buf = resize(c.buf, n*plane)
	c.src = c.buf
	// Columns of the source's own range within a row of the copy.
	from, to := max(0, -lo[2]), min(ext[2], l.size[2]-lo[2])
	cpu.Parallel(n, max(1, grain/max(plane, 1)), func(first, end int) {
		for i := first; i < end; i++ {
			image, ch := b.lo[0]+i/l.channels, group*l.channels+i%l.channels
			at := src.off + (image*l.groups*l.channels+ch)*l.size[0]*l.size[1]*l.size[2]
			dst := c.buf[i*plane : (i+1)*plane]
			for z := lo[0]; z < lo[0]+ext[0]; z++ {
				for y := lo[1]; y < lo[1]+ext[1]; y++ {
					line := dst[:ext[2]]
					dst = dst[ext[2]:]
					if z < 0 || z >= l.size[0] || y < 0 || y >= l.size[1] || from >= to {
						clear(line)
						continue
					}
					clear(line[:from])
					load(line[from:to], src, at+(z*l.size[1]+y)*l.size[2]+lo[2]+from, 1)
					clear(line[to:])
				}
			}
		}
	})
}

// matrix is the operand of a product. A single tap per channel and one run of positions are a plain matrix in memory.
func (c *columns[T]) matrix() cpu.Matrix[T] {
	n := len(c.col)
	if c.run == n && c.even {
		step := 0
		if len(c.row) > 1 {
			step = c.row[1] - c.row[0]
		}
		return cpu.Matrix[T]{Elems: c.src, Off: c.row[0] + c.col[0], Row: step, Col: 1, Half: c.half}
	}
	return cpu.Matrix[T]{Row: n, Col: 1, Load: c.read, Half: c.half, Table: c.table.place(c.src, c.row, c.col)}
}

// A placement keeps the memory of a table between products.
type placement[T cpu.Float] struct{ cpu.Table[T] }

// place returns the table of the elements src[row[i]+col[j]], nil where offsets have no room in it.
func (p *placement[T]) place(src []T, row, col []int) *cpu.Table[T] {
	var ok, fine bool
	p.Row, ok = offsets(p.Row, row)
	p.Col, fine = offsets(p.Col, col)
	if !ok || !fine {
		return nil
	}
	p.Src = src
	return &p.Table
}

func offsets(dst []int32, list []int) ([]int32, bool) {
	dst = resize(dst, len(list))
	for i, v := range list {
		if v != int(int32(v)) {
			return dst, false
		}
		dst[i] = int32(v)
	}
	return dst, true
}

// load reads elements of the matrix, addressed as k·positions + j.
func (c *columns[T]) load(dst []T, off, stride int) {
	n := len(c.col)
	switch {
	case stride == n: // down a column
		k, at := off/n, c.col[off%n]
		row := c.row[k : k+len(dst)]
		src := c.src
		for i, r := range row {
			dst[i] = src[r+at]
		}
	case stride == 1:
		for len(dst) > 0 {
			k, j := off/n, off%n
			m := min(len(dst), n-j)
			c.along(dst[:m], k, j)
			dst, off = dst[m:], off+m
		}
	default:
		for i := range dst {
			p := off + i*stride
			dst[i] = c.src[c.row[p/n]+c.col[p%n]]
		}
	}
}

// shortRun is the length from which a copy beats a lookup per element.
const shortRun = 8

// along reads a part of row k.
func (c *columns[T]) along(dst []T, k, j int) {
	r := c.row[k]
	if c.run < shortRun {
		col, src := c.col[j:j+len(dst)], c.src
		for i, at := range col {
			dst[i] = src[r+at]
		}
		return
	}
	for left := c.run - j%c.run; len(dst) > 0; left = c.run {
		m := min(left, len(dst))
		at := r + c.col[j]
		copy(dst[:m], c.src[at:at+m])
		dst, j = dst[m:], j+m
	}
}
