package amp

import (
	"fmt"
	"math"
	"slices"

	"github.com/halftone-ml/halftone/amp/internal/cpu"
)

// argmax and argmin find where the extremes lie; gather picks elements by index along one dimension, embedding whole rows.

var opArgMax, opArgMin, opGather, opGatherBackward, opEmbedding, opEmbeddingBackward *Op

func init() {
	opArgMax = extreme("argmax", "index of the largest element along a dimension, the first of several; NaN counts as largest", laterLarger[float64], laterLarger[int64])
	opArgMin = extreme("argmin", "index of the smallest element along a dimension, the first of several; NaN counts as smallest", laterSmaller[float64], laterSmaller[int64])
	opGather = define(Op{
		Name: "gather", Doc: "out[i,j] = x[index[i,j],j] along a dimension", Args: []string{"x", "index"}, Why: whyChoose, Ints: true, CUDA: "gather", Line: LikeSecond, Saves: SaveIn1,
		Check: checkGather, CPU: func(c *Call) {
			if gatherSlices(c) || bySize(c.Out.dt, gatherWords[uint8], gatherWords[uint16], gatherWords[uint32], gatherWords[uint64])(c) {
				return
			}
			if !c.Out.dt.IsFloat() {
				gatherOn[int64](c)
				return
			}
			gatherOn[float64](c)
		},
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Shape = b.Shape(0)
			b.Set(0, b.S.apply(opGatherBackward, a, b.DY, b.In(1)))
		},
	})
	opGatherBackward = define(Op{
		Name: "gather_backward", Doc: "dy added up in float64 at the places that gather picked", Args: []string{"dy", "index"}, Why: "runs in the dtype its forward ran in", CUDA: "gather_backward", Saves: SaveIn1,
		Check:    func(c *Call) []int { return c.Shape },
		CPU:      func(c *Call) { scatterOn[float64](c, nil, c.In[1], c.In[0], true) },
		Backward: func(b *Back) { b.Set(0, Gather(b.S, b.DY, b.Attrs().Dims[0], b.In(1))) },
	})
	opEmbedding = define(Op{
		Name: "embedding", Doc: "rows of a table by index", Args: []string{"weight", "index"}, Why: "copies rows: exact in any dtype", CUDA: "embedding", Saves: SaveIn1,
		Check: checkEmbedding, CPU: embeddingCPU,
		Backward: func(b *Back) {
			a := b.Attrs()
			a.Shape = b.Shape(0)
			b.Set(0, b.S.apply(opEmbeddingBackward, a, Contiguous(b.S, b.DY), b.In(1))) // rows at one distance
		},
	})
	opEmbeddingBackward = define(Op{
		Name: "embedding_backward", Doc: "rows of dy added up at their places in the table, in float64", Args: []string{"dy", "index"}, Why: "runs in the dtype its forward ran in", CUDA: "embedding_backward", Saves: SaveIn1,
		Check: func(c *Call) []int { return c.Shape }, CPU: embeddingBackwardCPU,
		Backward: func(b *Back) {
			g := Embedding(b.S, b.DY, b.In(1))
			if a := b.Attrs(); a.Mode == padded {
				left := Eq(b.S, b.In(1), Full(b.S, Int64, float64(a.Ignore)))
				g = MaskedFill(b.S, g, Reshape(b.S, left, append(slices.Clone(left.shape), 1)...), 0)
			}
			b.Set(0, g)
		},
	})
}

// padded is the mode of an embedding whose row Ignore has no gradient.
const padded = "padded"

func laterLarger[T number](a, b T) bool  { return a > b }
func laterSmaller[T number](a, b T) bool { return a < b }

// extreme defines argmax or argmin. Integers are compared as such: float64 does not tell those beyond 2^53 apart.
func extreme(name, doc string, beats func(a, b float64) bool, ints func(a, b int64) bool) *Op {
	return define(Op{
		Name: name, Doc: doc, Args: []string{"x"}, Why: whyChoose, Ints: true, CUDA: name, Line: LikeFirst,
		Check: func(c *Call) []int {
			if n := c.In[0].shape[c.Dims[0]]; n == 0 {
				fail(name, ErrShape, "use a dimension with elements", "dimension %d of shape %v is empty", c.Dims[0], c.In[0].shape)
			}
			return reducedShape(c)
		},
		Result: func(*Call) DType { return Int64 },
		CPU: func(c *Call) {
			switch {
			case placesOfLines(c, beats(1, 0)):
			case c.In[0].isWhole():
				placesOf(c, ints)
			default:
				placesOf(c, beats)
			}
		},
	})
}

// placesOf is the kernel of any dtype.
func placesOf[T number](c *Call, beats func(a, b T) bool) {
	x, d := c.In[0], c.Dims[0]
	r := newReduction(x, []int{d})
	out := elements[int64](c.Out)
	cpu.Parallel(r.nKept, grainOf(x.shape[d]), func(lo, hi int) {
		row := make([]T, x.shape[d])
		for i := lo; i < hi; i++ {
			load(row, x, x.off+offset(i, r.kept, r.keptStride), x.strides[d])
			best := 0
			for k, v := range row {
				if v != v {
					best = k
					break
				}
				if beats(v, row[best]) {
					best = k
				}
			}
			out[c.Out.off+i] = int64(best)
		}
	})
}

// placesOfLines is the kernel of dtypes that float32 holds: the extreme first, in vectors, and then its place. It says whether x is such.
func placesOfLines(c *Call, largest bool) bool {
	x, d := c.In[0], c.Dims[0]
	if x.dt != Float32 && x.dt != Float16 && x.dt != BFloat16 {
		return false
	}
	r, n := newReduction(x, []int{d}), x.shape[d]
	out := elements[int64](c.Out)
	cpu.Parallel(r.nKept, grainOf(n), func(lo, hi int) {
		w := lineWorks.Get().(*lineWork)
		defer w.release()
		for i := lo; i < hi; i++ {
			row := w.read(0, x, x.off+offset(i, r.kept, r.keptStride), x.strides[d], n)
			if !largest {
				w.F32[0], w.F32[1] = row, w.buffer(1, n)
				row = w.F32[1]
				cpu.LineNeg.Run(n, &w.Line)
			}
			w.F32[0], w.Acc[1] = row, cpu.Lanes{}
			w.Acc[0].Fill(math.Inf(-1))
			cpu.LineMaxNaN.Run(n, &w.Line)
			place := 0
			if w.Acc[1].Sum() > 0 {
				place = slices.IndexFunc(row, func(v float32) bool { return v != v })
			} else {
				place = slices.Index(row, float32(w.Acc[0].Max()))
			}
			out[c.Out.off+i] = int64(place)
		}
	})
	return true
}

func checkGather(c *Call) []int {
	x, index, d := c.In[0], c.In[1], c.Dims[0]
	if index.dt != Int64 {
		fail("gather", ErrDType, "indices are int64: amp.From([]int64{…})", "%s", c.shapes())
	}
	ok := len(index.shape) == len(x.shape)
	for k := 0; ok && k < len(x.shape); k++ {
		ok = k == d || index.shape[k] <= x.shape[k]
	}
	if !ok {
		fail("gather", ErrShape, "index has as many dimensions as x, none larger but the one gathered along", "%s along %d", c.shapes(), d)
	}
	c.somePlaces(index, d)
	return index.shape
}

// gatherWords picks the elements of each line where lines are neighbors in memory, as words; it says whether they are.
func gatherWords[T word](c *Call) bool {
	x, index, out, d := c.In[0], c.In[1], c.Out, c.Dims[0]
	if out.Len() == 0 || x.strides[d] != 1 || index.strides[d] != 1 || out.strides[d] != 1 {
		return false
	}
	n, k := x.shape[d], out.shape[d]
	dst, src, from := words[T](out), words[T](x), elements[int64](index)
	cpu.Parallel(out.Len()/k, grainOf(k), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			at, _ := lineWithin(out, x, d, i)
			line, row := src[at:at+n], dst[lineOf(out, d, i):][:k]
			for j, p := range from[lineOf(index, d, i):][:k] {
				if uint64(p) >= uint64(len(line)) {
					failGather(n, j, i, p)
				}
				row[j] = line[p]
			}
		}
	})
	return true
}

func failGather(n, j, line int, p int64) {
	fail("gather", ErrArgument, fmt.Sprintf("use indices from 0 to %d", n-1), "index %d of line %d is %d", j, line, p)
}

// gatherOn picks the elements of each line.
func gatherOn[T float64 | int64](c *Call) {
	x, index, out, d := c.In[0], c.In[1], c.Out, c.Dims[0]
	if out.Len() == 0 {
		return
	}
	n, k := x.shape[d], out.shape[d]
	pool, ints := linePool[T](), linePool[int64]()
	cpu.Parallel(out.Len()/k, grainOf(8*(n+k)), func(lo, hi int) {
		b, ib := pool.Get().(*lineBufs[T]), ints.Get().(*lineBufs[int64])
		defer func() { pool.Put(b); ints.Put(ib) }()
		row, line, from := b.grow(0, k), b.grow(1, n), ib.grow(0, k)
		for i := lo; i < hi; i++ {
			at, _ := lineWithin(out, x, d, i)
			whole := n < 4*k // else the elements are read one by one
			if whole {
				load(line, x, at, x.strides[d])
			}
			load(from, index, lineOf(index, d, i), index.strides[d])
			for j, p := range from {
				if p < 0 || p >= int64(n) {
					failGather(n, j, i, p)
				}
				if whole {
					row[j] = line[p]
				} else {
					load(row[j:j+1], x, at+int(p)*x.strides[d], 1)
				}
			}
			storeLine(out, lineOf(out, d, i), out.strides[d], row)
		}
	})
}

func checkEmbedding(c *Call) []int {
	w, index := c.In[0], c.In[1]
	if index.dt != Int64 || !w.dt.IsFloat() {
		fail("embedding", ErrDType, "the table is of floats, indices are int64: amp.From([]int64{…})", "%s", c.shapes())
	}
	if len(w.shape) != 2 {
		fail("embedding", ErrShape, "use a table of [rows features]", "%s", c.shapes())
	}
	c.somePlaces(index, 0)
	return append(slices.Clone(index.shape), w.shape[1])
}

// ArgMax returns the index of the largest element along dim, as int64; dim goes.
func ArgMax(s *Scope, x *Tensor, dim int) *Tensor {
	return s.apply(opArgMax, Attrs{Dims: []int{opArgMax.axis(x, dim)}}, x)
}

// ArgMin returns the index of the smallest element along dim, as int64; dim goes.
func ArgMin(s *Scope, x *Tensor, dim int) *Tensor {
	return s.apply(opArgMin, Attrs{Dims: []int{opArgMin.axis(x, dim)}}, x)
}

// Max returns the largest elements along dim and their indices; dim goes. The gradient goes to the element that was picked.
func Max(s *Scope, x *Tensor, dim int) (values, indices *Tensor) {
	return pick(s, "max", x, dim, ArgMax)
}

// Min returns the smallest elements along dim and their indices; dim goes. The gradient goes to the element that was picked.
func Min(s *Scope, x *Tensor, dim int) (values, indices *Tensor) {
	return pick(s, "min", x, dim, ArgMin)
}

func pick(s *Scope, op string, x *Tensor, dim int, arg func(*Scope, *Tensor, int) *Tensor) (values, indices *Tensor) {
	indices = arg(s, x, dim)
	dim = opGather.axis(x, dim)
	kept := Reshape(s, indices, slices.Insert(slices.Clone(indices.shape), dim, 1)...)
	return Reshape(s, Gather(s, x, dim, kept), indices.shape...), indices
}

// Gather returns out[i,j] = x[index[i,j],j] for dim 0, and likewise along other dimensions; index is int64. One without dimensions is
// taken for a list of one, as is x.
func Gather(s *Scope, x *Tensor, dim int, index *Tensor) *Tensor {
	return s.apply(opGather, Attrs{Dims: []int{opGather.axis(x, dim)}}, x, index)
}

// Embedding returns the rows of weight [rows features] that index, int64 of any shape, names: [index… features].
func Embedding(s *Scope, weight, index *Tensor) *Tensor {
	return s.apply(opEmbedding, Attrs{}, weight, Contiguous(s, index))
}

// EmbeddingPadded is Embedding with a row that stands for padding: it gets no gradient. A negative row counts from the last. (PyTorch:
// padding_idx.)
func EmbeddingPadded(s *Scope, weight, index *Tensor, padding int) *Tensor {
	weight.live("embedding")
	if len(weight.shape) == 2 && padding < 0 && padding >= -weight.shape[0] {
		padding += weight.shape[0]
	}
	if len(weight.shape) != 2 || padding < 0 || padding >= weight.shape[0] {
		fail("embedding", ErrArgument, "name a row of the table", "padding %d, weight %v", padding, weight.shape)
	}
	return s.apply(opEmbedding, Attrs{Mode: padded, Ignore: int64(padding)}, weight, Contiguous(s, index))
}
