package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of rows that pick and add up by index (kernels/index.cu).

const indexThreads = 256

// What is longer is put in order first; tests make them smaller.
var (
	longLine = 4096    // indices of one of a few lines, which one thread would work through
	longList = 1 << 15 // indices of rows, which the block of each would look for its equals
)

// indexArgs is struct Index.
type indexArgs struct {
	out, x, src, index uint64
	n                  int64
	rank, flags        int32
	shape              [maxRank]int32
	stride             [4][maxRank]int64
	along              [4]int64
	size, count        int64
	word               uint64
	order              uint64
	per, inner         int64
	guard              guard
	first              int64
}

// rowsArgs is struct Rows.
type rowsArgs struct {
	out, src, index                    uint64
	n, columns, inner, rows            int64
	outerOut, outerSrc, rowOut, rowSrc int64
	leave                              int64
	left, _                            int32
	guard                              guard
	order                              uint64
}

func init() {
	register(launchGather, "gather")
	register(launchIndexSelect, "index_select")
	register(launchEmbedding, "embedding")
	register(launchPoolValues, "max_pool_values")
	register(launchEmbeddingBackward, "embedding_backward")
	register(launchIndexSelectBackward, "index_select_backward")
	register(launchScatter, "scatter", "scatter_value")
	register(launchScatterAdd, "scatter_add", "gather_backward")
	register(launchPoolBackward, "max_pool_backward")
	register(launchOneHot, "one_hot")
	register(launchTriangle, "tril", "triu")
}

// wordName is the suffix of kernels that move elements of a size.
func wordName(stem string, dt amp.DType) string {
	return stem + map[int]string{1: "_w8", 2: "_w16", 4: "_w32", 8: "_w64"}[dt.Size()]
}

func launchGather(l *launcher) bool {
	x, index, d := &l.in[0], &l.in[1], l.c.Dims[0]
	p := &l.indexArgs
	p.space(&l.out)
	p.operand(0, &l.out, -1)
	p.operand(1, x, d)
	p.operand(2, index, -1)
	p.out, p.x, p.index, p.along[1], p.size = l.out.ptr, x.ptr, index.ptr, int64(x.stride[d]), int64(x.shape[d])
	p.guard = l.indexGuard()
	return l.indexed(wordName("gather", x.dt))
}

func launchIndexSelect(l *launcher) bool {
	x, index, d := &l.in[0], &l.in[1], l.c.Dims[0]
	p := &l.indexArgs
	p.space(&l.out)
	p.operand(0, &l.out, -1)
	p.operand(1, x, d)
	p.stride[2][d], p.bytes[2] = int64(index.stride[0]), 8
	p.out, p.x, p.index, p.along[1], p.size = l.out.ptr, x.ptr, index.ptr, int64(x.stride[d]), int64(x.shape[d])
	p.count, p.guard = int64(max(1, index.len())), l.indexGuard()
	for _, n := range l.out.shape[d+1 : l.out.rank] {
		p.per *= int64(max(1, n))
	}
	return l.indexed(wordName("gather", x.dt))
}

func launchEmbedding(l *launcher) bool {
	w, index := &l.in[0], &l.in[1]
	p := &l.indexArgs
	p.space(&l.out)
	p.operand(0, &l.out, -1)
	p.operand(2, index, -1)
	p.stride[1][l.out.rank-1], p.bytes[1] = int64(w.stride[1]), int64(w.dt.Size())
	p.out, p.x, p.index, p.along[1], p.size = l.out.ptr, w.ptr, index.ptr, int64(w.stride[0]), int64(w.shape[0])
	p.per, p.guard = int64(max(1, w.shape[1])), l.indexGuard()
	return l.indexed(wordName("gather", w.dt))
}

// planesOf views [n c …] as [n·c, places]; the tensor lies without gaps.
func planesOf(v *view) (view, bool) {
	ok := v.contiguous() && v.rank >= 2
	n := v.shape[0] * v.shape[1]
	w := view{ptr: v.ptr, dt: v.dt, rank: 2}
	w.shape[0], w.shape[1] = n, 1
	for _, d := range v.shape[2:v.rank] {
		w.shape[1] *= d
	}
	w.stride[0], w.stride[1] = w.shape[1], 1
	return w, ok
}

func launchPoolValues(l *launcher) bool {
	x, ok := planesOf(&l.in[0])
	index, ok2 := planesOf(&l.in[1])
	out, ok3 := planesOf(&l.out)
	p := &l.indexArgs
	p.space(&out)
	p.operand(0, &out, -1)
	p.operand(1, &x, 1)
	p.operand(2, &index, -1)
	p.out, p.x, p.index, p.along[1], p.size = out.ptr, x.ptr, index.ptr, 1, int64(x.shape[1])
	return ok && ok2 && ok3 && l.indexed(wordName("gather", x.dt))
}

func launchOneHot(l *launcher) bool {
	index := &l.in[0]
	p := &l.indexArgs
	p.space(index)
	p.unit = l.c.Start
	p.operand(0, &l.out, -1) // the classes, its last dimension, are not counted
	p.operand(2, index, -1)
	p.out, p.index, p.word, p.size = l.out.ptr, index.ptr, uint64(l.c.Start), int64(l.c.Start)
	p.guard = l.indexGuard()
	return l.indexed("one_hot_i64")
}

func launchTriangle(l *launcher) bool {
	p := &l.indexArgs
	p.space(&l.out)
	p.operand(0, &l.out, -1)
	p.operand(1, &l.in[0], -1)
	p.out, p.x, p.word = l.out.ptr, l.in[0].ptr, uint64(int64(l.c.Start))
	p.count, p.size = int64(l.out.shape[l.out.rank-2]), int64(l.out.shape[l.out.rank-1])
	if l.c.Op.Name == "triu" {
		p.flags = 1
	}
	return l.out.contiguous() && l.indexed(wordName("triangle", l.out.dt))
}

// indexLines writes the lines of index, count long, through out and, where there is one, src.
func (l *launcher) indexLines(out, index, src *view, d int) {
	p := &l.indexArgs
	line := *index
	line.shape[d] = 1
	p.space(&line)
	p.operand(0, out, d)
	p.operand(2, index, d)
	p.out, p.index, p.along[0], p.along[2] = out.ptr, index.ptr, int64(out.stride[d]), int64(index.stride[d])
	p.size, p.count = int64(out.shape[d]), int64(index.shape[d])
	for _, n := range index.shape[d+1 : index.rank] {
		p.inner *= int64(max(1, n))
	}
	if src != nil {
		p.operand(3, src, d)
		p.src, p.along[3] = src.ptr, int64(src.stride[d])
	}
}

// scattered queues a kernel, stem and suffix, on what indexLines wrote: a thread for each line or, for a few long ones, for each index.
func (l *launcher) scattered(stem, suffix string, index *view, d int) bool {
	p := &l.indexArgs
	if l.c.Op.Name != "max_pool_backward" { // whose windows may hold nothing but padding: -1
		p.guard = l.indexGuard()
	}
	if p.count <= int64(longLine) || p.n >= 64 {
		return l.indexed(stem + suffix)
	}
	order, ok := l.order(index, d)
	p.order, p.unit = order, int(p.count)
	return ok && l.indexed(stem+"_sorted"+suffix)
}

// order queues putting the places of each line of index in the order of their values, one line after another in scratch memory; false for
// lines that are too long for that.
func (l *launcher) order(index *view, d int) (uint64, bool) {
	to := *index
	n := index.shape[d]
	to.stride[d] = 1
	for k := index.rank - 1; k >= 0; k-- {
		if k != d {
			to.stride[k] = n
			n *= index.shape[k]
		}
	}
	if !l.sortArgs.lay(d, &to, index) {
		return 0, false
	}
	to.ptr = l.workspace(max(8*n, 8))
	l.sortArgs.out = to.ptr
	return to.ptr, l.err == nil && l.sort(index.dt)
}

func launchScatter(l *launcher) bool {
	var src *view
	if l.given(2) {
		src = &l.in[2]
	}
	if !l.copy(&l.out, &l.in[0]) {
		return false
	}
	l.indexLines(&l.out, &l.in[1], src, l.c.Dims[0])
	l.indexArgs.word = wordOf(l.out.dt, l.c.Scalar)
	return l.scattered("scatter", wordName("", l.out.dt), &l.in[1], l.c.Dims[0])
}

// launchScatterAdd adds up in float64, or int64, and rounds at the end.
func launchScatterAdd(l *launcher) bool {
	start, index, src := &l.in[0], &l.in[1], &l.in[2]
	if l.c.Op.Name == "gather_backward" {
		start, src = nil, &l.in[0]
	}
	wide := amp.Float64
	if !l.out.dt.IsFloat() {
		wide = amp.Int64
	}
	if src.dt != l.out.dt {
		return false
	}
	return l.addUp(wide, start, func(sums *view) bool {
		l.indexLines(sums, index, src, l.c.Dims[0])
		return l.scattered("scatter_add", "_"+dtypeNames[src.dt], index, l.c.Dims[0])
	})
}

// addUp lets add put sums into a tensor of a wide dtype that begins as start, or 0, and becomes the result.
func (l *launcher) addUp(wide amp.DType, start *view, add func(sums *view) bool) bool {
	sums := l.out
	sums.dt = wide
	if wide != l.out.dt {
		sums.ptr = l.workspace(l.out.len() * wide.Size())
	}
	switch {
	case l.err != nil || !l.out.contiguous():
		return false
	case start == nil:
		if !l.fill(&sums, 0) {
			return false
		}
	case start.dt == wide:
		if !l.copy(&sums, start) {
			return false
		}
	case !l.cast(&sums, start):
		return false
	}
	return add(&sums) && (wide == l.out.dt || l.cast(&l.out, &sums))
}

func launchPoolBackward(l *launcher) bool {
	dy, ok := planesOf(&l.in[0])
	index, ok2 := planesOf(&l.in[1])
	out, ok3 := planesOf(&l.out)
	if !ok || !ok2 || !ok3 || dy.dt != out.dt {
		return false
	}
	l.out = out
	wide := amp.Float64
	if !dy.dt.IsFloat() {
		wide = amp.Int64
	}
	return l.addUp(wide, nil, func(sums *view) bool {
		l.indexLines(sums, &index, &dy, 1)
		return l.scattered("scatter_add", "_"+dtypeNames[dy.dt], &index, 1)
	})
}

// rows queues rows_add on what was written into rowsArgs.
func (l *launcher) rows(dt amp.DType) bool {
	p := &l.rowsArgs
	stem := "rows_add"
	if p.n > int64(longList) {
		stem = "rows_sorted"
	}
	f := l.kernel(stem, dt, amp.NoDType)
	if f == 0 || p.n > int64(mostPlaces) || !l.fill(&l.out, 0) {
		return false
	}
	if p.guard = l.indexGuard(); p.n > int64(longList) {
		list, ok := flat(p.index, amp.Int64, int(p.n)), false
		if p.order, ok = l.order(&list, 0); !ok {
			return false
		}
	}
	if p.n > 0 && p.columns > 0 {
		l.run(f, [3]uint32{uint32(p.n), min(blocks(int(p.columns), indexThreads), uint32(mostHigh)), 1}, [3]uint32{indexThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
	return true
}

func launchEmbeddingBackward(l *launcher) bool {
	dy, index := &l.in[0], &l.in[1]
	n := l.out.shape[1]
	if dy.dt != l.out.dt || !dy.contiguous() || !index.contiguous() || !l.out.contiguous() {
		return false
	}
	p := &l.rowsArgs
	*p = rowsArgs{out: l.out.ptr, src: dy.ptr, index: index.ptr, n: int64(index.len()), columns: int64(n), inner: int64(max(n, 1)), rows: int64(l.out.shape[0]),
		rowOut: int64(n), rowSrc: int64(n), leave: l.c.Ignore}
	if l.c.Mode == "padded" {
		p.left = 1
	}
	return l.rows(dy.dt)
}

func launchIndexSelectBackward(l *launcher) bool {
	dy, index, d := &l.in[0], &l.in[1], l.c.Dims[0]
	if dy.dt != l.out.dt || !dy.contiguous() || index.len() > 1 && index.stride[0] != 1 || !l.out.contiguous() {
		return false
	}
	inner, outer := 1, 1
	for k := d + 1; k < dy.rank; k++ {
		inner *= dy.shape[k]
	}
	for k := range d {
		outer *= dy.shape[k]
	}
	p := &l.rowsArgs
	*p = rowsArgs{out: l.out.ptr, src: dy.ptr, index: index.ptr, n: int64(index.len()), columns: int64(outer * inner), inner: int64(max(inner, 1)), rows: int64(l.out.shape[d]),
		rowOut: int64(inner), rowSrc: int64(inner), outerOut: int64(inner * l.out.shape[d]), outerSrc: int64(inner * dy.shape[d])}
	return l.rows(dy.dt)
}
