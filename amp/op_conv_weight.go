package amp

import (
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// conv_weight_grad is the gradient of a convolution with respect to its weight; bilinear in x and dy, so that its own gradients are
// convolutions again.

var opConvWeight *Op

func init() {
	opConvWeight = define(Op{
		Name: "conv_weight_grad", Doc: "sum over images and positions of dy times the windows of x: the gradient of a convolution's weight", Args: []string{"x", "dy"},
		Why: "runs in the dtype its forward ran in", CUDA: "conv_weight_grad", Saves: SaveIn0 | SaveIn1,
		Check: func(c *Call) []int { c.floats(); return c.Shape },
		CPU:   floatKernel(convWeightCPU[float32], convWeightCPU[float64]),
		Backward: func(b *Back) {
			g := Contiguous(b.S, b.DY)
			a := b.Attrs()
			rank := len(a.Window.Kernel)
			if b.Needs(0) {
				b.Set(0, b.S.apply(opConvTranspose[rank-1], Attrs{Window: a.Window, Shape: b.Shape(0)}, b.In(1), g, nil))
			}
			if b.Needs(1) {
				b.Set(1, b.S.apply(opConv[rank-1], Attrs{Window: a.Window, Shape: b.Shape(1)}, b.In(0), g, nil))
			}
		},
	})
}

// convWeightCPU: for each group, out [channels window] = Σ over boxes dy [channels positions] · columnsᵀ [positions window]. Boxes
// follow one another, and their sums are added in that order.
func convWeightCPU[T cpu.Float](c *Call) {
	x, dy := c.In[0], c.In[1]
	l := convLattice(c.Window, x, dy.shape)
	m, k := dy.shape[1]/l.groups, l.channels*len(l.taps)
	if pointWeights(c.Out, &l, x, dy, m) || tileWeights(c.Out, &l, x, dy, m) || imageWeights(c.Out, &l, x, dy, m) || pairWeights(c.Out, &l, x, dy, m) || stepWeights(c.Out, &l, x, dy, m) || laneWeights(c.Out, &l, x, dy, m) {
		return
	}
	boxes := l.boxes()
	if boxWeights[T](c.Out, &l, x, dy, boxes, m, k) {
		return
	}
	pool := columnPool[T]()
	cpu.Parallel(l.groups, groupsAtOnce, func(lo, hi int) {
		cols, sums := pool.Get().(*columns[T]), pool.Get().(*columns[T])
		defer pool.Put(cols)
		defer pool.Put(sums)
		sums.buf = resize(sums.buf, (hi-lo)*m*k)
		clear(sums.buf)
		for i := range boxes {
			if b := &boxes[i]; b.positions() > 0 && k > 0 {
				addWeights(cols, sums.buf, &l, x, dy, b, lo, hi, true)
			}
		}
		store(c.Out, c.Out.off+lo*m*k, sums.buf)
	})
}

// Boxes whose products are computed side by side, and how many elements they may be.
const (
	boxesAtOnce = 16
	boxProducts = 1 << 19
)

// boxWeights is convWeightCPU for few groups and a small weight: the products of some boxes wait beside each other until they are added, in the
// order of the boxes. It says whether it is for this gradient.
func boxWeights[T cpu.Float](out *Tensor, l *lattice, x, dy *Tensor, boxes []box, m, k int) bool {
	size := l.groups * m * k
	if size == 0 || l.groups > groupsAtOnce {
		return false
	}
	boxes = slices.DeleteFunc(boxes, func(b box) bool { return b.positions() == 0 })
	most := min(boxesAtOnce, boxProducts/size, len(boxes))
	if most < 2 {
		return false
	}
	pool := columnPool[T]()
	room := pool.Get().(*columns[T])
	defer pool.Put(room)
	room.buf = resize(room.buf, (1+most)*size)
	sums, products := room.buf[:size], room.buf[size:]
	clear(sums)
	for len(boxes) > 0 {
		some := boxes[:min(most, len(boxes))]
		boxes = boxes[len(some):]
		cpu.Parallel(len(some), 1, func(lo, hi int) {
			cols := pool.Get().(*columns[T])
			defer pool.Put(cols)
			for i := lo; i < hi; i++ {
				addWeights(cols, products[i*size:(i+1)*size], l, x, dy, &some[i], 0, l.groups, false)
			}
		})
		cpu.Parallel(size, grain, func(lo, hi int) {
			for i := range some {
				cpu.AddTo(sums[lo:hi], products[i*size+lo:i*size+hi])
			}
		})
	}
	store(out, out.off, sums)
	return true
}

// addWeights adds the products of one box for the groups from first to end, or sets them.
func addWeights[T cpu.Float](c *columns[T], sums []T, l *lattice, x, dy *Tensor, b *box, first, end int, add bool) {
	c.begin(l, x, b)
	m, k := dy.shape[1]/l.groups, len(c.row)
	plane := l.grid[0] * l.grid[1] * l.grid[2]
	c.out, c.outRun = b.table(c.out, [4]int{m * l.groups * plane, l.grid[1] * l.grid[2], l.grid[2], 1}, dy.off)
	n := len(c.out)
	for g := first; g < end; g++ {
		c.group(l, x, b, g)
		base := g * m * plane
		left := cpu.Matrix[T]{Row: n, Col: 1, Half: halfFormat(dy), Load: func(dst []T, off, stride int) { loadRuns(dst, dy, off, stride, base, plane, c.out, c.outRun) }}
		if c.outRun == n {
			left = operand[T](dy, base+c.out[0], plane, 1)
		} else if dy.dt == dtypeOf[T]() {
			c.channels = resize(c.channels, m)
			for i := range c.channels {
				c.channels[i] = base + i*plane
			}
			left.Table = c.left.place(elements[T](dy), c.channels, c.out)
		}
		right := c.matrix()
		right = right.Transposed()
		sum := sums[(g-first)*m*k:]
		if !add {
			cpu.GemmTo(m, k, n, left, right, cpu.Result[T]{Row: k, Elems: sum})
			continue
		}
		cpu.GemmTo(m, k, n, left, right, cpu.Result[T]{Done: func(i, from int, row []T) {
			s := sum[i*k+from:][:len(row)]
			for j, v := range row {
				s[j] += v
			}
		}})
	}
}

// loadRuns reads elements of the matrix whose row i lies plane·i behind base, at the offsets of a table that is made of runs.
func loadRuns[T cpu.Float](dst []T, t *Tensor, off, stride, base, plane int, at []int, run int) {
	n := len(at)
	if stride != 1 {
		for i := range dst {
			p := off + i*stride
			load(dst[i:i+1], t, base+p/n*plane+at[p%n], 1)
		}
		return
	}
	for len(dst) > 0 {
		i, j := off/n, off%n
		m := min(len(dst), run-j%run)
		load(dst[:m], t, base+i*plane+at[j], 1)
		dst, off = dst[m:], off+m
	}
}
