package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of batch and group norms (kernels/batch_norm.cu).

const (
	channelVectors = 1
	channelRunning = 2
	channelNone    = 4
	channelEach    = 4 // vectors of a thread
	channelThreads = 256
)

// channelArgs is struct Channels.
type channelArgs struct {
	out, x, dy, weight, bias, stats, sums uint64
	n, c, plane                           int64
	wdtype, bdtype, sdtype, flags         int32
	eps, per                              float64
	lanes, chunks                         int32
}

func init() {
	register(launchBatchStats, "batch_norm_stats")
	register(launchBatchSums, "batch_norm_sums")
	register(launchBatchNorm, "batch_norm")
	register(launchBatchNormBackward, "batch_norm_backward")
	register(launchGroupNorm, "group_norm")
}

// channelDType is a dtype's number in the kernels.
func channelDType(dt amp.DType) int32 {
	switch dt {
	case amp.Float16:
		return 0
	case amp.BFloat16:
		return 1
	case amp.Float32:
		return 2
	}
	return 3
}

// perChannelDims are all dimensions but the one of channels.
var perChannelDims = [...]int{0, 2, 3, 4, 5, 6, 7}

func launchBatchStats(l *launcher) bool {
	x := &l.in[0]
	f := l.kernel("batch_norm_stats", x.dt, l.out.dt)
	if f == 0 || x.rank < 2 || !l.reduceArgs.split(perChannelDims[:x.rank-1], x) {
		return false
	}
	l.reduce(f, l.out.ptr, x.dt.Size(), false)
	return true
}

// statistics says whether stats is what the kernels read: float32, float64 for float64.
func statistics(stats, x *view) bool {
	return stats.contiguous() && (stats.dt == amp.Float64) == (x.dt == amp.Float64) && (stats.dt == amp.Float32 || stats.dt == amp.Float64)
}

func launchBatchSums(l *launcher) bool {
	dy, stats, x := &l.in[0], &l.in[1], &l.in[2]
	f := l.kernel("batch_norm_sums", x.dt, l.out.dt)
	if f == 0 || dy.dt != x.dt || !statistics(stats, x) || !l.reduceArgs.split(perChannelDims[:x.rank-1], dy, x) {
		return false
	}
	l.reduceArgs.attr[0], l.reduceArgs.more = l.c.Scalar, stats.ptr
	l.reduce(f, l.out.ptr, x.dt.Size(), false)
	return true
}

// channels lays x [n c …], which lies without gaps as the result does, and the parameters of channels.
func (l *launcher) channels(x, weight *view) bool {
	p := &l.channelArgs
	*p = channelArgs{out: l.out.ptr, x: x.ptr, n: int64(x.len()), c: int64(x.shape[1]), plane: 1, eps: l.c.Scalar, wdtype: channelNone, bdtype: channelNone}
	for _, d := range x.shape[2:x.rank] {
		p.plane *= int64(d)
	}
	v := int64(16 / x.dt.Size())
	if p.plane%v == 0 && p.n < 1<<31 && x.ptr%16 == 0 && l.out.ptr%16 == 0 {
		p.flags = channelVectors
	}
	if weight != nil {
		p.weight, p.wdtype = weight.ptr, channelDType(weight.dt)
		if !weight.contiguous() {
			return false
		}
	}
	return x.contiguous() && l.out.contiguous() && x.dt == l.out.dt
}

// channelwise queues the kernel over all elements.
func (l *launcher) channelwise(stem string, dt amp.DType) bool {
	p := &l.channelArgs
	f := l.kernel(stem, dt, amp.NoDType)
	if f == 0 {
		return false
	}
	if p.n == 0 {
		return true
	}
	grid := blocks(int(p.n), channelThreads)
	if p.flags&channelVectors != 0 {
		grid = p.vectors(16 / dt.Size())
	}
	l.run(f, [3]uint32{grid, 1, 1}, [3]uint32{channelThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	return true
}

// vectors shares out planes of vectors of v and returns the blocks.
func (p *channelArgs) vectors(v int) uint32 {
	each := int(p.plane) / v
	p.lanes = 1
	for p.lanes < channelThreads && int(p.lanes)*channelEach < each {
		p.lanes *= 2
	}
	p.chunks = int32(blocks(each, int(p.lanes)*channelEach))
	return blocks(int(p.n/p.plane)*int(p.chunks), channelThreads/int(p.lanes))
}

func (l *launcher) optional(i int) *view {
	if !l.given(i) {
		return nil
	}
	return &l.in[i]
}

func launchBatchNorm(l *launcher) bool {
	x, stats := &l.in[0], &l.in[3]
	if !l.channels(x, l.optional(1)) || !statistics(stats, x) {
		return false
	}
	p := &l.channelArgs
	p.stats, p.sdtype = stats.ptr, channelDType(stats.dt)
	if b := l.optional(2); b != nil {
		p.bias, p.bdtype = b.ptr, channelDType(b.dt)
		if !b.contiguous() {
			return false
		}
	}
	return l.channelwise("batch_norm", x.dt)
}

func launchBatchNormBackward(l *launcher) bool {
	dy, x, stats, sums := &l.in[0], &l.in[1], &l.in[3], &l.in[4]
	if !l.channels(x, l.optional(2)) || !statistics(stats, x) || dy.dt != x.dt || !dy.contiguous() {
		return false
	}
	p := &l.channelArgs
	p.dy, p.stats, p.sdtype, p.per = dy.ptr, stats.ptr, channelDType(stats.dt), float64(p.n)/float64(max(p.c, 1))
	if dy.ptr%16 != 0 {
		p.flags = 0
	}
	if l.c.Mode == "running" {
		p.flags |= channelRunning
	} else {
		if !l.given(4) || !sums.contiguous() {
			return false
		}
		p.sums, p.bdtype = sums.ptr, channelDType(sums.dt)
	}
	return l.channelwise("batch_norm_backward", x.dt)
}

func launchGroupNorm(l *launcher) bool {
	x := &l.in[0]
	if !l.channels(x, l.optional(1)) {
		return false
	}
	p := &l.channelArgs
	if b := l.optional(2); b != nil {
		p.bias, p.bdtype = b.ptr, channelDType(b.dt)
		if !b.contiguous() {
			return false
		}
	}
	groups := int64(l.c.Start)
	p.per = float64(p.c / groups)
	p.c = groups
	f := l.kernel("group_norm", x.dt, amp.NoDType)
	if f == 0 {
		return false
	}
	if p.n > 0 {
		l.run(f, [3]uint32{uint32(int64(x.shape[0]) * groups), 1, 1}, [3]uint32{channelThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
	return true
}
