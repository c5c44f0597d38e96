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

// flashWidths are the widths that kernels are compiled for, with the tiles of each: forward, over queries and over keys backward; the second of
// each is the kernel that knows masks, dropout and negative scales.
var flashWidths = []struct {
	width                  int
	suffix                 string
	forward, queries, keys [2]flashTiles
}{
	{32, "w32", [2]flashTiles{{128, 1, 2 * 64}, {64, 1, 2 * 32}}, [2]flashTiles{{64, 2, 4 * 32}, {64, 2, 4 * 32}}, [2]flashTiles{{64, 2, 4 * 32}, {64, 2, 4 * 32}}},
	{64, "w64", [2]flashTiles{{128, 1, 2 * 64}, {64, 1, 2 * 64}}, [2]flashTiles{{64, 2, 4 * 64}, {64, 2, 4 * 32}}, [2]flashTiles{{128, 2, 4 * 32}, {64, 2, 4 * 32}}},
	{128, "w128", [2]flashTiles{{128, 1, 2 * 32}, {64, 1, 2 * 64}}, [2]flashTiles{{64, 2, 4 * 32}, {64, 2, 4 * 32}}, [2]flashTiles{{64, 2, 4 * 64}, {64, 2, 4 * 32}}},
}

// flashable says whether the kernels on tensor cores take the operands: rows of 16-byte pieces, which heads cut out of a projection are too.
func (l *launcher) flashable(dt amp.DType, operands ...int) bool {
	p := &l.attentionArgs
	if !dt.IsHalf() || l.d.props.Capability() < 80 || p.dmask != 0 {
		return false
	}
	return p.inPieces(8, operands)
}

// inPieces says whether operands lie in rows of 16-byte pieces of so many elements.
func (p *attentionArgs) inPieces(piece int64, operands []int) bool {
	ptrs := [5]uint64{p.q, p.k, p.v, p.mask, p.dy}
	for _, i := range operands {
		if ptrs[i]%16 != 0 || p.columns[i] != 1 || p.rows[i]%piece != 0 {
			return false
		}
		for d := range p.nb {
			if p.batch[i][d]%piece != 0 {
				return false
			}
		}
	}
	return true
}

// flashes queues one of the kernels over blocks of positions; false if there is none, or no room for its tiles.
func (l *launcher) flashes(stem string, positions, width int, tiles [2]flashTiles, suffix string) bool {
	p, dt, t := &l.attentionArgs, l.out.dt, tiles[0]
	if p.masked != 0 || p.bound != 0 || !(p.scale > 0) { // else scores are products times a factor, and all weights count
		stem, t = stem+"any_", tiles[1]
	}
	const still = 2 << 10 // at most, that a kernel has besides its tiles
	f, shared := l.kernel(stem+suffix, dt, amp.NoDType), t.shared(width)
	if f == 0 || int(shared)+still > max(48<<10, l.d.props.SharedPerBlockOptin) {
		return false
	}
	if shared+still > 48<<10 && l.err == nil {
		l.err = l.d.drv.SetFunctionAttribute(f, driver.FuncDynamicShared, int(shared))
	}
	l.run(f, p.grid(positions, t.own), [3]uint32{flashThreads, 1, 1}, shared, unsafe.Pointer(p), unsafe.Sizeof(*p))
	return true
}

// flash queues attention on tensor cores, or its gradients; false if there are no kernels for it.
func (l *launcher) flash(backward bool) bool {
	p, operands := &l.attentionArgs, []int{0, 1, 2, 4}
	if !backward {
		operands = operands[:3]
	}
	if !l.flashable(l.out.dt, operands...) {
		return false
	}
	for _, w := range flashWidths {
		switch {
		case int(max(p.d, p.e)) > w.width:
		case backward:
			return l.flashes("flash_queries_", int(p.t), w.width, w.queries, w.suffix) && l.flashes("flash_keys_", int(p.s), w.width, w.keys, w.suffix)
		default:
			return l.flashes("flash_", int(p.t), w.width, w.forward, w.suffix)
		}
	}
	return false
}
