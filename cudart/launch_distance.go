package cudart

import (
	"math"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of cdist, its gradient, and cross (kernels/distance.cu).

const (
	pairThreads = 256
	pairTile    = 16
	pairRank    = 6       // dimensions of batches
	pairFill    = 1 << 16 // sums from which on a thread makes one alone
)

// pairArgs is struct Pairs.
type pairArgs struct {
	out, a, b, dy     uint64
	norm              uint64
	batches           int64
	n, m, k           int32
	kind, rank, lanes int32
	shape             [pairRank]int32
	stride            [3][pairRank]int64
	row, step         [3]int64
	power             float64
}

func init() {
	register(launchCdist, "cdist")
	register(launchCdistBackward, "cdist_backward")
	register(launchCross, "cross")
}

// lay writes a, b and dy, nil if there is none, whose batches are broadcast to those of pairs [… n m].
func (p *pairArgs) lay(c *amp.Call, pairs, a, b, dy *view) bool {
	r := pairs.rank
	*p = pairArgs{a: a.ptr, b: b.ptr, n: int32(pairs.shape[r-2]), m: int32(pairs.shape[r-1]), k: int32(a.shape[a.rank-1]), rank: int32(r - 2), batches: 1, lanes: 1, power: c.Scalar}
	if r-2 > pairRank || !countable(pairs.shape[r-2], pairs.shape[r-1], a.shape[a.rank-1]) {
		return false
	}
	for d := range r - 2 {
		p.shape[d] = int32(pairs.shape[d])
		p.batches *= int64(pairs.shape[d])
	}
	for i, v := range []*view{a, b, dy} {
		if v == nil {
			continue
		}
		if i == 2 {
			p.dy = v.ptr
		}
		p.row[i], p.step[i] = int64(v.stride[v.rank-2]), int64(v.stride[v.rank-1])
		for d := range r - 2 {
			if k := d - (r - v.rank); k >= 0 && v.shape[k] != 1 {
				p.stride[i][d] = int64(v.stride[k])
			}
		}
	}
	switch {
	case c.Scalar == 2:
	case c.Scalar == 1:
		p.kind = 1
	case c.Scalar == 0:
		p.kind = 2
	case math.IsInf(c.Scalar, 1):
		p.kind = 3
	default:
		p.kind = 4
	}
	return p.batches < 1<<31
}

// grid is that of tiles of all distances; blocks go on where it has too few.
func (p *pairArgs) grid() [3]uint32 {
	return [3]uint32{blocks(int(p.m), pairTile), min(blocks(int(p.n), pairTile), uint32(mostHigh)), uint32(min(p.batches, 1<<15))}
}

func launchCdist(l *launcher) bool {
	a, b, out := &l.in[0], &l.in[1], &l.out
	p := &l.pairArgs
	f := l.kernel("cdist", a.dt, amp.NoDType)
	if f == 0 || a.dt != b.dt || !out.contiguous() || !p.lay(l.c, out, a, b, nil) {
		return false
	}
	if p.out = out.ptr; out.len() > 0 {
		l.run(f, p.grid(), [3]uint32{pairThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
	return true
}

// launchCdistBackward makes the distances again, in float64, and then the sums over the rows of b.
func launchCdistBackward(l *launcher) bool {
	dy, a, b, out := &l.in[0], &l.in[1], &l.in[2], &l.out
	p := &l.pairArgs
	slopes, sums := l.kernel("cdist_slopes", a.dt, amp.NoDType), l.kernel("cdist_backward", a.dt, amp.NoDType)
	if slopes == 0 || sums == 0 || a.dt != b.dt || a.dt != dy.dt || !out.contiguous() || !p.lay(l.c, dy, a, b, dy) {
		return false
	}
	if out.len() == 0 {
		return true
	}
	if dy.len() == 0 {
		return l.fill(out, 0)
	}
	p.out, p.norm = out.ptr, l.workspace(16*dy.len())
	if l.err != nil {
		return false
	}
	block := [3]uint32{pairThreads, 1, 1}
	l.run(slopes, p.grid(), block, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	total := out.len()
	if total < pairFill && p.m >= 64 {
		p.lanes = 32
		if total*32 < pairFill && p.m >= 1024 {
			p.lanes = 256
		}
	}
	l.run(sums, [3]uint32{blocks(total, pairThreads/int(p.lanes)), 1, 1}, block, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	return true
}

func launchCross(l *launcher) bool {
	out := &l.out
	a, b := broadcastTo(&l.in[0], out.shape[:out.rank]), broadcastTo(&l.in[1], out.shape[:out.rank])
	f := l.kernel("cross", out.dt, amp.NoDType)
	p, d := &l.lineArgs, out.rank+l.c.Dims[0]
	if f == 0 || a.dt != out.dt || b.dt != out.dt || d < 0 || d >= out.rank || !p.lay([]int{d}, out, &a, &b) {
		return false
	}
	p.lanes = 1
	l.lines(f)
	return true
}
