package cudart

import (
	"unsafe"
)

// Launches of rows whose elements are made of those before them (kernels/scan.cu).

const (
	scanThreads = 256
	scanEach    = 8
	scanShort   = 64 // elements of a line that one thread always goes through
)

// Phases of a scan.
const (
	scanLines = iota
	scanTotals
	scanCarries
	scanTiles
)

// scanArgs is struct Scan.
type scanArgs struct {
	out                        uint64
	in                         [2]uint64
	partial                    uint64
	lines, n, tiles            int64
	rank, phase, reverse, each int32
	shape                      [maxRank]int32
	stride                     [3][maxRank]int64
	step                       [3]int64
}

func init() {
	register(launchScan, "cumsum", "cumprod", "logcumsumexp", "cummax_index", "cummin_index", "recurrence")
}

// lay splits operands of one shape, result first, into lines along dimension dim. It says whether neighboring lines lie side by side.
func (p *scanArgs) lay(dim int, ops ...*view) (columns, ok bool) {
	*p = scanArgs{lines: 1, n: 1}
	x := ops[0]
	if dim < x.rank {
		p.n = int64(x.shape[dim])
	}
	for d := range x.rank {
		if d == dim {
			for i, v := range ops {
				p.step[i] = int64(v.stride[d])
			}
			continue
		}
		p.lines *= int64(x.shape[d])
		if x.shape[d] == 1 {
			continue
		}
		p.shape[p.rank] = int32(x.shape[d])
		for i, v := range ops {
			p.stride[i][p.rank] = int64(v.stride[d])
		}
		p.rank++
	}
	p.out = ops[0].ptr
	for i, v := range ops[1:] {
		p.in[i] = v.ptr
	}
	return p.rank > 0 && p.stride[1][max(p.rank-1, 0)] == 1, p.lines < 1<<31 && p.n < 1<<31
}

func launchScan(l *launcher) bool {
	x, p := &l.in[0], &l.scanArgs
	ops := []*view{&l.out, x}
	if len(l.c.In) > 1 {
		ops = append(ops, &l.in[1])
	}
	for _, v := range ops[1:] {
		if v.dt != x.dt {
			return false
		}
	}
	f := l.kernel(l.c.Op.Name, x.dt, l.out.dt)
	columns, ok := p.lay(l.c.Dims[0], ops...)
	if f == 0 || !ok {
		return false
	}
	if p.lines == 0 || p.n == 0 {
		return true
	}
	if l.c.Reverse {
		p.reverse = 1
	}
	block := [3]uint32{scanThreads, 1, 1}
	if p.n <= scanShort || columns && p.lines >= 4096 {
		l.run(f, [3]uint32{blocks(int(p.lines), scanThreads), 1, 1}, block, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
		return true
	}
	p.each = int32(min(scanEach, (p.n+scanThreads-1)/scanThreads))
	tile := scanThreads * int64(p.each)
	p.tiles = (p.n + tile - 1) / tile
	all := p.lines * p.tiles
	if all >= 1<<31 {
		return false
	}
	grid := [3]uint32{uint32(all), 1, 1}
	if p.tiles > 1 {
		if p.partial = l.workspace(int(all) * accumulatorBytes); l.err != nil {
			return true
		}
		p.phase = scanTotals
		l.run(f, grid, block, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
		p.phase = scanCarries
		l.run(f, [3]uint32{uint32(p.lines), 1, 1}, block, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
	p.phase = scanTiles
	l.run(f, grid, block, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	return true
}
