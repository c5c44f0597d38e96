package amp

import (
	"fmt"
	"sync"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// What all pools share: the windows of each dimension, and the walk over planes.

const whyPool = "picks or averages neighbors: stays in the range of its inputs"

// A span is the window of one output element in one dimension: elements lo, lo+step … below hi. size counts padding too.
type span struct{ lo, hi, step, size int }

func (p span) elements() int {
	if p.hi <= p.lo {
		return 0
	}
	return (p.hi-p.lo-1)/p.step + 1
}

// A poolGrid holds the windows of a pool, by depth, height and width, and the sizes of its input.
type poolGrid struct {
	span [3][]span
	size [3]int
}

// newPoolGrid takes the spatial sizes of input and output. Without a window the pool is adaptive: output element i of n averages
// the input elements ⌊i·size/n⌋ … ⌈(i+1)·size/n⌉-1.
func newPoolGrid(w *Window, in, out []int) *poolGrid {
	g := &poolGrid{size: spatial(in, 1)}
	for d := range g.span {
		g.span[d] = []span{{0, 1, 1, 1}}
	}
	lead := 3 - len(in)
	for d, n := range out {
		list := make([]span, n)
		for i := range list {
			if w == nil {
				list[i] = span{lo: i * in[d] / n, hi: ((i+1)*in[d] + n - 1) / n, step: 1}
				list[i].size = list[i].hi - list[i].lo
				continue
			}
			lo, step, pad := i*w.Stride[d]-w.Padding[d], w.Dilation[d], w.Padding[d]
			hi := lo + w.extent(d)
			size := min(hi, in[d]+pad) - lo
			if lo < 0 {
				lo += (-lo + step - 1) / step * step
			}
			list[i] = span{lo, min(hi, in[d]), step, size}
		}
		g.span[lead+d] = list
	}
	return g
}

// outputs is the number of elements of one plane of the result.
func (g *poolGrid) outputs() int { return len(g.span[0]) * len(g.span[1]) * len(g.span[2]) }

// inputs is the number of elements of one plane of the input.
func (g *poolGrid) inputs() int { return g.size[0] * g.size[1] * g.size[2] }

// poolSize is the result's size in one dimension, as PyTorch rounds it: with CeilMode a last window may stick out, if it begins in
// the input or its padding before the end.
func (w *Window) poolSize(op string, d, in int) int {
	room := in + 2*w.Padding[d] - w.extent(d)
	if w.Ceil {
		room += w.Stride[d] - 1
	}
	if room < 0 || in < 1 {
		fail(op, ErrShape, "use a smaller window, or more padding", "spatial dimension %d of size %d is smaller than the window of %d", d, in, w.extent(d))
	}
	n := room/w.Stride[d] + 1
	if w.Ceil && (n-1)*w.Stride[d] >= in+w.Padding[d] {
		n--
	}
	return n
}

// poolWindow resolves the options of a pool; the stride is the kernel's size unless given.
func poolWindow(op string, rank, kernel int, opts []WindowOption, allowed []string) *windowConfig {
	opts = append([]WindowOption{Kernel(kernel), func(c *windowConfig) { c.set = nil }}, opts...)
	opts = append(opts, func(c *windowConfig) {
		if c.Stride == nil {
			c.Stride = c.Kernel
		}
	})
	w := newWindow(op, rank, nil, opts, allowed)
	for d, p := range w.Padding {
		if 2*p > w.extent(d) {
			fail(op, ErrArgument, "pad by at most half of the window", "padding %v for a window of %d", w.Padding, w.extent(d))
		}
	}
	return w
}

// checkPool is the shape rule of pools with a window, or with a size asked for (Shape holds the spatial sizes).
func checkPool(c *Call) []int {
	x := c.In[0]
	c.floats()
	rank := len(c.Shape)
	if c.Window != nil {
		rank = len(c.Window.Kernel)
	}
	if len(x.shape) != rank+2 {
		fail(c.Op.Name, ErrShape, fmt.Sprintf("x has %d dimensions: images, channels, %d of space", rank+2, rank), "%s", c.shapes())
	}
	out := []int{x.shape[0], x.shape[1]}
	for d, n := range x.shape[2:] {
		if c.Window != nil {
			out = append(out, c.Window.poolSize(c.Op.Name, d, n))
			continue
		}
		if n < 1 && c.Shape[d] > 0 {
			fail(c.Op.Name, ErrShape, "pool elements that exist", "%s: spatial dimension %d is empty", c.shapes(), d)
		}
		out = append(out, c.Shape[d])
	}
	return out
}

// adaptiveShape returns one size per dimension.
func adaptiveShape(op string, rank int, size []int) []int {
	c := windowConfig{op: op}
	if len(size) == 0 {
		fail(op, ErrArgument, "give the size of the result", "no size")
	}
	return c.each("output size", size, rank, 1, 1)
}

// planes is what a worker of a pool holds: one plane of the input and of the result, and keys of maxima.
type planes[T cpu.Float] struct {
	in, out []T
	keys    []int64
}

var (
	planes32 = sync.Pool{New: func() any { return new(planes[float32]) }}
	planes64 = sync.Pool{New: func() any { return new(planes[float64]) }}
)

func planePool[T cpu.Float]() *sync.Pool {
	var z T
	if _, ok := any(z).(float64); ok {
		return &planes64
	}
	return &planes32
}

// plane returns n consecutive elements as T: in place where possible, else widened into buf.
func plane[T cpu.Float](buf *[]T, t *Tensor, off, n int) []T {
	if v, ok := direct[T](t, off, 1, n); ok {
		return v
	}
	*buf = resize(*buf, n)
	load(*buf, t, off, 1)
	return *buf
}

// target returns where plane i of n elements of the result is written, in place where possible; finish then brings it there.
func (p *planes[T]) target(t *Tensor, i, n int) []T {
	if v, ok := direct[T](t, t.off+i*n, 1, n); ok {
		return v
	}
	p.out = resize(p.out, n)
	return p.out
}

func (p *planes[T]) finish(t *Tensor, i int, v []T) {
	if !elementsAre[T](t) {
		store(t, t.off+i*len(v), v)
	}
}

// eachPlane gives f every plane: n of them, of some work each, spread over the workers.
func eachPlane[T cpu.Float](n, work int, f func(p *planes[T], i int)) {
	pool := planePool[T]()
	cpu.Parallel(n, grainOf(work), func(lo, hi int) {
		p := pool.Get().(*planes[T])
		defer pool.Put(p)
		for i := lo; i < hi; i++ {
			f(p, i)
		}
	})
}

// ranked defines one row for each number of spatial dimensions; the name has a %d for it.
func ranked(name string, row Op) (rows [3]*Op) {
	for i := range rows {
		row.Name = fmt.Sprintf(name, i+1)
		rows[i] = define(row)
	}
	return rows
}
