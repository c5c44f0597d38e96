package cudart

import (
	"strings"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of losses (kernels/loss.cu).

const classThreads = 256

// classArgs is struct Classes.
type classArgs struct {
	out, x, weight, target, partial uint64
	n, places, classes, ignore      int64
	row, column                     int64
	rank, reduce                    int32
	shape                           [maxRank]int32
	xstride, tstride, dstride       [maxRank]int64
	wstride, blocks                 int64
	guard                           guard
}

func init() {
	register(launchPairLoss, "mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "soft_margin_loss", "hinge_embedding_loss", "kl_div", "poisson_nll_loss")
	register(launchWeightedLoss, "binary_cross_entropy_with_logits", "binary_cross_entropy")
	register(launchClassLoss, "nll_loss", "nll_loss2d")
	register(launchClassLossBackward, "nll_loss_backward", "nll_loss2d_backward")
}

// share is the factor of a sum of the elements of v.
func share(r amp.Reduction, v *view) float64 {
	switch r {
	case amp.ReduceMean:
		return 1 / float64(v.len())
	case amp.ReduceBatchMean:
		return 1 / float64(v.shape[0])
	}
	return 1
}

func lossAttr(c *amp.Call) (attr [4]float64) {
	attr[0] = c.Scalar
	for i, word := range []string{"log", "full"} { // "log target", "log input", "full"
		if strings.Contains(c.Mode, word) {
			attr[1] += float64(int(1) << i)
		}
	}
	return attr
}

func launchPairLoss(l *launcher) bool {
	x, t := &l.in[0], &l.in[1]
	attr := lossAttr(l.c)
	if x.dt != t.dt || x.dt != l.out.dt {
		return false
	}
	if l.c.Reduce == amp.ReduceNone {
		return l.elementwise(l.c.Op.Name, x.dt, func(_ *amp.Call, m *mapArgs) { m.attr = attr }, &l.out, x, t)
	}
	f := l.kernel(l.c.Op.Name+"_sum", x.dt, amp.NoDType)
	var all [maxRank]int
	for d := range all {
		all[d] = d
	}
	if f == 0 || !l.reduceArgs.split(all[:x.rank], x, t) {
		return false
	}
	attr[2] = share(l.c.Reduce, x)
	l.reduceArgs.attr = attr
	l.reduce(f, l.out.ptr, x.dt.Size(), false)
	return true
}

// launchWeightedLoss sums the elements up, if it has to, from a tensor of them in float32, or float64.
func launchWeightedLoss(l *launcher) bool {
	x := &l.in[0]
	for i := range l.c.In {
		if l.given(i) && l.in[i].dt != x.dt {
			return false
		}
	}
	each, wide := l.out, amp.Float32
	if x.dt == amp.Float64 {
		wide = amp.Float64
	}
	sum := l.c.Reduce != amp.ReduceNone
	dt := l.out.dt
	if sum {
		dt = wide
	}
	f := l.kernel(l.c.Op.Name, x.dt, dt)
	if f == 0 {
		return false
	}
	if sum {
		each = *x
		each.dt = wide
		step := 1
		for d := each.rank - 1; d >= 0; d-- {
			each.stride[d] = step
			step *= each.shape[d]
		}
		r := &l.reduceArgs
		*r = reduceArgs{kept: 1, reduced: int64(step), nr: 1} // for its plan
		r.rshape[0], r.rstride[0][0] = int32(step), 1
		r.plan(wide.Size(), true)
		elements := (step*wide.Size() + 255) &^ 255
		each.ptr = l.workspace(elements + int(r.splits)*accumulatorBytes)
	}
	one := *x
	one.ptr, one.stride = 0, [maxRank]int{} // not given
	w, p := &one, &one
	if l.given(2) {
		w = &l.in[2]
	}
	if l.given(3) {
		p = &l.in[3]
	}
	if l.err != nil || !l.mapArgs.lay(&each, x, &l.in[1], w, p) {
		return false
	}
	l.mapArgs.flags = 0
	l.apply(f, &each, x, &l.in[1], w, p)
	if !sum {
		return true
	}
	r := &l.reduceArgs
	r.in[0], r.attr[0] = each.ptr, share(l.c.Reduce, x)
	l.partialAt = each.ptr + uint64((each.len()*wide.Size()+255)&^255)
	l.reduce(l.kernel("sum", wide, l.out.dt), l.out.ptr, wide.Size(), true)
	l.partialAt = 0
	return true
}

// classes lays logp and target.
func (l *launcher) classes(shape []int, target *view) bool {
	p := &l.classArgs
	*p = classArgs{n: int64(target.len()), places: 1, ignore: l.c.Ignore, reduce: int32(l.c.Reduce), rank: int32(target.rank), target: target.ptr}
	p.classes = int64(shape[min(1, len(shape)-1)])
	for d := range target.rank {
		p.shape[d], p.tstride[d] = int32(target.shape[d]), int64(target.stride[d])
		if d > 0 {
			p.places *= int64(target.shape[d])
		}
	}
	if l.given(2) {
		p.weight, p.wstride = l.in[2].ptr, int64(l.in[2].stride[0])
	}
	if l.c.Reduce == amp.ReduceBatchMean {
		return false
	}
	p.blocks = int64(max(1, min(blocks(int(p.n), classThreads), 256)))
	return p.n < 1<<31 && p.n*p.classes < 1<<40
}

func (l *launcher) class(stem string, dt amp.DType, grid int) {
	p := &l.classArgs
	l.run(l.kernel(stem, dt, amp.NoDType), [3]uint32{uint32(grid), 1, 1}, [3]uint32{classThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
}

func launchClassLoss(l *launcher) bool {
	x, t := &l.in[0], &l.in[1]
	if x.dt != l.out.dt || l.given(2) && l.in[2].dt != x.dt || !l.classes(x.shape[:x.rank], t) || l.kernel("nll_loss", x.dt, amp.NoDType) == 0 {
		return false
	}
	p := &l.classArgs
	p.x, p.out, p.column = x.ptr, l.out.ptr, int64(x.stride[x.rank-1])
	if x.rank > 1 {
		p.column, p.xstride[0] = int64(x.stride[1]), int64(x.stride[0])
		for d := 2; d < x.rank; d++ {
			p.xstride[d-1] = int64(x.stride[d])
		}
	}
	if l.c.Reduce != amp.ReduceNone {
		p.partial = l.workspace(int(p.blocks) * 16)
	}
	p.guard = l.guardOf(refusal{op: l.c.Op.Name, what: "target[%d]", fix: "use classes from %d to %d, or %d to leave a row out", leave: l.c.Ignore, leaves: true})
	if p.n > 0 || l.c.Reduce != amp.ReduceNone {
		l.class("nll_loss", x.dt, int(p.blocks))
	}
	if l.c.Reduce != amp.ReduceNone {
		l.class("nll_total", x.dt, 1)
	}
	return true
}

func launchClassLossBackward(l *launcher) bool {
	dy, t := &l.in[0], &l.in[1]
	if dy.dt != l.out.dt || l.given(2) && l.in[2].dt != dy.dt || !l.classes(l.c.Shape, t) || l.kernel("nll_loss", dy.dt, amp.NoDType) == 0 {
		return false
	}
	p := &l.classArgs
	if p.n*p.classes == 0 {
		return true
	}
	for d := range dy.rank {
		p.dstride[d] = int64(dy.stride[d])
	}
	p.partial = l.workspace(int(p.blocks) * 16)
	// The weights of the targets are added up by the loss's kernel, on numbers that do not matter.
	p.x, p.out = dy.ptr, p.partial
	reduce := p.reduce
	if reduce == int32(amp.ReduceMean) {
		l.class("nll_loss", dy.dt, int(p.blocks))
	}
	if reduce == int32(amp.ReduceNone) {
		p.reduce = int32(amp.ReduceSum)
	}
	if reduce != int32(amp.ReduceMean) {
		p.blocks = 0
	}
	l.class("nll_factor", dy.dt, 1)
	p.out = l.out.ptr
	l.class("nll_loss_backward", dy.dt, int(blocks(int(p.n*p.classes), classThreads)))
	return true
}
