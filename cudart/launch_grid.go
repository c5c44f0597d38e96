package cudart

import (
	"strings"
	"unsafe"

	"github.com/halftone-ml/halftone/amp"
	"github.com/halftone-ml/halftone/cudart/driver"
)

// Launches of grid_sample and its gradients (kernels/grid_sample.cu).

const (
	gridThreads = 256
	gridFill    = 1 << 16 // threads from which on one takes all channels of its place
)

// gridArgs is struct Grid.
type gridArgs struct {
	out, x, grid                    uint64
	n                               int64
	dims, channels, groups          int32
	mode, padding, align            int32
	image, points, order            [3]int32
	taps                            int32
	stride, at                      [5]int64
	count, end, list, place, cursor uint64
	weight                          uint64
}

var (
	gridModes    = map[string]int32{"bilinear": 0, "nearest": 1, "bicubic": 2}
	gridPaddings = map[string]int32{"zeros": 0, "border": 1, "reflection": 2}
)

func init() {
	register(launchGridSample, "grid_sample")
	register(launchGridSampleBackward, "grid_sample_backward")
}

// lay writes what both forms read: image holds the sizes of the image, points those of the result, x is what the values are read from.
func (p *gridArgs) lay(c *amp.Call, image, points, x, grid *view) bool {
	*p = gridArgs{x: x.ptr, grid: grid.ptr, dims: int32(image.rank - 2), channels: int32(image.shape[1]), taps: 1}
	mode, padding, _ := strings.Cut(c.Mode, " ")
	p.mode, p.padding = gridModes[mode], gridPaddings[padding]
	if c.Keep {
		p.align = 1
	}
	k := image.rank - 2
	spatial(&p.image, image.shape[2:image.rank], 1)
	spatial(&p.points, points.shape[2:points.rank], 1)
	p.stride[0], p.stride[1] = int64(x.stride[0]), int64(x.stride[1])
	p.at[0], p.at[4] = int64(grid.stride[0]), int64(grid.stride[k+1])
	p.n = int64(points.shape[0])
	for d := range k {
		p.order[3-k+d] = int32(c.Dims[d])
		p.stride[5-k+d] = int64(x.stride[2+d])
		p.at[4-k+d] = int64(grid.stride[1+d])
		p.taps *= [3]int32{2, 1, 4}[p.mode]
		p.n *= int64(points.shape[2+d])
	}
	return p.n*int64(p.taps) < 1<<32 && int64(image.len()) < 1<<32
}

// spread queues a kernel of p.n places, each of which some threads share if they are few.
func (l *launcher) spread(f driver.Function) {
	p := &l.gridArgs
	p.groups = int32(max(1, min(int64(p.channels), gridFill/max(p.n, 1), 1<<15)))
	l.gridRun(f, p.n, p.groups)
}

func (l *launcher) gridRun(f driver.Function, n int64, groups int32) {
	p := &l.gridArgs
	if p.n = n; n > 0 {
		l.run(f, [3]uint32{blocks(int(n), gridThreads), uint32(groups), 1}, [3]uint32{gridThreads, 1, 1}, 0, unsafe.Pointer(p), unsafe.Sizeof(*p))
	}
}

func launchGridSample(l *launcher) bool {
	x, out := &l.in[0], &l.out
	f := l.kernel("grid_sample", x.dt, amp.NoDType)
	if f == 0 || !out.contiguous() || !l.gridArgs.lay(l.c, x, out, x, &l.in[1]) {
		return false
	}
	l.gridArgs.out = out.ptr
	if out.len() > 0 {
		l.spread(f)
	}
	return true
}

// launchGridSampleBackward lists the reads of each element, orders the lists and adds them up.
func launchGridSampleBackward(l *launcher) bool {
	dy, out := &l.in[0], &l.out
	list, sum := l.kernel("grid_list", dy.dt, amp.NoDType), l.kernel("grid_sample_backward", dy.dt, amp.NoDType)
	room, fill, order := l.kernel("grid_room", amp.NoDType, amp.NoDType), l.kernel("grid_fill", amp.NoDType, amp.NoDType), l.kernel("grid_order", amp.NoDType, amp.NoDType)
	if list == 0 || sum == 0 || room == 0 || fill == 0 || order == 0 || !out.contiguous() || !l.gridArgs.lay(l.c, out, dy, dy, &l.in[1]) {
		return false
	}
	if out.len() == 0 {
		return true
	}
	p := &l.gridArgs
	p.out = out.ptr
	points := p.n
	reads, elements := int(points)*int(p.taps), out.len()/max(1, out.shape[1])
	at := l.workspace(16*reads + 8*elements + 8)
	p.weight = at
	p.place = p.weight + uint64(8*reads)
	p.list = p.place + uint64(4*reads)
	p.end = p.list + uint64(4*reads)
	p.count = p.end + uint64(4*elements)
	p.cursor = p.count + uint64(4*elements)
	zeros := flat(p.count, amp.Float32, elements+1)
	if l.err != nil || !l.fill(&zeros, 0) {
		return false
	}
	l.gridRun(list, points, 1)
	l.gridRun(room, int64(elements), 1)
	l.gridRun(fill, int64(reads), 1)
	l.gridRun(order, int64(elements), 1)
	p.n = int64(elements)
	l.spread(sum)
	return true
}
