package cudart

import (
	"math/bits"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of rows that order a dimension (kernels/sort.cu).

const (
	sortThreads = 256
	sortTile    = 1024
	sortFew     = 256 // elements of a result up to which tiles give their first ones to the next round, and are not merged
)

// Flags of a sort.
const (
	sortDown = 1 << iota
	sortMedian
	sortLast
)

// sortArgs is struct Sort.
type sortArgs struct {
	out, x      uint64
	keys, at    [2]uint64
	lines, n    int64
	total, kept int64
	tiles, keep int64
	count, run  int64
	rank, flags int32
	width, _    int32
	shape       [maxRank]int32
	stride      [2][maxRank]int64
	step        [2]int64
}

func init() { register(launchSort, "argsort", "topk_index", "median_index") }

// lay splits the result and x into lines along a dimension, in which they may differ.
func (p *sortArgs) lay(dim int, out, x *view) bool {
	*p = sortArgs{lines: 1, n: 1, count: 1, out: out.ptr, x: x.ptr}
	if dim < x.rank {
		p.n, p.count = int64(x.shape[dim]), int64(out.shape[dim])
	}
	for d := range x.rank {
		if d == dim {
			p.step = [2]int64{int64(out.stride[d]), int64(x.stride[d])}
			continue
		}
		p.lines *= int64(x.shape[d])
		if x.shape[d] != 1 {
			p.shape[p.rank] = int32(x.shape[d])
			p.stride[0][p.rank], p.stride[1][p.rank] = int64(out.stride[d]), int64(x.stride[d])
			p.rank++
		}
	}
	return p.lines < 1<<31 && p.n < 1<<31
}

// launchSort: Reverse is for the greatest first.
func launchSort(l *launcher) bool {
	x, p := &l.in[0], &l.sortArgs
	if !p.lay(l.c.Dims[0], &l.out, x) {
		return false
	}
	switch {
	case l.c.Op.Name == "median_index":
		p.flags = sortMedian
	case l.c.Reverse:
		p.flags = sortDown
	}
	return l.sort(x.dt)
}

// keyBytes is the size of an element's key.
func keyBytes(dt amp.DType) int {
	if dt == amp.Float64 || !dt.IsFloat() {
		return 8
	}
	return 4
}

// sort queues the ordering that lay has laid out.
func (l *launcher) sort(dt amp.DType) bool {
	p := &l.sortArgs
	first := l.kernel("sort_first", dt, amp.NoDType)
	if first == 0 {
		return false
	}
	if p.lines == 0 || p.count == 0 {
		return true
	}
	size := keyBytes(dt)
	p.size(p.n)
	if p.tiles == 1 {
		p.flags |= sortLast
		l.tiles(first)
		return true
	}
	few := p.count <= sortFew && p.flags&sortMedian == 0
	p.keep = sortTile
	if few {
		p.keep = p.count
	}
	if p.lines*p.tiles*sortTile >= 1<<40 || p.lines*p.tiles >= 1<<31 {
		return false
	}
	entries := int(p.lines * p.tiles * p.keep)
	memory := l.workspace(2 * entries * (size + 4))
	if l.err != nil {
		return true
	}
	p.keys = [2]uint64{memory, memory + uint64(entries*size)}
	p.at = [2]uint64{memory + uint64(2*entries*size), memory + uint64(entries*(2*size+4))}
	p.kept = p.tiles * p.keep
	l.tiles(first)
	if few {
		l.sortFew(size)
		return true
	}
	l.sortMerge(dt, size)
	return true
}

// size chooses the tiles of lines of n entries.
func (p *sortArgs) size(n int64) {
	p.width = sortTile
	if n < sortTile {
		p.width = max(2, int32(1)<<bits.Len64(uint64(n-1)))
	}
	p.tiles = (n + int64(p.width) - 1) / int64(p.width)
}

// tiles queues the sorting of tiles; what one launch wrote the next one reads.
func (l *launcher) tiles(f driver.Function) {
	p := &l.sortArgs
	grid := [3]uint32{blocks(int(p.lines*p.tiles), sortTile/int(p.width)), 1, 1}
	l.run(f, grid, [3]uint32{sortThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	p.turn()
}

func (p *sortArgs) turn() {
	p.keys[0], p.keys[1] = p.keys[1], p.keys[0]
	p.at[0], p.at[1] = p.at[1], p.at[0]
	p.total = p.kept
}

// keyName is the suffix of kernels that work on keys of a size.
func keyName(stem string, size int) string {
	if size == 8 {
		return stem + "_w64"
	}
	return stem + "_w32"
}

// sortFew sorts what the tiles gave, in tiles again, until one holds all.
func (l *launcher) sortFew(size int) {
	p := &l.sortArgs
	again := l.kernel(keyName("sort_again", size), amp.NoDType, amp.NoDType)
	for {
		p.size(p.total)
		if p.tiles == 1 {
			p.flags |= sortLast
			l.tiles(again)
			return
		}
		p.kept = p.tiles * p.keep
		l.tiles(again)
	}
}

// sortMerge merges sorted tiles.
func (l *launcher) sortMerge(dt amp.DType, size int) {
	p := &l.sortArgs
	merge := l.kernel(keyName("sort_merge", size), amp.NoDType, amp.NoDType)
	for p.run = sortTile; p.run < p.total; p.run *= 2 {
		if 2*p.run >= p.total && p.flags&sortMedian == 0 {
			p.flags |= sortLast
		}
		l.run(merge, [3]uint32{uint32(p.lines * (p.total / sortTile)), 1, 1}, [3]uint32{sortThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
		p.turn()
	}
	if p.flags&sortMedian == 0 {
		return
	}
	kind := amp.Int64
	if dt.IsFloat() {
		kind = map[int]amp.DType{4: amp.Float32, 8: amp.Float64}[size]
	}
	l.run(l.kernel("sort_median", kind, amp.NoDType), [3]uint32{blocks(int(p.lines), sortThreads), 1, 1}, [3]uint32{sortThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
}
