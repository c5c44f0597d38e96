package amp

import (
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// index_select takes slices of one dimension by number; flip and roll reorder it.

var opIndexSelect, opIndexSelectBackward, opFlip, opRoll *Op

func init() {
	opIndexSelect = define(Op{
		Name: "index_select", Doc: "the slices of one dimension that index names", Args: []string{"x", "index"}, Why: whyChoose, Ints: true, CUDA: "index_select", Line: LikeFirst, Saves: SaveIn1,
		Check: func(c *Call) []int {
			checkIndex(c, 1)
			c.somePlaces(c.In[1], c.Dims[0])
			shape := slices.Clone(c.In[0].shape)
			shape[c.Dims[0]] = c.In[1].shape[0]
			return shape
		},
		CPU: func(c *Call) {
			if len(c.Out.shape) == 1 {
				bySize(c.Out.dt, pickList[uint8], pickList[uint16], pickList[uint32], pickList[uint64])(c)
				return
			}
			maps := make([][]int, len(c.Out.shape))
			maps[c.Dims[0]] = indexMap(c, c.In[1], c.In[0].shape[c.Dims[0]])
			pickAlong(c.Out, c.In[0], maps, 0)
		},
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Shape = b.Shape(0)
			b.Set(0, b.S.apply(opIndexSelectBackward, a, b.DY, b.In(1)))
		},
	})
	opIndexSelectBackward = define(Op{
		Name: "index_select_backward", Doc: "slices of dy added up at their places, in float64", Args: []string{"dy", "index"}, Why: "runs in the dtype its forward ran in", CUDA: "index_select_backward", Saves: SaveIn1,
		Check: func(c *Call) []int { c.floatFirst(); return c.Shape },
		CPU: func(c *Call) {
			if indexSelectBackwardCPU(c) {
				return
			}
			along := make([]*taps, len(c.Shape))
			n := c.Shape[c.Dims[0]]
			along[c.Dims[0]] = newTaps(n, indexMap(c, c.In[1], n)).transpose()
			sumTaps(c.Out, c.In[0], along)
		},
		Backward: func(b *Back) { b.Set(0, IndexSelect(b.S, b.DY, b.Attrs().Dims[0], b.In(1))) },
	})
	opFlip = define(Op{
		Name: "flip", Doc: "the elements of some dimensions in reverse order, as a copy", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "flip",
		Check:    func(c *Call) []int { return c.In[0].shape },
		CPU:      func(c *Call) { pickAlong(c.Out, c.In[0], reorder(c, func(_, i, n int) int { return n - 1 - i }), 0) },
		Backward: func(b *Back) { b.Set(0, b.S.apply(opFlip, b.Attrs(), b.DY)) },
	})
	opRoll = define(Op{
		Name: "roll", Doc: "the elements of some dimensions moved on, those at the end coming back at the beginning", Args: []string{"x"}, Why: whyView, Ints: true, CUDA: "roll",
		Check: func(c *Call) []int { return c.In[0].shape },
		CPU: func(c *Call) {
			pickAlong(c.Out, c.In[0], reorder(c, func(k, i, n int) int { return ((i-c.Shape[k])%n + n) % n }), 0)
		},
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Shape = slices.Clone(a.Shape)
			for k := range a.Shape {
				a.Shape[k] = -a.Shape[k]
			}
			b.Set(0, b.S.apply(opRoll, a, b.DY))
		},
	})
}

// floatFirst refuses a first input that is no float.
func (c *Call) floatFirst() {
	if !c.In[0].dt.IsFloat() {
		fail(c.Op.Name, ErrDType, "convert it with amp.To(s, t, amp.Float32)", "%s", c.shapes())
	}
}

// checkIndex refuses input i unless it is a list of int64.
func checkIndex(c *Call, i int) {
	if index := c.In[i]; index.dt != Int64 || len(index.shape) != 1 {
		fail(c.Op.Name, ErrDType, "index is one-dimensional int64: amp.From([]int64{…})", "%s", c.shapes())
	}
}

// indexMap returns the values of a list of indices, each below n.
func indexMap(c *Call, index *Tensor, n int) []int {
	out := make([]int, index.Len())
	eachIndex(c, index, n, func(i, j int) { out[i] = j })
	return out
}

// pickList is index_select of a vector.
func pickList[T word](c *Call) {
	x, index := c.In[0], c.In[1]
	if !index.contiguous() {
		copied := alloc("index_select", theCPU, Int64, index.shape)
		defer copied.release()
		copyRows(copied, index)
		index = copied
	}
	n, step := uint64(x.shape[0]), x.strides[0]
	dst, src, at := words[T](c.Out)[c.Out.off:], words[T](x)[x.off:], elements[int64](index)[index.off:][:index.Len()]
	cpu.Parallel(len(at), grain, func(lo, hi int) {
		for i, j := range at[lo:hi] {
			if uint64(j) >= n {
				eachIndex(c, c.In[1], int(n), func(int, int) {}) // says which
			}
			dst[lo+i] = src[int(j)*step]
		}
	})
}

// reorder makes the maps of the dimensions c.Dims: index i of the k-th comes from f(k, i, size).
func reorder(c *Call, f func(k, i, n int) int) [][]int {
	shape := c.In[0].shape
	maps := make([][]int, len(shape))
	for k, d := range c.Dims {
		maps[d] = make([]int, shape[d])
		for i := range maps[d] {
			maps[d][i] = f(k, i, shape[d])
		}
	}
	return maps
}

// IndexSelect returns the slices of dimension dim that index, a list of int64, names: out[i] = x[index[i]] for dim 0. It panics with
// ErrArgument for an index outside.
func IndexSelect(s *Scope, x *Tensor, dim int, index *Tensor) *Tensor {
	x.live("index_select")
	if x.lone() && index != nil && index.Len() != 1 {
		fail("index_select", ErrShape, "give one index, or use amp.Reshape(s, x, 1)", "x has no dimensions, index is %v", index.shape)
	}
	return s.apply(opIndexSelect, Attrs{Dims: []int{opIndexSelect.axis(x, dim)}}, x, index)
}

// Flip returns a copy of x with the order of the given dimensions reversed; without any it is a copy.
func Flip(s *Scope, x *Tensor, dims ...int) *Tensor {
	x.live("flip")
	a := Attrs{}
	if len(dims) > 0 {
		a.Dims = reducedAxes("flip", x, dims)
	}
	return s.apply(opFlip, a, x)
}

// Roll returns x with the elements of each of dims moved on by the shift of the same place; those that leave at the end come in at
// the beginning. Without dims there is one shift, along x in row-major order.
func Roll(s *Scope, x *Tensor, shifts, dims []int) *Tensor {
	x.live("roll")
	if len(dims) == 0 && len(shifts) == 1 {
		flat := Roll(s, Reshape(s, x, -1), shifts, []int{0})
		return Reshape(s, flat, x.shape...)
	}
	if len(shifts) != len(dims) || len(dims) == 0 {
		fail("roll", ErrArgument, "give one shift for each dimension", "%d shifts, %d dimensions", len(shifts), len(dims))
	}
	a := Attrs{}
	for k, d := range dims {
		d = x.axis("roll", d)
		if at := slices.Index(a.Dims, d); at >= 0 {
			a.Shape[at] += shifts[k]
			continue
		}
		a.Dims, a.Shape = append(a.Dims, d), append(a.Shape, shifts[k])
	}
	return s.apply(opRoll, a, x)
}
