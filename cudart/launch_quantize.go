package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// The launch of quantize (kernels/quantize.cu).

// quantizeArgs is struct Quantize.
type quantizeArgs struct {
	m         mapArgs
	random, _ int32
}

func init() { register(launchQuantize, "quantize") }

func launchQuantize(l *launcher) bool {
	x, q := &l.in[0], &l.quantizeArgs
	f := l.kernel("quantize", x.dt, amp.NoDType)
	if f == 0 || x.dt != l.out.dt || !l.out.contiguous() || !q.m.lay(&l.out, x) {
		return false
	}
	format := amp.Format(l.c.Start)
	exponent, mantissa := format.Fields()
	finite := 0.0
	if format == amp.FormatE4M3 {
		finite = 1
	}
	q.m.attr = [4]float64{float64(mantissa), float64(2 - int(1)<<(exponent-1)), format.Max(), finite}
	q.random = 0
	if l.c.Reverse {
		q.random = 1
		q.m.drawn(&l.c.Draw)
	}
	if q.m.n > 0 {
		l.run(f, [3]uint32{blocks(int(q.m.n), mapThreads), 1, 1}, [3]uint32{mapThreads, 1, 1}, 0, unsafe.Pointer(q), unsafe.Sizeof(*q))
	}
	return true
}
