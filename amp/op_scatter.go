package amp

import (
	"slices"
)

// scatter and scatter_add write the elements of src at the places that index names along a dimension. Where several go to one place,
// scatter keeps the last and scatter_add sums them in float64 in the order of the index: neither depends on threads.

var opScatter, opScatterValue, opScatterAdd *Op

func init() {
	opScatter = define(Op{
		Name: "scatter", Doc: "x with out[index[i,j],j] = src[i,j] along a dimension, the last of several", Args: []string{"x", "index", "src"}, Why: whyChoose, Ints: true, CUDA: "scatter", Line: LikeFirst, Saves: SaveIn1,
		Check: checkScatter, CPU: func(c *Call) { scatterCPU(c, false) },
		Backward: func(b *Back) {
			d := b.Attrs().Dims[0]
			if b.Needs(0) {
				b.Set(0, ScatterValue(b.S, b.DY, d, b.In(1), 0))
			}
			if b.Needs(2) {
				index := b.In(1)
				b.Set(2, grown(b.S, MaskedFill(b.S, Gather(b.S, b.DY, d, index), overwritten(b.S, b.DY, d, index), 0), b.Shape(2)))
			}
		},
	})
	opScatterValue = define(Op{
		Name: "scatter_value", Doc: "x with a number at the places that index names along a dimension", Args: []string{"x", "index"}, Why: whyChoose, Ints: true, CUDA: "scatter_value", Line: LikeFirst, Saves: SaveIn1,
		Check: func(c *Call) []int { holds("scatter_value", c.In[0].dt, c.Scalar); return checkScatter(c) }, CPU: func(c *Call) { scatterCPU(c, false) },
		Backward: func(b *Back) { b.Set(0, ScatterValue(b.S, b.DY, b.Attrs().Dims[0], b.In(1), 0)) },
	})
	opScatterAdd = define(Op{
		Name: "scatter_add", Doc: "x with src[i,j] added at [index[i,j],j] along a dimension", Args: []string{"x", "index", "src"}, Class: Promote, Why: whyCombine, Ints: true, CUDA: "scatter_add", Line: LikeFirst, Saves: SaveIn1,
		Check: checkScatter, CPU: func(c *Call) { scatterCPU(c, true) },
		Backward: func(b *Back) {
			b.Set(0, b.DY)
			if b.Needs(2) {
				b.Set(2, grown(b.S, Gather(b.S, b.DY, b.Attrs().Dims[0], b.In(1)), b.Shape(2)))
			}
		},
	})
}

// grown puts zeros behind x up to a shape: elements of src that the index leaves out.
func grown(s *Scope, x *Tensor, shape []int) *Tensor {
	if slices.Equal(x.shape, shape) {
		return x
	}
	var pads []int
	for d := len(shape) - 1; d >= 0; d-- {
		pads = append(pads, 0, shape[d]-x.shape[d])
	}
	return Pad(s, x, pads, "constant", 0)
}

// overwritten says which elements of an index name a place that a later one names again. (PyTorch gives those a gradient too, and
// documents that it is wrong.)
func overwritten(s *Scope, dy *Tensor, d int, index *Tensor) *Tensor {
	number := Cumsum(s, Eq(s, index, index), d) // 1, 2, … along the dimension
	written := Scatter(s, To(s, Lt(s, dy, dy), Int64), d, index, number)
	return Ne(s, Gather(s, written, d, index), number)
}

func checkScatter(c *Call) []int {
	x, index, d := c.In[0], c.In[1], c.Dims[0]
	if index.dt != Int64 {
		fail(c.Op.Name, ErrDType, "indices are int64: amp.From([]int64{…})", "%s", c.shapes())
	}
	src := index
	if len(c.In) > 2 {
		src = c.In[2]
		c.sameDType(2)
	}
	ok := len(index.shape) == len(x.shape) && len(src.shape) == len(x.shape)
	for k := 0; ok && k < len(x.shape); k++ {
		ok = index.shape[k] <= src.shape[k] && (k == d || index.shape[k] <= x.shape[k])
	}
	if !ok {
		fail(c.Op.Name, ErrShape, "index has as many dimensions as x and src and is larger in none, but than x in the one scattered along", "%s along %d", c.shapes(), d)
	}
	c.somePlaces(index, d)
	return x.shape
}

// lineWithin returns where the line of t begins that lies as line i of out does; false where t is too small to have it.
func lineWithin(out, t *Tensor, d, i int) (int, bool) {
	off := t.off
	for k := len(out.shape) - 1; k >= 0; k-- {
		if k == d {
			continue
		}
		p := i % out.shape[k]
		i /= out.shape[k]
		if p >= t.shape[k] {
			return 0, false
		}
		off += p * t.strides[k]
	}
	return off, true
}

// Scatter returns x with out[index[i,j],j] = src[i,j] for dim 0, and likewise along other dimensions; index is int64. Of several
// elements that go to one place the last one stays, and it alone has a gradient. It panics with ErrDType unless x and src have one
// dtype.
func Scatter(s *Scope, x *Tensor, dim int, index, src *Tensor) *Tensor {
	return s.apply(opScatter, Attrs{Dims: []int{opScatter.axis(x, dim)}}, x, index, src)
}

// ScatterValue returns x with value at the places that index names along dim; see Scatter.
func ScatterValue(s *Scope, x *Tensor, dim int, index *Tensor, value float64) *Tensor {
	return s.apply(opScatterValue, Attrs{Dims: []int{opScatterValue.axis(x, dim)}, Scalar: value}, x, index)
}

// ScatterAdd returns x with src[i,j] added at [index[i,j],j] for dim 0, and likewise along other dimensions; index is int64. Sums are
// made in float64 and rounded once; under autocast in the wider dtype of x and src.
func ScatterAdd(s *Scope, x *Tensor, dim int, index, src *Tensor) *Tensor {
	return s.apply(opScatterAdd, Attrs{Dims: []int{opScatterAdd.axis(x, dim)}}, x, index, src)
}
