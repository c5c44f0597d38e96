package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
)

// Launches of the gradients of layer_norm and rms_norm (kernels/norm_grad.cu). Under autocast a norm is float32 and what reads it takes halves,
// so that its gradient is halves that are cast to float32: the kernels read the halves themselves while that cast waits, as sums do
// (launch_mixed.go).

func init() {
	for _, name := range []string{"layer_norm_backward", "rms_norm_backward"} {
		register(launchNormBackward, name)
		gathers[name] = true // it launches what waits, unless that is a cast it does without
	}
}

// launchNormBackward makes the gradients of x, and behind it in one vector those of weight and bias.
func launchNormBackward(l *launcher) bool {
	dy, x := &l.in[0], &l.in[1]
	v := 16 / x.dt.Size()
	ok, vector := l.parameter(2, v)
	dx := broadcastTo(x, x.shape[:x.rank])
	step := 1
	for d := x.rank - 1; d >= 0; d-- {
		dx.stride[d] = step
		step *= x.shape[d]
	}
	dx.ptr = l.out.ptr
	if !ok || dy.dt != x.dt || l.kernel(l.c.Op.Name, x.dt, amp.NoDType) == 0 || !l.lineArgs.lay(l.c.Dims, &dx, dy, x) {
		return false
	}
	p := &l.lineArgs
	if l.given(3) {
		had := &l.in[3]
		if had.dt != x.dt || !had.contiguous() {
			return false
		}
		p.in[3] = had.ptr
		vector = vector && had.ptr%16 == 0
	}
	p.plan(vector, v, &dx, dy, x)
	sums, n := 0, int(p.n)
	if l.given(2) {
		sums = 1
		if l.c.Op.Name == "layer_norm_backward" {
			sums = 2
		}
	}
	switch {
	case !countable(sums * n):
		return false
	case sums > 0 && (p.lines == 0 || n == 0):
		tail := flat(l.out.ptr, x.dt, sums*n)
		return l.fill(&tail, 0)
	}
	whole := wholeLines(p, x.dt, v, sums > 0)
	splits := max(1, min(int(p.lines)/64, 64))
	if whole.blocks > 0 {
		splits = int(whole.blocks)
	}
	if sums > 0 { // before it is known what dy is cast from: memory may come from what waits
		partial := splits * 2 * n * max(4, x.dt.Size())
		p.in[2] = l.in[2].ptr
		if whole.blocks > 0 {
			p.more[1] = l.workspace(partial)
		} else {
			p.more[0] = l.workspace(int(p.lines)*16 + partial)
			p.more[1] = p.more[0] + uint64(p.lines)*16
		}
	}
	from, ahead := l.d.batch.source(dy, x, &l.in[2], &l.in[3])
	if ahead && from.ptr%uint64(v*from.dt.Size()) != 0 { // other kernels, and other sums, than those of what the cast would make
		l.d.batch.mu.Unlock()
		ahead = false
	}
	if !ahead {
		l.normGradients(amp.NoDType, whole, splits, sums)
		return true
	}
	defer l.d.batch.mu.Unlock()
	p.in[0], l.ahead = from.ptr, true
	l.normGradients(from.dt, whole, splits, sums)
	l.ahead = false
	return true
}

// A wholeGrid is how the kernels launch that hold a vector of a line in each thread; there are no blocks where they don't go.
type wholeGrid struct {
	lanes, threads int
	blocks, shared uint32
}

const wholeThreads = 512

// wholeWarps is how many warps of these kernels a multiprocessor holds, and wholeProcessors how many of those a large device has. They are the
// same for every device, since sums go by them; a test has fewer.
const wholeWarps = 20

var wholeProcessors = 132

// wholeLines returns the grid for lines of whole vectors of v elements: a line is a block's, or a warp's where a warp is enough. Blocks that
// make sums over lines take many of them.
func wholeLines(p *lineArgs, dt amp.DType, v int, sums bool) wholeGrid {
	if dt.IsHalf() || p.flags&lineVector == 0 || p.lines == 0 || int(p.n) > wholeThreads*v {
		return wholeGrid{}
	}
	g := wholeGrid{lanes: (int(p.n)/v + 31) / 32 * 32, threads: 256}
	if g.lanes > 32 {
		g.threads = g.lanes
	}
	g.blocks = blocks(int(p.lines), g.threads/g.lanes)
	if sums {
		g.blocks = min(g.blocks, uint32(wholeProcessors*max(1, wholeWarps/(g.threads/32))))
		g.shared = uint32(g.threads * 2 * v * 8)
	}
	return g
}

const (
	fewSplits = 8  // so few that one thread adds them up: it reads four at a time
	sumLanes  = 32 // threads that add up more
)

// normGradients queues the kernels on what lies in lineArgs: the gradients of lines, and how many sums over lines, in so many splits. dy is
// of dtype from if that is not the one of x.
func (l *launcher) normGradients(from amp.DType, whole wholeGrid, splits, sums int) {
	p, x := &l.lineArgs, &l.in[1]
	n := int(p.n)
	p.attr[0], p.attr[2] = l.c.Scalar, 1/float64(n)
	block := [3]uint32{lineThreads, 1, 1}
	if whole.blocks > 0 {
		p.lanes = int32(whole.lanes)
		stem := "rms_norm_backward_whole"
		if l.c.Op.Name == "layer_norm_backward" {
			stem = "layer_norm_backward_whole"
		}
		l.run(l.kernel(stem, x.dt, from), [3]uint32{whole.blocks, 1, 1}, [3]uint32{uint32(whole.threads), 1, 1}, whole.shared, unsafe.Pointer(p), unsafe.Sizeof(*p))
	} else {
		l.lines(l.kernel(l.c.Op.Name, x.dt, from))
	}
	if sums == 0 {
		return
	}
	p.attr[0], p.attr[1] = float64(splits), float64(sums)
	if whole.blocks == 0 {
		columns := 32
		if p.flags&lineVector != 0 {
			columns *= 16 / x.dt.Size()
		}
		l.run(l.kernel("norm_columns", x.dt, from), [3]uint32{blocks(n, columns), uint32(splits), 1}, block, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
	p.out = l.out.ptr + uint64(int(p.lines)*n*x.dt.Size())
	p.lanes = sumLanes
	if splits <= fewSplits {
		p.lanes = 1
	}
	l.run(l.kernel("norm_sums", x.dt, amp.NoDType), [3]uint32{blocks(sums*n, lineThreads/int(p.lanes)), 1, 1}, block, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
}
