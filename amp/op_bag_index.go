package amp

// bag_index says of indices that lie in bags, one bag after another, which bag each is in: what an embedding bag adds up by.

var opBagIndex *Op

func init() {
	opBagIndex = define(Op{
		Name: "bag_index", Doc: "the bag of each of n places, where offsets say at which place each bag begins", Args: []string{"offsets"}, Why: "integers pass through autocast", Ints: true, CUDA: "bag_index",
		Check: func(c *Call) []int {
			switch offsets, n := c.In[0], c.Shape[0]; {
			case offsets.dt != Int64:
				fail(c.Op.Name, ErrDType, "offsets are int64: amp.From([]int64{…})", "%s", c.shapes())
			case len(offsets.shape) != 1:
				fail(c.Op.Name, ErrShape, "give a list of offsets", "%s", c.shapes())
			case c.Mode == lastOffset && offsets.Len() == 0:
				fail(c.Op.Name, ErrShape, "give where the last bag ends, too: 0 for no bags", "no offsets")
			case n < 0 || n > 0 && c.bags() == 0:
				fail(c.Op.Name, ErrArgument, "give where the first bag begins: 0", "no bags for %d indices", n)
			}
			return c.Shape
		},
		CPU: bagIndexCPU,
	})
}

// lastOffset is the mode of offsets of which the last one says where the last bag ends.
const lastOffset = "last"

// bags is the number of bags.
func (c *Call) bags() int {
	if c.Mode == lastOffset {
		return c.In[0].Len() - 1
	}
	return c.In[0].Len()
}

func bagIndexCPU(c *Call) {
	n, i, begin := int64(c.Shape[0]), 0, int64(0)
	out, from := elements[int64](c.Out)[c.Out.off:], elements[int64](c.In[0])
	c.In[0].each(func(off int) {
		o := from[off]
		if o < begin || o > n || i == 0 && o != 0 || i > 0 && i == c.bags() && o != n {
			fix := "give where each bag begins, from 0, in order, none above the number of indices"
			if c.Mode == lastOffset {
				fix = "give where each bag begins, from 0, in order, and last the number of indices"
			}
			fail(c.Op.Name, ErrArgument, fix, "offset %d is %d, of %d indices", i, o, n)
		}
		for ; begin < o; begin++ {
			out[begin] = int64(i - 1)
		}
		i++
	})
	for ; begin < n; begin++ {
		out[begin] = int64(i - 1)
	}
}

// BagIndex returns in which of several bags each of n indices lies, int64 [n]: offsets, int64 [bags], say where each bag begins, from 0 up; one
// that begins where the next does is empty. With last, offsets have one number more, where the last bag ends: n. It panics with ErrShape and
// ErrDType for what is no such list, and with ErrArgument for offsets that are out of order, beyond n, or end elsewhere; another device, which is
// not waited for, tells that at the next read. (PyTorch: offset2bag, within embedding_bag.)
func BagIndex(s *Scope, offsets *Tensor, n int, last bool) *Tensor {
	at := Attrs{Shape: []int{n}}
	if last {
		at.Mode = lastOffset
	}
	return s.apply(opBagIndex, at, offsets)
}
