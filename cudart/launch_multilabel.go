package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of multilabel_margin_loss and its gradient (kernels/multilabel.cu).

const (
	labelThreads = 256
	labelClasses = 65536
)

// labelArgs is struct Labels.
type labelArgs struct {
	out, x, dy, target         uint64
	classes, xrow, xstep, trow int64
	tstep, dyrow               int64
	share                      float64
	each, _                    int32
	guard                      guard
}

func init() {
	register(launchMultilabel, "multilabel_margin_loss")
	register(launchMultilabelBackward, "multilabel_margin_loss_backward")
}

// labels lays x and target, [classes] or [rows classes], and returns the number of rows.
func (l *launcher) labels(x, target *view) (rows int, ok bool) {
	p, d := &l.labelArgs, x.rank-1
	*p = labelArgs{x: x.ptr, target: target.ptr, classes: int64(x.shape[d]), xstep: int64(x.stride[d]), tstep: int64(target.stride[d])}
	rows = 1
	if d == 1 {
		rows, p.xrow, p.trow = x.shape[0], int64(x.stride[0]), int64(target.stride[0])
	}
	return rows, p.classes <= labelClasses && rows < 1<<31
}

func (l *launcher) label(stem string, dt amp.DType, rows int) {
	p := &l.labelArgs
	p.guard = l.guardOf(refusal{op: "multilabel_margin_loss", what: "target[%d,%d]", fix: "use class numbers from %d to %d, and -1 after the last", rows: true})
	l.run(l.kernel(stem, dt, amp.NoDType), [3]uint32{uint32(rows), 1, 1}, [3]uint32{labelThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
}

// rowShare is the weight that a reduction gives each row.
func rowShare(r amp.Reduction, rows, rank int) float64 {
	if r == amp.ReduceMean && rank == 2 {
		return 1 / float64(rows)
	}
	return 1
}

func launchMultilabel(l *launcher) bool {
	x := &l.in[0]
	rows, ok := l.labels(x, &l.in[1])
	if !ok || x.dt != l.out.dt || l.kernel("multilabel_margin_loss", x.dt, amp.NoDType) == 0 {
		return false
	}
	p := &l.labelArgs
	if l.c.Reduce == amp.ReduceNone {
		p.each, p.out = 1, l.out.ptr
		if rows > 0 && p.classes > 0 {
			l.label("multilabel_margin_loss", x.dt, rows)
		}
		return true
	}
	// The rows' losses are added up by a reduction, whose own parts lie behind them.
	r := &l.reduceArgs
	*r = reduceArgs{kept: 1, reduced: int64(rows), nr: 1}
	r.rshape[0], r.rstride[0][0] = int32(rows), 1
	r.plan(8, true)
	bytes := (rows*8 + 255) &^ 255
	p.out = l.workspace(bytes + int(r.splits)*accumulatorBytes)
	if l.err != nil {
		return true
	}
	if rows > 0 && p.classes > 0 {
		l.label("multilabel_margin_loss", x.dt, rows)
	}
	r.in[0], r.attr[0] = p.out, rowShare(l.c.Reduce, rows, x.rank)
	l.partialAt = p.out + uint64(bytes)
	l.reduce(l.kernel("sum", amp.Float64, l.out.dt), l.out.ptr, 8, true)
	l.partialAt = 0
	return true
}

func launchMultilabelBackward(l *launcher) bool {
	dy, x := &l.in[0], &l.in[1]
	rows, ok := l.labels(x, &l.in[2])
	if !ok || x.dt != l.out.dt || dy.dt != x.dt || !l.out.contiguous() || l.kernel("multilabel_margin_loss", x.dt, amp.NoDType) == 0 {
		return false
	}
	p := &l.labelArgs
	p.out, p.dy, p.share = l.out.ptr, dy.ptr, rowShare(l.c.Reduce, rows, x.rank)/float64(max(p.classes, 1))
	if dy.rank == 1 {
		p.dyrow = int64(dy.stride[0])
	}
	if rows > 0 && p.classes > 0 {
		l.label("multilabel_margin_loss_backward", x.dt, rows)
	}
	return true
}
