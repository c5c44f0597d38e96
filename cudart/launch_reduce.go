package cudart

import (
	"math"
	"slices"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of reductions (kernels/reduce.h).

// What reduce.h names so; accumulatorBytes is the size of its largest accumulator.
const (
	reduceThreads    = 256
	reduceColumns    = 1
	reduceVector     = 2
	reduceMerge      = 4
	accumulatorBytes = 32
)

// reduceArgs is struct Reduce.
type reduceArgs struct {
	out              uint64
	in               [2]uint64
	partial          uint64
	kept, reduced    int64
	nk, nr           int32
	lanes, splits    int32
	flags, _         int32
	kshape, rshape   [maxRank]int32
	kstride, rstride [2][maxRank]int64
	attr             [4]float64
	more             uint64
}

// split lays the inputs, which have one shape, as kept × reduced dimensions, each merged where elements run on. False is for more than the
// kernels count: 2^32 elements to an element of the result, but where they lie at one distance.
func (r *reduceArgs) split(dims []int, ops ...*view) bool {
	*r = reduceArgs{kept: 1, reduced: 1}
	x := ops[0]
	for d := range x.rank {
		var cur [2]int64
		for i, v := range ops {
			cur[i] = int64(v.stride[d])
		}
		if slices.Contains(dims, d) {
			r.reduced *= int64(x.shape[d])
			r.nr = appendDim(&r.rshape, &r.rstride, r.nr, x.shape[d], cur)
		} else {
			r.kept *= int64(x.shape[d])
			r.nk = appendDim(&r.kshape, &r.kstride, r.nk, x.shape[d], cur)
		}
	}
	for i, v := range ops {
		r.in[i] = v.ptr
	}
	return r.kept < 1<<31 && (r.reduced < 1<<32 || r.nr <= 1)
}

// appendDim adds a dimension to n of them, or merges it with the last.
func appendDim(shape *[maxRank]int32, stride *[2][maxRank]int64, n int32, size int, cur [2]int64) int32 {
	if size == 1 {
		return n
	}
	if n > 0 && stride[0][n-1] == cur[0]*int64(size) && stride[1][n-1] == cur[1]*int64(size) {
		n--
		size *= int(shape[n])
	}
	shape[n] = int32(min(size, math.MaxInt32))
	stride[0][n], stride[1][n] = cur[0], cur[1]
	return n + 1
}

// plan chooses how many lanes share an element of the result, and in how many splits; it returns the blocks of both dimensions. wide says
// whether the kernel takes columns in vectors, too.
func (r *reduceArgs) plan(size int, wide bool) (blocksX, blocksY uint32) {
	keptStep, redStep := int64(0), int64(0)
	if r.nk > 0 {
		keptStep = r.kstride[0][r.nk-1]
	}
	if r.nr > 0 {
		redStep = r.rstride[0][r.nr-1]
	}
	v := min(8, 16/size)
	switch {
	case keptStep == 1 && redStep != 1 && r.kept > 1:
		if wide && r.vectorColumns(size, v) {
			return r.planColumns(int64(v))
		}
		r.flags, r.lanes = reduceColumns, 8
		if r.reduced < 16 {
			r.lanes = 1
		}
	default:
		per := int64(4)
		if r.vectorRows(size, v) {
			r.flags, per = reduceVector, int64(v)
		}
		r.lanes = 1
		for r.lanes < reduceThreads && int64(r.lanes)*per < r.reduced {
			r.lanes *= 2
		}
	}
	groups := reduceThreads / int64(r.lanes)
	x := (r.kept + groups - 1) / groups
	r.splits = 1
	if most := r.reduced / (int64(r.lanes) * 16); x < 512 && most > 1 {
		r.splits = int32(min(most, (1024+x-1)/max(x, 1), 512))
	}
	return uint32(x), uint32(r.splits)
}

// planColumns is the plan of columns in vectors of v: up to 32 threads lie side by side, more if there are few rows, and others below them.
func (r *reduceArgs) planColumns(v int64) (blocksX, blocksY uint32) {
	side := int64(8)
	for side < reduceThreads && side*v < r.kept && (side < 32 || reduceThreads/side > r.reduced) {
		side *= 2
	}
	r.flags, r.lanes, r.splits = reduceColumns|reduceVector, int32(reduceThreads/side), 1
	x := (r.kept + side*v - 1) / (side * v)
	if most := r.reduced / (int64(r.lanes) * 8); x < 512 && most > 1 {
		r.splits = int32(min(most, (512+x-1)/x, 256))
	}
	return uint32(x), uint32(r.splits)
}

// vectorColumns says whether columns of the one input can be read 16 bytes at a time.
func (r *reduceArgs) vectorColumns(size, v int) bool {
	if r.nr > 1 || int(r.kshape[r.nk-1])%v != 0 || r.in[0]%uint64(v*size) != 0 || r.rstride[0][0]%int64(v) != 0 {
		return false
	}
	for d := range r.nk - 1 {
		if r.kstride[0][d]%int64(v) != 0 {
			return false
		}
	}
	return true
}

// vectorRows says whether rows of every input can be read 16 bytes at a time.
func (r *reduceArgs) vectorRows(size, v int) bool {
	for i, in := range r.in {
		if in == 0 && i > 0 {
			continue
		}
		if r.nr < 1 || r.rstride[i][r.nr-1] != 1 || int(r.rshape[r.nr-1])%v != 0 || in%uint64(v*size) != 0 {
			return false
		}
		for d := range r.nr - 1 {
			if r.rstride[i][d]%int64(v) != 0 {
				return false
			}
		}
		for d := range r.nk {
			if r.kstride[i][d]%int64(v) != 0 {
				return false
			}
		}
	}
	return true
}

// reduce queues a kernel on what split has written; out lies without gaps, and wide is plan's.
func (l *launcher) reduce(f driver.Function, out uint64, size int, wide bool) {
	r := &l.reduceArgs
	if r.kept == 0 {
		return
	}
	r.out = out
	x, y := r.plan(size, wide)
	block := [3]uint32{reduceThreads, 1, 1}
	if y > 1 {
		if r.partial = l.partialAt; r.partial == 0 {
			r.partial = l.workspace(int(r.kept) * int(r.splits) * accumulatorBytes)
		}
	}
	l.run(f, [3]uint32{x, y, 1}, block, 0, unsafe.Pointer(r), unsafe.Sizeof(*r))
	if y == 1 {
		return
	}
	r.flags, r.lanes = reduceMerge, 1
	for r.lanes < 64 && r.lanes < r.splits {
		r.lanes *= 2
	}
	l.run(f, [3]uint32{blocks(int(r.kept), reduceThreads/int(r.lanes)), 1, 1}, block, 0, unsafe.Pointer(r), unsafe.Sizeof(*r))
}

// reduction is the launch of a row that reduces c.Dims of its inputs.
func (l *launcher) reduction(stem string, attr [4]float64, ops ...*view) bool {
	f := l.kernel(stem, ops[0].dt, l.out.dt)
	if f == 0 || !l.out.contiguous() || !l.reduceArgs.split(l.c.Dims, ops...) {
		return false
	}
	l.reduceArgs.attr = attr
	l.reduce(f, l.out.ptr, ops[0].dt.Size(), stem == "sum")
	return true
}

func init() {
	for _, name := range []string{"prod", "amax", "amin", "argmax", "argmin", "any", "all", "logsumexp"} {
		register(func(l *launcher) bool { return l.reduction(name, [4]float64{}, &l.in[0]) }, name)
	}
	register(func(l *launcher) bool { return l.reduction("sum", [4]float64{1}, &l.in[0]) }, "sum")
	register(func(l *launcher) bool {
		return l.reduction("sum", [4]float64{float64(l.out.len()) / float64(l.in[0].len())}, &l.in[0])
	}, "mean")
	for _, name := range []string{"var", "std"} {
		register(func(l *launcher) bool { return l.reduction(name, [4]float64{l.c.Scalar}, &l.in[0]) }, name)
	}
	register(launchNorm, "norm", "linalg_vector_norm")
	register(launchDot, "dot")
	register(launchVecdot, "linalg_vecdot")
}

// launchNorm computes in float64, if input or result is that, or else in float32, where there is no kernel from one to the other.
func launchNorm(l *launcher) bool {
	stem, attr := "norm", [4]float64{l.c.Scalar}
	switch {
	case math.IsInf(l.c.Scalar, 1):
		stem, attr = "norm_largest", [4]float64{}
	case math.IsInf(l.c.Scalar, -1):
		stem, attr = "norm_smallest", [4]float64{}
	}
	norm := func(l *launcher) bool { return l.reduction(stem, attr, &l.in[0]) }
	x, out, wide := l.in[0].dt, l.out.dt, amp.Float32
	if l.kernel(stem, x, out) != 0 {
		return norm(l)
	}
	if x == amp.Float64 || out == amp.Float64 {
		wide = amp.Float64
	}
	return l.through(wide, norm)
}

func launchDot(l *launcher) bool {
	f := l.kernel("dot", l.in[0].dt, l.out.dt)
	if f == 0 || l.in[0].dt != l.in[1].dt || !l.reduceArgs.split([]int{0}, &l.in[0], &l.in[1]) {
		return false
	}
	l.reduce(f, l.out.ptr, l.in[0].dt.Size(), false)
	return true
}

// broadcastTo gives a view the shape of another, with strides of 0 where it is repeated.
func broadcastTo(v *view, shape []int) view {
	w := view{ptr: v.ptr, dt: v.dt, rank: len(shape)}
	for d, n := range shape {
		w.shape[d] = n
		if k := d - len(shape) + v.rank; k >= 0 && v.shape[k] != 1 {
			w.stride[d] = v.stride[k]
		}
	}
	return w
}

func launchVecdot(l *launcher) bool {
	a, b := &l.in[0], &l.in[1]
	if a.dt != b.dt {
		return false
	}
	rank := max(a.rank, b.rank)
	var shape [maxRank]int
	for d := range rank {
		shape[d] = 1
		for _, v := range []*view{a, b} {
			if k := d - rank + v.rank; k >= 0 && v.shape[k] != 1 {
				shape[d] = v.shape[k]
			}
		}
	}
	x, y := broadcastTo(a, shape[:rank]), broadcastTo(b, shape[:rank])
	f := l.kernel("dot", x.dt, l.out.dt)
	d := l.c.Dims[0]
	if d < 0 {
		d += rank
	}
	if f == 0 || !l.reduceArgs.split([]int{d}, &x, &y) {
		return false
	}
	l.reduce(f, l.out.ptr, x.dt.Size(), false)
	return true
}
