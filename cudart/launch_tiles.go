package cudart

import (
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of attention of float32 in tiles (kernels/attention_f32.cu, kernels/attention_f32_grad.cu).

const (
	tilesThreads = 128 // TILES_THREADS
	tilesWalk    = 32  // TILES_WALK: rows of each of two operands that a block goes over at a time
)

// tilesWidths are the widths that kernels are compiled for, with the rows of a block: 16 times R, those of the kernel and of its form that knows
// masks and dropout.
var tilesWidths = []struct {
	width                  int
	suffix                 string
	forward, queries, keys [2]int
}{
	{64, "w64", [2]int{128, 128}, [2]int{128, 64}, [2]int{128, 64}},
	{128, "w128", [2]int{64, 64}, [2]int{64, 64}, [2]int{64, 64}},
}

// tilesShared is the shared memory of a block that keeps so many rows of so many operands: these, the rows it goes over, and weights.
func tilesShared(width, rows, operands int) uint32 {
	return uint32(4 * ((operands*rows+2*tilesWalk)*(width+4) + rows*(tilesWalk+8)))
}

// tileable says whether the kernels in tiles take the operands: float32, in rows of 16-byte pieces; a mask's gradient they don't write.
func (l *launcher) tileable(operands []int) bool {
	p := &l.attentionArgs
	return l.out.dt == amp.Float32 && p.dmask == 0 && p.d > 0 && p.e > 0 && p.inPieces(4, operands)
}

// tileKernel is a kernel and what it needs.
type tileKernel struct {
	f      driver.Function
	rows   int
	shared uint32
}

// tile finds one of the kernels; ok is false if the device has no room for its tiles.
func (l *launcher) tile(stem string, rows [2]int, width, operands int, suffix string) (k tileKernel, ok bool) {
	k.rows = rows[0]
	if p := &l.attentionArgs; p.masked != 0 || p.bound != 0 {
		stem, k.rows = stem+"any_", rows[1]
	}
	const still = 1 << 10 // at most, that a kernel has besides its tiles
	k.shared = tilesShared(width, k.rows, operands)
	if int(k.shared)+still > max(48<<10, l.d.props.SharedPerBlockOptin) {
		return k, false
	}
	k.f = l.kernel(stem+suffix, amp.Float32, amp.NoDType)
	return k, k.f != 0
}

func (l *launcher) runTile(k tileKernel, positions int) {
	p := &l.attentionArgs
	if l.err == nil {
		l.err = l.d.drv.SetFunctionAttribute(k.f, driver.FuncDynamicShared, int(k.shared))
	}
	l.run(k.f, p.grid(positions, k.rows), [3]uint32{tilesThreads, 1, 1}, k.shared, unsafe.Pointer(p), unsafe.Sizeof(*p))
}

// attendTiles queues attention of float32 in tiles, or its gradients; false if there are no kernels for it.
func (l *launcher) attendTiles(backward bool) bool {
	p, operands := &l.attentionArgs, []int{0, 1, 2, 4}
	if !backward {
		operands = operands[:3]
	}
	if !l.tileable(operands) {
		return false
	}
	for _, w := range tilesWidths {
		if int(max(p.d, p.e)) > w.width {
			continue
		}
		if !backward {
			k, ok := l.tile("tiles_", w.forward, w.width, 1, w.suffix)
			if ok {
				l.runTile(k, int(p.t))
			}
			return ok
		}
		queries, ok := l.tile("tiles_queries_", w.queries, w.width, 2, w.suffix)
		keys, too := l.tile("tiles_keys_", w.keys, w.width, 2, w.suffix)
		if ok && too {
			l.runTile(queries, int(p.t))
			l.runTile(keys, int(p.s))
		}
		return ok && too
	}
	return false
}
