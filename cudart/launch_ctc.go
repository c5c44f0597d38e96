package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of ctc_loss and its gradients (kernels/ctc.cu).

const ctcThreads = 256

// ctcArgs is struct Ctc.
type ctcArgs struct {
	out, logp, v, dy                                        uint64
	targets, lengths                                        uint64
	alpha, gamma, along, beta, loss                         uint64
	steps, items, classes, labels, columns, width, blank    int64
	lt, ln, lc, vt, vn, vc, trow, tstep, lrow, lstep, dstep int64
	reduce, zero                                            int32
	target, input, size, sum                                guard
}

func init() {
	register(launchCTCAlpha, "ctc_alpha")
	register(launchCTCNLL, "ctc_nll")
	register(func(l *launcher) bool { return launchCTCSlopes(l, nil, l.in[:]) }, "ctc_loss_backward")
	register(func(l *launcher) bool { return launchCTCSlopes(l, &l.in[0], l.in[1:]) }, "ctc_loss_curvature")
}

// ctc lays logp, targets and lengths.
func (l *launcher) ctc(logp, targets, lengths *view) bool {
	p := &l.ctcArgs
	*p = ctcArgs{out: l.out.ptr, logp: logp.ptr, targets: targets.ptr, lengths: lengths.ptr, steps: int64(logp.shape[0]), items: int64(logp.shape[1]),
		classes: int64(logp.shape[2]), labels: int64(targets.len()), columns: -1, blank: l.c.Ignore, lt: int64(logp.stride[0]), ln: int64(logp.stride[1]),
		lc: int64(logp.stride[2]), tstep: int64(targets.stride[0]), lrow: int64(lengths.stride[0]), lstep: int64(lengths.stride[1]), reduce: int32(l.c.Reduce), zero: word(l.c.Mode != "")}
	if targets.rank == 2 {
		p.columns, p.trow, p.tstep = int64(targets.shape[1]), int64(targets.stride[0]), int64(targets.stride[1])
	}
	p.width = 2*p.labels + p.items
	return l.out.contiguous() && p.steps*p.items < 1<<31 && l.kernel("ctc_loss", logp.dt, amp.NoDType) != 0
}

func (l *launcher) runCTC(stem string, dt amp.DType, blocks int64) {
	p := &l.ctcArgs
	l.run(l.kernel(stem, dt, amp.NoDType), [3]uint32{uint32(blocks), 1, 1}, [3]uint32{ctcThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
}

// launchCTCAlpha is the one that refuses: the others come after it.
func launchCTCAlpha(l *launcher) bool {
	if !l.ctc(&l.in[0], &l.in[1], &l.in[2]) {
		return false
	}
	p := &l.ctcArgs
	p.alpha = p.out
	guard := func(what, fix string, leaves bool) guard {
		return l.guardOf(refusal{op: "ctc_loss", what: what, fix: fix, leave: l.c.Ignore, leaves: leaves})
	}
	p.target = guard("target %d", "use classes from %d to %d but for the blank, %d", true)
	p.input = guard("input length %d", "use lengths from %d to %d", false)
	p.size = guard("target length %d", "use lengths from %d to %d", false)
	p.sum = guard("the sum of all %d target lengths", "use lengths that add up to the number of targets", false)
	l.runCTC("ctc_alpha", l.in[0].dt, p.items)
	return true
}

func launchCTCNLL(l *launcher) bool {
	x := &l.in[0]
	if x.dt != l.out.dt || !l.in[3].contiguous() || !l.ctc(x, &l.in[1], &l.in[2]) {
		return false
	}
	l.ctcArgs.alpha = l.in[3].ptr
	l.runCTC("ctc_loss", x.dt, 1)
	return true
}

// launchCTCSlopes queues the gradient, or what it changes by along v; in is dy, logp, targets, lengths and alpha.
func launchCTCSlopes(l *launcher, v *view, in []view) bool {
	dy, x := &in[0], &in[1]
	if x.dt != l.out.dt || dy.dt != x.dt || v != nil && v.dt != x.dt || !in[4].contiguous() || !l.ctc(x, &in[2], &in[3]) {
		return false
	}
	p := &l.ctcArgs
	p.alpha, p.dy = in[4].ptr, dy.ptr
	if dy.rank == 1 {
		p.dstep = int64(dy.stride[0])
	}
	rows, all := 4*int(p.width), int(p.steps*p.width)
	words := all + rows + int(p.items)
	if v != nil {
		words += all
	}
	p.gamma = l.workspace(words * 8)
	p.beta = p.gamma + uint64(all)*8
	p.loss = p.beta + uint64(rows)*8
	if v != nil {
		p.v, p.along = v.ptr, p.loss+uint64(p.items)*8
		p.vt, p.vn, p.vc = int64(v.stride[0]), int64(v.stride[1]), int64(v.stride[2])
	}
	l.runCTC("ctc_path", x.dt, p.items)
	l.runCTC("ctc_loss_backward", x.dt, p.steps*p.items)
	return true
}
