package cudart

import (
	"math"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of rows with random numbers (kernels/random.cu).

// dropoutArgs is struct Dropout.
type dropoutArgs struct {
	m     mapArgs
	group int64
	bound uint64
}

func init() {
	register(launchDropout, "dropout", "feature_dropout", "alpha_dropout", "alpha_dropout_backward")
	register(launchRReLU, "rrelu", "rrelu_backward")
}

// alphaPrime is minus the limit of SELU.
const alphaPrime = 1.7580993408473766

func launchDropout(l *launcher) bool {
	p, x := l.c.Scalar, &l.in[0]
	if x.dt != l.out.dt || !l.out.contiguous() {
		return false
	}
	if p == 1 {
		return l.fill(&l.out, 0)
	}
	f := l.kernel("dropout", x.dt, amp.NoDType)
	d := &l.dropoutArgs
	if f == 0 || !d.m.lay(&l.out, x) {
		return false
	}
	d.group = 1
	if l.c.Op.Name == "feature_dropout" {
		for _, n := range l.out.shape[l.c.Dims[0]:l.out.rank] {
			d.group *= int64(n)
		}
	}
	scale, kept, dropped := 1/(1-p), 0.0, 0.0
	if a := 1 / math.Sqrt((float64(alphaPrime*alphaPrime*p)+1)*(1-p)); l.c.Op.Name == "alpha_dropout" {
		scale, kept, dropped = a, alphaPrime*a*p, alphaPrime*a*(p-1)
	} else if l.c.Op.Name == "alpha_dropout_backward" {
		scale = a
	}
	d.m.attr, d.bound = [4]float64{scale, kept, dropped}, uint64(math.Ceil(p*(1<<32)))
	if d.group != 1 || d.m.rank != 1 || d.m.stride[1][0] != 1 {
		d.m.flags = 0 // vectors are of one row, with a number for each element
	}
	d.m.drawn(&l.c.Draw)
	if n := int(d.m.n); n > 0 {
		l.run(f, [3]uint32{blocks(n, mapThreads*4), 1, 1}, [3]uint32{mapThreads, 1, 1}, 0, unsafe.Pointer(d), unsafe.Sizeof(*d))
	}
	return true
}

// drawn says where the random numbers are from.
func (m *mapArgs) drawn(d *amp.Draw) {
	m.seed, m.block, m.ptr[4] = d.Seed, d.Block, uint64(address(d.Origin))
}

func launchRReLU(l *launcher) bool {
	x := &l.in[len(l.c.In)-1]
	return l.in[0].dt == x.dt && l.elementwise("rrelu", x.dt, func(c *amp.Call, m *mapArgs) {
		m.attr[0], m.attr[1] = c.Pair[0], c.Pair[1]-c.Pair[0]
		m.drawn(&c.Draw)
	}, &l.out, &l.in[0], x)
}
