package cudart

import (
	"fmt"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of rows that make indices (kernels/index.cu).

// ravelArgs is struct Ravel.
type ravelArgs struct {
	out         uint64
	in          [maxRank]uint64
	n           int64
	rank, count int32
	shape       [maxRank]int32
	stride      [maxRank][maxRank]int64
	size        [maxRank]int64
	guard       [maxRank]guard
	first       int64
}

func init() {
	register(launchRavel, "ravel_index")
	register(launchBucketize, "bucketize")
	register(launchBagIndex, "bag_index")
}

func launchRavel(l *launcher) bool {
	p := &l.ravelArgs
	f := l.kernel("ravel_index_i64", amp.NoDType, amp.NoDType)
	if f == 0 || len(l.c.In) > maxRank || !l.out.contiguous() {
		return false
	}
	*p = ravelArgs{out: l.out.ptr, n: int64(l.out.len()), rank: int32(l.out.rank), count: int32(len(l.c.In))}
	for d := range l.out.rank {
		p.shape[d] = int32(l.out.shape[d])
	}
	for k := range l.c.In {
		v := &l.in[k]
		p.in[k], p.size[k] = v.ptr, int64(l.c.Shape[k])
		for d := range v.rank {
			p.stride[k][d] = int64(v.stride[d])
		}
		p.guard[k] = l.guardOf(refusal{op: "index", what: "index %d of dimension " + fmt.Sprint(k), fix: "use indices from %d to %d"})
	}
	if p.n <= int64(mostPlaces) {
		l.ravelPiece(f)
		return true
	}
	whole := *p
	for c := range l.out.pieces(mostPlaces) {
		*p = whole
		p.take(&c)
		l.ravelPiece(f)
	}
	return true
}

func (l *launcher) ravelPiece(f driver.Function) {
	if p := &l.ravelArgs; p.n > 0 {
		l.run(f, [3]uint32{blocks(int(p.n), indexThreads), 1, 1}, [3]uint32{indexThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
}

// take leaves a piece of the result.
func (p *ravelArgs) take(c *piece) {
	p.first, p.n = int64(c.first), 1
	p.out += uint64(8 * c.first)
	for d := range p.rank {
		p.n *= int64(c.size[d])
		p.shape[d] = int32(c.size[d])
		for k := range p.count {
			p.in[k] += uint64(8 * int64(c.start[d]) * p.stride[k][d])
		}
	}
}

func launchBucketize(l *launcher) bool {
	x, edges, p := &l.in[0], &l.in[1], &l.indexArgs
	if x.dt != edges.dt || !l.out.contiguous() {
		return false
	}
	p.space(x)
	p.operand(0, &l.out, -1)
	p.operand(1, x, -1)
	p.out, p.x, p.src, p.size, p.along[3] = l.out.ptr, x.ptr, edges.ptr, int64(edges.shape[0]), int64(edges.stride[0])
	if l.c.Reverse {
		p.flags = 1
	}
	return l.indexed("bucketize_" + dtypeNames[x.dt])
}

func launchBagIndex(l *launcher) bool {
	offsets, n := &l.in[0], l.out.len()
	f := l.kernel("bag_index_i64", amp.NoDType, amp.NoDType)
	threads := max(n, offsets.len())
	if f == 0 || threads > mostPlaces || !l.out.contiguous() {
		return false
	}
	fix := "give where each bag begins, from 0, in order, none above the number of indices"
	p := &l.indexArgs.indexArgs
	*p = indexArgs{out: l.out.ptr, index: offsets.ptr, n: int64(threads), size: int64(n), count: int64(offsets.len())}
	if p.along[2] = int64(offsets.stride[0]); l.c.Mode == "last" {
		p.flags, fix = 1, "give where each bag begins, from 0, in order, and last the number of indices"
	}
	p.guard = l.guard("offset %d", fix)
	l.indexPiece(f)
	return true
}
