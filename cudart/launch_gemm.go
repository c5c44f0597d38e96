package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of matrix products (kernels/gemm.cu, gemm_mma.cu, gemm_wgmma.cu, gemm_f32.cu).

const (
	gemmThreads = 256
	gemmBatch   = 6
)

// gemmArgs is struct Gemm.
type gemmArgs struct {
	out, a, b, x           uint64
	ra, ca, rb, cb, rx, cx int64
	ba, bb, bx             [gemmBatch]int64
	bshape                 [gemmBatch]int32
	m, n, k, nb, splits    int32
	stages                 int32
	alpha, beta            float64
	partial                uint64
}

// lay writes out = alpha·a·b + beta·x of the last two dimensions; those before are broadcast. x may be nil. It returns the batches, or
// false for more dimensions, or larger ones, than the kernels take.
func (g *gemmArgs) lay(out, a, b, x *view, alpha, beta float64) (batches int, ok bool) {
	r := out.rank - 2
	if r > gemmBatch {
		return 0, false
	}
	m, n, k := out.shape[r], out.shape[r+1], a.shape[a.rank-1]
	if !countable(m, n, k) {
		return 0, false
	}
	*g = gemmArgs{out: out.ptr, a: a.ptr, b: b.ptr, m: int32(m), n: int32(n), k: int32(k), nb: int32(r), splits: 1, alpha: alpha, beta: beta}
	g.ra, g.ca = rowsOf(a)
	g.rb, g.cb = rowsOf(b)
	batches = 1
	for d := range r {
		g.bshape[d] = int32(out.shape[d])
		batches *= out.shape[d]
		g.ba[d], g.bb[d] = batchStride(a, d-out.rank), batchStride(b, d-out.rank)
		if x != nil {
			g.bx[d] = batchStride(x, d-out.rank)
		}
	}
	if x != nil {
		g.x = x.ptr
		g.rx, g.cx = batchStride(x, -2), batchStride(x, -1)
	}
	return batches, batches <= mostHigh
}

func rowsOf(v *view) (row, column int64) {
	return int64(v.stride[v.rank-2]), int64(v.stride[v.rank-1])
}

// batchStride returns the stride of a dimension counted from the last (-1), 0 where the tensor has none or repeats.
func batchStride(v *view, d int) int64 {
	if d += v.rank; d < 0 || v.shape[d] == 1 {
		return 0
	}
	return int64(v.stride[d])
}

// tall merges the batch dimensions of a into its rows where b has none of its own and the rows lie at one distance.
func tall(out, a, b *view) {
	if out.rank == 2 || !out.contiguous() {
		return
	}
	for d := range b.rank - 2 {
		if b.shape[d] != 1 {
			return
		}
	}
	rows, next := a.shape[a.rank-2], a.shape[a.rank-2]*a.stride[a.rank-2]
	for d := a.rank - 3; d >= 0; d-- {
		if a.shape[d] != 1 && a.stride[d] != next {
			return
		}
		rows *= a.shape[d]
		next *= a.shape[d]
	}
	if n := out.shape[out.rank-1]; rows*n != out.len() {
		return
	}
	flatten(a, rows)
	flatten(out, rows)
	b.stride[0], b.stride[1], b.shape[0], b.shape[1] = b.stride[b.rank-2], b.stride[b.rank-1], b.shape[b.rank-2], b.shape[b.rank-1]
	b.rank = 2
}

// flatten makes a view of rows by its last dimension.
func flatten(v *view, rows int) {
	row, col, n := v.stride[v.rank-2], v.stride[v.rank-1], v.shape[v.rank-1]
	v.rank, v.shape[0], v.shape[1], v.stride[0], v.stride[1] = 2, rows, n, row, col
}

// mostStep is the longest way from row to row that kernels on tensor cores take, in elements: they count the bytes of a tile in 32 bits.
const mostStep = 1 << 22

// contiguousIn says along which of its two dimensions an operand lies in 16-byte pieces, of so many elements: the column ("k" for a), the row, or
// none.
func contiguousIn(ptr uint64, row, col int64, batch []int64, piece int64) (columns, rows bool) {
	for _, s := range batch {
		if s%piece != 0 {
			return false, false
		}
	}
	if ptr%16 != 0 {
		return false, false
	}
	apart := func(step int64) bool { return step%piece == 0 && step > 0 && step <= mostStep }
	return col == 1 && apart(row), row == 1 && apart(col)
}

// layout names along which dimensions a and b lie in 16-byte pieces of so many elements: "kk", "kn", "mk" or "mn"; "" if one does not.
func (g *gemmArgs) layout(piece int64) string {
	ak, am := contiguousIn(g.a, g.ra, g.ca, g.ba[:g.nb], piece)
	bn, bk := contiguousIn(g.b, g.rb, g.cb, g.bb[:g.nb], piece)
	switch {
	case ak && bk:
		return "kk"
	case ak && bn:
		return "kn"
	case am && bk:
		return "mk"
	case am && bn:
		return "mn"
	}
	return ""
}

// A mmaBlock is how a block of threads on tensor cores works: on tiles of rows × columns, in steps of k.
// Its shared memory begins at a multiple of align bytes, which a launch does not promise.
type mmaBlock struct {
	rows, columns, k, align int
	alone                   bool // on a multiprocessor; else there are two
}

var (
	wideBlock   = mmaBlock{rows: 256, columns: 128, k: 64, alone: true}
	squareBlock = mmaBlock{rows: 128, columns: 128, k: 32}
)

// wideTiles and largeTiles are how many tiles a product must have for wide blocks on tensor cores, and for large ones without. Tests make them
// smaller.
var wideTiles, largeTiles = 96, 128

// threads: a warp has 64 × 64 results.
func (b mmaBlock) threads() int { return b.rows / 64 * (b.columns / 64) * 32 }

// shared is the shared memory of some stages.
func (b mmaBlock) shared(stages int) int { return stages*(b.rows+b.columns)*b.k*2 + b.align }

// stages returns how many stages a device has room for in so many blocks at once, 4 or 3; 0 if not even those.
func (b mmaBlock) stages(blocks, room int) int {
	for _, n := range []int{4, 3} {
		if blocks*b.shared(n) <= room {
			return n
		}
	}
	return 0
}

// tensorCores returns the kernel on tensor cores for what lay has written, and its block; 0 if there is none.
func (l *launcher) tensorCores(dt amp.DType, batches int) (f driver.Function, b mmaBlock) {
	g := &l.gemmArgs
	if !dt.IsHalf() || l.d.props.Capability() < 80 || int64(g.m)*int64(g.n)*int64(g.k) < 16*16*16 {
		return 0, b
	}
	layout := g.layout(8)
	if layout == "" {
		return 0, b
	}
	room, stem := l.d.props.SharedPerBlockOptin, "gemm_"
	b, g.stages = squareBlock, int32(squareBlock.stages(2, room))
	if n := wideBlock.stages(1, room); n > 0 && g.m > 128 && wideBlock.tiles(g.m, g.n)*batches >= wideTiles {
		stem, b, g.stages = "gemm_wide_", wideBlock, int32(n)
	}
	if l.byWarpgroups(batches) {
		stem, b, g.stages = "gemm_wgmma_", warpgroupBlock, warpgroupStages
	}
	return l.kernel(stem+layout, dt, amp.NoDType), b
}

// multiplyAdds returns the kernel without tensor cores, and its block.
func (l *launcher) multiplyAdds(dt amp.DType, batches int) (driver.Function, mmaBlock) {
	g, stem, b := &l.gemmArgs, "gemm", mmaBlock{rows: 64, columns: 64}
	if dt != amp.Float32 {
		return l.kernel(stem, dt, amp.NoDType), b
	}
	layout := g.layout(4)
	if layout != "" {
		stem, layout = "gemm_pieces", "_"+layout
	}
	if large := (mmaBlock{rows: 128, columns: 128}); large.tiles(g.m, g.n)*batches >= largeTiles {
		stem, b = stem+"_large", large
	}
	return l.kernel(stem+layout, dt, amp.NoDType), b
}

// tiles is how many tiles m × n are.
func (b mmaBlock) tiles(m, n int32) int {
	return int(blocks(int(m), b.rows)) * int(blocks(int(n), b.columns))
}

// enough is how many blocks keep a device busy: the terms of fewer are split among more.
func (b mmaBlock) enough() int {
	if b.alone {
		return 64
	}
	return 96
}

// gemm queues the product that lay has written.
func (l *launcher) gemm(dt amp.DType, batches int) bool {
	g := &l.gemmArgs
	if g.m == 0 || g.n == 0 || batches == 0 {
		return true
	}
	if g.k > 0 && l.library(dt, batches) {
		return true
	}
	f, b := l.tensorCores(dt, batches)
	threads, shared := b.threads(), b.shared(int(g.stages))
	if f == 0 {
		f, b = l.multiplyAdds(dt, batches)
		threads, shared = gemmThreads, 0
	}
	if f == 0 {
		return false
	}
	tiles := b.tiles(g.m, g.n)
	if few := tiles * batches; few < b.enough() && g.k >= 1024 && dt != amp.Int64 {
		g.splits = int32(min((192+few-1)/few, int(g.k)/256, 32))
		size := 4
		if dt == amp.Float64 {
			size = 8
		}
		g.partial = l.workspace(int(g.splits) * batches * int(g.m) * int(g.n) * size)
	}
	if shared > 48<<10 && l.err == nil {
		l.err = l.d.drv.SetFunctionAttribute(f, driver.FuncDynamicShared, shared)
	}
	l.run(f, [3]uint32{uint32(tiles), uint32(batches), uint32(g.splits)}, [3]uint32{uint32(threads), 1, 1}, uint32(shared), unsafe.Pointer(g), unsafe.Sizeof(*g))
	if g.splits > 1 {
		l.run(l.kernel("gemm_sum", dt, amp.NoDType), [3]uint32{blocks(int(g.m)*int(g.n), gemmThreads), uint32(batches), 1}, [3]uint32{gemmThreads, 1, 1}, 0, unsafe.Pointer(g), unsafe.Sizeof(*g))
	}
	return true
}

func init() {
	register(launchMatMul, "matmul", "mm", "bmm")
	register(launchAddmm, "addmm", "baddbmm")
	register(launchLinear, "linear")
}

func launchMatMul(l *launcher) bool {
	out, a, b := l.out, l.in[0], l.in[1]
	if a.dt != b.dt || a.dt != out.dt || !out.contiguous() {
		return false
	}
	tall(&out, &a, &b)
	return l.products(&out, &a, &b, nil, 1, 0)
}

// mostHigh is the limit of a grid's second dimension, and so of the matrices of a product that a launch takes. Tests make it smaller.
var mostHigh = 1<<16 - 1

// products queues out = alpha·a·b + beta·x, in several launches if there are more matrices than one takes.
func (l *launcher) products(out, a, b, x *view, alpha, beta float64) bool {
	n, d := 1, 0
	for k := out.rank - 3; k >= 0; k-- {
		if n *= out.shape[k]; out.shape[k] > 1 {
			d = k
		}
	}
	if n <= mostHigh {
		batches, ok := l.gemmArgs.lay(out, a, b, x, alpha, beta)
		return ok && l.gemm(a.dt, batches)
	}
	// The outermost dimension in two, so that the parts of the result lie without gaps.
	of := func(v *view, first, n int) *view {
		if v == nil {
			return nil
		}
		w := *v
		if k := d - out.rank + v.rank; k >= 0 && v.shape[k] != 1 {
			w = part(w, k, first, n)
		}
		return &w
	}
	half := out.shape[d] / 2
	for _, p := range [][2]int{{0, half}, {half, out.shape[d] - half}} {
		if !l.products(of(out, p[0], p[1]), of(a, p[0], p[1]), of(b, p[0], p[1]), of(x, p[0], p[1]), alpha, beta) {
			return false
		}
	}
	return true
}

func launchAddmm(l *launcher) bool {
	x, a, b := &l.in[0], &l.in[1], &l.in[2]
	if a.dt != b.dt || x.dt != a.dt {
		return false
	}
	return l.out.contiguous() && l.products(&l.out, a, b, x, as(a.dt, l.c.Pair[1]), as(a.dt, l.c.Pair[0]))
}

// launchLinear is x·weightᵀ + bias over the rows of x.
func launchLinear(l *launcher) bool {
	x, w, out := l.in[0], l.in[1], l.out
	var bias *view
	if l.given(2) {
		bias = &l.in[2]
		if bias.dt != x.dt {
			return false
		}
	}
	if x.dt != w.dt || x.dt != out.dt {
		return false
	}
	k := x.rank - 1
	rows, stride := 1, x.shape[k]
	for d := k - 1; d >= 0; d-- {
		if x.shape[d] == 1 {
			continue
		}
		if rows == 1 {
			stride = x.stride[d]
		} else if x.stride[d] != rows*stride {
			return false
		}
		rows *= x.shape[d]
	}
	col, n := x.stride[k], x.shape[k]
	x.rank, x.shape[0], x.shape[1], x.stride[0], x.stride[1] = 2, rows, n, stride, col
	n = w.shape[0]
	out.rank, out.shape[0], out.shape[1], out.stride[0], out.stride[1] = 2, rows, n, n, 1
	w.shape[0], w.shape[1], w.stride[0], w.stride[1] = w.shape[1], w.shape[0], w.stride[1], w.stride[0]
	batches, ok := l.gemmArgs.lay(&out, &x, &w, bias, 1, 1)
	return ok && l.gemm(x.dt, batches)
}
