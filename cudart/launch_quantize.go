package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// The launches of quantize and quantize_scaled (kernels/quantize.cu).

// quantizeArgs is struct Quantize.
type quantizeArgs struct {
	m         mapArgs
	random, _ int32
}

func init() {
	register(launchQuantize, "quantize")
	register(func(l *launcher) bool {
		if d, size := l.c.ScaledBlocks(); d >= 0 && !(l.out.split(d, size) && l.in[0].split(d, size) && l.in[1].split(d, 1)) {
			return false
		}
		return l.in[0].dt == l.in[1].dt && l.elementwise("quantize_scaled", l.in[0].dt, scaledAttr, &l.out, &l.in[0], &l.in[1])
	}, "quantize_scaled")
}

// formatAttr returns what the kernels read of a format: bits of the mantissa, exponent of the smallest normal number, the largest number.
func formatAttr(f amp.Format) (attr [4]float64) {
	exponent, mantissa := f.Fields()
	return [4]float64{float64(mantissa), float64(2 - int(1)<<(exponent-1)), f.Max()}
}

func scaledAttr(c *amp.Call, m *mapArgs) {
	m.attr = formatAttr(amp.Format(c.Start))
	m.attr[3], m.block = c.Out.DType().Max(), uint64(c.Scalar)
}

func launchQuantize(l *launcher) bool {
	x, q := &l.in[0], &l.quantizeArgs
	f := l.kernel("quantize", x.dt, amp.NoDType)
	if f == 0 || x.dt != l.out.dt || !l.out.contiguous() || !q.m.lay(&l.out, x) {
		return false
	}
	format := amp.Format(l.c.Start)
	q.m.attr = formatAttr(format)
	if format == amp.FormatE4M3 {
		q.m.attr[3] = 1 // no infinity
	}
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

// split makes dimension d two, the second of a size that divides it; it says whether there is room for one more.
func (v *view) split(d, size int) bool {
	if v.rank == maxRank {
		return false
	}
	copy(v.shape[d+2:], v.shape[d+1:v.rank])
	copy(v.stride[d+2:], v.stride[d+1:v.rank])
	v.rank++
	v.shape[d], v.shape[d+1] = v.shape[d]/size, size
	v.stride[d], v.stride[d+1] = v.stride[d]*size, v.stride[d]
	return true
}
