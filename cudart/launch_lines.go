package cudart

import (
	"slices"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of rows that work on lines: softmax and the norms (kernels/lines.h).

const (
	lineThreads = 256
	lineVector  = 1
	lineKeep    = 4 // flag; and how many vectors a lane keeps in registers
)

// lineArgs is struct Lines.
type lineArgs struct {
	out            uint64
	in             [4]uint64
	more           [2]uint64
	lines          int64
	n, rank, lanes int32
	flags          int32
	shape          [maxRank]int32
	stride         [3][maxRank]int64
	step           [3]int64
	attr           [4]float64
}

// lay splits operands of one shape, result first, into lines over dims, which have to merge into one.
func (p *lineArgs) lay(dims []int, ops ...*view) bool {
	*p = lineArgs{lines: 1, n: 1}
	x, n := ops[0], 1
	for d := range x.rank {
		size := x.shape[d]
		if slices.Contains(dims, d) {
			if size == 1 {
				continue
			}
			for i, v := range ops {
				if n > 1 && p.step[i] != int64(v.stride[d]*size) {
					return false
				}
				p.step[i] = int64(v.stride[d])
			}
			if n *= size; !countable(n) {
				return false
			}
			continue
		}
		p.lines *= int64(size)
		if size == 1 {
			continue
		}
		p.shape[p.rank] = int32(size)
		for i, v := range ops {
			p.stride[i][p.rank] = int64(v.stride[d])
		}
		p.rank++
	}
	if p.n = int32(n); n == 1 {
		p.step = [3]int64{1, 1, 1}
	}
	p.out = ops[0].ptr
	for i, v := range ops[1:] {
		p.in[i] = v.ptr
	}
	return p.lines < 1<<32
}

// plan chooses the lanes of a line. kept says whether the kernel can keep lines in registers, in vectors of v elements.
func (p *lineArgs) plan(kept bool, v int, ops ...*view) {
	inner := true
	for i := range ops {
		inner = inner && p.step[i] == 1
	}
	p.lanes = 256
	if int(p.n) <= 32*v*lineKeep {
		p.lanes = 32
	}
	if kept && inner && int(p.n)%v == 0 && p.aligned(v, ops) {
		p.flags = lineVector
		if int(p.n) <= int(p.lanes)*v*lineKeep {
			p.flags |= lineKeep
			return
		}
	}
	if !inner && p.lines >= 1024 || p.n < 8 {
		p.lanes = 1
	}
}

func (p *lineArgs) aligned(v int, ops []*view) bool {
	for i, op := range ops {
		if op.ptr%uint64(v*op.dt.Size()) != 0 {
			return false
		}
		for d := range p.rank {
			if p.stride[i][d]%int64(v) != 0 {
				return false
			}
		}
	}
	return true
}

// lines queues a kernel on what lay and plan have written.
func (l *launcher) lines(f driver.Function) {
	p := &l.lineArgs
	if p.lines == 0 || p.n == 0 {
		return
	}
	l.run(f, [3]uint32{blocks(int(p.lines), lineThreads/int(p.lanes)), 1, 1}, [3]uint32{lineThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
}

func init() {
	register(launchSoftmax, "softmax", "log_softmax")
	register(launchSoftmaxGrad, "softmax_backward", "log_softmax_backward")
	register(launchNormalize, "layer_norm", "rms_norm")
}

func launchSoftmax(l *launcher) bool {
	x, out := &l.in[0], &l.out
	f := l.kernel(l.c.Op.Name, x.dt, out.dt)
	if f == 0 || !l.lineArgs.lay(l.c.Dims, out, x) {
		return false
	}
	l.lineArgs.plan(true, min(16/x.dt.Size(), 16/out.dt.Size()), out, x)
	l.lines(f)
	return true
}

func launchSoftmaxGrad(l *launcher) bool {
	dy, y, out := &l.in[0], &l.in[1], &l.out
	f := l.kernel(l.c.Op.Name, y.dt, out.dt)
	if f == 0 && y.dt == amp.Float64 && out.dt.IsHalf() {
		return l.through(amp.Float64, launchSoftmaxGrad)
	}
	if f == 0 || dy.dt != y.dt || !l.lineArgs.lay(l.c.Dims, out, dy, y) {
		return false
	}
	l.lineArgs.plan(true, min(16/y.dt.Size(), 16/out.dt.Size()), out, dy, y)
	l.lines(f)
	return true
}

// parameter says whether a weight or bias can be read in vectors of v, and is of the row's dtype and without gaps.
func (l *launcher) parameter(i, v int) (ok, vector bool) {
	if !l.given(i) {
		return true, true
	}
	w := &l.in[i]
	return w.dt == l.in[0].dt && w.contiguous(), w.ptr%uint64(v*w.dt.Size()) == 0
}

// launchNormalize takes half inputs with float32 parameters, too: by way of float32, rounded once.
func launchNormalize(l *launcher) bool {
	if out := l.out; out.dt.IsHalf() && l.in[0].dt == out.dt && (l.given(1) && l.in[1].dt == amp.Float32 || l.given(2) && l.in[2].dt == amp.Float32) {
		for i := range l.c.In {
			if !l.given(i) || l.in[i].dt == amp.Float32 {
				continue
			}
			wide, ok := l.converted(&l.in[i], amp.Float32)
			if !ok {
				return false
			}
			l.in[i] = wide
		}
		l.out.dt = amp.Float32
		if l.out.ptr = l.workspace(max(4*out.len(), 1)); l.err != nil {
			return false
		}
		return l.normalize() && l.cast(&out, &l.out)
	}
	return l.normalize()
}

// keptStems are the kernels of norms that keep up to 4, 8 and 16 vectors a lane.
var keptStems = map[string][3]string{
	"layer_norm": {"layer_norm", "layer_norm_8", "layer_norm_16"},
	"rms_norm":   {"rms_norm", "rms_norm_8", "rms_norm_16"},
}

// manyLines is from how many on the lines of a norm fill a large device with a warp each: fewer are shared by more lanes. A test has fewer.
var manyLines int64 = 1024

// planKept gives a line to a warp wherever its lanes can keep it, in more vectors of v elements each than plan lets them; it returns which of
// the kernels is for that. Float64 has but the first.
func (p *lineArgs) planKept(v int) int {
	if p.flags&lineVector == 0 || p.lines < manyLines || v < 4 {
		return 0
	}
	for i := 1; i < 3; i++ {
		if vectors := int(p.n) / v; vectors > 32*lineKeep && vectors <= 32*lineKeep<<i {
			p.flags |= lineKeep
			p.lanes = 32
			return i
		}
	}
	return 0
}

func (l *launcher) normalize() bool {
	x, out := &l.in[0], &l.out
	v := 16 / x.dt.Size()
	f := l.kernel(l.c.Op.Name, x.dt, amp.NoDType)
	okW, vecW := l.parameter(1, v)
	okB, vecB := l.parameter(2, v)
	if f == 0 || !okW || !okB || out.dt != x.dt || !l.lineArgs.lay(l.c.Dims, out, x) || l.lineArgs.step[0] != 1 {
		return false
	}
	p := &l.lineArgs
	p.plan(vecW && vecB, v, out, x)
	p.attr[0], p.attr[2] = l.c.Scalar, 1/float64(p.n)
	f = l.kernel(keptStems[l.c.Op.Name][p.planKept(v)], x.dt, amp.NoDType)
	for i := 1; i <= 2; i++ {
		if l.given(i) {
			p.in[i] = l.in[i].ptr
		}
	}
	l.lines(f)
	return true
}
