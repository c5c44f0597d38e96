package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of running statistics (kernels/running.cu).

const runningThreads = 256

// runningArgs is struct Running.
type runningArgs struct {
	row              [2]uint64
	stats, batches   uint64
	n                int64
	dtype            [2]int32
	momentum, unbias float64
}

func init() { register(launchRunningStats, "running_stats_") }

// launchRunningStats: mean, variance, count of batches, statistics.
func launchRunningStats(l *launcher) bool {
	stats := &l.in[3]
	f := l.kernel("running_stats", stats.dt, amp.NoDType)
	if f == 0 || !stats.contiguous() || !countable(2*l.in[0].len()) {
		return false
	}
	a := runningArgs{stats: stats.ptr, n: int64(l.in[0].len()), momentum: l.c.Scalar, unbias: l.c.Pair[0]}
	for i := range 2 {
		if !l.in[i].contiguous() {
			return false
		}
		a.row[i], a.dtype[i] = l.in[i].ptr, channelDType(l.in[i].dt)
	}
	if l.given(2) {
		a.batches = l.in[2].ptr
	}
	l.run(f, [3]uint32{max(1, blocks(int(2*a.n), runningThreads)), 1, 1}, [3]uint32{runningThreads, 1, 1}, 0, unsafe.Pointer(&a), unsafe.Sizeof(a))
	return true
}
