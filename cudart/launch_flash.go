package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of attention on tensor cores (kernels/attention_mma.cu, kernels/attention_mma_grad.cu).

// flashThreads is FLASH_THREADS: four warps, each of 16 rows, or several times that.
const flashThreads = 128

// A flashTiles is how many rows the tiles of a kernel have.
type flashTiles struct {
	own    int // rows of the operands that a block keeps
	kept   int // how many of those operands
	walked int // rows of those that it goes over, counted together
}

// shared is the shared memory of a block, for rows of so many halves.
func (t flashTiles) shared(width int) uint32 { return uint32((t.own*t.kept + t.walked) * width * 2) }

// flashWidths are the widths that kernels are compiled for, with the tiles of each: forward, forward with masks or dropout, over queries and
// over keys backward.
var flashWidths = []struct {
	width                                int
	suffix                               string
	forward, any, queries, keys, keysAny flashTiles
}{
	{32, "w32", flashTiles{128, 1, 2 * 64}, flashTiles{64, 1, 2 * 64}, flashTiles{64, 2, 4 * 64}, flashTiles{64, 2, 4 * 64}, flashTiles{64, 2, 4 * 32}},
	{64, "w64", flashTiles{128, 1, 2 * 64}, flashTiles{64, 1, 2 * 64}, flashTiles{64, 2, 4 * 64}, flashTiles{64, 2, 4 * 64}, flashTiles{64, 2, 4 * 32}},
	{128, "w128", flashTiles{128, 1, 2 * 64}, flashTiles{64, 1, 2 * 64}, flashTiles{64, 2, 4 * 64}, flashTiles{64, 2, 4 * 32}, flashTiles{64, 2, 4 * 32}},
}

// flashable says whether the kernels on tensor cores take the operands: rows of 16-byte pieces, which heads cut out of a projection are too.
func (l *launcher) flashable(dt amp.DType, operands ...int) bool {
	p := &l.attentionArgs
	if !dt.IsHalf() || l.d.props.Capability() < 80 || p.dmask != 0 {
		return false
	}
	ptrs := [5]uint64{p.q, p.k, p.v, p.mask, p.dy}
	for _, i := range operands {
		if ptrs[i]%16 != 0 || p.columns[i] != 1 || p.rows[i]%8 != 0 {
			return false
		}
		for d := range p.nb {
			if p.batch[i][d]%8 != 0 {
				return false
			}
		}
	}
	return true
}

// plain says that scores are products times a positive scale, and all weights count.
func (p *attentionArgs) plain() bool { return p.masked == 0 && p.bound == 0 && p.scale > 0 }

// flashes queues one of the kernels over blocks of positions; false if there is none, or no room for its tiles.
func (l *launcher) flashes(stem string, dt amp.DType, positions int, tiles flashTiles, width int) bool {
	p := &l.attentionArgs
	f, shared := l.kernel(stem, dt, amp.NoDType), tiles.shared(width)
	const still = 2 << 10 // at most, that a kernel has besides
	if f == 0 || int(shared)+still > max(48<<10, l.d.props.SharedPerBlockOptin) {
		return false
	}
	if shared+still > 48<<10 && l.err == nil {
		l.err = l.d.drv.SetFunctionAttribute(f, driver.FuncDynamicShared, int(shared))
	}
	l.run(f, p.grid(positions, tiles.own), [3]uint32{flashThreads, 1, 1}, shared, unsafe.Pointer(p), unsafe.Sizeof(*p))
	return true
}

func (l *launcher) flash(dt amp.DType) bool {
	p := &l.attentionArgs
	if !l.flashable(dt, 0, 1, 2) {
		return false
	}
	for _, w := range flashWidths {
		if int(max(p.d, p.e)) > w.width {
			continue
		}
		if p.plain() {
			return l.flashes("flash_"+w.suffix, dt, int(p.t), w.forward, w.width)
		}
		return l.flashes("flash_any_"+w.suffix, dt, int(p.t), w.any, w.width)
	}
	return false
}

func (l *launcher) flashBackward(dt amp.DType) bool {
	p := &l.attentionArgs
	if !l.flashable(dt, 0, 1, 2, 4) {
		return false
	}
	for _, w := range flashWidths {
		if int(max(p.d, p.e)) > w.width {
			continue
		}
		if p.plain() {
			return l.flashes("flash_queries_"+w.suffix, dt, int(p.t), w.queries, w.width) &&
				l.flashes("flash_keys_"+w.suffix, dt, int(p.s), w.keys, w.width)
		}
		return l.flashes("flash_queries_any_"+w.suffix, dt, int(p.t), w.queries, w.width) &&
			l.flashes("flash_keys_any_"+w.suffix, dt, int(p.s), w.keysAny, w.width)
	}
	return false
}
