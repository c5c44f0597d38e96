package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of the rows that a GradScaler's state and an optimizer's counter are moved by (kernels/scaler.cu): one thread each.

// scalerArgs is struct Scaler.
type scalerArgs struct {
	ptr             [4]uint64
	size            int64
	growth, backoff float64
	floor           float64
}

func init() { register(launchScaler, "log_found_", "update_scale_", "count_step_") }

func launchScaler(l *launcher) bool {
	f := l.kernel(l.c.Op.CUDA, amp.NoDType, amp.NoDType)
	if f == 0 || len(l.c.In) > 4 {
		return false
	}
	var a scalerArgs
	for i := range l.c.In {
		a.ptr[i] = l.in[i].ptr
	}
	switch l.c.Op.Name {
	case "log_found_":
		a.size = int64(l.in[0].len())
	case "update_scale_":
		a.size, a.growth, a.backoff, a.floor = int64(l.c.Start), l.c.Pair[0], l.c.Pair[1], l.c.Scalar
	}
	l.run(f, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, 0, unsafe.Pointer(&a), unsafe.Sizeof(a))
	return true
}
