package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// The launches of quantize, quantize_scaled and hadamard (kernels/quantize.cu).

// quantizeArgs is struct Quantize.
type quantizeArgs struct {
	m         mapArgs
	random, _ int32
}

// byScalesArgs is struct ByScales.
type byScalesArgs struct {
	m                           mapArgs
	random, margin, e4m3, least int32
}

// hadamardArgs is struct Hadamard.
type hadamardArgs struct {
	m              mapArgs
	from, to       int64
	signs, inverse int32
}

func init() {
	register(launchQuantize, "quantize")
	register(launchScaled, "quantize_scaled")
	register(launchHadamard, "hadamard")
}

func launchScaled(l *launcher) bool {
	dims, size := l.c.ScaledBlocks()
	for i, d := range dims {
		if !(l.out.split(d+i, size) && l.in[0].split(d+i, size) && l.in[1].split(d+i, 1)) {
			return false
		}
	}
	if l.c.Reverse || l.given(2) {
		return l.byScales()
	}
	return l.in[0].dt == l.in[1].dt && l.elementwise("quantize_scaled", l.in[0].dt, scaledAttr, &l.out, &l.in[0], &l.in[1])
}

// byScales rounds with scales in E4M3 or at random.
func (l *launcher) byScales() bool {
	x, amax, top, p := &l.in[0], &l.in[1], &l.in[1], &l.byScalesArgs
	p.e4m3 = 0
	if l.given(2) {
		top, p.e4m3 = &l.in[2], 1
	}
	f := l.kernel("quantize_by_scales", x.dt, amp.NoDType)
	if f == 0 || !p.m.lay(&l.out, x, amax, top) {
		return false
	}
	p.m.attr = formatAttr(amp.Format(l.c.Start))
	p.m.attr[3] = x.dt.Max()
	p.margin, p.least, p.random = int32(l.c.Scalar), int32(l.c.Pair[0]), 0
	if l.c.Reverse {
		p.random = 1
		p.m.drawn(&l.c.Draw)
	}
	return l.each(f, int(p.m.n), unsafe.Pointer(p), unsafe.Sizeof(*p))
}

// each runs a thread for each of n elements.
func (l *launcher) each(f driver.Function, n int, args unsafe.Pointer, size uintptr) bool {
	if n > 0 {
		l.run(f, [3]uint32{blocks(n, mapThreads), 1, 1}, [3]uint32{mapThreads, 1, 1}, 0, args, size)
	}
	return true
}

func launchHadamard(l *launcher) bool {
	x, p, d := &l.in[0], &l.hadamardArgs, l.c.Dims[0]
	f := l.kernel("hadamard", x.dt, amp.NoDType)
	if f == 0 || !l.out.split(d, 16) || !x.split(d, 16) {
		return false
	}
	p.from, p.to = int64(x.stride[d+1]), int64(l.out.stride[d+1])
	x.shape[d+1], l.out.shape[d+1] = 1, 1
	if !p.m.lay(&l.out, x) {
		return false
	}
	p.signs, p.inverse = int32(amp.HadamardSigns), 0
	if l.c.Reverse {
		p.inverse = 1
	}
	return l.each(f, int(p.m.n), unsafe.Pointer(p), unsafe.Sizeof(*p))
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
	switch format {
	case amp.FormatE4M3:
		q.m.attr[3] = 1 // no infinity
	case amp.FormatE2M1:
		q.m.attr[3] = 2 // no NaN either
	}
	q.random = 0
	if l.c.Reverse {
		q.random = 1
		q.m.drawn(&l.c.Draw)
	}
	return l.each(f, int(q.m.n), unsafe.Pointer(q), unsafe.Sizeof(*q))
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
