package cudart

import (
	"math"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of attention (kernels/attention.cu, kernels/attention_any.cu).

const (
	attentionTile   = 32
	attentionLow    = 16 // positions of a tile where there is no room for more
	attentionBatch  = 6
	attentionNarrow = 64  // features up to which the kernels with fewer registers go
	attentionWidest = 128 // features up to which blocks keep whole rows
	attentionPart   = 128 // PART of kernels/attention_any.cu
	attentionAny    = 16  // ANY_ROWS

	attentionOut      = 5 // of the operands, the first that is written: the result, or the gradients of q, k and v
	attentionOperands = 8
)

// attentionArgs is struct Attention.
type attentionArgs struct {
	out, dk, dv, dmask, q, k, v, mask, dy, stats uint64
	rows, columns                                [attentionOperands]int64
	batch                                        [attentionOperands][attentionBatch]int64
	bshape                                       [attentionBatch]int32
	nb, t, s, d, e, causal, masked, batches      int32
	scale, bound, factor                         float64
	seed, block, origin                          uint64
}

func init() {
	register(launchAttention, "scaled_dot_product_attention")
	register(launchAttentionBackward, "attention_backward")
}

// attend lays q, k, v and mask, which are inputs from the first-th on; it returns the matrices of the batch.
func (l *launcher) attend(first int) (batches int, ok bool) {
	p, c := &l.attentionArgs, l.c
	in := l.in[first:]
	q, k, v := &in[0], &in[1], &in[2]
	*p = attentionArgs{q: q.ptr, k: k.ptr, v: v.ptr, t: int32(q.shape[q.rank-2]), d: int32(q.shape[q.rank-1]), s: int32(k.shape[k.rank-2]), e: int32(v.shape[v.rank-1]),
		scale: c.Attention.Scale, seed: c.Draw.Seed, block: c.Draw.Block, origin: uint64(address(c.Draw.Origin))}
	if c.Attention.Causal {
		p.causal = 1
	}
	if drop := c.Attention.Dropout; drop > 0 {
		p.bound = math.Ceil(drop * (1 << 32))
		if drop < 1 {
			p.factor = 1 / (1 - drop)
		}
	}
	ops := [5]*view{q, k, v}
	if l.given(first + 3) {
		ops[3] = &in[3]
		p.mask, p.masked = in[3].ptr, 1
		if in[3].dt == amp.Bool {
			p.masked = 2
		}
	}
	if first == 1 {
		ops[4] = &l.in[0]
		p.dy = l.in[0].ptr
	}
	for _, v := range ops {
		if v != nil {
			p.nb = max(p.nb, int32(v.rank-2))
		}
	}
	if !countable(q.shape[q.rank-2], k.shape[k.rank-2], q.shape[q.rank-1], v.shape[v.rank-1]) || p.nb > attentionBatch || q.dt != k.dt || q.dt != v.dt {
		return 0, false
	}
	batches = 1
	for d := range int(p.nb) {
		size := 1
		for _, v := range ops {
			if v != nil {
				if at := d - int(p.nb) - 2 + v.rank; at >= 0 && v.shape[at] != 1 {
					size = v.shape[at]
				}
			}
		}
		p.bshape[d] = int32(size)
		batches *= size
	}
	for i, v := range ops {
		if v != nil {
			p.lay(i, v)
		}
	}
	p.batches = int32(min(batches, mostInt))
	return batches, countable(batches)
}

// lay writes the strides of an operand.
func (p *attentionArgs) lay(i int, v *view) {
	p.rows[i], p.columns[i] = batchStride(v, -2), batchStride(v, -1)
	for d := range int(p.nb) {
		p.batch[i][d] = batchStride(v, d-int(p.nb)-2)
	}
}

// grid has a block for each tile of positions of each matrix; those that one dimension has no room for are in the next.
func (p *attentionArgs) grid(positions, tile int) [3]uint32 {
	high := min(int(p.batches), mostHigh)
	return [3]uint32{blocks(positions, tile), uint32(high), blocks(int(p.batches), max(high, 1))}
}

// attentionRoom is the tile of the kernels that keep whole rows, without tensor cores, and the shared memory that a block needs for it; ok is
// whether there are such kernels and the device has as much. With many features an sm_75 has it for the lower tile alone, and for float64
// an sm_70 and an sm_86 too; for float64 with more than 118 an sm_75 lacks even that.
func (l *launcher) attentionRoom(dt amp.DType) (tile int, bytes uint32, ok bool) {
	p, size := &l.attentionArgs, 4
	if dt == amp.Float64 {
		size = 8
	}
	if max(p.d, p.e) > attentionWidest {
		return 0, 0, false
	}
	for _, tile = range [...]int{attentionTile, attentionLow} {
		n := tile * size * (2*(int(p.d)+1) + 2*(int(p.e)+1) + 2*(tile+1))
		if n <= max(48<<10, l.d.props.SharedPerBlockOptin) {
			return tile, uint32(n), true
		}
	}
	return 0, 0, false
}

// attention queues one of the kernels over blocks of positions; it writes rows of so many features.
func (l *launcher) attention(stem string, dt amp.DType, positions, width int) {
	p := &l.attentionArgs
	tile, shared, ok := l.attentionRoom(dt)
	if !ok {
		grid := p.grid(positions, attentionAny)
		grid[0] *= max(1, blocks(width, attentionPart))
		l.run(l.kernel(stem+"_any", dt, amp.NoDType), grid, [3]uint32{8 * attentionAny, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
		return
	}
	switch {
	case tile == attentionLow:
		stem += "_low"
	case max(p.d, p.e) > attentionNarrow:
		stem += "_wide"
	}
	f := l.kernel(stem, dt, amp.NoDType)
	if shared > 48<<10 && l.err == nil {
		l.err = l.d.drv.SetFunctionAttribute(f, driver.FuncDynamicShared, int(shared))
	}
	l.run(f, p.grid(positions, tile), [3]uint32{uint32(8 * tile), 1, 1}, shared, unsafe.Pointer(p), unsafe.Sizeof(*p))
}

func launchAttention(l *launcher) bool {
	_, ok := l.attend(0)
	dt := l.out.dt
	p := &l.attentionArgs
	if !ok || l.in[0].dt != dt || batchStride(&l.out, -1) > 1 || l.kernel("attention", dt, amp.NoDType) == 0 {
		return false
	}
	p.out = l.out.ptr
	p.lay(attentionOut, &l.out)
	if l.out.len() == 0 {
		return true
	}
	if !l.flash(false) && !l.attendTiles(false) {
		l.attention("attention", dt, int(p.t), int(p.e))
	}
	return true
}

// launchAttentionBackward writes the gradients of q, k and v where the row says, and that of an additive mask behind them.
func launchAttentionBackward(l *launcher) bool {
	batches, ok := l.attend(1)
	dt := l.out.dt
	p := &l.attentionArgs
	if !ok || l.in[0].dt != dt || l.in[1].dt != dt || l.kernel("attention", dt, amp.NoDType) == 0 || p.t == 0 || p.s == 0 || batches == 0 {
		return false
	}
	sizes := 0
	for i, at := range l.c.AttentionGradients() {
		g := view{ptr: l.out.ptr, dt: dt, rank: len(at.Shape)}
		copy(g.shape[:], at.Shape)
		copy(g.stride[:], at.Strides)
		g.shift(at.Offset - l.c.Out.Layout().Offset)
		*[]*uint64{&p.out, &p.dk, &p.dv}[i] = g.ptr
		p.lay(attentionOut+i, &g)
		sizes += g.len()
	}
	if p.masked == 1 {
		p.dmask = p.out + uint64(sizes*dt.Size())
	}
	p.stats = l.workspace(batches * int(p.t) * 3 * 8)
	if l.flash(true) || l.attendTiles(true) {
		return true
	}
	l.attention("attention_queries", dt, int(p.t), int(p.d))
	l.attention("attention_keys", dt, int(p.s), int(max(p.d, p.e)))
	return true
}
