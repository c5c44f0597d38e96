package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// The launch of the gradient of paddings (kernels/pad.cu); the paddings are copies.

const padThreads = 256

// padArgs is struct Pad.
type padArgs struct {
	out, dy      uint64
	n            int64
	rank, mode   int32
	deep, _      int32
	shape        [maxRank]int32
	stride, size [maxRank]int64
	before       [maxRank]int64
}

var padModes = map[string]int32{"reflect": 0, "replicate": 1, "circular": 2}

func init() { register(launchPadBackward, "pad_backward") }

// launchPadBackward: c.Shape holds what was padded before and after, the last dimension first.
func launchPadBackward(l *launcher) bool {
	dy, out, p := &l.in[0], &l.out, &l.padArgs
	mode, ok := padModes[l.c.Mode]
	f := l.kernel("pad_backward", dy.dt, amp.NoDType)
	deep := len(l.c.Shape) / 2
	if f == 0 || !ok || deep < 1 || deep > 3 || dy.dt != out.dt || dy.rank != out.rank || !out.contiguous() || out.len() >= 1<<32 {
		return false
	}
	*p = padArgs{out: out.ptr, dy: dy.ptr, n: int64(out.len()), rank: int32(out.rank), mode: mode, deep: int32(deep)}
	for d := range out.rank {
		p.shape[d], p.stride[d], p.size[d] = int32(out.shape[d]), int64(dy.stride[d]), int64(dy.shape[d])
		if k := out.rank - 1 - d; k < deep {
			p.before[d] = int64(l.c.Shape[2*k])
		}
	}
	if p.n > 0 {
		l.run(f, [3]uint32{blocks(int(p.n), padThreads), 1, 1}, [3]uint32{padThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
	return true
}
