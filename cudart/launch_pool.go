package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of pools (kernels/pool.cu).

const poolThreads = 256

// poolArgs is struct Pool.
type poolArgs struct {
	out, x                            uint64
	n                                 int64
	in, size                          [3]int32
	kernel, stride, padding, dilation [3]int32
	countPadding, _                   int32
	divisor                           float64
}

func init() {
	register(launchPool, "max_pool1d", "max_pool2d", "max_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d", "max_pool_indices",
		"avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "avg_pool_backward")
}

// spatial writes up to three numbers, the last at the end.
func spatial(to *[3]int32, from []int, fill int32) {
	*to = [3]int32{fill, fill, fill}
	for i, n := range from {
		to[3-len(from)+i] = int32(n)
	}
}

func launchPool(l *launcher) bool {
	x, stem := &l.in[0], l.c.Op.CUDA
	p := &l.poolArgs
	*p = poolArgs{out: l.out.ptr, x: x.ptr, n: int64(l.out.len()), divisor: l.c.Scalar}
	spatial(&p.in, x.shape[2:x.rank], 1)
	spatial(&p.size, l.out.shape[2:l.out.rank], 1)
	if l.c.Op.Name == "avg_pool_backward" {
		p.in, p.size = p.size, p.in
	}
	if w := l.c.Window; w != nil {
		spatial(&p.kernel, w.Kernel, 1)
		spatial(&p.stride, w.Stride, 1)
		spatial(&p.padding, w.Padding[:len(w.Kernel)], 0)
		spatial(&p.dilation, w.Dilation, 1)
		if w.CountPadding {
			p.countPadding = 1
		}
	}
	f := l.kernel(stem, x.dt, amp.NoDType)
	if f == 0 || !countable(x.shape[2:x.rank]...) || !countable(l.out.shape[2:l.out.rank]...) || !x.contiguous() || !l.out.contiguous() || x.rank < 3 {
		return false
	}
	if p.n > 0 {
		l.run(f, [3]uint32{blocks(int(p.n), poolThreads), 1, 1}, [3]uint32{poolThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
	return true
}
