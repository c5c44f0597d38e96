package amp

import (
	"fmt"
	"math"
)

// masked_fill replaces elements by a number; one_hot turns classes into rows of zeros with a one.

var opMaskedFill, opOneHot *Op

func init() {
	opMaskedFill = define(Op{
		Name: "masked_fill", Doc: "a number where the mask is true, else x; broadcast", Args: []string{"x", "mask"}, Why: whyChoose, Ints: true, CUDA: "masked_fill", Saves: SaveIn1,
		Check: func(c *Call) []int {
			if c.In[1].dt != Bool {
				fail("masked_fill", ErrDType, "compare to make a mask, for example amp.Ne(s, m, zero)", "%s", c.shapes())
			}
			holds("masked_fill", c.In[0].dt, c.Scalar)
			return broadcast(c)
		},
		CPU: func(c *Call) {
			bySize(c.Out.dt, maskedFillOn[uint8], maskedFillOn[uint16], maskedFillOn[uint32], maskedFillOn[uint64])(c)
		},
		Backward: func(b *Back) { b.Set(0, b.sumTo(0, MaskedFill(b.S, b.DY, b.In(1), 0))) },
	})
	opOneHot = define(Op{
		Name: "one_hot", Doc: "1 at the place of each class along a new last dimension, else 0, as int64", Args: []string{"index"}, Why: "integers pass through autocast", Ints: true, CUDA: "one_hot",
		Check: func(c *Call) []int {
			if c.In[0].dt != Int64 {
				fail("one_hot", ErrDType, "classes are int64: amp.From([]int64{…})", "%s", c.shapes())
			}
			return append(c.In[0].Shape(), c.Start)
		},
		CPU: func(c *Call) {
			clear(c.Out.st.mem)
			out := elements[int64](c.Out)[c.Out.off:]
			eachIndex(c, c.In[0], c.Start, func(i, class int) { out[i*c.Start+class] = 1 })
		},
	})
}

// holds refuses a number that a dtype can't hold, as PyTorch does: -1e9 is no float16. Infinities and NaN are held by all floats.
func holds(op string, dt DType, v float64) {
	limit := math.Inf(1)
	switch dt {
	case Float16:
		limit = 65504
	case BFloat16:
		limit = 0x1.fep127
	case Float32:
		limit = 0x1.fffffep127
	case Int64, Bool:
		if v != math.Trunc(v) || math.Abs(v) >= 1<<63 || dt == Bool && v != 0 && v != 1 {
			fail(op, ErrArgument, fmt.Sprintf("use a number that %v holds", dt), "%v is no %v", v, dt)
		}
	}
	if math.Abs(v) > limit && !math.IsInf(v, 0) {
		fail(op, ErrArgument, "use math.Inf(-1), or a number in the range of the dtype", "%v overflows %v", v, dt)
	}
}

func maskedFillOn[T word](c *Call) {
	out, x, m, fill := c.Out, c.In[0], c.In[1], wordOf[T](c.Out.dt, c.Scalar)
	dst, src, mask := words[T](out), words[T](x), words[uint8](m)
	w := newRowWalk(out, x, m)
	w.runBy(grain, func(off [4]int, n int) { // bits rather than branches, which random masks would mispredict
		row := dst[off[0] : off[0]+n]
		if w.step[1] == 1 && w.step[2] == 1 {
			from, covers := src[off[1]:][:n], mask[off[2]:][:n]
			for i, v := range from {
				row[i] = v ^ (v^fill)&-T(min(covers[i], 1))
			}
			return
		}
		from, at := off[1], off[2]
		for i := range row {
			v := src[from]
			row[i] = v ^ (v^fill)&-T(min(mask[at], 1))
			from, at = from+w.step[1], at+w.step[2]
		}
	})
}

// MaskedFill returns value where mask (bool) is true, else x, in x's dtype; shapes are broadcast. It panics with ErrArgument for a
// finite value beyond the range of the dtype, such as -1e9 in float16: use math.Inf(-1) for attention masks, and see to it that
// no row is masked throughout.
func MaskedFill(s *Scope, x, mask *Tensor, value float64) *Tensor {
	return s.apply(opMaskedFill, Attrs{Scalar: value}, x, mask)
}

// OneHot returns int64 zeros of shape [index… classes] with a 1 at the place of each class of index, int64 of any shape; use To for a
// float target. classes -1 takes the largest class plus one. It panics with ErrArgument for a class outside.
func OneHot(s *Scope, index *Tensor, classes int) *Tensor {
	index.live("one_hot")
	if classes == -1 && index.dt == Int64 {
		if index.Len() == 0 {
			fail("one_hot", ErrArgument, "say how many classes there are", "no class to count in shape %v", index.shape)
		}
		for _, v := range index.Float64s() {
			classes = max(classes, int(v)+1)
		}
	}
	if classes < 1 {
		fail("one_hot", ErrArgument, "use at least one class, or -1 to count them", "%d classes", classes)
	}
	return s.apply(opOneHot, Attrs{Start: classes}, index)
}
