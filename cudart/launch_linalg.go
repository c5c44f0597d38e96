package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of factors of matrices, and of the systems that they solve (kernels/linalg.cu).

const (
	factorRank    = 6    // dimensions of a batch
	factorColumns = 8    // right-hand sides of a block
	factorThreads = 1024 // of a block at most
)

// luModes are the modes of kernels on LU factors that refuse no matrix, by the name that amp gives them.
var luModes = map[string]int32{"plain": 0, "nudged": 2, "log": 3, "sign": 4}

// denseChecked is the mode that refuses a 0 on the diagonal.
const denseChecked = 1

// factorArgs is struct Dense.
type factorArgs struct {
	out, a, b   uint64
	work        uint64
	batches     int64
	n, m        int32
	rank, mode  int32
	upper, unit int32
	cols, kept  int32
	shape       [factorRank]int32
	stride      [2][factorRank]int64
	row, step   [2]int64
	atol, rtol  float64
	guard       guard
}

func init() {
	register(launchCholesky, "linalg_cholesky")
	register(launchTriangular, "linalg_solve_triangular")
	register(launchLU, "lu_packed")
	register(launchLUSubstitute, "lu_substitute")
	register(launchLUDeterminant, "lu_determinant")
}

// lay writes batches of matrices of one shape; b is nil where there are no right-hand sides.
func (p *factorArgs) lay(out, a, b *view) bool {
	r := a.rank
	*p = factorArgs{out: out.ptr, batches: 1, n: int32(a.shape[r-2]), rank: int32(r - 2)}
	if r-2 > factorRank || !out.contiguous() || !countable(a.shape[r-2], a.shape[r-1]) {
		return false
	}
	for d := range r - 2 {
		p.shape[d] = int32(a.shape[d])
		p.batches *= int64(a.shape[d])
	}
	for i, v := range []*view{a, b} {
		if v == nil {
			continue
		}
		for d, n := range v.stride[:r-2] {
			p.stride[i][d] = int64(n)
		}
		p.row[i], p.step[i] = int64(v.stride[r-2]), int64(v.stride[r-1])
	}
	p.a = a.ptr
	if b != nil {
		p.b, p.m = b.ptr, int32(b.shape[r-1])
		if !countable(b.shape[r-1]) {
			return false
		}
	}
	return p.batches < 1<<31
}

// factor queues a kernel with blocks of threads for so many elements at a time; work is the number of float64 that each matrix needs.
func (l *launcher) factor(stem string, dt amp.DType, grid int64, elements, work int) bool {
	p := &l.factorArgs
	f := l.kernel(stem, dt, amp.NoDType)
	if f == 0 || grid >= 1<<31 {
		return false
	}
	if grid == 0 {
		return true
	}
	if work > 0 {
		p.work = l.workspace(int(p.batches) * work * 8)
	}
	threads := uint32(32)
	for threads < factorThreads && int(threads) < elements {
		threads *= 2
	}
	l.run(f, [3]uint32{uint32(grid), 1, 1}, [3]uint32{threads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	return true
}

// columns is the number of blocks that share the right-hand sides of all matrices: one for each at least, which looks at its pivots.
func (p *factorArgs) columns() int64 {
	return p.batches * int64(max(1, blocks(int(p.m), factorColumns)))
}

// refuseSingular has the kernel refuse a matrix without a factor or an inverse, where the call does.
func (l *launcher) refuseSingular() {
	if op, what, fix := l.c.Op.Singular(l.c.Mode); op != "" {
		l.factorArgs.mode = denseChecked
		l.factorArgs.guard = l.guardOf(refusal{op: op, what: what, fix: fix, singular: true})
	}
}

func launchCholesky(l *launcher) bool {
	x, p := &l.in[0], &l.factorArgs
	if !p.lay(&l.out, x, nil) {
		return false
	}
	l.refuseSingular()
	n := int(p.n)
	return l.factor("cholesky", x.dt, p.batches, n*n/4, n*n)
}

func launchTriangular(l *launcher) bool {
	a, b, p := &l.in[0], &l.in[1], &l.factorArgs
	if a.dt != b.dt || !p.lay(&l.out, a, b) {
		return false
	}
	p.upper, p.unit = word(l.c.Reverse), word(l.c.Keep)
	l.refuseSingular()
	return l.factor("triangular", b.dt, p.columns(), int(p.n)*factorColumns, int(p.n)*int(p.m))
}

func launchLU(l *launcher) bool {
	x, p := &l.in[0], &l.factorArgs
	if !p.lay(&l.out, x, nil) {
		return false
	}
	return l.factor("lu", x.dt, p.batches, int(p.n)*int(p.n)/4, 0)
}

func launchLUSubstitute(l *launcher) bool {
	b, factors, p := &l.in[1], &l.in[2], &l.factorArgs
	if factors.dt != amp.Float64 || !p.lay(&l.out, factors, b) {
		return false
	}
	p.upper, p.mode = word(l.c.Reverse), luModes[l.c.Mode]
	l.refuseSingular()
	return l.factor("lu_substitute", b.dt, p.columns(), int(p.n)*factorColumns, int(p.n)*int(p.m))
}

func launchLUDeterminant(l *launcher) bool {
	factors, p := &l.in[1], &l.factorArgs
	if factors.dt != amp.Float64 || !p.lay(&l.out, factors, nil) {
		return false
	}
	p.mode = luModes[l.c.Mode]
	return l.factor("lu_determinant", l.out.dt, int64(blocks(int(p.batches), 32)), 32, 0)
}

// word is a truth as kernels take it.
func word(v bool) int32 {
	if v {
		return 1
	}
	return 0
}
