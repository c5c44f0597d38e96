package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of remainders and floored quotients (kernels/math.cu): those of integers refuse a division by 0.

// wholeArgs is struct WholeMod.
type wholeArgs struct {
	m     mapArgs
	guard guard
}

func init() { register(launchRemainder, "fmod", "remainder", "floor_divide") }

func launchRemainder(l *launcher) bool {
	a, b, w := &l.in[0], &l.in[1], &l.wholeArgs
	if a.dt != b.dt {
		return false
	}
	if a.dt.IsFloat() {
		return l.elementwise(l.c.Op.Name, a.dt, nil, &l.out, a, b)
	}
	f := l.kernel(l.c.Op.Name, a.dt, amp.NoDType)
	if f == 0 || !w.m.lay(&l.out, a, b) {
		return false
	}
	w.m.flags = 0
	w.guard = l.guard("divisor %d", "use floats, for which it is "+l.c.Op.ByZero)
	if w.m.n > 0 {
		l.run(f, [3]uint32{blocks(int(w.m.n), mapThreads), 1, 1}, [3]uint32{mapThreads, 1, 1}, 0, unsafe.Pointer(w), unsafe.Sizeof(*w))
	}
	return true
}
